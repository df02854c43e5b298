//! How things get from many threads to one that sleeps when there is nothing to do.
//!
//! This file is also compiled by the test that has a model checker try every order of its steps,
//! with that one's locks and atomics in [`sync`](super::sync).

use std::collections::VecDeque;
use std::fmt;

use super::sync::{AtomicBool, Mutex, MutexGuard, Ordering, PoisonError};

/// A queue with one reader. Who puts something in learns whether the reader has to be woken.
///
/// Its flags are changed by swaps alone, never by plain stores: two threads that each set one flag and
/// look at the other's must not both see it unset, and a model checker can follow swaps only.
pub(super) struct Mailbox<T> {
    queue: Mutex<Queue<T>>,
    /// The reader is about to sleep, so whoever has something for it wakes it.
    asleep: AtomicBool,
    /// Something has happened that is no item.
    signalled: AtomicBool,
}

struct Queue<T> {
    items: VecDeque<T>,
    /// Nobody will take anything out any more, or put anything in.
    closed: bool,
}

impl<T> fmt::Debug for Mailbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox").finish_non_exhaustive()
    }
}

/// The reader sleeps, or is about to: the one who gets this wakes it.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wake(pub(super) bool);

impl<T> Mailbox<T> {
    pub(super) fn new() -> Self {
        Self {
            queue: Mutex::new(Queue {
                items: VecDeque::new(),
                closed: false,
            }),
            asleep: AtomicBool::new(false),
            signalled: AtomicBool::new(false),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) -> Wake {
        Wake(self.asleep.swap(false, Ordering::SeqCst))
    }

    /// Puts items in, or gives them back if the box is closed. `count` is told first how many, so
    /// that who takes them out finds them counted.
    pub(super) fn put<I>(&self, items: I, count: impl FnOnce(&I)) -> Result<Wake, I>
    where
        I: IntoIterator<Item = T>,
    {
        let mut queue = self.queue();
        if queue.closed {
            return Err(items);
        }
        count(&items);
        queue.items.extend(items);
        drop(queue);
        Ok(self.wake())
    }

    /// Has the reader look for something that is no item.
    pub(super) fn signal(&self) -> Wake {
        self.signalled.swap(true, Ordering::SeqCst);
        self.wake()
    }

    /// The same by the reader itself: it won't fall asleep before it has looked.
    pub(super) fn signal_self(&self) {
        self.signalled.swap(true, Ordering::SeqCst);
    }

    /// Whether something was [signalled](Self::signal) since this was asked last.
    pub(super) fn take_signal(&self) -> bool {
        self.signalled.load(Ordering::Relaxed) && self.signalled.swap(false, Ordering::SeqCst)
    }

    /// Nothing more will come.
    pub(super) fn close(&self) -> Wake {
        self.queue().closed = true;
        self.wake()
    }

    /// Moves what has come in to the end of `items`; whether more may come.
    pub(super) fn drain(&self, items: &mut VecDeque<T>) -> bool {
        let mut queue = self.queue();
        items.append(&mut queue.items);
        !queue.closed
    }

    /// From now on who brings something wakes the reader. False if something has come in before
    /// that, or the box was closed since `was_open` was true: then there is no reason to sleep.
    pub(super) fn fall_asleep(&self, was_open: bool) -> bool {
        self.asleep.swap(true, Ordering::SeqCst);
        let queue = self.queue();
        let quiet = queue.items.is_empty()
            && queue.closed != was_open
            && !self.signalled.fetch_or(false, Ordering::SeqCst);
        drop(queue);
        if !quiet {
            self.asleep.swap(false, Ordering::SeqCst);
        }
        quiet
    }

    pub(super) fn woke_up(&self) {
        self.asleep.swap(false, Ordering::SeqCst);
    }

    /// Whether something can still be put in.
    pub(super) fn is_open(&self) -> bool {
        !self.queue().closed
    }

    /// Refuses whatever comes from now on, and gives back what has come.
    pub(super) fn shut(&self) -> VecDeque<T> {
        let mut queue = self.queue();
        queue.closed = true;
        std::mem::take(&mut queue.items)
    }
}
