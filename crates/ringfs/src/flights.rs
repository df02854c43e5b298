//! What has been asked and not been answered yet.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use blockpool::lock;

/// Where an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Queued for a worker, or with one.
    Worker,
    /// Queued for the ring, or on it.
    Ring,
    /// Not let in yet; see [`Gate`](crate::gate::Gate).
    Waiting,
}

const STAGES: usize = 3;

/// Counts a driver's operations, and tells when the last has landed.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    counts: [AtomicUsize; STAGES],
    /// Their sum, which can't be had by adding them while operations move between them.
    total: AtomicUsize,
    /// How many wait for the last to land.
    watchers: AtomicUsize,
    lock: Mutex<()>,
    landed: Condvar,
}

impl Flights {
    pub(crate) fn begin(&self, stage: Stage) {
        self.begin_many(stage, 1);
    }

    pub(crate) fn begin_many(&self, stage: Stage, count: usize) {
        self.total.fetch_add(count, Ordering::SeqCst);
        self.counts[stage as usize].fetch_add(count, Ordering::SeqCst);
    }

    /// An operation that goes on elsewhere begins there first, or it would seem to have landed.
    pub(crate) fn end(&self, stage: Stage) {
        self.counts[stage as usize].fetch_sub(1, Ordering::SeqCst);
        let was = self.total.fetch_sub(1, Ordering::SeqCst);
        if was == 1 && self.watchers.load(Ordering::SeqCst) > 0 {
            // With the lock, or a watcher could be between its look and its wait.
            drop(self.lock.lock());
            self.landed.notify_all();
        }
    }

    pub(crate) fn at(&self, stage: Stage) -> usize {
        self.counts[stage as usize].load(Ordering::SeqCst)
    }

    pub(crate) fn total(&self) -> usize {
        self.total.load(Ordering::SeqCst)
    }

    /// Waits until everything has landed; how many had not when the time was over.
    pub(crate) fn wait_until_landed(&self, limit: Duration) -> usize {
        // A limit beyond what the clock can hold is none.
        let end = Instant::now().checked_add(limit);
        self.watchers.fetch_add(1, Ordering::SeqCst);
        let mut guard = lock(&self.lock);
        while self.total() > 0 {
            let left = end.map_or(Duration::from_hours(1), |end| {
                end.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                break;
            }
            guard = self
                .landed
                .wait_timeout(guard, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(guard, _)| guard);
        }
        drop(guard);
        self.watchers.fetch_sub(1, Ordering::SeqCst);
        self.total()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_last_one_ends_the_wait() {
        let flights = Arc::new(Flights::default());
        assert_eq!(flights.wait_until_landed(Duration::ZERO), 0);
        flights.begin_many(Stage::Worker, 2);
        flights.begin(Stage::Ring);
        assert_eq!(flights.wait_until_landed(Duration::from_millis(5)), 3);
        let theirs = Arc::clone(&flights);
        let thread = std::thread::spawn(move || {
            theirs.end(Stage::Worker);
            theirs.end(Stage::Worker);
            theirs.begin(Stage::Waiting);
            theirs.end(Stage::Ring);
            std::thread::sleep(Duration::from_millis(10));
            theirs.end(Stage::Waiting);
        });
        assert_eq!(flights.wait_until_landed(Duration::MAX), 0);
        thread.join().unwrap();
    }
}
