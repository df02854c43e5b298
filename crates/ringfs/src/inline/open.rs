//! Opening a file for reading, on the thread that asks.
//!
//! A lookup from memory does not make an open safe: a pipe waits for its other end, a device does
//! what it likes, a file under a lease waits for its holder, and a network file system asks its
//! server. So the file is named first (`O_PATH`), and opened only if it is a regular file or a
//! directory of a local file system, without crossing a mount, and with `O_NONBLOCK`, which a lease
//! answers with `EAGAIN`. Overlay does not count: it opens a file of a layer that nobody knows.
//!
//! What is left are those who may object to any open of any file: `fanotify(7)` listeners that
//! grant permission, and integrity measurement. Nothing tells that they are there; so an open that
//! has slept all the same, and for long, is the driver's last inline.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use libc::{EBADF, ENAMETOOLONG, ENOENT};

use fscall::mounts::{DontSync, Locality};
use fscall::thread::thread_usage;
use fscall::{FileType, OFlags, OpenHow, ResolveFlags, Statx, StatxFlags, StatxMask};

use super::{InlineRoute, Mounts, is_refusal, mounts};
use crate::trace;

/// A hand-over to another thread would have cost less.
const SLOW: Duration = Duration::from_micros(100);

/// What came of an attempt.
#[derive(Default)]
pub(crate) struct InlineOpen {
    /// `None`: the next route has to ask.
    pub(crate) answer: Option<io::Result<(OwnedFd, Statx)>>,
    /// Its last close may remove the file and take its time, so it is another thread's to do.
    pub(crate) left: Option<OwnedFd>,
}

impl From<io::Error> for InlineOpen {
    fn from(error: io::Error) -> Self {
        Self {
            answer: Some(Err(error)),
            left: None,
        }
    }
}

impl InlineRoute {
    /// Tries to open a file beneath a directory at once, with the fields of `mask`.
    pub(crate) fn open_beneath(
        &self,
        dir: BorrowedFd<'_>,
        path: &CStr,
        flags: OFlags,
        mask: StatxMask,
    ) -> InlineOpen {
        let miss = InlineOpen::default();
        if !self.opens.load(Ordering::Relaxed)
            || !self.cached_open.is_on()
            || mounts().dont_sync() != DontSync::Everywhere
        {
            return miss;
        }
        let resolve = ResolveFlags::CACHED | ResolveFlags::NO_XDEV | ResolveFlags::BENEATH;
        let named = flags.intersection(OFlags::NOFOLLOW) | OFlags::PATH;
        let file = match fscall::openat2(dir, path, &OpenHow::new(named, resolve)) {
            Ok(file) => file,
            Err(error) => {
                // What the plain call would have answered as well.
                if let Some(ENOENT | EBADF | ENAMETOOLONG) = error.raw_os_error() {
                    return error.into();
                }
                if is_refusal(&error) {
                    self.cached_open.try_on_root();
                }
                return miss;
            }
        };
        let left = |file| InlineOpen {
            answer: None,
            left: Some(file),
        };
        let Some(before) = self.openable(file.as_fd()) else {
            return left(file);
        };
        let how = OpenHow::new(flags | OFlags::NONBLOCK, resolve);
        let Ok(opened) = self.timed(|| fscall::openat2(dir, path, &how)) else {
            return left(file);
        };
        let keeps = flags.contains(OFlags::NONBLOCK);
        if !keeps && fscall::clear_nonblock(opened.as_fd()).is_err() {
            return left(file);
        }
        // Of what has been opened, which may have taken the place of what was named.
        let Ok(mut stat) = fscall::statx_fd(opened.as_fd(), StatxFlags::DONT_SYNC, ASKED | mask)
        else {
            return left(file);
        };
        let is_same = (stat.dev(), stat.ino()) == (before.dev(), before.ino());
        stat.keep_fields(mask);
        InlineOpen {
            answer: Some(Ok((opened, stat))),
            left: (!is_same).then_some(file),
        }
    }

    /// A regular file or a directory that is not being removed, on a local mount.
    fn openable(&self, file: BorrowedFd<'_>) -> Option<Statx> {
        let mask = ASKED | Mounts::mask();
        let stat = fscall::statx_fd(file, StatxFlags::DONT_SYNC, mask).ok()?;
        let may_open = matches!(
            stat.file_type(),
            Some(FileType::REGULAR | FileType::DIRECTORY)
        ) && stat.nlink() != Some(0)
            && self.locality(&stat) == Locality::Local;
        may_open.then_some(stat)
    }

    fn timed<T>(&self, open: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let (before, start) = (thread_usage().voluntary_switches, Instant::now());
        let result = open();
        // The clock alone can't tell a thread that slept from one whose processor was taken.
        let took = start.elapsed();
        if took > SLOW && thread_usage().voluntary_switches > before {
            trace::inline_open_slept(took.as_micros());
            self.opens.store(false, Ordering::Relaxed);
        }
        result
    }
}

const ASKED: StatxMask = StatxMask::TYPE
    .union(StatxMask::INO)
    .union(StatxMask::NLINK);

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn an_open_that_slept_is_the_last() {
        let route = InlineRoute::new(false, true);
        route.timed(|| Ok(())).unwrap();
        assert!(route.opens.load(Ordering::Relaxed));
        route
            .timed(|| {
                sleep(Duration::from_millis(2));
                Ok(())
            })
            .unwrap();
        let root = std::fs::File::open("/").unwrap();
        let flags = OFlags::RDONLY;
        let late = route.open_beneath(root.as_fd(), c"etc", flags, StatxMask::TYPE);
        assert!(late.answer.is_none() && late.left.is_none());
    }

    #[test]
    fn only_files_and_directories_of_local_mounts() {
        let route = InlineRoute::new(false, true);
        for (place, name) in [("/dev", c"null"), ("/proc", c"version"), ("/sys", c".")] {
            let dir = std::fs::File::open(place).unwrap();
            let open = || route.open_beneath(dir.as_fd(), name, OFlags::RDONLY, StatxMask::TYPE);
            assert!(open().answer.is_none(), "{place}");
        }
    }
}
