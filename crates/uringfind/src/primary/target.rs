//! Where links lead.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;

use fscall::{Statx, StatxFlags, StatxMask};

use crate::errno::{ENOENT, ENOTDIR};

/// What is known of what a name leads to; of a link that leads nowhere its own.
pub(super) fn target(dir: BorrowedFd<'_>, name: &CStr, mask: StatxMask) -> io::Result<Statx> {
    let flags = StatxFlags::NO_AUTOMOUNT;
    match fscall::statx(dir, Some(name), flags, mask | StatxMask::TYPE) {
        Err(error) if matches!(error.raw_os_error(), Some(ENOENT | ENOTDIR)) => {
            itself(dir, name, mask)
        }
        answer => answer,
    }
}

fn itself(dir: BorrowedFd<'_>, name: &CStr, mask: StatxMask) -> io::Result<Statx> {
    let flags = StatxFlags::SYMLINK_NOFOLLOW | StatxFlags::NO_AUTOMOUNT;
    fscall::statx(dir, Some(name), flags, mask | StatxMask::TYPE)
}
