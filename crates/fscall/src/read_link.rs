//! readlinkat(2).
#![allow(unsafe_code, reason = "the system call")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::sys::check;

/// Enough for nearly every link; longer ones cost a second call.
const FIRST: usize = 256;

/// What a symbolic link contains, whatever its length. An empty `path` is the link that `dir`
/// itself is, opened with [`PATH`](crate::OFlags::PATH) and
/// [`NOFOLLOW`](crate::OFlags::NOFOLLOW).
///
/// readlinkat(2), Linux 2.6.16; the empty path 2.6.39.
///
/// # Errors
///
/// What readlinkat(2) answers: `EINVAL` if it is no symbolic link.
///
/// ```
/// let cwd = fscall::readlinkat(fscall::CWD, c"/proc/self/cwd")?;
/// assert!(cwd.starts_with(b"/"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn readlinkat(dir: BorrowedFd<'_>, path: &CStr) -> io::Result<Vec<u8>> {
    let mut target = Vec::with_capacity(FIRST);
    loop {
        let room = target.spare_capacity_mut();
        // SAFETY: `path` is a C string, and the kernel writes at most as many bytes as there is
        // room for.
        let written = check(unsafe {
            libc::readlinkat(
                dir.as_raw_fd(),
                path.as_ptr(),
                room.as_mut_ptr().cast(),
                room.len(),
            )
        } as i64)?;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the room that there is"
        )]
        let written = written as usize;
        if written < target.capacity() {
            // SAFETY: the kernel has written so many bytes, within the capacity.
            unsafe { target.set_len(written) };
            return Ok(target);
        }
        // It may have been cut off.
        target.reserve(target.capacity() * 2);
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::{CWD, OFlags, openat};

    #[test]
    fn every_length() {
        let temp = tempfile::tempdir().unwrap();
        for length in [1, 59, 60, FIRST - 1, FIRST, FIRST + 1, 2 * FIRST, 4095] {
            let target = "x".repeat(length);
            let path = temp.path().join(length.to_string());
            symlink(&target, &path).unwrap();
            let path = CString::new(path.as_os_str().as_bytes()).unwrap();
            assert_eq!(readlinkat(CWD, &path).unwrap(), target.as_bytes());
        }
    }

    #[test]
    fn an_opened_link_and_what_is_none() {
        use std::os::fd::AsFd;
        let link = openat(CWD, c"/proc/self/cwd", OFlags::PATH | OFlags::NOFOLLOW).unwrap();
        let target = readlinkat(link.as_fd(), c"").unwrap();
        assert_eq!(
            target,
            std::env::current_dir().unwrap().as_os_str().as_bytes()
        );
        let errno = |path| readlinkat(CWD, path).unwrap_err().raw_os_error();
        assert_eq!(errno(c"/"), Some(libc::EINVAL));
        assert_eq!(errno(c"/nonexistent"), Some(libc::ENOENT));
    }
}
