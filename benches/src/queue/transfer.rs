//! What it costs when two cores write the same memory.

use std::hint;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::Instant;

use super::pad::Padded;
use crate::stats;

/// Nanoseconds, each the median of some rounds.
#[derive(Debug, Clone, Copy)]
pub struct Transfer {
    /// From a write on one core until the other, which waits for it, has seen it.
    pub one_way: f64,
    /// A read-modify-write that nobody else does.
    pub add_alone: f64,
    /// One of those that two threads do as often as they can on one line: time over all of them.
    pub add_shared: f64,
    /// To take and leave a mutex that nobody else takes.
    pub lock_alone: f64,
    /// One that two threads take as often as they can: time over all takings.
    pub lock_shared: f64,
}

impl Transfer {
    /// Measures them with so many steps in each of so many rounds.
    pub fn measure(steps: u32, rounds: usize) -> Self {
        let median = |round: &dyn Fn() -> f64| {
            let values: Vec<_> = (0..rounds).map(|_| round()).collect();
            stats::median(&values)
        };
        let counter = Padded(AtomicU64::new(0));
        let add = || {
            counter.fetch_add(1, AcqRel);
        };
        let mutex = Padded(Mutex::new(0_u64));
        let lock = || {
            if let Ok(mut value) = mutex.lock() {
                *value += 1;
            }
        };
        Self {
            one_way: median(&|| one_way(steps)),
            add_alone: median(&|| together(1, steps, add)),
            add_shared: median(&|| together(2, steps, add)),
            lock_alone: median(&|| together(1, steps, lock)),
            lock_shared: median(&|| together(2, steps, lock)),
        }
    }
}

fn nanos_per(steps: u32, start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9 / f64::from(steps)
}

fn one_way(steps: u32) -> f64 {
    let turn = Padded(AtomicU64::new(0));
    // Each writes what the other waits for.
    let play = |mine: u64| {
        for step in 0..u64::from(steps) {
            let wanted = step * 2 + mine;
            let mut looks = 0_u32;
            while turn.load(Acquire) != wanted {
                looks += 1;
                // The other may not be running.
                if looks.is_multiple_of(10_000) {
                    thread::yield_now();
                }
            }
            turn.store(wanted + 1, Release);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| play(1));
        let start = Instant::now();
        play(0);
        nanos_per(2 * steps, start)
    })
}

/// Time over all steps of so many threads, which begin together.
fn together(threads: u32, steps: u32, step: impl Fn() + Sync) -> f64 {
    let go = Padded(AtomicBool::new(threads == 1));
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|_| {
                scope.spawn(|| {
                    go.store(true, Release);
                    (0..steps).for_each(|_| step());
                })
            })
            .collect();
        while !go.load(Relaxed) {
            hint::spin_loop();
        }
        let start = Instant::now();
        (0..steps).for_each(|_| step());
        for other in others {
            let _ = other.join();
        }
        nanos_per(threads * steps, start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_above_zero() {
        let transfer = Transfer::measure(1_000, 3);
        let Transfer {
            one_way,
            add_alone,
            add_shared,
            lock_alone,
            lock_shared,
        } = transfer;
        for nanos in [one_way, add_alone, add_shared, lock_alone, lock_shared] {
            assert!(nanos > 0.0 && nanos < 1e6, "{transfer:?}");
        }
    }
}
