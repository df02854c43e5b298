//! Whether this kernel takes a NULL path in statx. The one thing this crate remembers.

use std::sync::atomic::{AtomicU8, Ordering};

/// Whether `statx(fd, NULL, AT_EMPTY_PATH, …)` is understood, as Linux 6.11 and later do.
///
/// It saves the copy of an empty string from user memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullPath {
    /// No call on a descriptor has been made yet that could tell.
    Unknown,
    /// NULL is what calls are made with.
    Accepted,
    /// Answered with `EFAULT`: calls are made with an empty path.
    Refused,
}

static LEARNT: AtomicU8 = AtomicU8::new(NullPath::Unknown as u8);

/// What has been learnt so far of NULL paths, for reports.
///
/// Nothing asks the kernel for its own sake: the first call on a descriptor is made with NULL.
pub fn null_path() -> NullPath {
    // Relaxed: nothing else depends on it, and a thread that reads an old value learns the same.
    match LEARNT.load(Ordering::Relaxed) {
        1 => NullPath::Accepted,
        2 => NullPath::Refused,
        _ => NullPath::Unknown,
    }
}

pub(super) fn learn(fact: NullPath) {
    LEARNT.store(fact as u8, Ordering::Relaxed);
}
