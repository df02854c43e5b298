//! The way of an operation to the ring's thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Wake;

use futures_channel::oneshot;

use super::event::Event;
use super::mailbox::{self, Mailbox};
use super::setup::{Config, Features, SetupError};
use super::thread;
use crate::capabilities::{OperationKind, Route};
use crate::flights::Stage;
use crate::metrics::Counters;
use crate::op::Job;
use crate::pool::Pool;

/// The handle of a ring and its thread; the thread ends after the handle is gone and its last
/// operation has completed. It is never joined: a call on a dead mount would never let it.
#[derive(Debug)]
pub(crate) struct Ring {
    inbox: Arc<Inbox>,
}

#[derive(Debug)]
pub(super) struct Inbox {
    jobs: Mailbox<Box<dyn Job>>,
    event: Event,
    counters: Arc<Counters>,
    setup: OnceLock<Result<Features, SetupError>>,
    waiting_for_setup: Mutex<Vec<oneshot::Sender<()>>>,
    /// How many kernel workers there may be at the moment; 0 is the kernel's own limit.
    workers: AtomicUsize,
}

/// One operation, or many.
pub(crate) trait Jobs: IntoIterator<Item = Box<dyn Job>> + AsRef<[Box<dyn Job>]> {}

impl<J: IntoIterator<Item = Box<dyn Job>> + AsRef<[Box<dyn Job>]>> Jobs for J {}

impl Ring {
    /// Starts the thread, which makes the ring: whether the kernel grants it is known
    /// [later](Self::setup). Until then operations queue up, and go to `fallback` if it does not.
    pub(crate) fn start(
        config: Config,
        fallback: Arc<Pool>,
        counters: Arc<Counters>,
    ) -> Result<Self, SetupError> {
        let event = Event::new().map_err(|error| SetupError::new("eventfd", &error))?;
        let inbox = Arc::new(Inbox {
            jobs: Mailbox::new(),
            event,
            counters,
            setup: OnceLock::new(),
            waiting_for_setup: Mutex::default(),
            workers: AtomicUsize::new(0),
        });
        let blocked = fscall::thread::block_all_signals()
            .map_err(|error| SetupError::new("pthread_sigmask", &error))?;
        let theirs = Arc::clone(&inbox);
        std::thread::Builder::new()
            .name("ringfs-driver".into())
            .spawn(move || thread::live(&theirs, config, &fallback))
            .map_err(|error| SetupError::new("clone", &error))?;
        drop(blocked);
        Ok(Self { inbox })
    }

    /// Hands operations over, all at once; gives them back if there is no ring to do them.
    pub(crate) fn submit<J: Jobs>(&self, jobs: J) -> Result<(), J> {
        let inbox = &*self.inbox;
        let flights = &inbox.counters.flights;
        let count = |jobs: &J| flights.begin_many(Stage::Ring, jobs.as_ref().len());
        inbox.rouse(inbox.jobs.put(jobs, count)?);
        Ok(())
    }

    /// What became of the set-up; `None` while it is not known yet.
    pub(crate) fn setup(&self) -> Option<&Result<Features, SetupError>> {
        self.inbox.setup.get()
    }

    /// Whether it takes operations, as a ring that has broken down does not.
    pub(crate) fn is_open(&self) -> bool {
        self.inbox.jobs.is_open()
    }

    /// How many kernel workers there may be at the moment; 0 before there is a ring, or where the
    /// kernel's own limit applies.
    pub(crate) fn workers(&self) -> usize {
        self.inbox.workers.load(Ordering::Relaxed)
    }

    /// Waits until [`setup`](Self::setup) is known.
    pub(crate) fn wait_for_setup(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.inbox.waiting_for_setup();
        if self.inbox.setup.get().is_none() {
            waiting.push(sender);
        }
        // Otherwise the sender is dropped here, which ends the wait just as well.
        receiver
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.inbox.rouse(self.inbox.jobs.close());
    }
}

/// Wakes the thread when the future of an operation on the ring is dropped.
impl Wake for Inbox {
    fn wake(self: Arc<Self>) {
        self.rouse(self.jobs.signal());
    }
}

impl Inbox {
    fn rouse(&self, mailbox::Wake(wake): mailbox::Wake) {
        if wake {
            self.event.notify();
        }
    }

    /// What has come in, and what has not.
    pub(super) fn jobs(&self) -> &Mailbox<Box<dyn Job>> {
        &self.jobs
    }

    pub(super) fn set_workers(&self, workers: usize) {
        self.workers.store(workers, Ordering::Relaxed);
    }

    pub(super) fn event(&self) -> &Event {
        &self.event
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) fn count(&self, operation: OperationKind) {
        self.counters.count(operation, Route::Ring);
    }

    pub(super) fn finished_one(&self) {
        self.counters.flights.end(Stage::Ring);
    }

    fn waiting_for_setup(&self) -> MutexGuard<'_, Vec<oneshot::Sender<()>>> {
        let waiting = self.waiting_for_setup.lock();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_up(&self, result: Result<Features, SetupError>) {
        let _ = self.setup.set(result);
        self.waiting_for_setup().clear();
    }
}
