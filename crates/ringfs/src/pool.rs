//! The back end that every kernel has: plain calls on threads that may sleep.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use blockpool::{Crew, Member, Work, lock};

use crate::capabilities::Route;
use crate::flights::Stage;
use crate::metrics::Counters;
use crate::op::Job;

/// Executes jobs in the order they came, on as many threads as sleep and a core's worth more.
#[derive(Debug)]
pub(crate) struct Pool {
    queue: Arc<Queue>,
    crew: Crew,
}

struct Queue {
    jobs: Mutex<VecDeque<Box<dyn Job>>>,
    counters: Arc<Counters>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("jobs", &self.jobs().len())
            .finish()
    }
}

impl Queue {
    fn jobs(&self) -> MutexGuard<'_, VecDeque<Box<dyn Job>>> {
        lock(&self.jobs)
    }
}

impl Pool {
    pub(crate) fn new(counters: Arc<Counters>) -> Self {
        let queue = Arc::new(Queue {
            jobs: Mutex::default(),
            counters,
        });
        let crew = Crew::new(usize::MAX, Arc::clone(&queue) as Arc<dyn Work>);
        Self { queue, crew }
    }

    /// Hands a job over. Without a single thread it fails at once, with the system's reason.
    pub(crate) fn submit(&self, job: Box<dyn Job>) {
        let counters = &self.queue.counters;
        counters.add(job.kind(), Route::Worker, job.calls());
        counters.flights.begin(Stage::Worker);
        self.queue.jobs().push_back(job);
        if let Err(error) = self.crew.call_in() {
            let error = io::Error::from(error);
            // All of them: no thread will come for those of others either.
            let stranded = std::mem::take(&mut *self.queue.jobs());
            for job in stranded {
                let _landed = Landed(counters);
                let errno = error.raw_os_error();
                job.complete(Err(
                    errno.map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
                ));
            }
        }
    }

    /// As [`submit`](Self::submit), for what was to go to the ring.
    pub(crate) fn take_over(&self, job: Box<dyn Job>) {
        self.queue.counters.count_fallback();
        self.submit(job);
    }

    /// How many threads are making calls.
    pub(crate) fn threads(&self) -> usize {
        self.crew.members()
    }
}

/// Counts a job as done, however that ended.
struct Landed<'a>(&'a Counters);

impl Drop for Landed<'_> {
    fn drop(&mut self) {
        self.0.flights.end(Stage::Worker);
    }
}

impl Work for Queue {
    fn run(&self, member: &Member<'_>) {
        loop {
            // A `while let` would hold the lock during the call.
            let Some(mut job) = self.jobs().pop_front() else {
                return;
            };
            let landed = Landed(&self.counters);
            if !job.is_abandoned() {
                member.may_sleep(|| job.run());
            }
            if job.is_abandoned() {
                // What it has brought may be the last of its kind.
                member.may_sleep(|| drop(job));
                drop(landed);
            } else {
                // Whoever is told may well ask the next thing at once.
                member.before_next(|| {
                    job.land();
                    drop(landed);
                });
            }
            if member.is_surplus() {
                return;
            }
        }
    }

    fn waiting(&self) -> usize {
        self.jobs().len()
    }
}
