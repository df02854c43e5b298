//! The ring back end: one thread, one ring, and the table of what is in flight on it.
//!
//! This folder is the only place of the crate with unsafe code. What it rests on:
//!
//! * **Lent until completed.** Whatever a submission entry points to is owned by the operation in
//!   its table slot. The table puts an operation into its slot *before* asking it for the entry
//!   and neither moves nor touches it until the completion has arrived ([`table`]).
//! * **One issuer.** The ring is made, filled, entered and dropped by its own thread, so that
//!   nothing else can reach its queues ([`thread`]).
//! * **Nothing is dropped in flight.** The thread ends with an empty table: a call that never returns
//!   keeps the thread and what it lent. Should it end otherwise, what is in flight is leaked, and
//!   its futures are told.
//! * **Descriptors are owned on arrival** ([`entry`]).

mod entry;
mod event;
mod inbox;
mod mailbox;
mod setup;
mod slot;
mod table;
mod thread;
mod workers;

/// What [`mailbox`] is made of; its model has others.
mod sync {
    pub(super) use std::sync::atomic::{AtomicBool, Ordering};
    pub(super) use std::sync::{Mutex, MutexGuard, PoisonError};
}

pub(crate) use inbox::{Jobs, Ring};
pub(crate) use setup::{Config, Features, SetupError};
pub(crate) use slot::RingSlot;
