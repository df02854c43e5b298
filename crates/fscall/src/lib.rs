//! Linux file-system calls, one safe and synchronous function each.
//!
//! | call | here |
//! | --- | --- |
//! | `statx(2)` | [`statx()`], [`statx_fd`], and [`Prepared`]: checked once, then made by any route |
//! | `openat(2)`, `openat2(2)`, `close(2)` | [`openat`], [`openat2`], [`close`] |
//! | `getdents64(2)` | [`getdents64`], and [`Dirents`], the parser of what it writes |
//! | `readlinkat(2)` | [`readlinkat`] |
//! | `unlinkat(2)` | [`unlinkat`] |
//! | `getxattr(2)` | [`getxattrat`] |
//! | `statfs(2)` | [`statfs()`], [`fstatfs`] |
//! | `statmount(2)` | [`statmount()`] |
//! | `faccessat(2)`, `faccessat2(2)` | [`faccessat`], [`searchable`] |
//!
//! Beside them: which mount can make a call sleep ([`mounts`]), what a process may still use
//! ([`limits`]), and what a thread needs ([`thread`]).
//!
//! Errors are [`std::io::Error`] with the kernel's errno. `EINTR` is retried only where the call
//! can answer it. There is no process-wide state but one fact about the kernel, see
//! [`null_path`].
//!
//! ```
//! use fscall::{CWD, StatxFlags, StatxMask};
//!
//! let root = fscall::statx(CWD, Some(c"/"), StatxFlags::NO_AUTOMOUNT, StatxMask::BASIC_STATS)?;
//! assert!(root.file_type().is_some_and(|file_type| file_type.is_dir()));
//! # Ok::<(), std::io::Error>(())
//! ```

#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("ringfs supports Linux only: it is built on statx, getdents64 and io_uring");

mod access;
mod c_path;
mod dirent;
mod file_type;
mod getdents;
pub mod limits;
pub mod mounts;
mod open;
mod read_link;
mod statfs;
mod statmount;
mod statx;
mod sys;
pub mod thread;
mod unlink;
mod xattr;

pub use access::{Access, faccessat, searchable};
pub use c_path::{to_c_path, with_c_path};
pub use dirent::{Dirent, Dirents, MalformedDirent};
pub use file_type::FileType;
pub use getdents::{getdents64, read_records, rewind};
pub use open::{CWD, OFlags, OpenHow, ResolveFlags, clear_nonblock, close, openat, openat2};
pub use read_link::readlinkat;
pub use statfs::{StatFs, StatFsFlags, fstatfs, statfs};
pub use statmount::{MountStat, statmount};
pub use statx::{
    Form, NullPath, Prepared, Statx, StatxAttributes, StatxFlags, StatxMask, Timestamp, null_path,
    statx, statx_fd, statx_fd_into,
};
pub use unlink::{Unlink, unlinkat};
pub use xattr::getxattrat;
