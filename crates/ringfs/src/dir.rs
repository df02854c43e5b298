//! An open directory.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use fscall::{OFlags, StatFs};

use crate::batch::DirBatch;
use crate::driver::Driver;
use crate::many::StatMany;
use crate::op::{Chunk, Close, Open, Pending, ReadChunk, ReadLink, StatFsOp};
use crate::open_at::OpenAt;
use crate::open_beneath::OpenBeneath;
use crate::read_dir::ReadDir;
use crate::statx::Stat;

/// How a directory is opened; with `NOFOLLOW` beside it where a symbolic link must not lead away.
pub(crate) const DIR_FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// An open directory: files are looked up relative to it, free of races with those who move or
/// replace what lies on the way to it, and its entries can be read.
///
/// Like the kernel's own open directory it has one reading position, so it is not `Clone`.
///
/// ```
/// use ringfs::Dir;
///
/// # futures::executor::block_on(async {
/// let mut etc = Dir::open("/etc").await?;
/// assert!(etc.statx_at("passwd").await?.size().unwrap() > 0);
/// let batch = etc.read().await?;
/// assert!(batch.iter().any(|entry| entry.unwrap().name() == b"passwd"));
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct Dir {
    driver: Driver,
    fd: Arc<OwnedFd>,
    /// A read on its way. It lives here and not in the future that started it, so that dropping
    /// that one loses nothing.
    reading: Option<Pending<Chunk>>,
    /// The read on its way is from before a rewind, and what it brings is not wanted.
    stale: bool,
    /// The next read has to start over.
    rewind: bool,
    /// How many bytes the last read brought.
    last: usize,
    /// The last read also found the end, or an error, and nobody has been told.
    next: Option<io::Result<DirBatch>>,
    /// What the last read brought: its memory is used again if nobody holds it by then.
    handed_out: DirBatch,
}

impl Dir {
    pub(crate) fn new(driver: Driver, fd: OwnedFd) -> Self {
        Self::shared(driver, Arc::new(fd))
    }

    fn shared(driver: Driver, fd: Arc<OwnedFd>) -> Self {
        Self {
            driver,
            fd,
            reading: None,
            stale: false,
            rewind: false,
            last: 0,
            next: None,
            handed_out: DirBatch::default(),
        }
    }

    /// Opens a directory.
    ///
    /// # Errors
    ///
    /// Those of `openat2(2)`; `NotADirectory` if it is something else.
    ///
    /// # Cancel safety
    ///
    /// A descriptor that arrives after the future was dropped is closed.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Driver::global().open_dir(path).await
    }

    /// Opens a directory relative to this one. A symbolic link at the end of `path` is not
    /// followed.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); `NotADirectory` for a symbolic link too.
    ///
    /// # Cancel safety
    ///
    /// As [`open`](Self::open).
    #[doc(alias = "openat2")]
    pub async fn open_dir_at(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = fscall::to_c_path(path.as_ref().as_os_str().as_bytes())?;
        let op = Open::new(
            Some(Arc::clone(&self.fd)),
            path,
            DIR_FLAGS | OFlags::NOFOLLOW,
        );
        let fd = self.driver.submit(op)?.await?;
        Ok(Self::new(self.driver.clone(), fd))
    }

    /// Opens a file relative to this directory, for reading. An absolute path is looked up as
    /// such, and `..` and links lead where they lead: [`open_beneath`](Self::open_beneath) stays
    /// inside.
    #[doc(alias = "openat")]
    pub fn open_at<'a, P: AsRef<Path> + ?Sized>(&'a self, path: &'a P) -> OpenAt<'a> {
        OpenAt::new(&self.driver, &self.fd, path.as_ref())
    }

    /// Opens a file for reading that must not lie outside of this directory, and asks for its
    /// metadata in the same hop.
    #[doc(alias = "RESOLVE_BENEATH")]
    pub fn open_beneath<'a, P: AsRef<Path> + ?Sized>(&'a self, path: &'a P) -> OpenBeneath<'a> {
        OpenBeneath::new(&self.driver, &self.fd, path.as_ref())
    }

    /// What a symbolic link relative to this directory contains.
    ///
    /// # Errors
    ///
    /// Those of `readlinkat(2)`; `InvalidInput` if it is no symbolic link.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but the answer.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// let proc = ringfs::Dir::open("/proc/self").await?;
    /// assert_eq!(proc.read_link_at("cwd").await?, std::env::current_dir()?);
    /// # Ok::<(), std::io::Error>(()) }).unwrap();
    /// ```
    #[doc(alias = "readlinkat")]
    pub async fn read_link_at(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = fscall::to_c_path(path.as_ref().as_os_str().as_bytes())?;
        let op = ReadLink::new(Some(Arc::clone(&self.fd)), path);
        self.driver.submit(op)?.await
    }

    /// How large and how full the file system of this directory is; see
    /// [`ringfs::statfs`](crate::statfs).
    ///
    /// # Errors
    ///
    /// Those of `fstatfs(2)`.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but the answer.
    #[doc(alias = "fstatfs")]
    pub async fn statfs(&self) -> io::Result<StatFs> {
        self.driver
            .submit(StatFsOp::of_fd(Arc::clone(&self.fd)))?
            .await
    }

    /// Asks for the metadata of a file relative to this directory. An absolute path is looked up
    /// as such.
    pub fn statx_at<'a, P: AsRef<Path> + ?Sized>(&'a self, path: &'a P) -> Stat<'a> {
        Stat::at(&self.driver, &self.fd, path.as_ref())
    }

    /// Asks for the metadata of many files relative to this directory, in one hop.
    ///
    /// The names are copied, so that the calls can be made while the caller does something else.
    pub fn statx_many<P: AsRef<Path>>(&self, names: impl IntoIterator<Item = P>) -> StatMany {
        StatMany::new(self.driver.clone(), Some(Arc::clone(&self.fd)), names)
    }

    /// Asks for the metadata of the directory itself, by its descriptor.
    #[doc(alias = "fstat")]
    pub fn statx(&self) -> Stat<'_> {
        Stat::of_fd(&self.driver, &self.fd)
    }

    /// Reads the next entries, as many as fit into a buffer of 64 KiB (up to 1 MiB for large
    /// directories); none at the end. `.` and `..` are among them. The memory of a batch that has
    /// been dropped by then is used again.
    ///
    /// # Errors
    ///
    /// Those of `getdents64(2)`.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped the read goes on, and the next call returns what it brought:
    /// nothing is lost.
    #[doc(alias = "getdents64")]
    pub async fn read(&mut self) -> io::Result<DirBatch> {
        std::future::poll_fn(|cx| self.poll_read(cx)).await
    }

    /// The poll of [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<DirBatch>> {
        if let Some(next) = self.next.take() {
            return Poll::Ready(next);
        }
        loop {
            let mut reading = if let Some(reading) = self.reading.take() {
                reading
            } else {
                let spare = std::mem::take(&mut self.handed_out).into_buffer();
                let dir = Arc::clone(&self.fd);
                let next = ReadChunk::next(dir, self.last, self.rewind, spare);
                self.driver.submit_to_worker(next)?
            };
            let Poll::Ready(chunk) = Pin::new(&mut reading).poll(cx) else {
                self.reading = Some(reading);
                return Poll::Pending;
            };
            if std::mem::take(&mut self.stale) {
                // Only now: a read that started over while this one was on its way could have
                // been overtaken by it.
                continue;
            }
            let chunk = chunk?;
            self.rewind = false;
            return Poll::Ready(Ok(self.hand_out(chunk)));
        }
    }

    /// Remembers what the next read has to know of this one.
    fn hand_out(&mut self, chunk: Chunk) -> DirBatch {
        self.last = chunk.records.len();
        let batch = DirBatch::new(chunk.records);
        self.next = match chunk.error {
            Some(error) => Some(Err(error)),
            None => (chunk.ended && !batch.is_empty()).then(|| Ok(DirBatch::default())),
        };
        if self.next.is_none() {
            self.handed_out = batch.clone();
        }
        batch
    }

    /// The next read starts over, and sees what has been added and removed since the directory
    /// was opened.
    ///
    /// It makes no call itself, since that could have to wait for a read on its way: the position
    /// moves in the hop of the next read, which also tells what went wrong. So nothing is to be
    /// awaited, and nothing can be cancelled half-way.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// let mut etc = ringfs::Dir::open("/etc").await?;
    /// let first = etc.read().await?;
    /// etc.rewind();
    /// assert_eq!(etc.read().await?.iter().count(), first.iter().count());
    /// # Ok::<(), std::io::Error>(()) }).unwrap();
    /// ```
    #[doc(alias = "rewinddir")]
    #[doc(alias = "lseek")]
    pub fn rewind(&mut self) {
        self.next = None;
        self.stale = self.reading.is_some();
        self.rewind = true;
    }

    /// Closes the directory, and tells if that went wrong. Dropping it closes it as well, on the
    /// spot, once no call that uses it is left.
    ///
    /// # Errors
    ///
    /// Those of `close(2)`.
    pub async fn close(self) -> io::Result<()> {
        match Arc::into_inner(self.fd) {
            Some(fd) => self.driver.submit(Close::new(fd))?.await,
            // A call on its way still uses it, and closes it when done.
            None => Ok(()),
        }
    }

    /// The entries as a stream, from the current position on. `root` is what
    /// [`DirEntry::path`](crate::DirEntry::path) starts with.
    pub fn into_read_dir(self, root: impl AsRef<Path>) -> ReadDir {
        ReadDir::new(self, root.as_ref())
    }

    pub(crate) fn shared_fd(&self) -> &Arc<OwnedFd> {
        &self.fd
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The directory with its first entries, in one hop unless the ring was asked for.
    pub(crate) async fn open_and_read(
        driver: &Driver,
        path: &Path,
    ) -> io::Result<(Self, DirBatch)> {
        if driver.is_inline() {
            let path = fscall::to_c_path(path.as_os_str().as_bytes())?;
            let chunk = driver.submit_to_worker(ReadChunk::open(path))?.await?;
            let mut dir = Self::shared(driver.clone(), Arc::clone(&chunk.dir));
            let batch = dir.hand_out(chunk);
            return Ok((dir, batch));
        }
        let mut dir = driver.open_dir(path).await?;
        let batch = dir.read().await?;
        Ok((dir, batch))
    }
}

/// A directory that was opened elsewhere; calls go through the [global driver](Driver::global).
impl From<OwnedFd> for Dir {
    fn from(fd: OwnedFd) -> Self {
        Self::new(Driver::global().clone(), fd)
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
