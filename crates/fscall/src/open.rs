//! openat(2), openat2(2), close(2).
#![allow(unsafe_code, reason = "the system calls")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

use linux_raw_sys::general as sys;

use crate::sys::{check, retry_on_eintr};

/// Stands for the current directory in place of a directory descriptor.
#[doc(alias = "AT_FDCWD")]
// SAFETY: the number is not -1, and as it is no descriptor nobody can close it.
pub const CWD: BorrowedFd<'static> = unsafe { BorrowedFd::borrow_raw(libc::AT_FDCWD) };

bitflags::bitflags! {
    /// How a file is opened. Nothing here makes or changes a file.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct OFlags: u32 {
        /// Fails with `ENOTDIR` if it is no directory.
        #[doc(alias = "O_DIRECTORY")]
        const DIRECTORY = libc::O_DIRECTORY.cast_unsigned();
        /// If the last component is a symbolic link, it fails with `ELOOP`; with
        /// [`PATH`](Self::PATH) the link itself is opened.
        #[doc(alias = "O_NOFOLLOW")]
        const NOFOLLOW = libc::O_NOFOLLOW.cast_unsigned();
        /// A program that is executed does not get the descriptor. Always added.
        #[doc(alias = "O_CLOEXEC")]
        const CLOEXEC = libc::O_CLOEXEC.cast_unsigned();
        /// Names a file without opening it: needs no permission on it, and can't be read.
        #[doc(alias = "O_PATH")]
        const PATH = libc::O_PATH.cast_unsigned();
        /// Does not wait for the other end of a pipe or a device.
        #[doc(alias = "O_NONBLOCK")]
        const NONBLOCK = libc::O_NONBLOCK.cast_unsigned();
        /// Reads do not change the access time; only for the owner of the file.
        #[doc(alias = "O_NOATIME")]
        const NOATIME = libc::O_NOATIME.cast_unsigned();
        /// A terminal does not become the one that controls the process.
        #[doc(alias = "O_NOCTTY")]
        const NOCTTY = libc::O_NOCTTY.cast_unsigned();
    }

    /// How a path may be resolved by [`openat2`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ResolveFlags: u64 {
        /// No mount point is crossed: `EXDEV`.
        #[doc(alias = "RESOLVE_NO_XDEV")]
        const NO_XDEV = sys::RESOLVE_NO_XDEV as u64;
        /// No link of `/proc/PID/fd` and its like is followed: `ELOOP`.
        #[doc(alias = "RESOLVE_NO_MAGICLINKS")]
        const NO_MAGICLINKS = sys::RESOLVE_NO_MAGICLINKS as u64;
        /// No symbolic link is followed: `ELOOP`.
        #[doc(alias = "RESOLVE_NO_SYMLINKS")]
        const NO_SYMLINKS = sys::RESOLVE_NO_SYMLINKS as u64;
        /// Nothing outside of the directory is reached: `EXDEV`.
        #[doc(alias = "RESOLVE_BENEATH")]
        const BENEATH = sys::RESOLVE_BENEATH as u64;
        /// The directory counts as `/`.
        #[doc(alias = "RESOLVE_IN_ROOT")]
        const IN_ROOT = sys::RESOLVE_IN_ROOT as u64;
        /// What is not in the dentry cache is not looked up: `EAGAIN`. Linux 5.12, and stable
        /// kernels of 5.10; `EINVAL` before.
        #[doc(alias = "RESOLVE_CACHED")]
        const CACHED = sys::RESOLVE_CACHED as u64;
    }
}

impl OFlags {
    /// Opens for reading: no bit at all.
    #[doc(alias = "O_RDONLY")]
    pub const RDONLY: Self = Self::empty();
}

/// What [`openat2`] is asked for: the kernel's `struct open_how`.
#[doc(alias = "struct open_how")]
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct OpenHow(sys::open_how);

// The first version of the structure, which every kernel with the call knows.
const _: () = assert!(size_of::<OpenHow>() == 24);

impl OpenHow {
    /// Opens with `flags`, and [`CLOEXEC`](OFlags::CLOEXEC) always, by a path that resolves as
    /// `resolve` allows.
    pub fn new(flags: OFlags, resolve: ResolveFlags) -> Self {
        let flags = (flags | OFlags::CLOEXEC).bits().into();
        Self(sys::open_how {
            flags,
            mode: 0,
            resolve: resolve.bits(),
        })
    }

    /// The flags.
    pub fn flags(&self) -> OFlags {
        #[allow(clippy::cast_possible_truncation, reason = "they were made from a u32")]
        OFlags::from_bits_retain(self.0.flags as u32)
    }

    /// How the path may be resolved.
    pub fn resolve(&self) -> ResolveFlags {
        ResolveFlags::from_bits_retain(self.0.resolve)
    }

    /// The structure, for a call that reads it. It has 24 bytes.
    pub fn as_ptr(&self) -> *const sys::open_how {
        &raw const self.0
    }
}

/// Opens a file, with [`CLOEXEC`](OFlags::CLOEXEC) always.
///
/// openat(2); retried while a signal interrupts it.
///
/// # Errors
///
/// What openat(2) answers.
///
/// ```
/// use fscall::{CWD, OFlags};
///
/// let root = fscall::openat(CWD, c"/", OFlags::RDONLY | OFlags::DIRECTORY)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn openat(dir: BorrowedFd<'_>, path: &CStr, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = (flags | OFlags::CLOEXEC).bits().cast_signed();
    // SAFETY: `path` is a C string.
    retry_on_eintr(|| check(unsafe { libc::openat64(dir.as_raw_fd(), path.as_ptr(), flags, 0) }))
        .map(owned)
}

/// Opens a file by a path that resolves within limits.
///
/// openat2(2), Linux 5.6; retried while a signal interrupts it.
///
/// # Errors
///
/// What openat2(2) answers. `ENOSYS` before 5.6; sandboxes that do not know the call answer
/// `ENOSYS` or `EPERM`.
///
/// ```
/// use fscall::{CWD, OFlags, OpenHow, ResolveFlags};
///
/// let how = OpenHow::new(OFlags::PATH, ResolveFlags::NO_SYMLINKS);
/// let root = fscall::openat2(CWD, c"/", &how)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn openat2(dir: BorrowedFd<'_>, path: &CStr, how: &OpenHow) -> io::Result<OwnedFd> {
    retry_on_eintr(|| {
        // SAFETY: `path` is a C string, and `how` points to as many bytes as the size says.
        check(unsafe {
            libc::syscall(
                libc::SYS_openat2,
                dir.as_raw_fd(),
                path.as_ptr(),
                how.as_ptr(),
                size_of::<OpenHow>(),
            )
        })
    })
    .map(owned)
}

/// Closes a descriptor, and tells what dropping it would not.
///
/// close(2). Never retried: the descriptor is gone whatever is answered.
///
/// # Errors
///
/// What close(2) answers; for example `EIO` or `ENOSPC` from a network file system.
pub fn close(fd: OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor was owned, and nobody uses it after this.
    check(unsafe { libc::close(fd.into_raw_fd()) })?;
    Ok(())
}

/// From now on reads and writes of an open file wait, where it was opened with
/// [`NONBLOCK`](OFlags::NONBLOCK) for the sake of the open alone.
///
/// fcntl(2), `F_GETFL` and `F_SETFL`; it never sleeps.
///
/// # Errors
///
/// What fcntl(2) answers.
#[doc(alias = "F_SETFL")]
pub fn clear_nonblock(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    #[allow(clippy::cast_possible_truncation, reason = "flags are a C int")]
    let flags = flags as libc::c_int & !libc::O_NONBLOCK;
    // SAFETY: no memory is involved.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags) })?;
    Ok(())
}

fn owned(fd: i64) -> OwnedFd {
    #[allow(clippy::cast_possible_truncation, reason = "descriptors are C ints")]
    let fd = fd as RawFd;
    // SAFETY: the kernel has just made this descriptor, for this caller alone.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    fn is_cloexec(fd: &OwnedFd) -> bool {
        // SAFETY: reads a flag of an open descriptor.
        let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFD) };
        flags & libc::FD_CLOEXEC != 0
    }

    #[test]
    fn descriptors_are_closed_on_exec() {
        let by_openat = openat(CWD, c"/", OFlags::RDONLY).unwrap();
        let how = OpenHow::new(OFlags::PATH, ResolveFlags::empty());
        let by_openat2 = openat2(CWD, c"/", &how).unwrap();
        assert!(is_cloexec(&by_openat) && is_cloexec(&by_openat2));
    }

    #[test]
    fn errors_are_the_kernels() {
        let errno = |result: io::Result<OwnedFd>| result.unwrap_err().raw_os_error();
        assert_eq!(
            errno(openat(CWD, c"/nonexistent", OFlags::RDONLY)),
            Some(libc::ENOENT)
        );
        let directory = OFlags::DIRECTORY;
        assert_eq!(
            errno(openat(CWD, c"/proc/self/exe", directory)),
            Some(libc::ENOTDIR)
        );
        let inside = OpenHow::new(OFlags::PATH, ResolveFlags::BENEATH);
        let root = openat(CWD, c"/proc", OFlags::PATH).unwrap();
        assert_eq!(
            errno(openat2(root.as_fd(), c"..", &inside)),
            Some(libc::EXDEV)
        );
    }

    #[test]
    fn how_reads_back() {
        let how = OpenHow::new(OFlags::PATH | OFlags::NOFOLLOW, ResolveFlags::CACHED);
        assert_eq!(
            how.flags(),
            OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC
        );
        assert_eq!(how.resolve(), ResolveFlags::CACHED);
    }

    #[test]
    fn nonblock_alone_is_cleared() {
        let temp = tempfile::tempdir().unwrap();
        let dir = std::fs::File::open(temp.path()).unwrap();
        let flags = OFlags::NONBLOCK | OFlags::NOATIME | OFlags::DIRECTORY;
        let fd = openat(dir.as_fd(), c".", flags).unwrap();
        clear_nonblock(fd.as_fd()).unwrap();
        // SAFETY: reads the flags of an open descriptor.
        let left = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
        assert_eq!(left & libc::O_NONBLOCK, 0);
        assert_eq!(left & libc::O_NOATIME, libc::O_NOATIME);
    }

    #[test]
    fn a_descriptor_is_gone_after_close() {
        let fd = openat(CWD, c"/", OFlags::PATH).unwrap();
        close(fd).unwrap();
    }
}
