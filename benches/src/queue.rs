//! Ways to share directories out among threads, to be compared on the same work.
//!
//! A thread has a `Hand` in what all share. It hands in the directories that it has found and takes
//! the next, until there is none left and none is being walked. What is done with a directory is a
//! [`Work`]'s: [`files`] reads real ones, [`synthetic`] has none, so that only the sharing costs.

mod deques;
pub mod files;
mod halves;
pub mod model;
mod pad;
mod probe;
mod shared;
mod sleepers;
pub mod synthetic;
pub mod transfer;

use std::fmt;
use std::io;
use std::thread;

pub use self::probe::{Touch, Touches};

use self::probe::{Counted, Probe, Uncounted};
use self::shared::{Heap, Manner, Stack};

/// A directory that is still to be walked.
pub trait Job: Send + 'static {
    /// Where it lies in the tree's pre-order: the lower, the earlier.
    fn place(&self) -> u128;
}

/// What is done with directories.
pub trait Work: Sync {
    /// A directory.
    type Job: Job;
    /// What a thread keeps from one directory to the next.
    type Tools: Default;

    /// Where it begins.
    ///
    /// # Errors
    /// There is no such place.
    fn root(&self) -> io::Result<Self::Job>;

    /// Walks one directory: adds those in it to `found` in their order, and returns how many names
    /// it holds.
    ///
    /// # Errors
    /// It could not be read.
    fn walk(
        &self,
        job: &Self::Job,
        tools: &mut Self::Tools,
        found: &mut Vec<Self::Job>,
    ) -> io::Result<u64>;
}

/// One thread's part in what all share.
trait Hand<J>: Send {
    /// Hands in what the last directory held, the first to be walked first, which leaves `found`
    /// empty, and takes the next directory. Waits while others may still find some; `None` says that
    /// all is walked.
    fn next(&mut self, found: &mut Vec<J>) -> Option<J>;

    /// What it has done so far, if that is counted.
    fn touches(&self) -> Touches;
}

/// How directories are shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// One stack under a mutex.
    Stack,
    /// The same, several at a time.
    StackBatches,
    /// One heap under a mutex, the first in pre-order on top.
    Heap,
    /// The same with a lock to hand in and another to take, and the walker's counters: the steps
    /// that ringwalk takes.
    AsRingwalk,
    /// One heap, several at a time.
    HeapBatches,
    /// A lock-free deque for each thread (crossbeam); who has nothing steals a batch.
    Deques,
    /// A deque under a mutex for each thread; who has nothing steals half.
    Halves,
}

impl Scheme {
    /// Each of them.
    pub const ALL: [Self; 7] = [
        Self::Stack,
        Self::StackBatches,
        Self::Heap,
        Self::AsRingwalk,
        Self::HeapBatches,
        Self::Deques,
        Self::Halves,
    ];
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stack => "stack",
            Self::StackBatches => "stack, in batches",
            Self::Heap => "heap",
            Self::AsRingwalk => "heap, as ringwalk",
            Self::HeapBatches => "heap, in batches",
            Self::Deques => "deques, crossbeam",
            Self::Halves => "deques, mutex and half",
        })
    }
}

/// What a walk has found and done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walked {
    /// Directories, with the root.
    pub directories: u64,
    /// Names in them.
    pub names: u64,
    /// Touches of memory that threads share; all zero unless they were to be counted.
    pub touches: Touches,
}

/// Walks with so many threads, the calling one among them.
///
/// # Errors
/// A directory could not be read: the first such error of some thread, when all is walked.
pub fn run<W: Work>(work: &W, scheme: Scheme, threads: usize, counted: bool) -> io::Result<Walked> {
    if counted {
        run_probed::<W, Counted>(work, scheme, threads)
    } else {
        run_probed::<W, Uncounted>(work, scheme, threads)
    }
}

fn run_probed<W: Work, P: Probe>(work: &W, scheme: Scheme, threads: usize) -> io::Result<Walked> {
    let threads = threads.max(1);
    match scheme {
        Scheme::Stack => go(
            work,
            shared::hands::<_, Stack<_>, P>(threads, Manner::OneLock),
        ),
        Scheme::StackBatches => go(
            work,
            shared::hands::<_, Stack<_>, P>(threads, Manner::Batches),
        ),
        Scheme::Heap => go(
            work,
            shared::hands::<_, Heap<_>, P>(threads, Manner::OneLock),
        ),
        Scheme::AsRingwalk => go(
            work,
            shared::hands::<_, Heap<_>, P>(threads, Manner::AsRingwalk),
        ),
        Scheme::HeapBatches => go(
            work,
            shared::hands::<_, Heap<_>, P>(threads, Manner::Batches),
        ),
        Scheme::Deques => go(work, deques::hands::<_, P>(threads)),
        Scheme::Halves => go(work, halves::hands::<_, P>(threads)),
    }
}

fn go<W: Work>(work: &W, hands: Vec<impl Hand<W::Job>>) -> io::Result<Walked> {
    let mut hands = hands.into_iter();
    let Some(first) = hands.next() else {
        return Ok(Walked::default());
    };
    let root = work.root()?;
    thread::scope(|scope| {
        let others: Vec<_> = hands
            .map(|hand| scope.spawn(move || serve(work, hand, Vec::new())))
            .collect();
        let mut total = serve(work, first, vec![root]);
        for other in others {
            let part = other
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            total = total.and_then(|total| part.map(|part| total.with(part)));
        }
        total
    })
}

impl Walked {
    fn with(self, other: Self) -> Self {
        Self {
            directories: self.directories + other.directories,
            names: self.names + other.names,
            touches: self.touches.with(other.touches),
        }
    }
}

/// What one thread does.
fn serve<W: Work>(
    work: &W,
    mut hand: impl Hand<W::Job>,
    mut found: Vec<W::Job>,
) -> io::Result<Walked> {
    let (mut walked, mut tools) = (Walked::default(), W::Tools::default());
    let mut result = Ok(());
    while let Some(job) = hand.next(&mut found) {
        walked.directories += 1;
        match work.walk(&job, &mut tools, &mut found) {
            Ok(names) => walked.names += names,
            // Others may wait for this thread's part, so it goes on.
            Err(error) => result = result.and(Err(error)),
        }
    }
    walked.touches = hand.touches();
    result.map(|()| walked)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::files::Files;
    use super::synthetic::Synthetic;
    use super::*;
    use crate::tree::{self, Shape};

    #[test]
    fn every_scheme_walks_each_directory_once() {
        let work = Synthetic::new(20_000, 0);
        for scheme in Scheme::ALL {
            for threads in [1, 2, 5] {
                for counted in [false, true] {
                    let walked = run(&work, scheme, threads, counted).unwrap();
                    assert_eq!(walked.directories, 20_000, "{scheme} T={threads}");
                    assert_eq!(walked.touches != Touches::default(), counted, "{scheme}");
                }
            }
        }
    }

    /// Where there is next to nothing to do, threads wait for each other most.
    #[test]
    fn a_walk_ends_however_small_it_is() {
        for directories in [1, 2, 17, 40] {
            let work = Synthetic::new(directories, 0);
            for scheme in Scheme::ALL {
                for _ in 0..50 {
                    let walked = run(&work, scheme, 4, false).unwrap();
                    assert_eq!(walked.directories, directories, "{scheme}");
                }
            }
        }
    }

    #[test]
    fn every_scheme_finds_all_files() {
        let dir = tempfile::tempdir().unwrap();
        let shape = Shape::scaled(0.004);
        tree::make(dir.path(), shape).unwrap();
        for sizes in [false, true] {
            let files = Files::new(dir.path(), sizes).unwrap();
            for scheme in Scheme::ALL {
                let walked = run(&files, scheme, 3, false).unwrap();
                assert_eq!(walked.directories, shape.directories as u64 + 1, "{scheme}");
                assert_eq!(walked.names, shape.entries() as u64, "{scheme}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let files = Files::new(Path::new("/no/such"), false).unwrap();
        for scheme in Scheme::ALL {
            let error = run(&files, scheme, 2, false).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{scheme}");
            assert!(error.to_string().contains("/no/such"), "{error}");
        }
    }
}
