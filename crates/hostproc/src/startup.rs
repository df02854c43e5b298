//! The process as it was handed over, before Rust's runtime changed it.
//!
//! An entry in `.init_array` runs before the runtime's own start-up and records what that is going
//! to change, and the signal mask, which threads may change for themselves.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Set once the recorder has run.
const RECORDED: u8 = 1 << 7;
/// SIGPIPE was at its default: it kills.
const SIGPIPE_DEFAULT: u8 = 1 << 3;

/// Bits 0 to 2: that descriptor was closed. Then the two flags above.
static STATE: AtomicU8 = AtomicU8::new(0);
/// Blocked signals: bit 0 is signal 1.
static BLOCKED: AtomicU64 = AtomicU64::new(0);
/// Those of [`INTERNAL`] with their default disposition.
static DEFAULT: AtomicU64 = AtomicU64::new(0);

/// Signals that C libraries use themselves.
const INTERNAL: [i32; 3] = [32, 33, 34];

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
    record_signals();
    let mut old = MaybeUninit::<libc::sigaction>::uninit();
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

fn record_signals() {
    let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: no set is given, so nothing is changed, and `mask` is valid for writes.
    if unsafe { libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr()) } != 0 {
        return;
    }
    let mut blocked = 0;
    for bit in 0..64 {
        // SAFETY: sigprocmask succeeded, so it has filled the set. Numbers that are no signals for the C
        // library give -1.
        if unsafe { libc::sigismember(mask.as_ptr(), bit + 1) } == 1 {
            blocked |= 1 << bit;
        }
    }
    BLOCKED.store(blocked, Relaxed);
    let default = INTERNAL.iter().filter(|&&signal| is_default(signal));
    let default = default.map(|signal| 1 << (signal - 1)).sum();
    DEFAULT.store(default, Relaxed);
}

/// Whether one of [`INTERNAL`] has its default disposition. The C library does not tell.
fn is_default(signal: i32) -> bool {
    // The kernel's structure, which begins with the handler.
    let mut action = [usize::MAX; 8];
    // SAFETY: no new action is given; the old one is smaller than the array; the size is that of the
    // kernel's set.
    let result = unsafe {
        libc::syscall(
            libc::SYS_rt_sigaction,
            signal,
            std::ptr::null::<usize>(),
            action.as_mut_ptr(),
            size_of::<u64>(),
        )
    };
    result == 0 && action[0] == libc::SIG_DFL
}

/// The signals that were blocked when the process started.
pub(crate) fn signal_mask() -> libc::sigset_t {
    signal_set(BLOCKED.load(Relaxed))
}

/// Those of [`INTERNAL`] that had their default disposition when the process started. `posix_spawn(3)` would
/// have a child ignore them.
pub(crate) fn internal_defaults() -> libc::sigset_t {
    signal_set(DEFAULT.load(Relaxed))
}

/// A set of signals, of which bit 0 is signal 1. sigaddset(3) refuses those of [`INTERNAL`].
fn signal_set(bits: u64) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the pointer is valid for writes.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the C library's sets begin as the kernel's, which have 64 bits.
    unsafe { set.as_mut_ptr().cast::<u64>().write_unaligned(bits) };
    // SAFETY: sigemptyset has filled it, and cannot fail.
    unsafe { set.assume_init() }
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

    #[test]
    fn sets_hold_every_signal() {
        for bit in 0..64 {
            let set = signal_set(1 << bit);
            // SAFETY: the set is initialised.
            let is_member = |signal| unsafe { libc::sigismember(&raw const set, signal) } == 1;
            assert!(
                (1..65).all(|signal| is_member(signal) == (signal == bit + 1)),
                "{bit}"
            );
        }
    }
}
