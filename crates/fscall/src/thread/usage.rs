//! getrusage(2).
#![allow(unsafe_code, reason = "the system call")]

use std::mem::MaybeUninit;
use std::time::Duration;

/// What this thread has used since it began.
#[doc(alias = "struct rusage")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// How often it gave up its processor to wait: it slept in the kernel.
    #[doc(alias = "ru_nvcsw")]
    pub voluntary_switches: i64,
    /// How often its processor was taken from it.
    #[doc(alias = "ru_nivcsw")]
    pub involuntary_switches: i64,
    /// Page faults that had to wait for a device.
    #[doc(alias = "ru_majflt")]
    pub major_faults: i64,
    /// Time spent in the program's own code.
    #[doc(alias = "ru_utime")]
    pub user: Duration,
    /// Time spent in the kernel.
    #[doc(alias = "ru_stime")]
    pub system: Duration,
}

/// What this thread has used since it began.
///
/// It costs about 0.3 µs: `getrusage(RUSAGE_THREAD)`, Linux 2.6.26.
///
/// ```
/// let before = fscall::thread::thread_usage();
/// std::thread::sleep(std::time::Duration::from_millis(1));
/// let after = fscall::thread::thread_usage();
/// assert!(after.voluntary_switches > before.voluntary_switches);
/// ```
#[doc(alias = "getrusage")]
#[allow(
    clippy::useless_conversion,
    reason = "a C long has 32 bits on some machines"
)]
pub fn thread_usage() -> ThreadUsage {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: the call writes a `struct rusage` to where it may.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
        // Only a kernel without the call can answer so.
        return ThreadUsage::default();
    }
    // SAFETY: the call has succeeded, so the structure is filled in.
    let usage: libc::rusage = unsafe { usage.assume_init() };
    ThreadUsage {
        voluntary_switches: usage.ru_nvcsw.into(),
        involuntary_switches: usage.ru_nivcsw.into(),
        major_faults: usage.ru_majflt.into(),
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
    }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_this_thread_alone() {
        let usage = std::thread::spawn(|| {
            let start = std::time::Instant::now();
            while start.elapsed() < Duration::from_millis(50) {
                std::hint::spin_loop();
            }
            thread_usage()
        });
        let busy = usage.join().unwrap();
        assert!(busy.user + busy.system > Duration::ZERO, "{busy:?}");
        let fresh = std::thread::spawn(thread_usage).join().unwrap();
        assert!(
            fresh.user + fresh.system < busy.user + busy.system,
            "{fresh:?} {busy:?}"
        );
    }
}
