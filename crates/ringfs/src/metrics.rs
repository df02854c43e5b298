//! What a driver has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

use fscall::Form;

use crate::capabilities::{OperationKind, Route};
use crate::flights::{Flights, Stage};

mod by_file_system;

use by_file_system::ByFileSystem;
pub use by_file_system::FileSystemHits;
pub(crate) use by_file_system::FsKey;

const OPERATIONS: usize = OperationKind::ALL.len();
const ROUTES: usize = 3;

/// Counts calls by operation and route; the live side of [`Metrics`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    calls: [[AtomicU64; ROUTES]; OPERATIONS],
    inline: ByFileSystem,
    inline_misses: AtomicU64,
    fallbacks: AtomicU64,
    overflows: AtomicU64,
    cancelled: AtomicU64,
    pub(crate) flights: Flights,
}

/// What is there at the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
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

    /// A stat that was answered inline, which is all that is counted of it: each counter costs as
    /// much as a hundredth of such a call.
    pub(crate) fn count_hit_on(&self, file_system: FsKey, form: Form) {
        self.inline.hit(file_system, form);
    }

    /// Of a miss that was [counted](Self::count_miss): where it turned out to be.
    pub(crate) fn count_miss_on(&self, file_system: FsKey) {
        self.inline.miss(file_system);
    }

    pub(crate) fn count_cancelled(&self) {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
    }

    /// What the kernel has counted.
    pub(crate) fn set_overflows(&self, overflows: u32) {
        self.overflows.store(overflows.into(), Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, gauges: Gauges, may_statmount: bool) -> Metrics {
        let mut calls = self
            .calls
            .each_ref()
            .map(|routes| routes.each_ref().map(|count| count.load(Ordering::Relaxed)));
        for (operation, form) in [
            (OperationKind::StatxFd, Form::Fd),
            (OperationKind::StatxPath, Form::Path),
        ] {
            calls[operation as usize][Route::Inline as usize] += self.inline.all_hits(form);
        }
        Metrics {
            calls,
            inline: self.inline.snapshot(may_statmount),
            overflows: self.overflows.load(Ordering::Relaxed),
            cancelled: self.cancelled.load(Ordering::Relaxed),
            in_flight: [Stage::Worker, Stage::Ring, Stage::Waiting]
                .map(|stage| self.flights.at(stage)),
            inline_misses: self.inline_misses.load(Ordering::Relaxed),
            fallbacks: self.fallbacks.load(Ordering::Relaxed),
            gauges,
        }
    }
}

/// A driver's counters at one moment, from [`Driver::metrics`](crate::Driver::metrics).
#[derive(Clone, Debug)]
pub struct Metrics {
    calls: [[u64; ROUTES]; OPERATIONS],
    inline: Vec<FileSystemHits>,
    inline_misses: u64,
    fallbacks: u64,
    overflows: u64,
    cancelled: u64,
    /// With workers, on the ring, waiting.
    in_flight: [usize; 3],
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

    /// Hits and misses of single stats by the type of file system, in alphabetical order: where a
    /// file system never answers from memory (`/sys`, symbolic links on xfs), each call costs a
    /// wasted attempt of about a microsecond. What failed is not among them.
    pub fn inline_by_file_system(&self) -> &[FileSystemHits] {
        &self.inline
    }

    /// How often the ring was to make a call, and a worker had to: there is no ring, or it lacks
    /// the operation. What no kernel's ring can do is not counted.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }

    /// How many completions found no room in the ring's queue. No more is asked for at a time than
    /// there is room for, so it is 0; what does not fit waits.
    pub fn overflows(&self) -> u64 {
        self.overflows
    }

    /// How many operations that were on the ring the kernel was asked to cancel, as their futures
    /// had been dropped.
    pub fn cancelled(&self) -> u64 {
        self.cancelled
    }

    /// How many operations had been asked and not been answered.
    pub fn in_flight(&self) -> usize {
        self.in_flight.iter().sum()
    }

    /// How many operations one back end had not finished; a batch on a worker is one. Inline
    /// nothing is ever in flight.
    pub fn in_flight_on(&self, route: Route) -> usize {
        let [on_workers, on_ring, _] = self.in_flight;
        match route {
            Route::Inline => 0,
            Route::Worker => on_workers,
            Route::Ring => on_ring,
        }
    }

    /// How many operations had not been given to a back end, since too many others led to the same
    /// mount: it may be dead, and must not take all threads.
    pub fn held_back(&self) -> usize {
        let [_, _, waiting] = self.in_flight;
        waiting
    }

    /// How many threads were making calls for this driver.
    pub fn pool_threads(&self) -> usize {
        self.gauges.pool_threads
    }

    /// How many kernel workers (io-wq) the ring may have at the moment: as many as operations are in
    /// flight, within the process's budget. 0 before there is a ring, or where the kernel's own
    /// limit applies (before Linux 5.15).
    pub fn ring_workers(&self) -> usize {
        self.gauges.ring_workers
    }
}
