//! Async `stat` and `readdir` for Linux that do not cost a thread hop per file.
//!
//! Async programs that look at many files pay 8 to 20 µs for each today, since every runtime sends
//! each call to a thread. Here a call is answered
//!
//! * **inline**, on the thread that polls, if the answer is in memory and getting it cannot sleep:
//!   `openat2` with `RESOLVE_CACHED` and `statx` with `AT_STATX_DONT_SYNC` on a mount known to be
//!   local;
//! * by a **worker** thread, if it may sleep and little else is in flight;
//! * through the **ring** (`IORING_OP_STATX` and its like), if much is in flight.
//!
//! The answer and the error are the same on every route. What the kernel or a sandbox does not
//! grant is replaced by the next route; [`Driver::capabilities`] tells which and why.
//!
//! The functions have the names of `tokio::fs`. The futures are `Send`, work on every executor,
//! and take part in tokio's cooperative budget (feature `tokio`, on by default).
//!
//! ```
//! # futures::executor::block_on(async {
//! let mut entries = ringfs::read_dir("/etc").await?;
//! while let Some(entry) = entries.next_entry().await? {
//!     if entry.file_type().await?.is_file() {
//!         println!("{} {}", entry.path().display(), entry.metadata().await?.len());
//!     }
//! }
//! # Ok::<(), std::io::Error>(()) }).unwrap();
//! ```

#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("ringfs works on Linux only: it is made of io_uring, statx and getdents64");

mod backend;
mod batch;
mod beneath;
mod builder;
mod capabilities;
pub mod coop;
mod dir;
mod dispatch;
mod driver;
mod flights;
mod fs;
mod gate;
mod guide;
mod inline;
mod many;
mod metadata;
mod metrics;
mod op;
mod open_at;
mod open_beneath;
mod paths;
mod pool;
mod read_dir;
#[allow(unsafe_code, reason = "the ring's invariants are listed in the module")]
mod ring;
mod statx;
mod trace;

pub use backend::{Backend, InvalidBackend};
pub use batch::DirBatch;
pub use builder::Builder;
pub use capabilities::{Capabilities, OperationKind, Route, Support};
pub use dir::Dir;
pub use driver::Driver;
pub use fs::{
    canonicalize, close, metadata, open_beneath, open_dir, read_dir, read_link, statfs, statx,
    statx_paths, symlink_metadata, try_exists,
};
pub use fscall::{
    Dirent, FileType, MalformedDirent, StatFs, StatFsFlags, Statx, StatxAttributes, StatxFlags,
    StatxMask, Timestamp,
};
pub use many::{StatMany, StatManyFuture};
pub use metadata::Metadata;
pub use metrics::{FileSystemHits, Metrics};
pub use open_at::{OpenAt, OpenAtFuture};
pub use open_beneath::{OpenBeneath, OpenBeneathFuture};
pub use read_dir::{DirEntry, ReadDir};
pub use statx::{Stat, StatFuture};
