//! The process as it was handed over, before Rust's runtime changed it.
//!
//! An entry in `.init_array` runs before the runtime's own start-up and records what that is going
//! to change.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Set once the recorder has run.
const RECORDED: u8 = 1 << 7;
/// SIGPIPE was at its default: it kills.
const SIGPIPE_DEFAULT: u8 = 1 << 3;

/// Bits 0 to 2: that descriptor was closed. Then the two flags above.
static STATE: AtomicU8 = AtomicU8::new(0);

#[used]
// SAFETY: an entry of `.init_array` must be a pointer to a C function, which this is; it is run
// once, before `main`, and needs nothing of Rust's runtime.
#[unsafe(link_section = ".init_array")]
static RECORDER: extern "C" fn() = record;

extern "C" fn record() {
    let mut state = RECORDED;
    for fd in 0..3 {
        // SAFETY: F_GETFD takes no pointer and changes nothing, whatever the descriptor is.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1 {
            state |= 1 << fd;
        }
    }
    let mut old = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: no new action is given, and `old` is valid for writes.
    if unsafe { libc::sigaction(libc::SIGPIPE, std::ptr::null(), old.as_mut_ptr()) } == 0 {
        // SAFETY: sigaction succeeded, so it has filled `old`.
        let old = unsafe { old.assume_init() };
        if old.sa_sigaction == libc::SIG_DFL {
            state |= SIGPIPE_DEFAULT;
        }
    }
    STATE.store(state, Relaxed);
}

/// Whether descriptor `fd` (0, 1 or 2) was closed when the process started.
///
/// Rust's runtime opens `/dev/null` in such a place, which keeps other files from landing there;
/// this tells that writing to it should fail all the same. Other numbers give `false`.
#[must_use]
pub fn was_closed(fd: i32) -> bool {
    (0..3).contains(&fd) && STATE.load(Relaxed) & (1 << fd) != 0
}

/// Whether SIGPIPE had its default disposition when the process started.
#[must_use]
pub fn sigpipe_was_default() -> bool {
    STATE.load(Relaxed) & SIGPIPE_DEFAULT != 0
}

/// Puts SIGPIPE back to what the process was started with. Call it first thing in `main`.
///
/// With the default disposition a write to a closed pipe ends the process quietly, as users of `|
/// head` expect; where the parent had it ignored it stays ignored, and the write fails with EPIPE.
pub fn restore() {
    if sigpipe_was_default() {
        // SAFETY: SIG_DFL is a valid disposition; no handler of ours is replaced (Rust's runtime
        // only ignores it).
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorder_has_run() {
        assert_ne!(STATE.load(Relaxed) & RECORDED, 0);
        assert!(!was_closed(3));
        assert!(!was_closed(-1));
    }
}
