//! Threads with deques of their own that have nothing to do.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, fence};
use std::sync::{Condvar, Mutex, PoisonError};

use super::Touch;
use super::pad::Padded;
use super::probe::Probe;

/// Those who wait. When all do, all deques are empty: each has emptied its own, and nobody else adds
/// to it.
///
/// Whoever adds work looks afterwards for somebody who waits, and whoever is about to wait says so and
/// then looks once more for work; with a fence between the two steps one of both sees the other.
pub(super) struct Sleepers {
    threads: usize,
    state: Mutex<State>,
    wakes: Condvar,
    /// Somebody waits and nobody has been called.
    hungry: Padded<AtomicBool>,
}

#[derive(Default)]
struct State {
    /// Those who wait, but for those who were called.
    idle: usize,
    /// Who was called and has not come yet.
    called: usize,
    over: bool,
}

impl Sleepers {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            threads,
            state: Mutex::default(),
            wakes: Condvar::new(),
            hungry: Padded::default(),
        }
    }

    fn update(&self, state: &State) {
        let hungry = state.idle > 0 && state.called == 0;
        self.hungry.store(hungry, Relaxed);
    }

    /// There is work for others. One is called at a time: who comes and finds some calls the next.
    pub(super) fn call(&self, probe: &mut impl Probe) {
        fence(SeqCst);
        if !self.hungry.load(Relaxed) {
            return;
        }
        let mut state = probe.lock(&self.state, Touch::Lock);
        if state.idle > 0 && state.called == 0 {
            state.idle -= 1;
            state.called += 1;
            self.update(&state);
            drop(state);
            probe.add(Touch::Wake, 1);
            self.wakes.notify_one();
        }
    }

    /// Waits until called, unless there `is_work`; false if all is walked.
    pub(super) fn wait(&self, probe: &mut impl Probe, is_work: impl FnOnce() -> bool) -> bool {
        let mut state = probe.lock(&self.state, Touch::Lock);
        state.idle += 1;
        if state.idle == self.threads {
            state.over = true;
            self.wakes.notify_all();
            return false;
        }
        self.update(&state);
        drop(state);
        fence(SeqCst);
        let is_work = is_work();
        let mut state = probe.lock(&self.state, Touch::Lock);
        if is_work && !state.over {
            // If somebody has been called meanwhile, it may as well be this thread.
            if state.called > 0 {
                state.called -= 1;
            } else {
                state.idle -= 1;
            }
            self.update(&state);
            return true;
        }
        if state.called == 0 && !state.over {
            probe.add(Touch::Park, 1);
        }
        while state.called == 0 && !state.over {
            state = self
                .wakes
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.over {
            return false;
        }
        state.called -= 1;
        self.update(&state);
        drop(state);
        fence(SeqCst);
        true
    }
}
