//! Answers from memory, on the thread that asks: what may run there, because it cannot sleep.
//!
//! The descriptor form of statx, and the path form as `openat2(O_PATH | RESOLVE_CACHED)`, the
//! descriptor form, `close`. Neither can sleep, **because** the lookup is confined to the dentry
//! cache, `AT_STATX_DONT_SYNC` is always added, and the mount is always asked for: the answer
//! counts only if it came from a mount known to be local. Otherwise it is thrown away, unless the
//! caller asked for `DONT_SYNC` himself, and the next route asks again. Sources: openat2(2),
//! statx(2).
#![allow(
    clippy::inline_always,
    reason = "a return that comes after a system call is mispredicted"
)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use libc::{EBADF, EFAULT, EINVAL, ENAMETOOLONG, ENOENT, ENOSYS, EPERM};

use fscall::mounts::{DontSync, Locality, Mounts};
use fscall::{Form, OFlags, OpenHow, Prepared, ResolveFlags, Statx, StatxFlags, StatxMask};

use crate::capabilities::InlinePaths;
use crate::metrics::FsKey;
use crate::trace;

mod open;

/// What came of an attempt.
pub(crate) enum Inline {
    /// The answer is written: the same that the plain call would have given. It came from there.
    Answered(FsKey),
    /// As [`Answered`](Self::Answered), but the last close of this descriptor may remove the file
    /// and take its time, so it is another thread's to do.
    Removed(FsKey, OwnedFd),
    /// Final, and the same that the plain call would have failed with.
    Failed(io::Error),
    /// The next route has to ask.
    Miss,
}

/// The inline route of one driver.
#[derive(Debug)]
pub(crate) struct InlineRoute {
    /// Whether the path form may use openat2.
    cached_open: Switch,
    /// Whether `statmount` may be asked; without it only the mount table is.
    statmount: bool,
    /// Whether overlay counts as local.
    overlay: bool,
    /// Whether files may be opened: until one turns out to have slept all the same.
    opens: AtomicBool,
}

/// A route that is on until the kernel or a sandbox turns out not to have it.
#[derive(Debug)]
struct Switch(AtomicU8);

const UNTRIED: u8 = 0;
const ON: u8 = 1;
const OFF: u8 = 2;

/// What has been learnt of mounts. They do not differ between drivers, so it is shared.
pub(crate) fn mounts() -> &'static Mounts {
    static MOUNTS: blockpool::PerFork<Mounts> = blockpool::PerFork::new(Mounts::new);
    MOUNTS.get()
}

impl InlineRoute {
    pub(crate) fn new(sandboxed: bool, overlay: bool) -> Self {
        let cached_open = Switch(AtomicU8::new(if sandboxed { OFF } else { UNTRIED }));
        Self {
            cached_open,
            statmount: !sandboxed,
            overlay,
            opens: AtomicBool::new(true),
        }
    }

    /// What can be done inline with paths; asks the kernel if that is not known yet.
    pub(crate) fn try_paths(&self) -> InlinePaths {
        self.cached_open.try_on_root();
        let lookups = self.cached_open.is_on();
        InlinePaths {
            lookups,
            opens: lookups && self.opens.load(Ordering::Relaxed),
        }
    }

    /// Tries to answer at once.
    #[inline(always)]
    pub(crate) fn statx(
        &self,
        dir: BorrowedFd<'_>,
        path: Option<&CStr>,
        prepared: &Prepared,
        answer: &mut Statx,
    ) -> Inline {
        // Before a call on a mount that may not honour DONT_SYNC the only safe thing is not to
        // make it.
        let resolve = match mounts().dont_sync() {
            DontSync::Everywhere => ResolveFlags::CACHED,
            DontSync::OnRoot if path.is_some_and(|path| path.to_bytes().starts_with(b"/")) => {
                ResolveFlags::CACHED | ResolveFlags::NO_XDEV
            }
            DontSync::OnRoot | DontSync::Unknown => return Inline::Miss,
        };
        match (prepared.form(), path) {
            (Form::Fd, _) => match self.by_descriptor(dir, prepared, answer) {
                Some(from) => Inline::Answered(from),
                None => Inline::Miss,
            },
            (Form::Path, Some(path)) if self.cached_open.is_on() => {
                self.by_path((dir, path), prepared, resolve, answer)
            }
            (Form::Path, _) => Inline::Miss,
        }
    }

    fn by_path(
        &self,
        (dir, path): (BorrowedFd<'_>, &CStr),
        prepared: &Prepared,
        resolve: ResolveFlags,
        answer: &mut Statx,
    ) -> Inline {
        let follow = if prepared.flags().contains(StatxFlags::SYMLINK_NOFOLLOW) {
            OFlags::NOFOLLOW
        } else {
            OFlags::empty()
        };
        let how = OpenHow::new(OFlags::PATH | OFlags::CLOEXEC | follow, resolve);
        let fd = match fscall::openat2(dir, path, &how) {
            Ok(fd) => fd,
            Err(error) if is_final(&error, path, prepared) => return Inline::Failed(error),
            Err(error) => {
                if is_refusal(&error) {
                    self.cached_open.try_on_root();
                }
                return Inline::Miss;
            }
        };
        match self.by_descriptor(fd.as_fd(), prepared, answer) {
            None => Inline::Miss,
            Some(from) if answer.nlink() == Some(0) => Inline::Removed(from, fd),
            Some(from) => Inline::Answered(from),
        }
    }

    /// `None`: not known to be what the plain call would have answered.
    #[inline(always)]
    fn by_descriptor(
        &self,
        fd: BorrowedFd<'_>,
        prepared: &Prepared,
        answer: &mut Statx,
    ) -> Option<FsKey> {
        let asked = prepared.mask();
        let stale_is_fine = prepared.flags().contains(StatxFlags::DONT_SYNC);
        // Where the answer came from; and whether the file is being removed, which local file
        // systems tell whatever they are asked.
        let mask = asked | Mounts::mask_beside(asked) | StatxMask::NLINK;
        fscall::statx_fd_into(fd, StatxFlags::DONT_SYNC, mask, answer).ok()?;
        if !stale_is_fine && !self.is_local(answer) {
            return None;
        }
        let from = FsKey::of(answer);
        answer.keep_fields(asked);
        Some(from)
    }

    fn is_local(&self, answer: &Statx) -> bool {
        match self.locality(answer) {
            Locality::Local => true,
            Locality::Overlay => self.overlay,
            Locality::MaySleep => false,
        }
    }

    /// Whether this file is on a file system where a call can sleep although all is in memory.
    /// Asking may sleep as well.
    pub(crate) fn is_remote(&self, fd: BorrowedFd<'_>) -> bool {
        fscall::statx_fd(fd, StatxFlags::DONT_SYNC, Mounts::mask())
            .is_ok_and(|answer| self.locality(&answer) == Locality::MaySleep)
    }

    fn locality(&self, answer: &Statx) -> Locality {
        let mounts = mounts();
        if self.statmount {
            mounts.locality(answer)
        } else {
            mounts.locality_by_mountinfo(answer)
        }
    }
}

impl Switch {
    fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed) != OFF
    }

    /// Finds out whether it is the call that is refused, rather than the file: every kernel that
    /// has it opens `/`.
    fn try_on_root(&self) {
        if self.0.load(Ordering::Relaxed) == UNTRIED {
            let how = OpenHow::new(OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::CACHED);
            let refused =
                fscall::openat2(fscall::CWD, c"/", &how).is_err_and(|error| is_refusal(&error));
            if refused {
                trace::inline_refused();
            }
            self.0
                .store(if refused { OFF } else { ON }, Ordering::Relaxed);
        }
    }
}

/// Errors that a plain call would have answered as well. Everything else, from a denied directory
/// to an exhausted descriptor table, may only mean "not from memory".
fn is_final(error: &io::Error, path: &CStr, prepared: &Prepared) -> bool {
    match error.raw_os_error() {
        // An empty path is the kernel's to refuse only where EMPTY_PATH does not allow it.
        Some(ENOENT) => !(path.is_empty() && prepared.flags().contains(StatxFlags::EMPTY_PATH)),
        Some(EBADF | EFAULT | ENAMETOOLONG) => true,
        _ => false,
    }
}

/// What a kernel without the call or the flag answers, or a sandbox.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(EPERM | ENOSYS | EINVAL))
}
