//! What a driver has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::capabilities::{OperationKind, Route};

const OPERATIONS: usize = 5;
const ROUTES: usize = 3;

/// Counts calls by operation and route; the live side of [`Metrics`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    calls: [[AtomicU64; ROUTES]; OPERATIONS],
    inline_misses: AtomicU64,
}

impl Counters {
    pub(crate) fn count(&self, operation: OperationKind, route: Route) {
        self.calls[operation as usize][route as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_miss(&self) {
        self.inline_misses.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, in_flight: usize) -> Metrics {
        let calls = self
            .calls
            .each_ref()
            .map(|routes| routes.each_ref().map(|count| count.load(Ordering::Relaxed)));
        Metrics {
            calls,
            inline_misses: self.inline_misses.load(Ordering::Relaxed),
            in_flight,
        }
    }
}

/// A driver's counters at one moment, from [`Driver::metrics`](crate::Driver::metrics).
#[derive(Clone, Copy, Debug)]
pub struct Metrics {
    calls: [[u64; ROUTES]; OPERATIONS],
    inline_misses: u64,
    in_flight: usize,
}

impl Metrics {
    /// How often an operation took a route.
    pub fn calls(&self, operation: OperationKind, route: Route) -> u64 {
        self.calls[operation as usize][route as usize]
    }

    /// How often a call was tried inline and could not be answered there.
    pub fn inline_misses(&self) -> u64 {
        self.inline_misses
    }

    /// How many operations the back ends had not finished.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }
}
