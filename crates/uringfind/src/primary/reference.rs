//! Files that a test looks at beside the one that is evaluated.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;

use fscall::{CWD, Statx, StatxFlags, StatxMask};

use crate::failure::Failure;
use crate::parse::Parser;

/// What is known of the reference file `path`; of what it leads to if it is a link and links of
/// starting points are followed (by `-H`, `-L`, or `-follow` before this word).
pub(super) fn stat(parser: &Parser<'_>, path: &[u8], mask: StatxMask) -> Result<Statx, Failure> {
    let follows = parser.options.follow.at(0);
    let answer = fscall::with_c_path(path, |path| {
        if follows {
            target(CWD, path, mask)
        } else {
            itself(CWD, path, mask)
        }
    });
    answer.map_err(|error| Failure::file(path, error.raw_os_error().unwrap_or(0)))
}

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

/// "No such file or directory".
const ENOENT: i32 = 2;
/// "Not a directory".
const ENOTDIR: i32 = 20;
