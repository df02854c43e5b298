//! Threads that may sleep in the kernel, within one process-wide budget.
//!
//! A file-system call either answers from memory in about a microsecond or sleeps for as long as
//! a disk, a server or a FUSE daemon likes. Code that makes many of them wants as many threads as
//! there are cores in the first case and as many as the device can serve in the second, and does
//! not know beforehand which it will be. This crate lets the caller *announce* the second case
//! instead of guessing it with a timer:
//!
//! * [`Work`] is something that several threads can do together; a [`Crew`] brings threads to it,
//!   as many as the process may use cores while nobody sleeps.
//! * A member that is about to make a call that can sleep says so with [`Member::may_sleep`]; its
//!   place is given to a parked spare, or to a new thread, *before* the call.
//! * Every thread, and every kernel thread that waits for us (io-wq), holds a permit of one
//!   process-wide [`Budget`], so that a dead mount never eats up the host's process limit.
//!
//! Threads are shared by all crews of the process, parked when there is nothing to do, and end
//! after ten seconds without work. Signals are blocked in them, but for those that a fault raises in
//! the thread itself.
//!
//! ```
//! use std::sync::{Arc, Mutex, mpsc};
//! use blockpool::{Crew, Member, Work};
//!
//! struct Names(Mutex<Vec<&'static str>>, mpsc::Sender<u64>);
//!
//! impl Work for Names {
//!     fn run(&self, member: &Member<'_>) {
//!         while let Some(name) = { let next = self.0.lock().unwrap().pop(); next } {
//!             let len = member.may_sleep(|| std::fs::metadata(name).map_or(0, |m| m.len()));
//!             self.1.send(len).unwrap();
//!         }
//!     }
//!     fn waiting(&self) -> usize {
//!         self.0.lock().unwrap().len()
//!     }
//! }
//!
//! let (sender, lengths) = mpsc::channel();
//! let crew = Crew::new(usize::MAX, Arc::new(Names(Mutex::new(vec!["/", "/proc"]), sender)));
//! crew.call_in()?;
//! assert_eq!(lengths.iter().take(2).count(), 2);
//! # Ok::<(), blockpool::NoThread>(())
//! ```

#![forbid(unsafe_code)]

mod budget;
mod crew;
#[cfg(loom)]
#[doc(hidden)]
pub mod model;
#[cfg(not(loom))]
mod per_fork;
#[cfg(not(loom))]
mod sleep_watch;
mod sync;
mod threads;

pub use budget::{Budget, Permit, budget};
pub use crew::{Crew, Member, Work};
#[cfg(loom)]
pub use model::PerFork;
#[cfg(not(loom))]
pub use per_fork::PerFork;
#[cfg(not(loom))]
pub use sleep_watch::SleepWatch;
pub use sync::lock;
pub use threads::NoThread;
