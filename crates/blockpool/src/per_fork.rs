//! A static value that a forked child gets afresh.

use std::sync::OnceLock;

use fscall::thread::ForkGeneration;

/// A lazily made static of which every forked child has its own.
///
/// A child made by `fork` without `exec` inherits the memory of locks, queues and ring buffers,
/// but not the threads that served them: using the parent's would hang. The generation counter
/// (a page with `MADV_WIPEONFORK`, Linux 4.14 and later) tells the child apart, and it never
/// touches a value of the parent's, since some other thread may have held its lock when the
/// process forked. The parent's value is leaked in the child.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// static CALLS: blockpool::PerFork<AtomicU32> = blockpool::PerFork::new(|| AtomicU32::new(0));
/// CALLS.get().fetch_add(1, Ordering::Relaxed);
/// ```
#[derive(Debug)]
pub struct PerFork<T: 'static> {
    make: fn() -> T,
    first: Generation<T>,
}

/// One process's value, and behind it that of its forked child. A process touches only the link
/// that its own generation made, so a link is never half made when it is reached.
#[derive(Debug)]
struct Generation<T: 'static> {
    value: OnceLock<T>,
    child: OnceLock<Box<Generation<T>>>,
}

impl<T> Generation<T> {
    const fn new() -> Self {
        Self {
            value: OnceLock::new(),
            child: OnceLock::new(),
        }
    }
}

impl<T> PerFork<T> {
    /// A static that is made by `make` at its first use in each process.
    pub const fn new(make: fn() -> T) -> Self {
        Self {
            make,
            first: Generation::new(),
        }
    }

    /// This process's value.
    pub fn get(&'static self) -> &'static T {
        let mut link = &self.first;
        for _ in 1..generation() {
            link = link.child.get_or_init(|| Box::new(Generation::new()));
        }
        link.value.get_or_init(self.make)
    }
}

/// 1 in the process that asked first, one more in each forked child that asks. Without the
/// kernel's help (before Linux 4.14) all of them are 1.
fn generation() -> u64 {
    static FORKS: OnceLock<Option<ForkGeneration>> = OnceLock::new();
    FORKS
        .get_or_init(|| ForkGeneration::new().ok())
        .as_ref()
        .map_or(1, ForkGeneration::generation)
}
