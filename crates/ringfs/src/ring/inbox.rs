//! The way of an operation to the ring's thread.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_channel::oneshot;

use super::event::Event;
use super::setup::{Config, Features, SetupError};
use super::thread;
use crate::capabilities::{OperationKind, Route};
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
    queue: Mutex<Queue>,
    event: Event,
    /// The thread is about to wait in the kernel, so a new operation has to wake it.
    asleep: AtomicBool,
    in_flight: AtomicUsize,
    counters: Arc<Counters>,
    setup: OnceLock<Result<Features, SetupError>>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Box<dyn Job>>,
    /// Nobody will take anything out any more.
    closed: bool,
    waiting_for_setup: Vec<oneshot::Sender<()>>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("jobs", &self.jobs.len())
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

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
            queue: Mutex::default(),
            event,
            asleep: AtomicBool::new(false),
            in_flight: AtomicUsize::new(0),
            counters,
            setup: OnceLock::new(),
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

    /// Hands an operation over; gives it back if there is no ring to do it.
    pub(crate) fn submit(&self, job: Box<dyn Job>) -> Result<(), Box<dyn Job>> {
        let mut queue = self.inbox.queue();
        if queue.closed {
            return Err(job);
        }
        self.inbox.in_flight.fetch_add(1, Ordering::Relaxed);
        queue.jobs.push_back(job);
        drop(queue);
        self.inbox.wake();
        Ok(())
    }

    /// Hands many operations over at once; gives them back if there is no ring to do them.
    pub(crate) fn submit_all(&self, jobs: Vec<Box<dyn Job>>) -> Result<(), Vec<Box<dyn Job>>> {
        let mut queue = self.inbox.queue();
        if queue.closed {
            return Err(jobs);
        }
        self.inbox
            .in_flight
            .fetch_add(jobs.len(), Ordering::Relaxed);
        queue.jobs.extend(jobs);
        drop(queue);
        self.inbox.wake();
        Ok(())
    }

    /// What became of the set-up; `None` while it is not known yet.
    pub(crate) fn setup(&self) -> Option<&Result<Features, SetupError>> {
        self.inbox.setup.get()
    }

    /// Waits until [`setup`](Self::setup) is known.
    pub(crate) fn wait_for_setup(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let mut queue = self.inbox.queue();
        if self.inbox.setup.get().is_none() {
            queue.waiting_for_setup.push(sender);
        }
        // Otherwise the sender is dropped here, which ends the wait just as well.
        receiver
    }

    /// How many operations are queued for the ring or on it.
    pub(crate) fn in_flight(&self) -> usize {
        self.inbox.in_flight.load(Ordering::Relaxed)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.inbox.queue().closed = true;
        self.inbox.wake();
    }
}

impl Inbox {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            self.event.notify();
        }
    }

    pub(super) fn event(&self) -> &Event {
        &self.event
    }

    /// Moves what has come in to the end of `backlog`; whether more may come.
    pub(super) fn drain(&self, backlog: &mut VecDeque<Box<dyn Job>>) -> bool {
        let mut queue = self.queue();
        backlog.append(&mut queue.jobs);
        !queue.closed
    }

    /// From now on an operation wakes the thread. False if something has come in before that, or
    /// the handle is gone: then there is no reason to wait.
    pub(super) fn fall_asleep(&self, was_open: bool) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        let queue = self.queue();
        let quiet = queue.jobs.is_empty() && queue.closed != was_open;
        if !quiet {
            self.asleep.store(false, Ordering::SeqCst);
        }
        quiet
    }

    pub(super) fn woke_up(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }

    pub(super) fn count(&self, operation: OperationKind) {
        self.counters.count(operation, Route::Ring);
    }

    pub(super) fn finished_one(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn set_up(&self, result: Result<Features, SetupError>) {
        let _ = self.setup.set(result);
        self.queue().waiting_for_setup.clear();
    }

    /// Refuses whatever comes from now on, and gives back what has come.
    pub(super) fn close(&self) -> VecDeque<Box<dyn Job>> {
        let mut queue = self.queue();
        queue.closed = true;
        std::mem::take(&mut queue.jobs)
    }
}
