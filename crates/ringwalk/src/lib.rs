//! A parallel, recursive directory walker, in any order or in find's.
//!
//! * Directories are opened relative to their parents and links are not followed: no race with
//!   those who swap a directory for a link, and no limit on the length of a path.
//! * As many threads as cores while everything is in memory; more only while calls sleep.
//! * Bounded memory: what is found ahead of the consumer, or ahead of its turn, waits for it. A directory
//!   that has been found takes some hundred bytes until it is walked.
//! * Every failure is an item of its own, with path, depth and system error.
//!
//! [`Walk`] describes a walk and runs it: as a stream ([`Walk::into_stream`]), with a visitor per
//! thread ([`Walk::visit_parallel`]), with one whose output comes in find's order
//! ([`Walk::visit_in_order`]), or strictly one entry after the other ([`Walk::visit_one_by_one`]).

#![forbid(unsafe_code)]

mod access;
mod asked;
mod chunk;
mod descriptors;
mod emit;
mod entry;
mod error;
mod node;
mod options;
mod output;
mod parallel;
mod park;
mod place;
mod progress;
mod serial;
mod span;
mod spread;
mod stream;
mod task;
mod visit;
mod visitor;
mod walk;
mod walker;
mod worker;

/// What [`output`] is made of; its model has others.
mod sync {
    pub(super) use blockpool::lock;
    pub(super) use std::sync::{Mutex, MutexGuard};
}

pub use entry::{Entry, EntryRef};
pub use error::{Action, Error, ErrorKind};
pub use fscall::{FileType, Statx, StatxMask, Timestamp};
pub use progress::Progress;
pub use ringfs::{Backend, Driver};
pub use stream::{Batches, Entries};
pub use visitor::{OrderedVisitor, ParallelVisitor, SerialVisitor, Visit};
pub use walk::{Order, Walk};
