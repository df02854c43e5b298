//! unlinkat(2).
#![allow(unsafe_code, reason = "the system call")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::sys::check;

/// What [`unlinkat`] removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlink {
    /// Anything but a directory.
    File,
    /// An empty directory.
    #[doc(alias = "AT_REMOVEDIR")]
    Directory,
}

/// Removes a name from a directory. A symbolic link is removed itself.
///
/// unlinkat(2), Linux 2.6.16.
///
/// # Errors
///
/// What unlinkat(2) answers: `EISDIR` if it is a directory and should not be, `ENOTDIR` the other
/// way round, `ENOTEMPTY` if it is a directory with something in it.
///
/// ```
/// use fscall::{CWD, Unlink};
///
/// let error = fscall::unlinkat(CWD, c"/proc/none", Unlink::File).unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
/// ```
#[doc(alias = "unlink")]
#[doc(alias = "rmdir")]
pub fn unlinkat(dir: BorrowedFd<'_>, path: &CStr, what: Unlink) -> io::Result<()> {
    let flags = match what {
        Unlink::File => 0,
        Unlink::Directory => libc::AT_REMOVEDIR,
    };
    // SAFETY: `path` is a C string.
    check(unsafe { libc::unlinkat(dir.as_raw_fd(), path.as_ptr(), flags) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn files_and_directories() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("d")).unwrap();
        fs::write(place.path().join("d/f"), "").unwrap();
        let dir = fs::File::open(place.path()).unwrap();
        let errno = |path, what| {
            unlinkat(dir.as_fd(), path, what)
                .err()
                .map(|it| it.raw_os_error().unwrap())
        };
        assert_eq!(errno(c"d", Unlink::File), Some(libc::EISDIR));
        assert_eq!(errno(c"d", Unlink::Directory), Some(libc::ENOTEMPTY));
        assert_eq!(errno(c"d/f", Unlink::Directory), Some(libc::ENOTDIR));
        assert_eq!(errno(c"d/f", Unlink::File), None);
        assert_eq!(errno(c"d", Unlink::Directory), None);
        assert_eq!(errno(c"d", Unlink::Directory), Some(libc::ENOENT));
    }
}
