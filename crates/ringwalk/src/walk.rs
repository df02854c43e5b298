//! What is to be walked, and how.

use std::ffi::OsStr;
use std::fmt;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fscall::StatxMask;
use ringfs::{Backend, Driver};

use crate::access::Access;
use crate::entry::EntryRef;
use crate::options::{Boundary, Follow, Options, Rules, Sort};
use crate::parallel::Parallel;
use crate::progress::Progress;
use crate::serial::Serial;
use crate::stream::{Batches, Entries};
use crate::visitor::{OrderedVisitor, ParallelVisitor, SerialVisitor};
use crate::walker::Walker;

/// The most directories that are read at the same time: as many as a process's budget of waiting
/// threads at its largest. Each has a buffer.
const MOST_OPEN: usize = 512;
/// The most that are kept open for what is below them, before they are opened again by their path.
const MOST_KEPT: usize = 16 * 1024;

/// In which order entries are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// As they are found; a directory comes before its contents, unless these are to come
    /// [first](Walk::contents_first).
    #[default]
    Any,
    /// A directory, then its contents in the order in which the system lists them, each
    /// sub-directory followed by its own contents: the order of find(1).
    PreOrder,
}

/// A walk of one or more trees: what is wanted, and ways to get it.
///
/// Nothing has to be tuned: a walk uses the cores that the process may use, and more threads
/// only while calls sleep in the kernel. Symbolic links are not followed unless asked, and directories
/// are opened relative to their parents, so that nobody can lead the walk out of its tree by swapping
/// one for the other. Automount points (autofs) are handed out, and not opened unless asked.
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
#[derive(Clone)]
#[must_use = "nothing is walked until it is told how"]
pub struct Walk {
    roots: Vec<Vec<u8>>,
    order: Order,
    rules: Rules,
    parallelism: Option<NonZeroUsize>,
    driver: Option<Driver>,
}

impl fmt::Debug for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roots: Vec<_> = self
            .roots
            .iter()
            .map(|root| OsStr::from_bytes(root))
            .collect();
        f.debug_struct("Walk")
            .field("roots", &roots)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
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
            rules: Rules {
                max_depth: usize::MAX,
                ..Rules::default()
            },
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
    /// is not unless asked. It takes the place of another order of entries.
    pub fn sort_large_by_inode(mut self, sort: bool) -> Self {
        if sort {
            self.rules.sort = Sort::LargeByInode;
        } else if matches!(self.rules.sort, Sort::LargeByInode) {
            self.rules.sort = Sort::Listed;
        }
        self
    }

    /// Each directory's entries in the order of their names' bytes, and each sub-directory followed by
    /// its contents: [`Order::PreOrder`] with sorted directories. A directory has to be read to its end
    /// before its first entry comes, so memory grows with the largest one.
    pub fn sort_by_file_name(mut self) -> Self {
        self.rules.sort = Sort::ByName;
        self.order(Order::PreOrder)
    }

    /// As [`sort_by_file_name`](Self::sort_by_file_name), in the order of what `key` answers about an
    /// entry; those with equal keys stay in the order in which the system lists them. No metadata has been
    /// asked for at that point; `key` may [ask](EntryRef::statx) itself.
    ///
    /// ```
    /// use ringwalk::Walk;
    ///
    /// // Directories first, then by name.
    /// let walk = Walk::new(".").sort_by_key(|entry| {
    ///     let is_dir = entry.file_type().is_some_and(|file_type| file_type.is_dir());
    ///     (!is_dir, entry.file_name().to_vec())
    /// });
    /// # let _ = walk;
    /// ```
    pub fn sort_by_key<K: Ord>(
        mut self,
        key: impl Fn(&EntryRef<'_>) -> K + Send + Sync + 'static,
    ) -> Self {
        self.rules.sort = Sort::By(Arc::new(move |entries| {
            let keyed = entries.iter().map(&key).enumerate();
            let mut keyed: Vec<_> = keyed.map(|(index, key)| (key, index)).collect();
            keyed.sort();
            keyed.into_iter().map(|(_, index)| index).collect()
        }));
        self.order(Order::PreOrder)
    }

    /// Whether a directory comes after its contents, in whichever order; it comes before them unless
    /// asked. [`Visit::Prune`](crate::Visit::Prune) then has an effect only where a visitor is asked
    /// before ([`visit_in_order`](Self::visit_in_order)).
    pub fn contents_first(mut self, yes: bool) -> Self {
        self.rules.contents_first = yes;
        self
    }

    /// Whether symbolic links are followed, roots included: type and metadata are those of what the
    /// link leads to, and a directory there is walked. A link to nothing is handed out as a link. One
    /// that leads to a directory that it is in, or past it so that it is met again below, is an error of its
    /// own ([`ErrorKind::Loop`](crate::ErrorKind::Loop)), and so is one that can't be followed for another
    /// reason; both in place of the entry. So no walk is endless, but a directory that
    /// several links lead to is walked several times, unless [`visit_once`](Self::visit_once) is asked
    /// for.
    pub fn follow_links(mut self, yes: bool) -> Self {
        set(&mut self.rules.follow, Follow::All, yes);
        self
    }

    /// Whether roots that are symbolic links are followed, and no others.
    pub fn follow_root_links(mut self, yes: bool) -> Self {
        set(&mut self.rules.follow, Follow::Roots, yes);
        self
    }

    /// Whether no directory is walked twice, by whichever ways it is reached: from two roots, or over
    /// links that are followed. Its entry is handed out each time. Which of the ways is taken is not
    /// certain if several threads come to it at the same time. Each directory's device and inode are
    /// kept, some 40 bytes.
    pub fn visit_once(mut self, yes: bool) -> Self {
        self.rules.once = yes;
        self
    }

    /// Whether directories on other file systems than their root's, by `st_dev`, are handed out but not
    /// entered. So is a btrfs subvolume.
    #[doc(alias = "xdev")]
    pub fn same_file_system(mut self, yes: bool) -> Self {
        set(&mut self.rules.boundary, Boundary::FileSystem, yes);
        self
    }

    /// Whether directories on other mounts than their root's are handed out but not entered: also those
    /// of the same file system (bind mounts), and no subvolumes. It goes by the mount's id (Linux 5.8);
    /// before that it is the same as [`same_file_system`](Self::same_file_system).
    pub fn same_mount(mut self, yes: bool) -> Self {
        set(&mut self.rules.boundary, Boundary::Mount, yes);
        self
    }

    /// Whether automount points of autofs are opened, which mounts what belongs there, and takes as long
    /// as its server likes. They are handed out and not entered unless asked; a root is always entered.
    pub fn automount(mut self, yes: bool) -> Self {
        self.rules.automount = yes;
        self
    }

    /// Entries for which `test` answers false are neither handed out nor entered. It is asked on the
    /// walk's threads, about roots as well, and before the entry is visited; metadata is there as it
    /// will be for the visitor.
    ///
    /// ```
    /// use ringwalk::Walk;
    ///
    /// let visible = Walk::new(".").filter_entry(|entry| {
    ///     entry.depth() == 0 || !entry.file_name().starts_with(b".")
    /// });
    /// # let _ = visible;
    /// ```
    pub fn filter_entry(
        mut self,
        test: impl Fn(&EntryRef<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.rules.filter = Some(Arc::new(test));
        self
    }

    /// Directories for which `test` answers false are handed out and not entered; asked as
    /// [`filter_entry`](Self::filter_entry) is.
    pub fn descend_if(
        mut self,
        test: impl Fn(&EntryRef<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.rules.descend = Some(Arc::new(test));
        self
    }

    /// Counts what the walk does while it does it, for those who show how far it is.
    pub fn progress(mut self, progress: &Progress) -> Self {
        self.rules.progress = Some(progress.clone());
        self
    }

    /// Entries above this depth are walked through but not handed out; a root has depth 0.
    pub fn min_depth(mut self, depth: usize) -> Self {
        self.rules.min_depth = depth;
        self
    }

    /// Directories at this depth are not opened.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.rules.max_depth = depth;
        self
    }

    /// Metadata that every entry is to come with; none unless asked. Where the directory does not
    /// list types, they are asked for anyway.
    pub fn metadata(mut self, mask: StatxMask) -> Self {
        self.rules.mask = mask;
        self
    }

    /// Metadata that an entry is to come with, by what the directory tells of it: beside what
    /// [`metadata`](Self::metadata) asks for all. An entry of which nothing is wanted costs no call.
    ///
    /// ```
    /// use ringwalk::{StatxMask, Walk};
    ///
    /// let sizes_of_files = Walk::new(".").metadata_for(|entry| match entry.file_type() {
    ///     Some(file_type) if !file_type.is_file() => StatxMask::empty(),
    ///     _ => StatxMask::SIZE,
    /// });
    /// # let _ = sizes_of_files;
    /// ```
    pub fn metadata_for(
        mut self,
        wanted: impl Fn(&EntryRef<'_>) -> StatxMask + Send + Sync + 'static,
    ) -> Self {
        self.rules.wanted = Some(Arc::new(wanted));
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
        self.walker(visitor, true, None).run_to_the_end();
    }

    /// Walks on the calling thread alone, in find's order, one entry after the other: a directory is
    /// opened only after its own visit and all that comes before it, so that what a visit does to the
    /// tree is seen by the rest of the walk. For visitors that run commands or delete. Only the names of
    /// a directory are read before its entries are visited (with
    /// [`sort_large_by_inode`](Self::sort_large_by_inode) up to 100,000 of them), and its calls are
    /// plain ones whatever the driver.
    ///
    /// With [`contents_first`](Self::contents_first), what an entry is asked for is asked before its
    /// contents are visited.
    ///
    /// ```
    /// use ringwalk::{EntryRef, Error, SerialVisitor, Visit, Walk};
    ///
    /// struct Last(Vec<u8>);
    ///
    /// impl SerialVisitor for Last {
    ///     fn visit(&mut self, entry: &EntryRef<'_>) -> Visit {
    ///         self.0 = entry.path_bytes();
    ///         Visit::Continue
    ///     }
    ///     fn error(&mut self, error: &Error) -> Visit {
    ///         eprintln!("{error}");
    ///         Visit::Continue
    ///     }
    /// }
    ///
    /// let mut last = Last(Vec::new());
    /// Walk::new("/etc").max_depth(1).contents_first(true).visit_one_by_one(&mut last);
    /// assert_eq!(last.0, b"/etc");
    /// ```
    pub fn visit_one_by_one<V: SerialVisitor>(self, visitor: &mut V) {
        let (options, driver, roots) = self.options(true, None);
        let access = Access::new(driver);
        let mut serial = Serial::new(&options, &access, visitor);
        for root in &roots {
            if serial.walk(root) {
                return;
            }
        }
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
        self.walker(Arc::new(Parallel::new(make)), false, None)
            .run_to_the_end();
    }

    /// The entries as a stream. The walk begins when it is first polled, goes on ahead of the
    /// consumer by a bounded amount, and ends when the stream is dropped.
    pub fn into_stream(self) -> Entries {
        Entries::new(self)
    }

    /// As [`into_stream`](Self::into_stream), many entries at a time: those of a directory that one
    /// buffer holds, and in find's order those between two sub-directories.
    pub fn into_batches(self) -> Batches {
        Batches::new(self)
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
        held_up: Option<Arc<AtomicBool>>,
    ) -> Arc<Walker<V>> {
        let (options, driver, roots) = self.options(ordered, held_up);
        Walker::new(visitor, options, Access::new(driver), &roots)
    }

    fn options(
        self,
        ordered: bool,
        held_up: Option<Arc<AtomicBool>>,
    ) -> (Options, Driver, Vec<Vec<u8>>) {
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
            rules: self.rules,
            held_up,
            ordered,
            threads: most.min(share),
            open: most.min(share).min(MOST_OPEN),
            kept: share.min(MOST_KEPT),
        };
        (options, driver, self.roots)
    }
}

/// Makes a choice, or takes just that one back.
fn set<T: Default + PartialEq>(choice: &mut T, value: T, yes: bool) {
    if yes {
        *choice = value;
    } else if *choice == value {
        *choice = T::default();
    }
}
