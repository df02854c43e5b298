//! Whether a call slept.

use std::cell::Cell;
use std::time::{Duration, Instant};

use fscall::thread::thread_usage;

/// A call that took longer is looked at: forty times what a `statx` takes that is answered from
/// memory, and less than any disk.
const SLOW: Duration = Duration::from_micros(50);

thread_local! {
    /// Since its switches were last counted, the thread has waited for another one of ours.
    static WAITED: Cell<bool> = const { Cell::new(false) };
}

/// Notes that the calling thread waits for another one of ours.
pub(crate) fn waited() {
    // At the end of a thread nobody watches any more.
    let _ = WAITED.try_with(|waited| waited.set(true));
}

/// Tells whether the calling thread has slept, by the clock and by what the scheduler has counted: a
/// timer alone can't tell a thread that slept from one whose processor was taken away.
///
/// Looking costs a look at the clock; what the scheduler has counted (getrusage(2) with
/// `RUSAGE_THREAD`, 0.3 µs) is looked at only after 50 µs.
///
/// ```
/// use std::time::Duration;
///
/// let mut watch = blockpool::SleepWatch::new();
/// assert!(!watch.has_slept());
/// std::thread::sleep(Duration::from_millis(1));
/// assert!(watch.has_slept());
/// ```
#[derive(Debug)]
pub struct SleepWatch {
    last: Instant,
    switches: i64,
}

impl SleepWatch {
    /// Watches from now on. To be used on one thread only.
    #[expect(clippy::new_without_default, reason = "it is made at a moment")]
    pub fn new() -> Self {
        Self {
            switches: thread_usage().voluntary_switches,
            last: Instant::now(),
        }
    }

    /// Whether the thread has slept since the last question, and for long enough to matter. False if it
    /// has waited for a [`lock`](crate::lock) meanwhile: then the two can't be told apart.
    pub fn has_slept(&mut self) -> bool {
        let now = Instant::now();
        let took = now.duration_since(self.last);
        self.last = now;
        if took < SLOW {
            return false;
        }
        let switches = thread_usage().voluntary_switches;
        // The mark is as old as the count: a wait in a stretch too short to be looked at is in both.
        let waited = WAITED.try_with(Cell::take).unwrap_or(false);
        std::mem::replace(&mut self.switches, switches) != switches && !waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_is_not_computing() {
        let mut watch = SleepWatch::new();
        assert!(!watch.has_slept());
        std::thread::sleep(SLOW * 2);
        assert!(watch.has_slept());
        let start = Instant::now();
        while start.elapsed() < SLOW * 2 {
            std::hint::spin_loop();
        }
        assert!(!watch.has_slept());
    }

    #[test]
    fn waiting_for_a_lock_is_not_sleeping() {
        let mutex = std::sync::Mutex::new(());
        let mut watch = SleepWatch::new();
        std::thread::scope(|scope| {
            let held = crate::lock(&mutex);
            let waiter = scope.spawn(|| {
                let mut watch = SleepWatch::new();
                drop(crate::lock(&mutex));
                watch.has_slept()
            });
            std::thread::sleep(SLOW * 4);
            drop(held);
            assert!(!waiter.join().unwrap());
        });
        assert!(watch.has_slept());
    }
}
