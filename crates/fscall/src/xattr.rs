//! getxattr(2), for a name in a directory.
#![allow(unsafe_code, reason = "the system call")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::sys::check;

/// Enough for a security context.
const FIRST: usize = 256;

/// The extended attribute `attribute` of the file `path` in `dir`; of a symbolic link, what it leads to
/// if `follow`, else its own.
///
/// getxattr(2) and lgetxattr(2), Linux 2.4, through `/proc/self/fd` where `dir` is not
/// [`CWD`](crate::CWD) and `path` not absolute (getxattrat(2) is there since 6.13 only).
///
/// # Errors
///
/// What getxattr(2) answers: `ENODATA` if the file has no such attribute, `EOPNOTSUPP` if its file system
/// has none; `ENOENT` also without a `/proc`.
///
/// ```
/// let error = fscall::getxattrat(fscall::CWD, c"/proc", false, c"user.none").unwrap_err();
/// assert!(error.raw_os_error().is_some());
/// ```
#[doc(alias = "getxattr")]
#[doc(alias = "lgetxattr")]
pub fn getxattrat(
    dir: BorrowedFd<'_>,
    path: &CStr,
    follow: bool,
    attribute: &CStr,
) -> io::Result<Vec<u8>> {
    let dir = dir.as_raw_fd();
    if dir == libc::AT_FDCWD || path.to_bytes().starts_with(b"/") {
        return get(path, follow, attribute);
    }
    let through = [format!("/proc/self/fd/{dir}/").as_bytes(), path.to_bytes()].concat();
    get(&crate::to_c_path(&through)?, follow, attribute)
}

fn get(path: &CStr, follow: bool, attribute: &CStr) -> io::Result<Vec<u8>> {
    type Call = unsafe extern "C" fn(
        *const libc::c_char,
        *const libc::c_char,
        *mut libc::c_void,
        usize,
    ) -> isize;
    let call: Call = if follow {
        libc::getxattr
    } else {
        libc::lgetxattr
    };
    let mut value = Vec::<u8>::with_capacity(FIRST);
    loop {
        let room = value.spare_capacity_mut();
        // SAFETY: both names are C strings, and the kernel writes at most as many bytes as there is room
        // for.
        let written = check(unsafe {
            call(
                path.as_ptr(),
                attribute.as_ptr(),
                room.as_mut_ptr().cast(),
                room.len(),
            )
        } as i64);
        match written {
            Ok(written) => {
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "at most the room that there is"
                )]
                let written = written as usize;
                // SAFETY: the kernel has written so many bytes, within the capacity.
                unsafe { value.set_len(written) };
                return Ok(value);
            }
            // No attribute is longer than 64 KiB.
            Err(error)
                if error.raw_os_error() == Some(libc::ERANGE) && value.capacity() < 1 << 17 =>
            {
                value.reserve(value.capacity() * 2);
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_name_in_a_directory() {
        let dir = File::open("/").unwrap();
        let error = |dir, path| {
            getxattrat(dir, path, true, c"user.none")
                .unwrap_err()
                .raw_os_error()
        };
        assert_eq!(error(dir.as_fd(), c"no such file"), Some(libc::ENOENT));
        assert_eq!(error(dir.as_fd(), c"proc"), error(crate::CWD, c"/proc"));
    }
}
