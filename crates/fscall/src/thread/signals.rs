//! `pthread_sigmask(3)`.
#![allow(unsafe_code, reason = "the library calls")]

use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

/// Signals that a thread's own instructions raise. Blocked, they would end the process at once,
/// past its handlers: past the message that std prints for a stack overflow, and past a sandbox
/// that answers system calls in a `SIGSYS` handler.
const SYNCHRONOUS: [libc::c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// Gives a thread its signal mask back when it is dropped.
#[derive(Debug)]
#[must_use = "dropped at once, it blocks nothing"]
pub struct SignalMaskGuard {
    old: libc::sigset_t,
    /// The mask belongs to this thread.
    _not_send: PhantomData<*mut ()>,
}

/// Blocks every signal on this thread, so that none of the program's handlers runs on it; threads
/// that it starts inherit that.
///
/// Signals that the thread itself raises (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGTRAP`,
/// `SIGSYS`) stay as they are: they can't be for another thread.
///
/// # Errors
///
/// What `pthread_sigmask(3)` answers, which on Linux is none.
pub fn block_all_signals() -> io::Result<SignalMaskGuard> {
    let mut old = MaybeUninit::uninit();
    // SAFETY: `old` is written to as the `sigset_t` that it is.
    set_mask(libc::SIG_BLOCK, &all(), old.as_mut_ptr())?;
    // SAFETY: the call has succeeded, so it has written the old mask.
    let old = unsafe { old.assume_init() };
    Ok(SignalMaskGuard {
        old,
        _not_send: PhantomData,
    })
}

/// As [`block_all_signals`], for the rest of this thread's life.
pub fn block_all_signals_forever() {
    if let Ok(guard) = block_all_signals() {
        std::mem::forget(guard);
    }
}

impl Drop for SignalMaskGuard {
    fn drop(&mut self) {
        // It fails only for an unknown first argument.
        let _ = set_mask(libc::SIG_SETMASK, &self.old, ptr::null_mut());
    }
}

fn all() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the call initialises the set that it is given.
    unsafe { libc::sigfillset(set.as_mut_ptr()) };
    // SAFETY: it has just been initialised.
    let mut set = unsafe { set.assume_init() };
    for signal in SYNCHRONOUS {
        // SAFETY: the set is initialised and the number that of a signal.
        unsafe { libc::sigdelset(&raw mut set, signal) };
    }
    set
}

fn set_mask(how: libc::c_int, set: &libc::sigset_t, old: *mut libc::sigset_t) -> io::Result<()> {
    // SAFETY: `set` is initialised, `old` is null or may be written to.
    match unsafe { libc::pthread_sigmask(how, set, old) } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("SigBlk:"))
            .unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    }

    fn bit(signal: libc::c_int) -> u64 {
        1 << (signal - 1)
    }

    #[test]
    fn blocked_while_the_guard_lives_and_in_threads_started_under_it() {
        let before = blocked();
        let guard = block_all_signals().unwrap();
        let under_guard = blocked();
        for signal in [
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGCHLD,
            libc::SIGPIPE,
            libc::SIGUSR1,
        ] {
            assert_ne!(under_guard & bit(signal), 0, "{signal}");
        }
        for signal in SYNCHRONOUS {
            assert_eq!(under_guard & bit(signal), before & bit(signal), "{signal}");
        }
        assert_eq!(std::thread::spawn(blocked).join().unwrap(), under_guard);
        drop(guard);
        assert_eq!(blocked(), before);
    }

    #[test]
    fn forever() {
        let blocked = std::thread::spawn(|| {
            block_all_signals_forever();
            blocked()
        });
        assert_ne!(blocked.join().unwrap() & bit(libc::SIGTERM), 0);
    }
}
