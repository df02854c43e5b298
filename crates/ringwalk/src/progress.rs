//! How far a walk has come, for those who show it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use blockpool::lock;

/// Live counters of a walk, or of all walks that it was given to; see
/// [`Walk::progress`](crate::Walk::progress). Cheap to clone, and to look at from any thread.
///
/// ```
/// use ringwalk::{EntryRef, Error, Progress, Visit, Walk};
///
/// let progress = Progress::new();
/// Walk::new("/etc")
///     .max_depth(1)
///     .progress(&progress)
///     .visit_parallel(|| |_: Result<&EntryRef<'_>, &Error>| Visit::Continue);
/// assert!(progress.entries() > 1);
/// assert_eq!((progress.directories(), progress.queued()), (1, 0));
/// assert_eq!(progress.current().unwrap().to_str(), Some("/etc"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    entries: AtomicU64,
    directories: AtomicU64,
    queued: AtomicUsize,
    current: Mutex<Vec<u8>>,
}

impl Progress {
    /// Counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries have been visited. They are counted a buffer at a time.
    pub fn entries(&self) -> u64 {
        self.counts.entries.load(Ordering::Relaxed)
    }

    /// How many directories have been walked: opened and read to their end, or found impossible to.
    pub fn directories(&self) -> u64 {
        self.counts.directories.load(Ordering::Relaxed)
    }

    /// How many directories have been found and are not walked yet.
    pub fn queued(&self) -> usize {
        self.counts.queued.load(Ordering::Relaxed)
    }

    /// The directory that was begun last; `None` before the first. If the walk is stuck, that is
    /// most likely where.
    pub fn current(&self) -> Option<PathBuf> {
        let path = lock(&self.counts.current).clone();
        (!path.is_empty()).then(|| OsString::from_vec(path).into())
    }

    pub(crate) fn visited(&self, entries: usize) {
        self.counts
            .entries
            .fetch_add(entries as u64, Ordering::Relaxed);
    }

    pub(crate) fn found(&self, directories: usize) {
        self.counts.queued.fetch_add(directories, Ordering::Relaxed);
    }

    pub(crate) fn begun(&self, path: Vec<u8>) {
        *lock(&self.counts.current) = path;
    }

    /// Of a root it turns out only now whether it is a directory that was to be walked.
    pub(crate) fn walked(&self, was_directory: bool) {
        let directories = u64::from(was_directory);
        self.counts
            .directories
            .fetch_add(directories, Ordering::Relaxed);
        self.counts.queued.fetch_sub(1, Ordering::Relaxed);
    }

    /// Those of a walk that ended early are no longer queued.
    pub(crate) fn dropped(&self, directories: usize) {
        self.counts.queued.fetch_sub(directories, Ordering::Relaxed);
    }
}
