//! An entry of a directory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fscall::{Dirent, FileType, StatxMask};

use crate::batch::DirBatch;
use crate::driver::Driver;
use crate::metadata::Metadata;
use crate::statx::Stat;

/// An entry of a directory, as [`ReadDir`](super::ReadDir) gives it.
///
/// It keeps the directory open, and its metadata is looked up relative to that: a directory that
/// was renamed or replaced meanwhile does not matter.
///
/// It also keeps the buffer that its name was read into, which all entries of one read share: of a
/// large directory up to 1 MiB. Who keeps few of many had better keep their names.
#[derive(Clone, Debug)]
pub struct DirEntry {
    buffer: Arc<Buffer>,
    /// Where in the buffer the name is.
    name: Range<usize>,
    ino: u64,
    file_type: Option<FileType>,
}

/// What the entries of one buffer have in common: behind one counter, since counting is most of
/// what an entry costs.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) batch: DirBatch,
    pub(super) root: Arc<Path>,
    pub(super) dir: Arc<OwnedFd>,
    pub(super) driver: Driver,
}

impl DirEntry {
    /// An entry whose record starts at `record`.
    pub(super) fn new(
        buffer: &Arc<Buffer>,
        record: usize,
        dirent: &Dirent<'_>,
        file_type: Option<FileType>,
    ) -> Self {
        let start = record + Dirent::NAME_OFFSET;
        Self {
            buffer: Arc::clone(buffer),
            name: start..start + dirent.name().len(),
            ino: dirent.ino(),
            file_type,
        }
    }

    /// The entry's path: that of the directory as it was given, and the name.
    pub fn path(&self) -> PathBuf {
        self.buffer.root.join(self.name())
    }

    /// The bare name.
    pub fn file_name(&self) -> OsString {
        self.name().to_owned()
    }

    /// The bare name, borrowed.
    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(&self.buffer.batch.as_bytes()[self.name.clone()])
    }

    /// The inode number that the directory lists. On mount points and some file systems (overlay,
    /// FUSE) the file's own may be another.
    pub fn ino(&self) -> u64 {
        self.ino
    }

    /// The file's metadata, without following symbolic links.
    ///
    /// # Errors
    ///
    /// Those of `statx(2)`; `NotFound` if it is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but the answer.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.statx().await.map(Metadata::from)
    }

    /// The type of the file, which costs no call: [`ReadDir`](super::ReadDir) gives entries whose
    /// type is known. Only if it could not be had there, the file is asked again.
    ///
    /// # Errors
    ///
    /// As [`metadata`](Self::metadata), where the directory does not list types.
    ///
    /// # Cancel safety
    ///
    /// As [`metadata`](Self::metadata).
    pub async fn file_type(&self) -> io::Result<FileType> {
        match self.file_type {
            Some(file_type) => Ok(file_type),
            None => Ok(Metadata::from(self.statx().mask(StatxMask::TYPE).await?).file_type()),
        }
    }

    /// Asks for just what is wanted of the file's metadata; symbolic links are not followed
    /// unless asked.
    pub fn statx(&self) -> Stat<'_> {
        Stat::at(
            &self.buffer.driver,
            &self.buffer.dir,
            Path::new(self.name()),
        )
        .follow_symlinks(false)
    }
}
