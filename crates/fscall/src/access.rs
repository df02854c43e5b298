//! faccessat2(2).
#![allow(unsafe_code, reason = "the system call")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use linux_raw_sys::general as sys;

use crate::sys::check;
use crate::{StatxFlags, StatxMask, statx};

/// Whether names can be looked up in a directory, by this thread's effective user.
///
/// It differs from being readable: a directory may be listed whose files cannot be reached.
/// `faccessat2(dir, "", X_OK, AT_EMPTY_PATH | AT_EACCESS)`, Linux 5.8; where that is missing or
/// a sandbox refuses it, `.` is looked up in it.
///
/// # Errors
///
/// What the call answers, other than `EACCES`: that is `Ok(false)`.
///
/// ```
/// use std::os::fd::AsFd;
///
/// let root = std::fs::File::open("/")?;
/// assert!(fscall::searchable(root.as_fd())?);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn searchable(dir: BorrowedFd<'_>) -> io::Result<bool> {
    // SAFETY: the path is a C string.
    let result = check(unsafe {
        libc::syscall(
            sys::__NR_faccessat2.into(),
            dir.as_raw_fd(),
            c"".as_ptr(),
            libc::X_OK,
            sys::AT_EMPTY_PATH | sys::AT_EACCESS,
        )
    });
    match result {
        Ok(_) => Ok(true),
        Err(error) => match error.raw_os_error() {
            Some(libc::EACCES) => Ok(false),
            Some(libc::ENOSYS | libc::EPERM | libc::EINVAL) => by_lookup(dir),
            _ => Err(error),
        },
    }
}

fn by_lookup(dir: BorrowedFd<'_>) -> io::Result<bool> {
    match statx(dir, Some(c"."), StatxFlags::DONT_SYNC, StatxMask::TYPE) {
        Ok(_) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn both_ways_agree() {
        let dir = File::open("/").unwrap();
        assert!(searchable(dir.as_fd()).unwrap());
        assert!(by_lookup(dir.as_fd()).unwrap());
    }
}
