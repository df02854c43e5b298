//! What this crate takes from the outside world, so that `tests/loom.rs` can put loom's world in
//! its place: `--cfg loom` swaps this file's contents for those of `model.rs`.
//!
//! `Arc`, `Weak` and `OnceLock` are std's in both: they are used as plain owners, never to tell
//! one thread of another's work.

#[cfg(loom)]
pub(crate) use crate::model::{
    AtomicUsize, Condvar, Mutex, MutexGuard, catch_unwind, fixed_limit, spawn, usable_cores,
    yield_now,
};
#[cfg(not(loom))]
pub(crate) use outside::{
    AtomicUsize, Condvar, Mutex, MutexGuard, catch_unwind, fixed_limit, spawn, usable_cores,
    yield_now,
};

/// Locks a mutex whose holders never leave it inconsistent, so a panic elsewhere is no reason to
/// give up. A wait for it is none that a [`SleepWatch`](crate::SleepWatch) tells of: it says nothing of
/// the calls made, and where threads are called in for a sleep that was none they wait for locks all
/// the more.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(not(loom))]
    match mutex.try_lock() {
        Ok(guard) => return guard,
        Err(std::sync::TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
        Err(std::sync::TryLockError::WouldBlock) => crate::sleep_watch::waited(),
    }
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(not(loom))]
mod outside {
    use std::io;
    use std::panic::AssertUnwindSafe;
    pub(crate) use std::sync::atomic::AtomicUsize;
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread::yield_now;

    pub(crate) use fscall::limits::usable_cores;

    /// Starts a thread that no signal reaches.
    pub(crate) fn spawn(life: impl FnOnce() + Send + 'static) -> io::Result<()> {
        // The new thread inherits the mask, so none can reach it even in its first moments.
        let _blocked = fscall::thread::block_all_signals()?;
        std::thread::Builder::new()
            .name("blockpool".into())
            .spawn(life)
            .map(drop)
    }

    /// Ends a panic of `call` here.
    pub(crate) fn catch_unwind(call: impl FnOnce()) {
        let _ = std::panic::catch_unwind(AssertUnwindSafe(call));
    }

    /// The budget's limit, where it does not depend on the system.
    pub(crate) const fn fixed_limit() -> Option<usize> {
        None
    }
}
