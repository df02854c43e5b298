//! The world of the loom models: a scheduler that tries every order of events, a machine of fixed
//! size, and a clock that moves when the model says so.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, LockResult};
use std::time::Duration;

use loom::lazy_static::Lazy;
pub(crate) use loom::sync::atomic::AtomicUsize;
pub(crate) use loom::sync::{Mutex, MutexGuard};
use loom::thread::JoinHandle;
pub(crate) use loom::thread::yield_now;

/// The machine that a model runs on.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// How many usable cores it has.
    pub cores: usize,
    /// The [limit](crate::Budget::limit) of its budget.
    pub permits: usize,
}

// All threads of a model run on one thread of the system, so these belong to the model.
thread_local! {
    /// Whether the time that threads wait for has passed.
    static TIME_IS_UP: Cell<bool> = const { Cell::new(false) };
    static MACHINE: Cell<Machine> = const { Cell::new(Machine { cores: 1, permits: 1 }) };
    static THREADS: RefCell<Vec<JoinHandle<()>>> = const { RefCell::new(Vec::new()) };
    static WAITING: RefCell<Vec<Arc<loom::sync::Condvar>>> = const { RefCell::new(Vec::new()) };
}

impl Machine {
    /// Runs `story` in every order of events that takes at most so many preemptions, or as many as
    /// `LOOM_MAX_PREEMPTIONS` says. At its end time passes, and every thread of the pool must come
    /// to its end; only then does `ending` look at what has become of it all.
    pub fn check<T: 'static>(
        self,
        preemptions: usize,
        story: impl Fn() -> T + Send + Sync + 'static,
        ending: impl Fn(T) + Send + Sync + 'static,
    ) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound.get_or_insert(preemptions);
        model.max_branches = model.max_branches.max(10_000);
        model.check(move || {
            MACHINE.set(self);
            TIME_IS_UP.set(false);
            // What an execution that failed has left.
            THREADS.take();
            WAITING.take();
            let result = story();
            let_time_pass();
            while let Some(thread) = THREADS.with_borrow_mut(Vec::pop) {
                thread.join().unwrap();
            }
            ending(result);
        });
    }
}

/// Whoever waits with a time limit has waited for long enough, now and from now on.
pub fn let_time_pass() {
    TIME_IS_UP.set(true);
    // Until they have noticed: a thread may be between its look at the clock and its wait.
    loop {
        let waiting = WAITING.with_borrow(Clone::clone);
        if waiting.is_empty() {
            return;
        }
        for condvar in waiting {
            condvar.notify_all();
        }
        loom::thread::yield_now();
    }
}

pub(crate) fn usable_cores() -> usize {
    MACHINE.get().cores
}

#[allow(clippy::unnecessary_wraps, reason = "the world outside has none")]
pub(crate) fn fixed_limit() -> Option<usize> {
    Some(MACHINE.get().permits)
}

/// Calls it: a model's panic is its failure, and must get through.
pub(crate) fn catch_unwind(call: impl FnOnce()) {
    call();
}

pub(crate) fn spawn(life: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = loom::thread::Builder::new().spawn(life)?;
    THREADS.with_borrow_mut(|threads| threads.push(thread));
    Ok(())
}

/// loom's, with a time limit that [`let_time_pass`] ends.
#[derive(Default)]
pub(crate) struct Condvar(Arc<loom::sync::Condvar>);

impl Condvar {
    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    /// As std's; the second half of the answer is whether time is up.
    #[allow(clippy::unnecessary_wraps, reason = "std's can be poisoned")]
    pub(crate) fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        _limit: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        WAITING.with_borrow_mut(|waiting| waiting.push(Arc::clone(&self.0)));
        let mut time_is_up = false;
        while condition(&mut guard) && !time_is_up {
            time_is_up = TIME_IS_UP.get();
            if !time_is_up {
                guard = self.0.wait(guard).unwrap();
            }
        }
        WAITING.with_borrow_mut(|waiting| waiting.retain(|other| !Arc::ptr_eq(other, &self.0)));
        Ok((guard, time_is_up))
    }
}

/// A static of which every execution of a model has its own. Nothing forks here.
pub struct PerFork<T: 'static>(Lazy<T>);

impl<T> PerFork<T> {
    /// A static that is made by `make` at its first use.
    pub const fn new(make: fn() -> T) -> Self {
        Self(Lazy {
            init: make,
            _p: PhantomData,
        })
    }

    /// This execution's value.
    pub fn get(&'static self) -> &'static T {
        self.0.get()
    }
}

impl<T> fmt::Debug for PerFork<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerFork").finish_non_exhaustive()
    }
}
