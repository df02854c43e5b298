//! What a process holds, and what it may.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use testkit::child::Rerun;
pub use testkit::start::limit;

/// A user without any rights.
pub const NOBODY: u32 = 65_534;

/// How many descriptors are open.
///
/// # Panics
/// There is no /proc.
pub fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("a /proc").count()
}

/// The names of the threads.
///
/// # Panics
/// There is no /proc.
pub fn threads() -> Vec<String> {
    fs::read_dir("/proc/self/task")
        .expect("a /proc")
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("comm")).ok())
        .map(|name| name.trim_end().to_owned())
        .collect()
}

/// How long the process has computed.
pub fn cpu_time() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// How long the calling thread has computed.
pub fn thread_cpu_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[allow(unsafe_code)]
fn clock(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes a `struct timespec`.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Waits until `value` is what is hoped for, up to ten seconds; its last value.
pub fn settles<T>(mut value: impl FnMut() -> T, hoped: impl Fn(&T) -> bool) -> T {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let now = value();
        if hoped(&now) || Instant::now() > end {
            return now;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Becomes [`NOBODY`], with no other groups. For use after a fork.
///
/// # Errors
/// The process may not.
pub fn become_nobody() -> io::Result<()> {
    become_user(NOBODY)
}

/// Becomes this user, whether there is one of that number or not, with no other groups. For use
/// after a fork.
///
/// # Errors
/// The process may not.
#[allow(unsafe_code)]
pub fn become_user(id: u32) -> io::Result<()> {
    // SAFETY: no group is read.
    check(unsafe { libc::setgroups(0, std::ptr::null()) })?;
    // SAFETY: touches no memory.
    check(unsafe { libc::setgid(id) })?;
    // SAFETY: touches no memory.
    check(unsafe { libc::setuid(id) })
}

/// Sets the soft limit of a resource alone, which may be raised again.
///
/// # Errors
/// What getrlimit(2) and setrlimit(2) answer.
#[allow(unsafe_code)]
pub fn limit_soft(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes a `struct rlimit`.
    check(unsafe { libc::getrlimit(resource, &raw mut limit) })?;
    limit.rlim_cur = most;
    // SAFETY: reads a `struct rlimit`.
    check(unsafe { libc::setrlimit(resource, &raw const limit) })
}

/// Lets a program to be executed inherit no descriptor but 0, 1 and 2. For use after a fork.
///
/// # Errors
/// What `close_range(2)` answers.
#[allow(unsafe_code)]
pub fn inherit_nothing() -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC;
    // SAFETY: closes nothing before the program is executed.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, flags) };
    check(i32::from(result != 0))
}

fn check(result: i32) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The test `name` once more in a child process, with a tree to look at.
pub fn rerun(name: &str, tree: &Path) -> Rerun {
    Rerun::new(name).env("PLACE", tree)
}

/// In such a child, where its tree is.
///
/// # Panics
/// It is not in one.
pub fn place() -> PathBuf {
    std::env::var_os("PLACE").unwrap().into()
}
