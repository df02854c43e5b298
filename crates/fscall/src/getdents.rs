//! getdents64(2).
#![allow(unsafe_code, reason = "the system calls")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::sys::check;

/// Reads the next entries of an open directory, and appends them to `buf` as far as its spare
/// capacity holds them. [`Dirents`](crate::Dirents) parses them.
///
/// Answers how many bytes were appended: 0 at the end of the directory. The position is the open
/// file's: descriptors that were duplicated share it. getdents64(2).
///
/// # Errors
///
/// What getdents64(2) answers: `EINVAL` if not even one entry fits, `ENOENT` if the directory has
/// been removed (which readdir(3) takes for the end), `ENOTDIR` if it is none. `buf` is unchanged
/// then.
///
/// ```
/// use std::os::fd::AsFd;
/// use fscall::{CWD, Dirents, OFlags};
///
/// let root = fscall::openat(CWD, c"/", OFlags::DIRECTORY)?;
/// let mut buf = Vec::with_capacity(32 * 1024);
/// while fscall::getdents64(root.as_fd(), &mut buf)? > 0 {
///     for entry in Dirents::new(&buf) {
///         let entry = entry?;
///         assert!(!entry.name().is_empty());
///     }
///     buf.clear();
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn getdents64(dir: BorrowedFd<'_>, buf: &mut Vec<u8>) -> io::Result<usize> {
    let spare = buf.spare_capacity_mut();
    // The kernel's count is a C int to most of its file systems.
    let room = spare.len().min(libc::c_int::MAX as usize);
    // SAFETY: the kernel writes at most `room` bytes to the spare capacity, which is that large.
    let ret = unsafe {
        libc::syscall(
            libc::SYS_getdents64,
            dir.as_raw_fd(),
            spare.as_mut_ptr(),
            room,
        )
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most `room`"
    )]
    let read = check(ret)? as usize;
    // SAFETY: the kernel has written `read` bytes behind the old length, within the capacity.
    unsafe { buf.set_len(buf.len() + read) };
    Ok(read)
}

/// No single record is longer: its length is a 16-bit number.
const LONGEST_RECORD: usize = 64 * 1024;

/// Reads the next entries like [`getdents64`], as readdir(3) sees them: a directory that has been
/// removed has ended, and a record that does not fit grows `buf`.
///
/// # Errors
///
/// What getdents64(2) answers otherwise. `buf` has the same content then.
pub fn read_records(dir: BorrowedFd<'_>, buf: &mut Vec<u8>) -> io::Result<usize> {
    match getdents64(dir, buf) {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(0),
        Err(error)
            if error.raw_os_error() == Some(libc::EINVAL)
                && buf.capacity() - buf.len() < LONGEST_RECORD =>
        {
            buf.reserve(LONGEST_RECORD);
            getdents64(dir, buf)
        }
        answer => answer,
    }
}

/// Moves an open directory's position back to its start.
///
/// lseek(2).
///
/// # Errors
///
/// What lseek(2) answers.
pub fn rewind(dir: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::lseek(dir.as_raw_fd(), 0, libc::SEEK_SET) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn records_as_readdir_sees_them() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("d");
        std::fs::create_dir(&path).unwrap();
        let dir = std::fs::File::open(&path).unwrap();
        // Not even room for one: it grows.
        let mut buf = Vec::new();
        assert!(read_records(dir.as_fd(), &mut buf).unwrap() > 0);
        rewind(dir.as_fd()).unwrap();
        std::fs::remove_dir(&path).unwrap();
        assert_eq!(read_records(dir.as_fd(), &mut buf).unwrap(), 0);
    }

    #[test]
    fn a_buffer_without_room_grows_and_keeps_what_it_has() {
        let temp = tempfile::tempdir().unwrap();
        let long = "n".repeat(255);
        for name in [&long[..], "b", "c"] {
            std::fs::write(temp.path().join(name), "").unwrap();
        }
        // From no room at all to room for some of the entries, behind those that came before.
        for room in (0..400).step_by(8) {
            let dir = std::fs::File::open(temp.path()).unwrap();
            let mut buf = Vec::new();
            loop {
                let mut tight = Vec::with_capacity(buf.len() + room);
                tight.append(&mut buf);
                buf = tight;
                let before = buf.len();
                let read = read_records(dir.as_fd(), &mut buf).unwrap();
                assert_eq!(buf.len(), before + read);
                if read == 0 {
                    break;
                }
            }
            let names = crate::Dirents::new(&buf).map(|entry| entry.unwrap().name().to_vec());
            let mut names: Vec<_> = names.collect();
            names.sort();
            let expected = [&b"."[..], b"..", b"b", b"c", long.as_bytes()];
            assert_eq!(names, expected, "room for {room} bytes");
        }
    }

    use std::os::fd::AsFd;

    use super::*;
    use crate::{CWD, OFlags, openat};

    #[test]
    fn appends_and_rewinds() {
        let dir = openat(CWD, c"/proc/self", OFlags::DIRECTORY).unwrap();
        let mut buf = Vec::with_capacity(256);
        buf.extend_from_slice(b"kept");
        let first = getdents64(dir.as_fd(), &mut buf).unwrap();
        assert!(first > 0 && buf.len() == 4 + first && buf.starts_with(b"kept"));
        let second = buf.split_off(4);
        rewind(dir.as_fd()).unwrap();
        assert_eq!(getdents64(dir.as_fd(), &mut buf).unwrap(), first);
        assert_eq!(
            crate::Dirents::new(&buf[4..]).count(),
            crate::Dirents::new(&second).count()
        );
    }

    #[test]
    fn the_end_is_zero() {
        let temp = tempfile::tempdir().unwrap();
        let dir = std::fs::File::open(temp.path()).unwrap();
        let mut buf = Vec::with_capacity(1024);
        assert!(getdents64(dir.as_fd(), &mut buf).unwrap() > 0);
        assert_eq!(getdents64(dir.as_fd(), &mut buf).unwrap(), 0);
    }

    #[test]
    fn errors_leave_the_buffer_alone() {
        let dir = openat(CWD, c"/", OFlags::DIRECTORY).unwrap();
        for capacity in [0, 8] {
            let mut buf = Vec::with_capacity(capacity);
            let error = getdents64(dir.as_fd(), &mut buf).unwrap_err();
            assert_eq!((error.raw_os_error(), buf.len()), (Some(libc::EINVAL), 0));
        }
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        let error = getdents64(file.as_fd(), &mut Vec::with_capacity(1024)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTDIR));
    }

    #[test]
    fn a_removed_directory_is_enoent() {
        let temp = tempfile::tempdir().unwrap();
        let dir = std::fs::File::open(temp.path()).unwrap();
        drop(temp);
        let error = getdents64(dir.as_fd(), &mut Vec::with_capacity(1024)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }
}
