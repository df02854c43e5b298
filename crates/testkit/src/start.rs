//! What a program is started with: limits and signals, set between fork and exec.

#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

/// Does something in the child between fork and exec. It must do with system calls alone: no
/// allocation, no locks. If it fails, the program is not started.
pub fn before_exec(
    command: &mut Command,
    action: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: the contract is that of this function: system calls alone.
    unsafe { command.pre_exec(action) };
}

/// Sets soft and hard limit of a resource, such as `RLIMIT_NOFILE`, of the calling process.
///
/// # Errors
/// What setrlimit(2) answers.
pub fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: reads a `struct rlimit`.
    match unsafe { libc::setrlimit(resource, &raw const limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// For [`before_exec`]: blocks these signals.
pub fn block(signals: &'static [i32]) -> impl Fn() -> io::Result<()> + Send + Sync + 'static {
    move || {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the pointer is valid for writes.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        for &signal in signals {
            // SAFETY: the set was filled by sigemptyset.
            unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
        }
        // SAFETY: as above; the old set is not asked for.
        unsafe { libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut()) };
        Ok(())
    }
}

/// For [`before_exec`]: ignores a signal.
pub fn ignore(signal: i32) -> impl Fn() -> io::Result<()> + Send + Sync + 'static {
    move || {
        // SAFETY: SIG_IGN is a valid disposition.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
        Ok(())
    }
}
