//! Which back end an operation goes to.
#![allow(
    clippy::inline_always,
    reason = "a return that comes after a system call is mispredicted"
)]

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use fscall::{Form, OFlags, Prepared};

use crate::backend::Backend;
use crate::capabilities::{OperationKind, RingUnavailable, Route};
use crate::driver::Driver;
use crate::flights::{Flights, Stage};
use crate::gate::{Gate, Room};
use crate::guide::Guide;
use crate::inline::Inline;
use crate::metadata::Metadata;
use crate::metrics::FsKey;
use crate::op::{Close, Job, Operation, Pending, pack};
use crate::ring::{Features, Jobs, Ring, SetupError};

/// What came of trying to answer at once.
pub(crate) enum AtOnce {
    Answered(io::Result<()>),
    /// Another route has to ask.
    Miss,
}

impl Driver {
    /// Answers at once if that is certain not to sleep.
    #[inline(always)]
    pub(crate) fn try_inline(
        &self,
        dir: BorrowedFd<'_>,
        path: Option<&CStr>,
        prepared: &Prepared,
        answer: &mut fscall::Statx,
    ) -> AtOnce {
        let shared = &*self.shared;
        let form = prepared.form();
        let result = match shared.inline.statx(dir, path, prepared, answer) {
            Inline::Answered(from) => {
                shared.counters.count_hit_on(from, form);
                Ok(())
            }
            Inline::Removed(from, fd) => {
                shared.counters.count_hit_on(from, form);
                // Nobody waits for it.
                drop(self.submit(Close::new(fd)));
                Ok(())
            }
            Inline::Failed(error) => {
                let operation = match form {
                    Form::Fd => OperationKind::StatxFd,
                    Form::Path => OperationKind::StatxPath,
                };
                shared.counters.count(operation, Route::Inline);
                Err(error)
            }
            Inline::Miss => {
                shared.counters.count_miss();
                return AtOnce::Miss;
            }
        };
        AtOnce::Answered(result)
    }

    /// Where what could not be answered inline turned out to be.
    pub(crate) fn count_miss_on(&self, answer: &fscall::Statx) {
        self.shared.counters.count_miss_on(FsKey::of(answer));
    }

    /// Opens a file beneath a directory at once if that is not known to sleep.
    pub(crate) fn try_open_beneath(
        &self,
        dir: BorrowedFd<'_>,
        path: &CStr,
        flags: OFlags,
    ) -> Option<io::Result<(OwnedFd, fscall::Statx)>> {
        let shared = &*self.shared;
        let opened = shared.inline.open_beneath(dir, path, flags, Metadata::MASK);
        if let Some(file) = opened.left {
            // Nobody waits for it.
            drop(self.submit(Close::new(file)));
        }
        match &opened.answer {
            Some(_) => shared
                .counters
                .count(OperationKind::OpenBeneath, Route::Inline),
            None => shared.counters.count_miss(),
        }
        opened.answer
    }

    /// Whether operations may be answered from memory unless the caller insists on another route.
    pub(crate) fn is_inline(&self) -> bool {
        matches!(self.backend(), Backend::Auto | Backend::Threads)
    }

    /// Whether all calls are made by the thread that asks.
    pub(crate) fn is_this_thread(&self) -> bool {
        self.backend() == Backend::ThisThread
    }

    /// Hands an operation to the back end that suits it.
    pub(crate) fn submit<O: Operation>(&self, op: O) -> io::Result<Pending<O::Output>> {
        self.hand_over(op, None)
    }

    /// Hands an operation to a worker, whatever else there is.
    pub(crate) fn submit_to_worker<O: Operation>(&self, op: O) -> io::Result<Pending<O::Output>> {
        self.hand_over(op, Some(Stage::Worker))
    }

    fn hand_over<O: Operation>(
        &self,
        op: O,
        wants: Option<Stage>,
    ) -> io::Result<Pending<O::Output>> {
        self.check()?;
        let (job, pending) = pack(op);
        self.send(job, wants);
        Ok(if self.is_this_thread() {
            pending.done_here()
        } else {
            pending
        })
    }

    /// Hands an operation to the ring, or tells why there is none. It is let in whoever else waits
    /// for the same server, since it was insisted on.
    pub(crate) async fn submit_to_ring<O: Operation>(&self, op: O) -> io::Result<O::Output> {
        self.check()?;
        let unsupported = |text| Err(io::Error::new(io::ErrorKind::Unsupported, text));
        if let Some(reason) = self.ring_unwanted() {
            return unsupported(reason.to_string());
        }
        let features = self.ring_features().await?;
        if !features.supports(op.kind()) {
            return unsupported(format!(
                "this kernel's ring has no operation for {}",
                op.kind()
            ));
        }
        let (job, pending) = pack(op);
        if self.ring()?.submit([job]).is_err() {
            return unsupported("the ring has broken down".to_owned());
        }
        pending.await
    }

    /// Hands a job to a worker.
    pub(crate) fn send_to_worker(&self, job: Box<dyn Job>) {
        self.send(job, Some(Stage::Worker));
    }

    /// Hands the jobs of a batch to the ring, as far as they need not wait for others that lead to
    /// the same server.
    pub(crate) fn spread_on_ring(&self, jobs: Vec<Box<dyn Job>>) {
        let Some(mut guide) = Guide::new() else {
            return self.send_to_ring(jobs);
        };
        let mut free = Vec::new();
        let mut guarded = BTreeMap::<_, Vec<_>>::new();
        for job in jobs {
            match job.place().and_then(|place| guide.server_of(place)) {
                Some(server) => guarded.entry(server).or_default().push(job),
                None => free.push(job),
            }
        }
        self.send_to_ring(free);
        for (server, jobs) in guarded {
            Gate::admit(self, server, jobs, Stage::Ring);
        }
    }

    /// Hands jobs to the ring, all at once; to the pool if there is no ring after all.
    pub(crate) fn send_to_ring(&self, jobs: impl Jobs) {
        if jobs.as_ref().is_empty() {
            return;
        }
        let rest = match self.ring() {
            Ok(ring) => ring.submit(jobs).err(),
            Err(_) => Some(jobs),
        };
        for job in rest.into_iter().flatten() {
            self.shared.pool.take_over(job);
        }
    }

    /// Sends a job where it wants to go, or keeps it while too many lead to the same server.
    fn send(&self, mut job: Box<dyn Job>, wants: Option<Stage>) {
        if self.is_this_thread() {
            let count = job.calls();
            self.shared.counters.add(job.kind(), Route::Inline, count);
            job.run();
            return job.land();
        }
        let guide = Guide::new();
        let server = guide.and_then(|mut guide| guide.server_of(job.place()?));
        let stage = match wants {
            Some(stage) => stage,
            None if job.is_for_ring() && self.prefers_ring(server.is_some()) => Stage::Ring,
            None => Stage::Worker,
        };
        match server {
            Some(server) => Gate::admit(self, server, [job], stage),
            None => self.send_to(stage, job),
        }
    }

    /// Sends a job to a back end; to the pool if there is no ring after all.
    pub(crate) fn send_to(&self, stage: Stage, job: Box<dyn Job>) {
        match stage {
            Stage::Ring => self.send_to_ring([job]),
            Stage::Worker | Stage::Waiting => self.shared.pool.submit(job),
        }
    }

    /// Whether the ring takes what comes. With fewer in flight than 32 for each core a worker
    /// answers sooner if nothing sleeps, and if all do there is a thread for each. A quarter of the
    /// budget is the most, so that some is left for the ring. What waits for servers does not count
    /// beside what does not, and finds its own limits at the gate.
    fn prefers_ring(&self, asks_server: bool) -> bool {
        match self.backend() {
            Backend::Ring => return true,
            Backend::Auto => {}
            Backend::Threads | Backend::ThisThread => return false,
        }
        let with_workers = self.flights().at(Stage::Worker);
        let beside = if asks_server {
            with_workers
        } else {
            with_workers.saturating_sub(self.gate().on_workers())
        };
        // Whoever has a call or two at a time need not know what there is.
        beside > 2
            && beside >= (32 * fscall::limits::usable_cores()).min(blockpool::budget().limit() / 4)
    }

    /// Whether so many stats that sleep are for the ring: more than there are threads at hand.
    pub(crate) fn suits_ring(&self, stats: usize) -> bool {
        self.backend() == Backend::Ring
            || stats > 2 * fscall::limits::usable_cores()
                && self.ring_may_do(OperationKind::StatxPath)
    }

    /// Whether the gate may send this job to the ring.
    pub(crate) fn ring_may_take(&self, job: &dyn Job) -> bool {
        job.is_for_ring() && self.ring_may_do(job.kind())
    }

    /// Whether the gate may send this job to the pool.
    pub(crate) fn pool_may_take(&self, job: &dyn Job) -> bool {
        self.backend() != Backend::Ring || !self.ring_may_take(job)
    }

    /// Whether there may be a ring and it has the operation, as far as that is known: it may still be
    /// on its way, and what it turns out to lack comes back to the pool.
    fn ring_may_do(&self, operation: OperationKind) -> bool {
        self.ring_unwanted().is_none()
            && self.ring().is_ok_and(|ring| match ring.setup() {
                None => true,
                Some(Ok(features)) => features.supports(operation) && ring.is_open(),
                Some(Err(_)) => false,
            })
    }

    /// How many operations could sleep at the same time, while so many of servers are with workers.
    pub(crate) fn room(&self, servers_on_workers: usize) -> Room {
        let budget = blockpool::budget();
        let ring = self.shared.ring.get();
        let share = ring.as_ref().map_or(0, |ring| ring.workers());
        let ours = self.shared.pool.threads() + share;
        let all = budget
            .limit()
            .saturating_sub(budget.at_work().saturating_sub(ours));
        let ring = match ring.as_ref().and_then(|ring| ring.setup()) {
            Some(Err(_)) => 0,
            Some(Ok(features)) if share == 0 => features.default_workers(),
            Some(Ok(features)) => features.capacity().min(self.shared.ring_config.workers),
            None => self.shared.ring_config.least_capacity(),
        };
        // What is with workers has threads, or will have them.
        let helpers = all.saturating_sub(budget.kept_for_threads() + servers_on_workers);
        Room {
            all,
            ring: ring.min(helpers),
        }
    }

    /// Counts calls that a job has made itself.
    pub(crate) fn count(&self, operation: OperationKind, route: Route, calls: usize) {
        self.shared.counters.add(operation, route, calls);
    }

    /// Whether this file is on a file system where a call can sleep although all is in memory.
    pub(crate) fn is_remote(&self, fd: BorrowedFd<'_>) -> bool {
        self.shared.inline.is_remote(fd)
    }

    pub(crate) fn flights(&self) -> &Flights {
        &self.shared.counters.flights
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.shared.gate
    }

    /// Why no ring is to be made.
    pub(crate) fn ring_unwanted(&self) -> Option<RingUnavailable> {
        match self.backend() {
            Backend::Threads => Some(RingUnavailable::Threads),
            Backend::ThisThread => Some(RingUnavailable::ThisThread),
            Backend::Auto | Backend::Ring => None,
        }
    }

    fn ring(&self) -> Result<Arc<Ring>, SetupError> {
        let shared = &*self.shared;
        shared.ring.get_or_start(|| {
            Ring::start(
                shared.ring_config,
                Arc::clone(&shared.pool),
                Arc::clone(&shared.counters),
            )
        })
    }

    pub(crate) async fn ring_features(&self) -> Result<Features, SetupError> {
        let ring = self.ring()?;
        if ring.setup().is_none() {
            // Whether it answers or is dropped, the set-up is over then.
            let _ = ring.wait_for_setup().await;
        }
        ring.setup().cloned().unwrap_or_else(|| {
            let error = io::Error::from_raw_os_error(libc::ECANCELED);
            Err(SetupError::new("io_uring_setup", &error))
        })
    }
}
