//! What is opened, and how: the part that all opens of files have in common.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use fscall::OFlags;

use crate::driver::Driver;

/// A path relative to a directory, and the flags to open it with.
#[derive(Clone, Debug)]
pub(crate) struct Opening<'a> {
    pub(crate) driver: &'a Driver,
    pub(crate) dir: &'a Arc<OwnedFd>,
    pub(crate) path: &'a Path,
    pub(crate) flags: OFlags,
}

impl<'a> Opening<'a> {
    /// To read it, hidden from programs that are executed, and without it becoming the terminal
    /// that controls the process.
    pub(crate) fn new(driver: &'a Driver, dir: &'a Arc<OwnedFd>, path: &'a Path) -> Self {
        Self {
            driver,
            dir,
            path,
            flags: OFlags::CLOEXEC | OFlags::NOCTTY,
        }
    }

    pub(crate) fn follow_symlinks(mut self, follow: bool) -> Self {
        self.flags.set(OFlags::NOFOLLOW, !follow);
        self
    }

    pub(crate) fn noatime(mut self, noatime: bool) -> Self {
        self.flags.set(OFlags::NOATIME, noatime);
        self
    }

    pub(crate) fn nonblock(mut self, nonblock: bool) -> Self {
        self.flags.set(OFlags::NONBLOCK, nonblock);
        self
    }
}
