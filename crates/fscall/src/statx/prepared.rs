//! The call itself, checked and normalised before it is made.
#![allow(
    clippy::inline_always,
    reason = "a return that comes after a system call is mispredicted"
)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use super::null_path::learn;
use super::{NullPath, Statx, StatxFlags, StatxMask, null_path};
use crate::sys::check;

/// How the kernel finds the file of a statx call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It is the descriptor's own: nothing is looked up.
    Fd,
    /// A path is looked up.
    Path,
}

/// A statx call that has been checked and can be made, by whichever route.
///
/// The kernel has two ways through statx: one for a descriptor, and one for a path. Which one a
/// call takes is decided here, from the same facts, so that every route takes the same.
///
/// ```
/// use std::os::fd::AsFd;
/// use fscall::{Form, Prepared, StatxFlags, StatxMask};
///
/// let file = std::fs::File::open("/")?;
/// let prepared = Prepared::new(file.as_fd(), None, StatxFlags::EMPTY_PATH, StatxMask::INO)?;
/// assert_eq!(prepared.form(), Form::Fd);
/// assert!(prepared.call(file.as_fd(), None)?.ino().is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared {
    form: Form,
    flags: StatxFlags,
    mask: StatxMask,
}

impl Prepared {
    /// Checks a call and decides its form.
    ///
    /// It has the descriptor form if the path is `None` or empty, `flags` have
    /// [`EMPTY_PATH`](StatxFlags::EMPTY_PATH), and `dir` is a descriptor rather than
    /// [`CWD`](crate::CWD); whether that descriptor is open, the call finds out.
    /// [`SYMLINK_NOFOLLOW`](StatxFlags::SYMLINK_NOFOLLOW) and
    /// [`NO_AUTOMOUNT`](StatxFlags::NO_AUTOMOUNT) mean nothing then and are taken out: kernels do
    /// not agree on them beside a NULL path.
    ///
    /// `None` with `EMPTY_PATH` and [`CWD`](crate::CWD) is the current directory, as an empty
    /// path is on every kernel. (For NULL itself, kernels before 6.16 answer `EFAULT`.)
    ///
    /// # Errors
    ///
    /// What some kernels accept and others do not is refused here, so that a call is answered
    /// alike everywhere: `EINVAL` for flags without a name, for both
    /// [`SYNC_TYPE`](StatxFlags::SYNC_TYPE) bits together, and for
    /// [`StatxMask::RESERVED`]; `EFAULT` for `None` without `EMPTY_PATH`.
    pub fn new(
        dir: BorrowedFd<'_>,
        path: Option<&CStr>,
        flags: StatxFlags,
        mask: StatxMask,
    ) -> io::Result<Self> {
        let unknown = !StatxFlags::all().contains(flags);
        if unknown || flags.contains(StatxFlags::SYNC_TYPE) || mask.intersects(StatxMask::RESERVED)
        {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let empty = flags.contains(StatxFlags::EMPTY_PATH);
        if path.is_none() && !empty {
            return Err(io::Error::from_raw_os_error(libc::EFAULT));
        }
        if empty && dir.as_raw_fd() >= 0 && path.is_none_or(CStr::is_empty) {
            Ok(Self::by_fd(flags, mask))
        } else {
            Ok(Self {
                form: Form::Path,
                flags,
                mask,
            })
        }
    }

    /// As [`new`](Self::new), from numbers of unknown origin.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn from_raw_flags(
        dir: BorrowedFd<'_>,
        path: Option<&CStr>,
        flags: u32,
        mask: u32,
    ) -> io::Result<Self> {
        let flags = StatxFlags::from_bits_retain(flags);
        Self::new(dir, path, flags, StatxMask::from_bits_retain(mask))
    }

    fn by_fd(flags: StatxFlags, mask: StatxMask) -> Self {
        let flags = flags
            .intersection(StatxFlags::SYNC_TYPE)
            .union(StatxFlags::EMPTY_PATH);
        Self {
            form: Form::Fd,
            flags,
            mask,
        }
    }

    /// The form.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The flags, normalised.
    pub fn flags(&self) -> StatxFlags {
        self.flags
    }

    /// The fields that are asked for.
    pub fn mask(&self) -> StatxMask {
        self.mask
    }

    /// The same call with more flags, of those that do not change its form: a sync type replaces
    /// the one that was asked for, [`EMPTY_PATH`](StatxFlags::EMPTY_PATH) is left out.
    #[must_use]
    pub fn with_flags(mut self, extra: StatxFlags) -> Self {
        let sync = extra.intersection(StatxFlags::SYNC_TYPE);
        if sync == StatxFlags::FORCE_SYNC || sync == StatxFlags::DONT_SYNC {
            self.flags = self.flags.difference(StatxFlags::SYNC_TYPE).union(sync);
        }
        if self.form == Form::Path {
            let lookup = StatxFlags::SYMLINK_NOFOLLOW | StatxFlags::NO_AUTOMOUNT;
            self.flags |= extra.intersection(lookup);
        }
        self
    }

    /// The same call for more fields. [`StatxMask::RESERVED`] is left out.
    #[must_use]
    pub fn with_mask(mut self, extra: StatxMask) -> Self {
        self.mask |= extra.difference(StatxMask::RESERVED);
        self
    }

    /// Makes the call, with the directory and path that it was prepared for.
    ///
    /// # Errors
    ///
    /// What statx(2) answers.
    pub fn call(&self, dir: BorrowedFd<'_>, path: Option<&CStr>) -> io::Result<Statx> {
        let mut answer = Statx::default();
        self.call_into(dir, path, &mut answer)?;
        Ok(answer)
    }

    /// As [`call`](Self::call), with the answer written where it is to be: of the time that a call
    /// by descriptor takes, copying its 256 bytes is a part that shows.
    ///
    /// # Errors
    ///
    /// What statx(2) answers. `answer` may have been written to.
    #[inline]
    pub fn call_into(
        &self,
        dir: BorrowedFd<'_>,
        path: Option<&CStr>,
        answer: &mut Statx,
    ) -> io::Result<()> {
        match self.form {
            Form::Fd => self.call_fd(dir, answer),
            Form::Path => self.call_path(dir, path.unwrap_or(c""), answer),
        }
    }

    #[inline(always)]
    fn call_fd(&self, fd: BorrowedFd<'_>, answer: &mut Statx) -> io::Result<()> {
        match null_path() {
            NullPath::Accepted => self.call_raw(fd, ptr::null(), answer),
            NullPath::Refused => self.call_path(fd, c"", answer),
            NullPath::Unknown => self.call_and_learn(fd, answer),
        }
    }

    /// The first call: no other kernel call is spent to find out. Only success and `EFAULT`
    /// tell; any other error says something of the file.
    #[cold]
    fn call_and_learn(&self, fd: BorrowedFd<'_>, answer: &mut Statx) -> io::Result<()> {
        match self.call_raw(fd, ptr::null(), answer) {
            Ok(()) => {
                learn(NullPath::Accepted);
                Ok(())
            }
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                self.call_path(fd, c"", answer)?;
                learn(NullPath::Refused);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn call_path(&self, dir: BorrowedFd<'_>, path: &CStr, answer: &mut Statx) -> io::Result<()> {
        self.call_raw(dir, path.as_ptr(), answer)
    }

    /// `path` is NULL or a C string.
    #[inline(always)]
    #[allow(unsafe_code, reason = "the system call")]
    fn call_raw(
        &self,
        dir: BorrowedFd<'_>,
        path: *const libc::c_char,
        answer: &mut Statx,
    ) -> io::Result<()> {
        // SAFETY: the kernel reads a C string at `path`, which is NULL or comes from a `CStr`
        // that outlives this call, and writes at most `struct statx` to `answer`.
        check(unsafe {
            libc::syscall(
                libc::SYS_statx,
                dir.as_raw_fd(),
                path,
                self.flags.bits(),
                self.mask.bits(),
                answer.as_mut_ptr(),
            )
        })?;
        Ok(())
    }
}

/// Metadata of a file: of `path` relative to `dir`, or of `dir` itself if the path is `None` or
/// empty and `flags` have [`EMPTY_PATH`](StatxFlags::EMPTY_PATH).
///
/// [`Prepared::new`] tells how the two are told apart. Linux 4.11; statx(2).
///
/// # Errors
///
/// Those of [`Prepared::new`] and of statx(2).
///
/// ```
/// use fscall::{CWD, StatxFlags, StatxMask};
///
/// let fields = StatxMask::TYPE | StatxMask::MODE;
/// let null = fscall::statx(CWD, Some(c"/dev/null"), StatxFlags::empty(), fields)?;
/// assert!(null.file_type().is_some_and(|file_type| file_type.is_char_device()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn statx(
    dir: BorrowedFd<'_>,
    path: Option<&CStr>,
    flags: StatxFlags,
    mask: StatxMask,
) -> io::Result<Statx> {
    Prepared::new(dir, path, flags, mask)?.call(dir, path)
}

/// Metadata of an open file.
///
/// Of `flags` only the [`SYNC_TYPE`](StatxFlags::SYNC_TYPE) matters. Linux 4.11; statx(2).
///
/// # Errors
///
/// `EINVAL` as in [`Prepared::new`]; what statx(2) answers. [`CWD`](crate::CWD) is the current
/// directory.
pub fn statx_fd(fd: BorrowedFd<'_>, flags: StatxFlags, mask: StatxMask) -> io::Result<Statx> {
    statx(fd, None, flags | StatxFlags::EMPTY_PATH, mask)
}

/// As [`statx_fd`], with the answer written where it is to be; see [`Prepared::call_into`].
///
/// # Errors
///
/// As [`statx_fd`].
#[inline(always)]
pub fn statx_fd_into(
    fd: BorrowedFd<'_>,
    flags: StatxFlags,
    mask: StatxMask,
    answer: &mut Statx,
) -> io::Result<()> {
    Prepared::new(fd, None, flags | StatxFlags::EMPTY_PATH, mask)?.call_into(fd, None, answer)
}
