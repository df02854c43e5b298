//! The kernel calls of the floor and of `stat-bench`, with nothing in between.
//!
//! The library crates of this workspace are what is measured, so the
//! measure itself does not use them.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// `AT_FDCWD`: relative paths start at the working directory.
// SAFETY: AT_FDCWD is not -1 and is never closed; the kernel gives it a meaning of its own.
pub const CWD: BorrowedFd<'static> = unsafe { BorrowedFd::borrow_raw(libc::AT_FDCWD) };

/// Offset of `d_type` in a `linux_dirent64` record.
const D_TYPE: usize = 18;
/// Offset of `d_name` in a `linux_dirent64` record.
const D_NAME: usize = 19;

/// openat(2) of a directory, never through a symbolic link in the last component.
///
/// # Errors
/// The kernel's errno.
pub fn open_directory(dir: BorrowedFd<'_>, path: &CStr, follow: bool) -> io::Result<OwnedFd> {
    let nofollow = if follow { 0 } else { libc::O_NOFOLLOW };
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC | nofollow;
    // SAFETY: `path` ends with NUL and lives through the call.
    let fd = unsafe { libc::openat(dir.as_raw_fd(), path.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// openat2(2) with `O_PATH` and `RESOLVE_CACHED` (Linux 5.12).
///
/// # Errors
/// The kernel's errno; `EAGAIN` if the path is not wholly in the dentry cache.
pub fn open_cached(dir: BorrowedFd<'_>, path: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: open_how consists of integers, for which zero is a value.
    let mut how: libc::open_how = unsafe { MaybeUninit::zeroed().assume_init() };
    how.flags = (libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .cast_unsigned()
        .into();
    how.resolve = libc::RESOLVE_CACHED;
    // SAFETY: `path` ends with NUL, `how` is a valid open_how of the size given; both live through the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            dir.as_raw_fd(),
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        )
    };
    let Ok(fd) = i32::try_from(fd) else {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// getdents64(2) into `buf`; the number of bytes written, 0 at the directory's end.
///
/// # Errors
/// The kernel's errno.
pub fn getdents64(dir: BorrowedFd<'_>, buf: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `buf` is writable for its whole length.
    let n = unsafe {
        libc::syscall(
            libc::SYS_getdents64,
            dir.as_raw_fd(),
            buf.as_mut_ptr(),
            buf.len(),
        )
    };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// statx(2) of `path`, a symbolic link itself rather than what it points to.
///
/// # Errors
/// The kernel's errno.
pub fn statx(dir: BorrowedFd<'_>, path: &CStr, mask: u32) -> io::Result<libc::statx> {
    let flags = libc::AT_SYMLINK_NOFOLLOW | libc::AT_NO_AUTOMOUNT;
    statx_raw(dir, Some(path), flags, mask)
}

/// statx(2) of the descriptor itself by a NULL path (Linux 6.11).
///
/// # Errors
/// The kernel's errno; `EFAULT` before 6.11.
pub fn statx_fd(fd: BorrowedFd<'_>, mask: u32) -> io::Result<libc::statx> {
    statx_raw(fd, None, libc::AT_EMPTY_PATH, mask)
}

/// statx(2) of the descriptor itself by an empty path.
///
/// # Errors
/// The kernel's errno.
pub fn statx_empty(fd: BorrowedFd<'_>, mask: u32) -> io::Result<libc::statx> {
    statx_raw(fd, Some(c""), libc::AT_EMPTY_PATH, mask)
}

/// fstat(2).
///
/// # Errors
/// The kernel's errno.
pub fn fstat(fd: BorrowedFd<'_>) -> io::Result<libc::stat> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: `stat` is writable for a struct stat.
    let n = unsafe { libc::fstat(fd.as_raw_fd(), stat.as_mut_ptr()) };
    if n != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the kernel has written the whole structure.
    Ok(unsafe { stat.assume_init() })
}

fn statx_raw(
    dir: BorrowedFd<'_>,
    path: Option<&CStr>,
    flags: i32,
    mask: u32,
) -> io::Result<libc::statx> {
    let path = path.map_or(std::ptr::null(), CStr::as_ptr);
    let mut stat = MaybeUninit::<libc::statx>::uninit();
    // SAFETY: `path` is NULL or ends with NUL and lives through the call; `stat` is writable for a struct statx.
    // glibc's wrapper is not used: it may emulate what an old kernel lacks.
    let n = unsafe {
        libc::syscall(
            libc::SYS_statx,
            dir.as_raw_fd(),
            path,
            flags,
            mask,
            stat.as_mut_ptr(),
        )
    };
    if n != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the kernel has written the whole structure.
    Ok(unsafe { stat.assume_init() })
}

/// What wait4(2) tells of a child that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// User and system time, all threads.
    pub cpu: Duration,
    /// Largest resident set in KiB; never less than its parent's when it was started.
    pub peak_kib: u64,
}

/// Waits until `child` ends.
///
/// # Errors
/// The kernel's errno.
pub fn wait(child: &Child) -> io::Result<Ended> {
    let pid = child.id().cast_signed();
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: both pointers are writable for what wait4 stores there.
        if unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) } == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: wait4 returned the child, so it has filled in the usage.
    let usage = unsafe { usage.assume_init() };
    Ok(Ended {
        status: ExitStatus::from_raw(status),
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        peak_kib: usage.ru_maxrss.try_into().unwrap_or(0),
    })
}

/// User and system time of this process so far, all threads.
///
/// # Errors
/// The kernel's errno.
pub fn cpu_time() -> io::Result<Duration> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` is writable for a struct rusage.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the kernel has written the whole structure.
    let usage = unsafe { usage.assume_init() };
    Ok(duration(usage.ru_utime) + duration(usage.ru_stime))
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = time.tv_sec.try_into().unwrap_or(0);
    let micros = time.tv_usec.try_into().unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

/// One `linux_dirent64` record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The name with its NUL.
    pub name: &'a CStr,
    /// `d_type`: one of libc's `DT_` constants.
    pub kind: u8,
}

/// The records of a buffer filled by [`getdents64`], without "." and "..".
///
/// A record that is cut short ends the iteration: the kernel writes none.
pub fn records(mut buf: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        loop {
            let length = usize::from(u16::from_ne_bytes([*buf.get(16)?, *buf.get(17)?]));
            let (record, rest) = buf.split_at_checked(length)?;
            buf = rest;
            let name = CStr::from_bytes_until_nul(record.get(D_NAME..)?).ok()?;
            if !matches!(name.to_bytes(), b"." | b"..") {
                return Some(Record {
                    name,
                    kind: record[D_TYPE],
                });
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_those_of_read_dir() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "some-longer-name.c", "x"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        let path = std::ffi::CString::new(dir.path().to_str().unwrap()).unwrap();
        let fd = open_directory(CWD, &path, false).unwrap();
        let mut buf = [0; 4096];
        let n = getdents64(std::os::fd::AsFd::as_fd(&fd), &mut buf).unwrap();
        let mut names: Vec<_> = records(&buf[..n])
            .map(|record| (record.name.to_str().unwrap().to_owned(), record.kind))
            .collect();
        names.sort();
        let expected = [
            ("a", libc::DT_REG),
            ("some-longer-name.c", libc::DT_REG),
            ("sub", libc::DT_DIR),
            ("x", libc::DT_REG),
        ];
        assert_eq!(names, expected.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[test]
    fn a_cut_record_ends_the_iteration() {
        assert_eq!(records(&[]).count(), 0);
        assert_eq!(records(&[0; 17]).count(), 0);
        let mut record = [0u8; 24];
        record[16] = 32;
        assert_eq!(records(&record).count(), 0);
    }

    #[test]
    fn three_ways_to_stat_agree() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(12_345).unwrap();
        let path = std::ffi::CString::new(file.path().to_str().unwrap()).unwrap();
        assert_eq!(
            statx(CWD, &path, libc::STATX_SIZE).unwrap().stx_size,
            12_345
        );
        let fd = std::os::fd::AsFd::as_fd(file.as_file());
        match statx_fd(fd, libc::STATX_SIZE) {
            Ok(stat) => assert_eq!(stat.stx_size, 12_345),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EFAULT)),
        }
    }
}
