//! Where walkers count, each thread for itself, and what they have found in all.

use std::io;
use std::iter::Sum;
use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What has been found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries of any type.
    pub entries: u64,
    /// Bytes of their names.
    pub name_bytes: u64,
    /// Bytes of the regular files, where they were asked for.
    pub sizes: u64,
}

impl Tally {
    /// One entry.
    pub const fn one(name_bytes: usize, size: u64) -> Self {
        Self {
            entries: 1,
            name_bytes: name_bytes as u64,
            sizes: size,
        }
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            name_bytes: self.name_bytes + other.name_bytes,
            sizes: self.sizes + other.sizes,
        }
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), Add::add)
    }
}

/// Counts for one visitor, which is at work on one thread at a time. Others may look.
///
/// It has cache lines of its own, or counting would slow down the neighbour.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Slot {
    entries: AtomicU64,
    name_bytes: AtomicU64,
    sizes: AtomicU64,
}

impl Slot {
    /// Counts what was found.
    pub fn add(&self, found: Tally) {
        // Nobody else writes, so no addition has to be atomic.
        let add = |to: &AtomicU64, more: u64| to.store(to.load(Relaxed) + more, Relaxed);
        add(&self.entries, found.entries);
        add(&self.name_bytes, found.name_bytes);
        add(&self.sizes, found.sizes);
    }

    fn tally(&self) -> Tally {
        Tally {
            entries: self.entries.load(Relaxed),
            name_bytes: self.name_bytes.load(Relaxed),
            sizes: self.sizes.load(Relaxed),
        }
    }
}

/// What all threads of a walk have counted, and the first failure.
#[derive(Debug, Default)]
pub struct Board {
    slots: Mutex<Vec<Arc<Slot>>>,
    failure: Mutex<Option<io::Error>>,
}

impl Board {
    /// A further place to count.
    pub fn slot(&self) -> Arc<Slot> {
        let slot = Arc::new(Slot::default());
        lock(&self.slots).push(Arc::clone(&slot));
        slot
    }

    /// What has been counted so far.
    pub fn total(&self) -> Tally {
        lock(&self.slots).iter().map(|slot| slot.tally()).sum()
    }

    /// Something could not be read or looked at.
    pub fn fail(&self, error: impl Into<io::Error>) {
        lock(&self.failure).get_or_insert(error.into());
    }

    /// The first failure, taken out.
    pub fn failure(&self) -> Option<io::Error> {
        lock(&self.failure).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_add_up_and_the_first_failure_stays() {
        let board = Board::default();
        let (a, b) = (board.slot(), board.slot());
        a.add(Tally::one(3, 10));
        a.add(Tally::one(4, 0));
        b.add(Tally::one(5, 1));
        let expected = Tally {
            entries: 3,
            name_bytes: 12,
            sizes: 11,
        };
        assert_eq!(board.total(), expected);
        board.fail(io::ErrorKind::NotFound);
        board.fail(io::ErrorKind::Other);
        let kind = board.failure().map(|error| error.kind());
        assert_eq!(kind, Some(io::ErrorKind::NotFound));
    }
}
