//! What a process may still use, and on which kernel it runs.
#![allow(unsafe_code, reason = "the system calls")]

mod cgroup;
mod cpus;
mod pids;

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use linux_raw_sys::general as sys;

pub use cpus::usable_cores;
pub use pids::pids_left;

use crate::sys::check;

/// Soft and hard limit of open descriptors, `RLIMIT_NOFILE`: the highest number plus one.
///
/// [`u64::MAX`] is no limit. prlimit(2).
///
/// # Errors
///
/// What prlimit(2) answers.
#[doc(alias = "RLIMIT_NOFILE")]
pub fn nofile() -> io::Result<(u64, u64)> {
    limit(sys::RLIMIT_NOFILE)
}

/// Soft and hard limit of the user's threads and processes, `RLIMIT_NPROC`. It does not count for
/// a process with `CAP_SYS_RESOURCE` or `CAP_SYS_ADMIN`.
///
/// [`u64::MAX`] is no limit. prlimit(2).
///
/// # Errors
///
/// What prlimit(2) answers.
#[doc(alias = "RLIMIT_NPROC")]
pub fn nproc() -> io::Result<(u64, u64)> {
    limit(sys::RLIMIT_NPROC)
}

fn limit(resource: u32) -> io::Result<(u64, u64)> {
    let mut both = [0u64; 2];
    let none = ptr::null::<[u64; 2]>();
    // SAFETY: the kernel writes a `struct rlimit64`, which is two 64-bit numbers.
    check(unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, none, both.as_mut_ptr()) })?;
    Ok((both[0], both[1]))
}

/// The release of the running kernel, as `uname -r` prints it; empty if it can't be told.
///
/// ```
/// assert!(!fscall::limits::kernel_release().is_empty());
/// ```
#[doc(alias = "uname")]
pub fn kernel_release() -> String {
    let mut name = MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: the call writes a `struct utsname`.
    if unsafe { libc::uname(name.as_mut_ptr()) } != 0 {
        return String::new();
    }
    // SAFETY: it is all bytes, zeroed before the call.
    let name = unsafe { name.assume_init() };
    let bytes = name.release.iter().map(|&byte| byte.to_ne_bytes()[0]);
    let release: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&release).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_proc() {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let of = |name: &str| {
            let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
            let mut numbers = line[name.len()..]
                .split_whitespace()
                .map(|word| match word {
                    "unlimited" => u64::MAX,
                    number => number.parse().unwrap(),
                });
            (numbers.next().unwrap(), numbers.next().unwrap())
        };
        assert_eq!(nofile().unwrap(), of("Max open files"));
        assert_eq!(nproc().unwrap(), of("Max processes"));
    }

    #[test]
    fn the_release_is_that_of_proc() {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert_eq!(kernel_release(), release.trim_end());
    }
}
