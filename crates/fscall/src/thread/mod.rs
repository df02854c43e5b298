//! What a thread that calls the kernel for others needs: signals out of its way, a look at how it
//! was scheduled, and to know when its process is a forked child.

mod fork;
mod signals;
mod usage;

pub use fork::ForkGeneration;
pub use signals::{SignalMaskGuard, block_all_signals, block_all_signals_forever};
pub use usage::{ThreadUsage, thread_usage};
