//! Measurements of the workspace: a kernel-like tree, a floor to compare with,
//! and the harness that runs whole programs or single calls in turns.
//!
//! | binary | measures |
//! | --- | --- |
//! | `find-bench` | `find`, `uringfind` and the floor as whole processes, interleaved |
//! | `floor` | bare threads over `openat`, `getdents64`, `close` and `statx`: what the kernel itself costs |
//! | `stat-bench` | one warm `stat` by several routes, by several tasks, and of deep files |
//! | `batch-bench` | warm `stat`s that come many at a time, ours and other runtimes' |
//! | `dir-bench` | reads of one large directory, whole and until the first entry |
//! | `slow-bench` | stats of a slow FUSE file system, and timers beside them |
//! | `walk-bench` | whole walks: warm, cold, slow, and beside what hangs; ours and other libraries' |
//! | `queue-bench` | ways to share directories out among threads: time, touches of shared memory, and what many cores would do |
//! | `first-call` | the first call of fresh processes, and the threads and rings it leaves |
//! | `bench-tree` | nothing: makes the tree and prints its path |
//!
//! Absolute times move from run to run on one machine. Every report therefore
//! shows ratios of runs that lie next to each other in time, and names the
//! machine.

#![deny(unsafe_code)]

pub mod cli;
pub mod company;
pub mod depth;
pub mod floor;
pub mod machine;
pub mod process;
pub mod queue;
pub mod report;
pub mod rivals;
pub mod slow;
pub mod stats;
pub mod sys;
pub mod ticker;
pub mod tree;
pub mod turns;
pub mod walk;
