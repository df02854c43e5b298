//! faccessat(2) and faccessat2(2).
#![allow(unsafe_code, reason = "the system call")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use bitflags::bitflags;
use linux_raw_sys::general as sys;

use crate::sys::check;
use crate::{StatxFlags, StatxMask, statx};

bitflags! {
    /// What [`faccessat`] asks for; none of them asks whether the file is there.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Access: u32 {
        /// Reading it, or listing it if it is a directory.
        #[doc(alias = "R_OK")]
        const READ = sys::R_OK;
        /// Writing to it, or making and removing files in it if it is a directory.
        #[doc(alias = "W_OK")]
        const WRITE = sys::W_OK;
        /// Executing it, or looking up names in it if it is a directory.
        #[doc(alias = "X_OK")]
        const EXECUTE = sys::X_OK;
    }
}

/// Whether the *real* user of this process may do all of `access` with a file. Symbolic links are
/// followed.
///
/// faccessat(2), the same as access(2) relative to a directory.
///
/// # Errors
///
/// `EACCES` or `EROFS` if not; otherwise what finding the file answers.
///
/// ```
/// use fscall::{Access, CWD};
///
/// fscall::faccessat(CWD, c"/", Access::READ | Access::EXECUTE)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn faccessat(dir: BorrowedFd<'_>, path: &CStr, access: Access) -> io::Result<()> {
    // SAFETY: the path is a C string.
    check(unsafe {
        libc::syscall(
            sys::__NR_faccessat.into(),
            dir.as_raw_fd(),
            path.as_ptr(),
            access.bits(),
        )
    })?;
    Ok(())
}

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
    fn what_may_be_done() {
        let all = Access::READ | Access::WRITE | Access::EXECUTE;
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = crate::to_c_path(file.path().as_os_str().as_encoded_bytes()).unwrap();
        faccessat(crate::CWD, &path, Access::READ | Access::WRITE).unwrap();
        let answer = |access| faccessat(crate::CWD, &path, access).map_err(|it| it.raw_os_error());
        // Root may not execute it either.
        assert_eq!(answer(all), Err(Some(libc::EACCES)));
        let missing = faccessat(crate::CWD, c"/nothing/there", Access::empty());
        assert_eq!(missing.unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }

    #[test]
    fn both_ways_agree() {
        let dir = File::open("/").unwrap();
        assert!(searchable(dir.as_fd()).unwrap());
        assert!(by_lookup(dir.as_fd()).unwrap());
    }
}
