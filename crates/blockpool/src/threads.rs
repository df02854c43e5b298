//! The threads themselves: parked spares shared by all crews of the process.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;

use crate::budget::{Permit, budget};
use crate::crew::Inner;
use crate::lock;
use crate::per_fork::PerFork;

/// How long a spare waits for work before it ends.
const DECAY: Duration = Duration::from_secs(10);

/// No thread could be had: the budget is used up or the system refused one.
#[derive(Debug)]
pub struct NoThread(io::Error);

impl fmt::Display for NoThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no thread for calls that may sleep: {}", self.0)
    }
}

impl std::error::Error for NoThread {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Keeps the errno: `EAGAIN` in most cases.
impl From<NoThread> for io::Error {
    fn from(error: NoThread) -> Self {
        error.0
    }
}

/// The threads that are waiting for a crew, the one that was parked last on top: its caches are
/// the warmest, and those below get a chance to end.
#[derive(Default)]
struct Spares {
    idle: Mutex<Vec<Arc<Slot>>>,
    /// Crews that could get no thread. The next that is free goes to them.
    starved: Mutex<VecDeque<Weak<Inner>>>,
}

/// Where a parked thread finds its next crew.
#[derive(Default)]
struct Slot {
    crew: Mutex<Option<Arc<Inner>>>,
    assigned: Condvar,
}

fn spares() -> &'static Spares {
    static SPARES: PerFork<Spares> = PerFork::new(Spares::default);
    SPARES.get()
}

/// Sends a thread to `crew`: a parked one, or a new one within the budget. If there is none, the
/// next that becomes free comes.
pub(crate) fn recruit(crew: Arc<Inner>) -> Result<(), NoThread> {
    let spare = lock(&spares().idle).pop();
    if let Some(slot) = spare {
        *lock(&slot.crew) = Some(crew);
        slot.assigned.notify_one();
        return Ok(());
    }
    let starved = Arc::downgrade(&crew);
    start(crew).inspect_err(|_| lock(&spares().starved).push_back(starved))
}

fn start(crew: Arc<Inner>) -> Result<(), NoThread> {
    let permit = budget()
        .try_acquire()
        .ok_or_else(|| NoThread(io::ErrorKind::WouldBlock.into()))?;
    // The new thread inherits the mask, so no signal can reach it even in its first moments.
    let _blocked = fscall::thread::block_all_signals().map_err(NoThread)?;
    std::thread::Builder::new()
        .name("blockpool".into())
        .spawn(move || live(crew, permit))
        .map(drop)
        .map_err(NoThread)
}

/// A thread's life: one crew after the other, parked between them.
fn live(mut crew: Arc<Inner>, _permit: Permit) {
    // Here, since it reads files, and who sends for a thread may not be allowed to wait.
    budget().limit();
    loop {
        crew.serve_recruited();
        drop(crew);
        match starved().or_else(park) {
            Some(next) => crew = next,
            None => return,
        }
    }
}

/// A crew that could get no thread before and still wants one, counted as arriving.
fn starved() -> Option<Arc<Inner>> {
    loop {
        let next = lock(&spares().starved).pop_front()?;
        if let Some(crew) = next.upgrade().filter(|crew| crew.expects()) {
            return Some(crew);
        }
    }
}

/// Waits for the next crew; `None` when none came for [`DECAY`].
fn park() -> Option<Arc<Inner>> {
    let slot = Arc::new(Slot::default());
    lock(&spares().idle).push(Arc::clone(&slot));
    // Those that starved between the last look at their list and this line.
    let starved = std::mem::take(&mut *lock(&spares().starved));
    for crew in starved.iter().filter_map(Weak::upgrade) {
        crew.call_in_next();
    }
    let mut crew = lock(&slot.crew);
    loop {
        if let Some(next) = crew.take() {
            return Some(next);
        }
        let (guard, timeout) = slot
            .assigned
            .wait_timeout(crew, DECAY)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        crew = guard;
        if timeout.timed_out() && crew.is_none() {
            // Released first: `recruit` takes the two locks one after the other as well.
            drop(crew);
            let mut idle = lock(&spares().idle);
            if let Some(at) = idle.iter().position(|other| Arc::ptr_eq(other, &slot)) {
                idle.remove(at);
                return None;
            }
            drop(idle);
            // Already taken off the list, so a crew is on its way.
            crew = lock(&slot.crew);
        }
    }
}
