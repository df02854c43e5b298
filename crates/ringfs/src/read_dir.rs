//! A directory's entries as a stream.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fscall::{Dirents, FileType, StatxMask};
use futures_core::Stream;

use crate::batch::DirBatch;
use crate::coop;
use crate::dir::Dir;
use crate::driver::Driver;
use crate::metadata::Metadata;
use crate::statx::Stat;

/// The entries of a directory but `.` and `..`, as tokio's `ReadDir` or as a `Stream`.
///
/// ```
/// # futures::executor::block_on(async {
/// let mut entries = ringfs::read_dir("/etc").await?;
/// while let Some(entry) = entries.next_entry().await? {
///     println!("{}", entry.path().display());
/// }
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct ReadDir {
    dir: Dir,
    root: Arc<Path>,
    batch: DirBatch,
    /// Where in the batch the next entry starts.
    at: usize,
    ended: bool,
}

impl ReadDir {
    pub(crate) fn new(dir: Dir, root: &Path) -> Self {
        Self {
            dir,
            root: root.into(),
            batch: DirBatch::default(),
            at: 0,
            ended: false,
        }
    }

    pub(crate) async fn open(driver: &Driver, path: &Path) -> io::Result<Self> {
        let (dir, batch) = Dir::open_and_read(driver, path).await?;
        Ok(Self {
            ended: batch.is_empty(),
            batch,
            ..Self::new(dir, path)
        })
    }

    /// The next entry, `None` at the end.
    ///
    /// # Errors
    ///
    /// Those of `getdents64(2)`.
    ///
    /// # Cancel safety
    ///
    /// No entry is lost when the future is dropped.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        std::future::poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// The poll of [`next_entry`](Self::next_entry).
    ///
    /// # Errors
    ///
    /// As [`next_entry`](Self::next_entry).
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        ready!(coop::poll_proceed(cx));
        loop {
            if let Some(entry) = self.buffered()? {
                return Poll::Ready(Ok(Some(entry)));
            }
            if !ready!(self.poll_fill(cx))? {
                return Poll::Ready(Ok(None));
            }
        }
    }

    /// The next entries, all that are there: cheaper than one by one, and nothing is copied.
    /// `None` at the end. `.` and `..` are among them.
    ///
    /// # Errors
    ///
    /// Those of `getdents64(2)`.
    ///
    /// # Cancel safety
    ///
    /// No entry is lost when the future is dropped.
    pub async fn next_batch(&mut self) -> io::Result<Option<DirBatch>> {
        if self.at >= self.batch.as_bytes().len()
            && !std::future::poll_fn(|cx| self.poll_fill(cx)).await?
        {
            return Ok(None);
        }
        let rest = self.batch.as_bytes().slice(self.at..);
        self.at = self.batch.as_bytes().len();
        Ok(Some(DirBatch::from_records(rest)))
    }

    /// The directory that is being read.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Reads the next buffer; false at the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if !self.ended {
            let batch = ready!(self.dir.poll_read(cx));
            // An error ends it as well, as in std: it may be one that lasts.
            self.ended = batch.as_ref().map_or(true, DirBatch::is_empty);
            self.batch = batch?;
            self.at = 0;
        }
        Poll::Ready(Ok(!self.ended))
    }

    /// The next entry of the buffer that has been read.
    fn buffered(&mut self) -> io::Result<Option<DirEntry>> {
        let records = self.batch.as_bytes();
        let mut rest = Dirents::new(&records[self.at..]);
        let found = loop {
            match rest.next() {
                None => break None,
                Some(Ok(entry)) if entry.is_dot() => {}
                Some(Ok(entry)) => {
                    break Some(DirEntry {
                        name: records.slice_ref(entry.name()),
                        ino: entry.ino(),
                        file_type: entry.file_type(),
                        root: Arc::clone(&self.root),
                        dir: Arc::clone(self.dir.shared_fd()),
                        driver: self.dir.driver().clone(),
                    });
                }
                Some(Err(error)) => {
                    // Said once: what follows in this buffer can't be read.
                    self.at = records.len();
                    return Err(error.into());
                }
            }
        };
        self.at = records.len() - rest.remaining().len();
        Ok(found)
    }
}

impl Stream for ReadDir {
    type Item = io::Result<DirEntry>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<DirEntry>>> {
        self.poll_next_entry(cx).map(Result::transpose)
    }
}

/// An entry of a directory, as [`ReadDir`] gives it.
///
/// It keeps the directory open, and its metadata is looked up relative to that: a directory that
/// was renamed or replaced meanwhile does not matter.
#[derive(Clone, Debug)]
pub struct DirEntry {
    name: Bytes,
    ino: u64,
    file_type: Option<FileType>,
    root: Arc<Path>,
    dir: Arc<OwnedFd>,
    driver: Driver,
}

impl DirEntry {
    /// The entry's path: that of the directory as it was given, and the name.
    pub fn path(&self) -> PathBuf {
        self.root.join(self.name())
    }

    /// The bare name.
    pub fn file_name(&self) -> OsString {
        OsString::from_vec(self.name.to_vec())
    }

    /// The bare name, borrowed.
    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(&self.name)
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

    /// The type of the file: from the directory if it lists it, else from the file.
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
        Stat::at(&self.driver, &self.dir, Path::new(self.name())).follow_symlinks(false)
    }
}
