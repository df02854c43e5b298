//! A directory's entries as a stream.

mod entry;
mod types;

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fscall::Dirents;
use futures_core::Stream;

use crate::batch::DirBatch;
use crate::coop;
use crate::dir::Dir;
use crate::driver::Driver;
use entry::Buffer;
pub use entry::DirEntry;
use types::{Told, UnlistedTypes};

/// The entries of a directory but `.` and `..`, as tokio's `ReadDir` or as a `Stream`.
///
/// Where the directory does not list the types of its entries they are asked for before the
/// entries are handed out, up to a thousand at a time.
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
    /// What has been read.
    buffer: Option<Arc<Buffer>>,
    /// Where in the buffer the next entry starts.
    at: usize,
    types: UnlistedTypes,
    ended: bool,
}

/// What the buffer has next.
enum Next {
    Entry(DirEntry),
    /// An entry whose type has to be asked for.
    Untyped,
    Nothing,
}

impl ReadDir {
    pub(crate) fn new(dir: Dir, root: &Path) -> Self {
        Self {
            dir,
            root: root.into(),
            buffer: None,
            at: 0,
            types: UnlistedTypes::default(),
            ended: false,
        }
    }

    pub(crate) async fn open(driver: &Driver, path: &Path) -> io::Result<Self> {
        let (dir, batch) = Dir::open_and_read(driver, path).await?;
        let mut entries = Self::new(dir, path);
        entries.begin(batch);
        Ok(entries)
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
            match self.buffered()? {
                Next::Entry(entry) => return Poll::Ready(Ok(Some(entry))),
                Next::Untyped => ready!(self.poll_types(cx)),
                Next::Nothing if ready!(self.poll_fill(cx))? => {}
                Next::Nothing => return Poll::Ready(Ok(None)),
            }
        }
    }

    /// The next entries, all that are there: cheaper than one by one, and nothing is copied.
    /// `None` at the end. `.` and `..` are among them, and types are as the directory lists them.
    ///
    /// # Errors
    ///
    /// Those of `getdents64(2)`.
    ///
    /// # Cancel safety
    ///
    /// No entry is lost when the future is dropped.
    pub async fn next_batch(&mut self) -> io::Result<Option<DirBatch>> {
        let rest = loop {
            let rest = self.buffer.as_ref().map(|buffer| buffer.batch.as_bytes());
            if let Some(rest) = rest.filter(|records| self.at < records.len()) {
                break rest.slice(self.at..);
            }
            if !std::future::poll_fn(|cx| self.poll_fill(cx)).await? {
                return Ok(None);
            }
        };
        self.buffer = None;
        self.types = UnlistedTypes::default();
        Ok(Some(DirBatch::from_records(rest)))
    }

    /// The directory that is being read.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Reads the next buffer; false at the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if !self.ended {
            // The next read uses its memory again if no entry holds it.
            self.buffer = None;
            let batch = ready!(self.dir.poll_read(cx));
            // An error ends it as well, as in std: it may be one that lasts.
            self.ended = batch.is_err();
            self.begin(batch?);
        }
        Poll::Ready(Ok(!self.ended))
    }

    fn begin(&mut self, batch: DirBatch) {
        self.ended = batch.is_empty();
        self.at = 0;
        self.buffer = (!self.ended).then(|| {
            Arc::new(Buffer {
                batch,
                root: Arc::clone(&self.root),
                dir: Arc::clone(self.dir.shared_fd()),
                driver: self.dir.driver().clone(),
            })
        });
    }

    fn poll_types(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &self.buffer {
            Some(buffer) => self.types.poll_ask(buffer, self.at, cx),
            None => Poll::Ready(()),
        }
    }

    /// The next entry of the buffer that has been read.
    fn buffered(&mut self) -> io::Result<Next> {
        let Some(buffer) = &self.buffer else {
            return Ok(Next::Nothing);
        };
        let mut rest = Dirents::new(&buffer.batch.as_bytes()[self.at..]);
        let start = self.at;
        loop {
            let record = start + rest.offset_in_buffer();
            match rest.next() {
                Some(Ok(entry)) if entry.is_dot() => {}
                Some(Ok(dirent)) => {
                    let file_type = match dirent.file_type() {
                        None => match self.types.next() {
                            Some(Told(file_type)) => file_type,
                            None => return Ok(Next::Untyped),
                        },
                        listed => listed,
                    };
                    self.at = start + rest.offset_in_buffer();
                    return Ok(Next::Entry(DirEntry::new(
                        buffer, record, &dirent, file_type,
                    )));
                }
                Some(Err(error)) => {
                    // Said once: what follows in this buffer can't be read.
                    self.buffer = None;
                    return Err(error.into());
                }
                None => return Ok(Next::Nothing),
            }
        }
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
