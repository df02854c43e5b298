//! The threads themselves: parked spares shared by all crews of the process.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use crate::PerFork;
use crate::budget::{Permit, budget};
use crate::crew::Inner;
use crate::sync::{Condvar, Mutex, lock, spawn, yield_now};

/// How long a spare waits for work before it ends.
const DECAY: Duration = Duration::from_secs(10);

/// No thread could be had: the system refused one, and the pool has none.
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

/// The spares, and the crews that want one. One of the two lists is empty at any time: both change
/// under one lock, so who becomes free sees who starves and the other way round.
struct Pool {
    /// How many there are, parked or not; each has a permit.
    threads: usize,
    /// The one that was parked last is on top: its caches are the warmest, and those below get a
    /// chance to end.
    idle: Vec<Arc<Slot>>,
    /// Crews that could get no thread. The next that is free goes to them.
    starved: VecDeque<Weak<Inner>>,
}

/// Where a parked thread finds what comes next.
struct Slot {
    next: Mutex<Option<Next>>,
    assigned: Condvar,
    /// Its right to exist.
    permit: Mutex<Option<Permit>>,
}

enum Next {
    Crew(Arc<Inner>),
    /// Somebody else has its permit.
    Nothing,
}

fn pool() -> &'static Mutex<Pool> {
    static POOL: PerFork<Mutex<Pool>> = PerFork::new(|| {
        Mutex::new(Pool {
            threads: 0,
            idle: Vec::new(),
            starved: VecDeque::new(),
        })
    });
    POOL.get()
}

impl Pool {
    /// Gives a spare to `crew`, if there is one.
    fn assign(&mut self, crew: &Arc<Inner>) -> bool {
        let Some(slot) = self.idle.pop() else {
            return false;
        };
        budget().unpark(1);
        slot.assign(Next::Crew(Arc::clone(crew)));
        true
    }

    fn starve(&mut self, crew: &Arc<Inner>) {
        let crew = Arc::downgrade(crew);
        if !self.starved.iter().any(|other| other.ptr_eq(&crew)) {
            self.starved.push_back(crew);
        }
    }
}

/// Ends up to so many spares, those that have been parked for longest: their permits are back at
/// once.
pub(crate) fn dismiss(count: usize) {
    let mut pool = lock(pool());
    let count = count.min(pool.idle.len());
    budget().unpark(count);
    pool.threads -= count;
    for slot in pool.idle.drain(..count) {
        drop(lock(&slot.permit).take());
        slot.assign(Next::Nothing);
    }
}

/// Permits are back that no thread of the pool had: starts threads for crews that starve.
pub(crate) fn permits_are_back() {
    // Each of them once: one that gets none is on the list again.
    let count = lock(pool()).starved.len();
    for _ in 0..count {
        let Some(crew) = lock(pool()).starved.pop_front() else {
            return;
        };
        if let Some(crew) = crew.upgrade().filter(|crew| crew.expects()) {
            // A crew that has nobody waits for the next, as it did before.
            let _ = recruit(&crew);
        }
    }
}

/// Sends a thread to `crew`, which counts it as arriving: a parked one, or a new one within the
/// budget. If there is none, the next that becomes free comes; only if none will is that an error.
pub(crate) fn recruit(crew: &Arc<Inner>) -> Result<(), NoThread> {
    if lock(pool()).assign(crew) || start(crew).is_ok() {
        return Ok(());
    }
    loop {
        // Once more, now that no thread can park or end meanwhile: whoever becomes free after this
        // finds the crew on the list.
        let mut pool = lock(pool());
        if pool.assign(crew) {
            return Ok(());
        }
        let Err(refused) = start(crew) else {
            return Ok(());
        };
        let one_comes = pool.threads > 0 || budget().has_helpers();
        if matches!(refused, Refused::Budget) && !one_comes {
            // The permits are with threads that are just being started, or refused.
            drop(pool);
            yield_now();
            continue;
        }
        let alone = crew.is_alone_without_it();
        pool.starve(crew);
        return match refused {
            Refused::System(error) if alone && !one_comes => Err(NoThread(error)),
            Refused::System(_) | Refused::Budget => Ok(()),
        };
    }
}

/// Why no thread was started.
enum Refused {
    Budget,
    System(io::Error),
}

fn start(crew: &Arc<Inner>) -> Result<(), Refused> {
    let permit = budget().try_acquire().ok_or(Refused::Budget)?;
    let crew = Arc::clone(crew);
    spawn(move || live(crew, permit)).map_err(Refused::System)
}

/// A thread's life: one crew after the other, parked between them.
fn live(mut crew: Arc<Inner>, permit: Permit) {
    lock(pool()).threads += 1;
    // Here, since it reads files, and who sends for a thread may not be allowed to wait.
    budget().limit();
    let mut thread = Thread(Arc::new(Slot {
        next: Mutex::new(None),
        assigned: Condvar::default(),
        permit: Mutex::new(Some(permit)),
    }));
    loop {
        crew.serve_recruited();
        let starved = thread.leave();
        // A thread that waits keeps nothing alive.
        drop(crew);
        if let Some(starved) = starved {
            crew = starved;
        } else {
            let Some(next) = thread.wait() else { return };
            (thread, crew) = next;
        }
    }
}

/// A thread of the pool, as long as it may exist.
struct Thread(Arc<Slot>);

impl Thread {
    /// Answers a crew that starves and wants a thread, counted as arriving. If there is none, the
    /// thread is parked.
    fn leave(&self) -> Option<Arc<Inner>> {
        loop {
            let mut pool = lock(pool());
            let Some(starved) = pool.starved.pop_front() else {
                pool.idle.push(Arc::clone(&self.0));
                budget().park();
                return None;
            };
            // Not under the lock: it asks the crew's work.
            drop(pool);
            if let Some(crew) = starved.upgrade().filter(|crew| crew.expects()) {
                return Some(crew);
            }
        }
    }

    /// Waits for the next crew; `None`, and the permit is back, when none came for [`DECAY`] or the
    /// thread was dismissed.
    fn wait(self) -> Option<(Self, Arc<Inner>)> {
        let Self(slot) = &self;
        let next = slot.wait().or_else(|| {
            let mut pool = lock(pool());
            let parked = pool.idle.iter().position(|other| Arc::ptr_eq(other, slot));
            let Some(at) = parked else {
                drop(pool);
                // Off the list already, so something has come in the last moment.
                return lock(&slot.next).take();
            };
            pool.idle.remove(at);
            budget().unpark(1);
            pool.threads -= 1;
            // Under the lock: who finds no spare from now on must find a permit.
            drop(lock(&slot.permit).take());
            None
        });
        match next {
            Some(Next::Crew(crew)) => Some((self, crew)),
            Some(Next::Nothing) | None => None,
        }
    }
}

impl Slot {
    fn assign(&self, next: Next) {
        *lock(&self.next) = Some(next);
        self.assigned.notify_one();
    }

    fn wait(&self) -> Option<Next> {
        self.assigned
            .wait_timeout_while(lock(&self.next), DECAY, |next| next.is_none())
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .take()
    }
}
