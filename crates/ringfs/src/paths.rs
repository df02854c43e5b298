//! What a driver can tell of a path beside its metadata.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fscall::{StatFs, StatxMask};

use crate::driver::Driver;
use crate::op::{Canonicalize, Close, ReadLink, StatFsOp};

impl Driver {
    /// As [`ringfs::try_exists`](crate::try_exists), on this driver.
    ///
    /// # Errors
    ///
    /// As [`ringfs::try_exists`](crate::try_exists).
    pub async fn try_exists(&self, path: impl AsRef<Path>) -> io::Result<bool> {
        match self.statx(path.as_ref()).mask(StatxMask::TYPE).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// As [`ringfs::read_link`](crate::read_link), on this driver.
    ///
    /// # Errors
    ///
    /// As [`ringfs::read_link`](crate::read_link).
    pub async fn read_link(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = fscall::to_c_path(path.as_ref().as_os_str().as_bytes())?;
        self.submit(ReadLink::new(None, path))?.await
    }

    /// As [`ringfs::canonicalize`](crate::canonicalize), on this driver.
    ///
    /// # Errors
    ///
    /// As [`ringfs::canonicalize`](crate::canonicalize).
    pub async fn canonicalize(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        self.submit(Canonicalize::new(path.as_ref().to_owned()))?
            .await
    }

    /// As [`ringfs::statfs`](crate::statfs), on this driver.
    ///
    /// # Errors
    ///
    /// As [`ringfs::statfs`](crate::statfs).
    pub async fn statfs(&self, path: impl AsRef<Path>) -> io::Result<StatFs> {
        let path = fscall::to_c_path(path.as_ref().as_os_str().as_bytes())?;
        self.submit(StatFsOp::of_path(path))?.await
    }

    /// As [`ringfs::close`](crate::close), on this driver.
    ///
    /// # Errors
    ///
    /// As [`ringfs::close`](crate::close).
    pub async fn close(&self, fd: OwnedFd) -> io::Result<()> {
        self.submit(Close::new(fd))?.await
    }
}
