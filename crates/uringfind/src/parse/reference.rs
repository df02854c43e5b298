//! Files named in arguments, which tests compare to.

use std::io;

use fscall::{CWD, Statx, StatxFlags, StatxMask};

use super::Parser;
use crate::errno::{ENOENT, ENOTDIR};
use crate::failure::Failure;

impl Parser<'_> {
    /// What `statx` says of a file in an argument. A link is followed with `-H` and `-L`, unless it
    /// leads nowhere.
    pub(crate) fn stat_reference(&self, name: &[u8], mask: StatxMask) -> Result<Statx, Failure> {
        let ask =
            |flags| fscall::with_c_path(name, |path| fscall::statx(CWD, Some(path), flags, mask));
        let answer = if self.options.follow.at(0) {
            ask(StatxFlags::empty()).or_else(|error| match error.raw_os_error() {
                Some(ENOENT | ENOTDIR) => ask(StatxFlags::SYMLINK_NOFOLLOW),
                _ => Err(error),
            })
        } else {
            ask(StatxFlags::SYMLINK_NOFOLLOW)
        };
        answer.map_err(|error: io::Error| Failure::file(name, error.raw_os_error().unwrap_or(0)))
    }
}
