//! What a driver has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::capabilities::{OperationKind, Route};

const OPERATIONS: usize = OperationKind::ALL.len();
const ROUTES: usize = 3;

/// Counts calls by operation and route; the live side of [`Metrics`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    calls: [[AtomicU64; ROUTES]; OPERATIONS],
    inline_misses: AtomicU64,
    fallbacks: AtomicU64,
}

/// What is there at the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub(crate) on_workers: usize,
    pub(crate) on_ring: usize,
    pub(crate) pool_threads: usize,
    pub(crate) ring_workers: usize,
}

impl Counters {
    pub(crate) fn count(&self, operation: OperationKind, route: Route) {
        self.add(operation, route, 1);
    }

    pub(crate) fn add(&self, operation: OperationKind, route: Route, calls: usize) {
        self.calls[operation as usize][route as usize].fetch_add(calls as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_fallback(&self) {
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_miss(&self) {
        self.inline_misses.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, gauges: Gauges) -> Metrics {
        let calls = self
            .calls
            .each_ref()
            .map(|routes| routes.each_ref().map(|count| count.load(Ordering::Relaxed)));
        Metrics {
            calls,
            inline_misses: self.inline_misses.load(Ordering::Relaxed),
            fallbacks: self.fallbacks.load(Ordering::Relaxed),
            gauges,
        }
    }
}

/// A driver's counters at one moment, from [`Driver::metrics`](crate::Driver::metrics).
#[derive(Clone, Copy, Debug)]
pub struct Metrics {
    calls: [[u64; ROUTES]; OPERATIONS],
    inline_misses: u64,
    fallbacks: u64,
    gauges: Gauges,
}

impl Metrics {
    /// How often an operation took a route.
    pub fn calls(&self, operation: OperationKind, route: Route) -> u64 {
        self.calls[operation as usize][route as usize]
    }

    /// How often a call was tried inline and answered there.
    pub fn inline_hits(&self) -> u64 {
        self.calls
            .iter()
            .map(|routes| routes[Route::Inline as usize])
            .sum()
    }

    /// How often a call was tried inline and could not be answered there.
    pub fn inline_misses(&self) -> u64 {
        self.inline_misses
    }

    /// How often the ring was to make a call, and a worker had to: there is no ring, or it lacks
    /// the operation. What no kernel's ring can do is not counted.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }

    /// How many operations the back ends had not finished.
    pub fn in_flight(&self) -> usize {
        self.gauges.on_workers + self.gauges.on_ring
    }

    /// How many operations one back end had not finished; a batch on a worker is one. Inline
    /// nothing is ever in flight.
    pub fn in_flight_on(&self, route: Route) -> usize {
        match route {
            Route::Inline => 0,
            Route::Worker => self.gauges.on_workers,
            Route::Ring => self.gauges.on_ring,
        }
    }

    /// How many threads were making calls for this driver.
    pub fn pool_threads(&self) -> usize {
        self.gauges.pool_threads
    }

    /// How many kernel workers (io-wq) the ring may have; see
    /// [`Capabilities::ring_workers`](crate::Capabilities::ring_workers). 0 before there is a ring.
    pub fn ring_workers(&self) -> usize {
        self.gauges.ring_workers
    }
}
