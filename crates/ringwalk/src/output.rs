//! What a directory has to hand out, on its way from those who find it to the one who emits it.
//!
//! This file is also compiled by the test that has a model checker try every order of its steps,
//! with that one's locks in [`sync`](super::sync).

use super::sync::{Mutex, MutexGuard, lock};

/// A directory's output that has not been emitted: `P` are its parts, `T` is the directory's task,
/// waiting for its turn.
///
/// Whoever emits comes to one directory after the other. Where there is nothing yet and more to come,
/// it marks the directory as wanted and leaves; whoever adds to it finds the mark and goes on in its
/// place. So one emits at a time, and whoever comes next waits at most until it has left.
pub(super) struct Output<P, T> {
    state: Mutex<State<P, T>>,
}

struct State<P, T> {
    parts: Vec<P>,
    /// Nothing will be added.
    complete: bool,
    /// Emission has come here and waits for more.
    wanted: bool,
    throttled: Option<T>,
}

/// What became of what was added.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It waits for its turn.
    Waits,
    /// It is its turn: the one who added it emits.
    Wanted,
    /// The walk is over.
    Refused,
}

/// What emission finds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken<T> {
    Some,
    Complete,
    /// It comes back when something is added; by then the directory's task may have to go on.
    Waiting(Option<T>),
}

impl<P, T> Output<P, T> {
    /// Nothing, or all there will be.
    pub(super) fn new(parts: Vec<P>, complete: bool) -> Self {
        Self {
            state: Mutex::new(State {
                parts,
                complete,
                wanted: false,
                throttled: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<P, T>> {
        lock(&self.state)
    }

    /// Adds parts, unless `is_over`. That is asked under the lock, so whoever takes everything apart
    /// when it is over finds all that was added.
    pub(super) fn add(
        &self,
        parts: &mut Vec<P>,
        complete: bool,
        is_over: impl FnOnce() -> bool,
    ) -> Added {
        let mut state = self.state();
        if is_over() {
            return Added::Refused;
        }
        if state.parts.is_empty() {
            std::mem::swap(&mut state.parts, parts);
        } else {
            state.parts.append(parts);
        }
        state.complete |= complete;
        if std::mem::take(&mut state.wanted) {
            Added::Wanted
        } else {
            Added::Waits
        }
    }

    /// Moves all parts into `into`, which is empty, the next one last; marks the directory as wanted if
    /// there is none and more will come.
    pub(super) fn take(&self, into: &mut Vec<P>) -> Taken<T> {
        let mut state = self.state();
        if !state.parts.is_empty() {
            std::mem::swap(&mut state.parts, into);
            drop(state);
            into.reverse();
            return Taken::Some;
        }
        if state.complete {
            return Taken::Complete;
        }
        state.wanted = true;
        Taken::Waiting(state.throttled.take())
    }

    /// Leaves the task here until emission comes; gives it back if it is here already, or `is_over`.
    pub(super) fn throttle(&self, task: T, is_over: impl FnOnce() -> bool) -> Option<T> {
        let mut state = self.state();
        if state.wanted || is_over() {
            return Some(task);
        }
        state.throttled = Some(task);
        None
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.state().wanted
    }

    /// All that is here, to be dropped.
    pub(super) fn dismantle(&self) -> (Vec<P>, Option<T>) {
        let mut state = self.state();
        (std::mem::take(&mut state.parts), state.throttled.take())
    }
}
