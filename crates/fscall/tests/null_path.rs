//! How it is learnt whether NULL paths are taken. In a program of its own, since it is the one
//! thing that this crate remembers, and one test, since the order matters.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

use fscall::{NullPath, Statx, StatxFlags, StatxMask, null_path, statx_fd};

#[test]
fn the_first_call_that_can_tell_tells() {
    assert_eq!(null_path(), NullPath::Unknown);

    // SAFETY: it is not -1; that nothing is open by this number is the point.
    let closed = unsafe { BorrowedFd::borrow_raw(1_000_000) };
    let error = statx_fd(closed, StatxFlags::empty(), StatxMask::TYPE).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    assert_eq!(
        null_path(),
        NullPath::Unknown,
        "an error of the file decides nothing"
    );

    let file = File::open("/proc/self/exe").unwrap();
    statx_fd(file.as_fd(), StatxFlags::empty(), StatxMask::TYPE).unwrap();
    let mut stat = Statx::default();
    // SAFETY: a NULL path is for the kernel to refuse, and the answer fits.
    let accepted = unsafe {
        let (fd, null) = (file.as_raw_fd(), ptr::null::<libc::c_char>());
        libc::syscall(
            libc::SYS_statx,
            fd,
            null,
            libc::AT_EMPTY_PATH,
            1,
            stat.as_mut_ptr(),
        ) == 0
    };
    assert_eq!(
        null_path(),
        if accepted {
            NullPath::Accepted
        } else {
            NullPath::Refused
        }
    );

    let error = statx_fd(closed, StatxFlags::empty(), StatxMask::TYPE).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EBADF));
}
