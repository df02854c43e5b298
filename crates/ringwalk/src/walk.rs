//! What is to be walked, and how.

use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use fscall::StatxMask;
use ringfs::{Backend, Driver};

use crate::access::Access;
use crate::parallel::Parallel;
use crate::stream::Entries;
use crate::visitor::{OrderedVisitor, ParallelVisitor};
use crate::walker::{Options, Walker};

/// The most directories that are read at the same time: as many as a process's budget of waiting
/// threads at its largest. Each has a buffer.
const MOST_OPEN: usize = 512;
/// The most that are kept open for what is below them, before they are opened again by their path.
const MOST_KEPT: usize = 16 * 1024;

/// In which order entries are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// As they are found; a directory comes before its contents.
    #[default]
    Any,
    /// A directory, then its contents in the order in which the system lists them, each
    /// sub-directory followed by its own contents: the order of find(1).
    PreOrder,
}

/// A walk of one or more trees: what is wanted, and ways to get it.
///
/// Nothing has to be tuned: a walk uses the cores that the process may use, and more threads
/// only while calls sleep in the kernel. Symbolic links are not followed, and directories are
/// opened relative to their parents, so that nobody can lead the walk out of its tree by swapping
/// one for the other.
///
/// ```
/// use futures::StreamExt;
/// use ringwalk::Walk;
///
/// # futures::executor::block_on(async {
/// let mut entries = Walk::new("/etc").max_depth(1).into_stream();
/// while let Some(entry) = entries.next().await {
///     match entry {
///         Ok(entry) => println!("{}", entry.path().display()),
///         Err(error) => eprintln!("{error}"),
///     }
/// }
/// # });
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is walked until it is told how"]
pub struct Walk {
    roots: Vec<Vec<u8>>,
    order: Order,
    sort_large_by_inode: bool,
    min_depth: usize,
    max_depth: usize,
    mask: StatxMask,
    parallelism: Option<NonZeroUsize>,
    driver: Option<Driver>,
}

impl Walk {
    /// A walk of the tree at `root`.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self::empty().root(root)
    }

    fn empty() -> Self {
        Self {
            roots: Vec::new(),
            order: Order::Any,
            sort_large_by_inode: false,
            min_depth: 0,
            max_depth: usize::MAX,
            mask: StatxMask::empty(),
            parallelism: None,
            driver: None,
        }
    }

    /// A further tree, after the ones before it.
    pub fn root(mut self, root: impl AsRef<Path>) -> Self {
        self.roots
            .push(root.as_ref().as_os_str().as_bytes().to_vec());
        self
    }

    /// The order of [`into_stream`](Self::into_stream); any, unless said otherwise.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Whether a directory of more than 10,000 entries is visited in the order of inode numbers,
    /// up to 100,000 entries at a time, on file systems where that is worth it: the order of GNU
    /// find, which sorts so since looking at inodes in their order on the disk saves seeks. It
    /// is not unless asked.
    pub fn sort_large_by_inode(mut self, sort: bool) -> Self {
        self.sort_large_by_inode = sort;
        self
    }

    /// Entries above this depth are walked through but not handed out; a root has depth 0.
    pub fn min_depth(mut self, depth: usize) -> Self {
        self.min_depth = depth;
        self
    }

    /// Directories at this depth are not opened.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth;
        self
    }

    /// Metadata that every entry is to come with; none unless asked. Where the directory does not
    /// list types, they are asked for anyway.
    pub fn metadata(mut self, mask: StatxMask) -> Self {
        self.mask = mask;
        self
    }

    /// The most that may be in flight: threads, and directories that are being read. Unless said
    /// otherwise 512 directories, and as many threads as the process's budget of waiting threads
    /// has left. It changes no result.
    pub fn parallelism(mut self, most: NonZeroUsize) -> Self {
        self.parallelism = Some(most);
        self
    }

    /// Which back end reaches the files: plain calls on the walk's own threads
    /// ([`Backend::Auto`], [`Backend::Threads`]) or the ring. Unless said otherwise it is the
    /// [global driver](Driver::global)'s.
    pub fn backend(self, backend: Backend) -> Self {
        self.driver(Driver::builder().backend(backend).build())
    }

    /// The driver whose back end reaches the files; see [`backend`](Self::backend).
    pub fn driver(mut self, driver: Driver) -> Self {
        self.driver = Some(driver);
        self
    }

    /// Walks with a visitor whose output is emitted in find's order; returns when all is done.
    /// The calling thread takes part, and a visitor's panic is thrown on it, once.
    pub fn visit_in_order<V: OrderedVisitor>(self, visitor: Arc<V>) {
        self.walker(visitor, true).run_to_the_end();
    }

    /// Walks with visitors made by `make`; returns when all is done. No more are made than work at
    /// the same time, and each works on one directory after the other, not always on the same
    /// thread. The calling thread takes part, and a visitor's panic is thrown on it, once. After a
    /// [`Visit::Quit`](crate::Visit::Quit) some may still be at work for a moment when this returns.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use ringwalk::{EntryRef, Error, Visit, Walk};
    ///
    /// let count = Arc::new(AtomicUsize::new(0));
    /// let shared = Arc::clone(&count);
    /// Walk::new("/etc").visit_parallel(move || {
    ///     let count = Arc::clone(&shared);
    ///     move |entry: Result<&EntryRef<'_>, &Error>| {
    ///         count.fetch_add(usize::from(entry.is_ok()), Ordering::Relaxed);
    ///         Visit::Continue
    ///     }
    /// });
    /// assert!(count.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn visit_parallel<P, F>(self, make: F)
    where
        P: ParallelVisitor + 'static,
        F: Fn() -> P + Send + Sync + 'static,
    {
        self.walker(Arc::new(Parallel::new(make)), false)
            .run_to_the_end();
    }

    /// The entries as a stream. The walk begins when it is first polled, goes on ahead of the
    /// consumer by a bounded amount, and ends when the stream is dropped.
    pub fn into_stream(self) -> Entries {
        Entries::new(self)
    }

    /// Whether no other thread than the caller's may walk.
    pub(crate) fn is_for_this_thread(&self) -> bool {
        let driver = self.driver.as_ref();
        driver.unwrap_or_else(|| Driver::global()).backend() == Backend::ThisThread
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.order == Order::PreOrder
    }

    pub(crate) fn walker<V: OrderedVisitor>(
        self,
        visitor: Arc<V>,
        ordered: bool,
    ) -> Arc<Walker<V>> {
        let files = fscall::limits::nofile().map_or(1024, |(soft, _)| soft);
        // A quarter for directories that are read, a quarter for those kept open for what is below
        // them, and the rest is the host program's.
        // Opening takes two for a moment. Ten are for standard streams, ring, mount table, and what
        // std opens to count the cores.
        let share = (files / 4).min(files.saturating_sub(10) / 3);
        let share = usize::try_from(share).unwrap_or(usize::MAX).max(1);
        let driver = self.driver.unwrap_or_else(|| Driver::global().clone());
        let most = match (driver.backend(), self.parallelism) {
            (Backend::ThisThread, _) => 1,
            (_, most) => most.map_or(usize::MAX, NonZeroUsize::get),
        };
        let options = Options {
            ordered,
            sort_large_by_inode: self.sort_large_by_inode,
            min_depth: self.min_depth,
            max_depth: self.max_depth,
            mask: self.mask,
            threads: most.min(share),
            open: most.min(share).min(MOST_OPEN),
            kept: share.min(MOST_KEPT),
        };
        Walker::new(visitor, options, Access::new(driver), &self.roots)
    }
}
