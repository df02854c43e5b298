//! What sharing costs, counted where it happens and by each thread for itself.

use std::ops::Index;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Something that a thread does with memory that others use as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// A lock that all threads take, or another thread's.
    Lock,
    /// It was taken at that moment. Its own lock may be, too.
    Contended,
    /// The lock of the thread's own deque, which others rarely take.
    OwnLock,
    /// A read-modify-write beside locks, of a line that other threads write.
    Atomic,
    /// Another thread's deque gave something.
    Steal,
    /// So many directories were stolen.
    Stolen,
    /// Another thread's deque was tried in vain.
    Miss,
    /// The thread went to sleep.
    Park,
    /// It woke another.
    Wake,
}

impl Touch {
    /// Each of them, and what tables call it.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Lock, "shared locks"),
        (Self::Contended, "contended"),
        (Self::OwnLock, "own locks"),
        (Self::Atomic, "other RMW"),
        (Self::Steal, "steals"),
        (Self::Stolen, "stolen"),
        (Self::Miss, "misses"),
        (Self::Park, "parks"),
        (Self::Wake, "wakes"),
    ];
}

/// How often each was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Touches([u64; Touch::ALL.len()]);

impl Touches {
    /// The sums of both.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own += other;
        }
        self
    }
}

impl Index<Touch> for Touches {
    type Output = u64;

    fn index(&self, touch: Touch) -> &u64 {
        &self.0[touch as usize]
    }
}

/// Counts, or does not.
pub(super) trait Probe: Default + Send + 'static {
    /// Whether it does.
    const ON: bool;

    fn add(&mut self, touch: Touch, count: usize);

    fn touches(&self) -> Touches;

    /// Takes a lock.
    fn lock<'a, T>(&mut self, mutex: &'a Mutex<T>, touch: Touch) -> MutexGuard<'a, T> {
        if Self::ON {
            self.add(touch, 1);
            if let Ok(guard) = mutex.try_lock() {
                return guard;
            }
            self.add(Touch::Contended, 1);
        }
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
pub(super) struct Uncounted;

impl Probe for Uncounted {
    const ON: bool = false;

    fn add(&mut self, _: Touch, _: usize) {}

    fn touches(&self) -> Touches {
        Touches::default()
    }
}

#[derive(Default)]
pub(super) struct Counted(Touches);

impl Probe for Counted {
    const ON: bool = true;

    fn add(&mut self, touch: Touch, count: usize) {
        self.0.0[touch as usize] += count as u64;
    }

    fn touches(&self) -> Touches {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touches_are_in_the_order_of_their_names() {
        for (index, (touch, _)) in Touch::ALL.into_iter().enumerate() {
            assert_eq!(touch as usize, index);
        }
    }

    #[test]
    fn a_lock_that_is_taken_is_contended() {
        let mutex = Mutex::new(());
        let mut probe = Counted::default();
        drop(probe.lock(&mutex, Touch::Lock));
        std::thread::scope(|scope| {
            let guard = probe.lock(&mutex, Touch::Lock);
            let other = scope.spawn(|| {
                let mut probe = Counted::default();
                drop(probe.lock(&mutex, Touch::OwnLock));
                probe.touches()
            });
            std::thread::sleep(std::time::Duration::from_millis(50));
            drop(guard);
            let other = other.join().unwrap();
            let sum = probe.touches().with(other);
            assert_eq!((sum[Touch::Lock], sum[Touch::OwnLock]), (2, 1));
            assert_eq!(sum[Touch::Contended], 1);
        });
    }
}
