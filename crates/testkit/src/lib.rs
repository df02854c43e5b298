//! What the tests of this workspace share. Not published.
//!
//! | module | gives |
//! | --- | --- |
//! | [`tree`] | seeded random trees with every type of file and hostile names; large flat directories |
//! | [`mount`] | file systems in image files, tmpfs, overlay and bind mounts, undone on drop |
//! | [`mod@fuse`] | a file system that is slow, or stops answering; one that lies |
//! | [`autofs`] | automount triggers, and whether anybody has triggered them |
//! | [`seccomp`] | system calls that fail with a chosen errno, or kill |
//! | [`child`] | the running test once more, in a process of its own |
//! | [`oracle`] | GNU find and a second program with the same arguments, compared |
//! | [`start`] | limits and signals that a program is started with |
//! | [`stdio`] | what a program finds when it begins: closed descriptors, a terminal |
//! | [`strace`] | which system calls a program makes, and how often |
//! | [`mod@skip`] | tests that cannot run here say so, loudly |
//! | [`time`] | nothing hangs: limits for futures and for blocking code |
//! | [`process`] | a program run to its end, within a limit |

#![deny(unsafe_code)]

pub mod autofs;
pub mod child;
pub mod fuse;
pub mod mount;
pub mod oracle;
pub mod process;
pub mod seccomp;
pub mod skip;
pub mod start;
pub mod stdio;
pub mod strace;
pub mod time;
pub mod tree;

pub use skip::{Reason, Skip};
pub use time::{deadline, within};
