//! How many threads may compute at the same time.

use std::path::Path;
use std::sync::OnceLock;

use super::cgroup::{read, tightest};
use crate::sys::check;

/// The bits of an affinity mask that are asked for: more than any kernel is built for.
const MOST: usize = 8192;

/// How many threads of this process may compute at the same time: the processors of the calling
/// thread's affinity mask, or fewer if its control group has a quota of less; at least one.
///
/// Learnt once per process. `sched_getaffinity(2)`, `cpu.max` of cgroups(7) and its version 1
/// twin `cpu.cfs_quota_us`.
///
/// ```
/// assert!(fscall::limits::usable_cores() >= 1);
/// ```
#[doc(alias = "sched_getaffinity")]
pub fn usable_cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| {
        let quota = tightest("cpu", |dir| quota(dir, read)).unwrap_or(usize::MAX);
        affinity().min(quota).max(1)
    })
}

fn affinity() -> usize {
    let mut mask = [0_u64; MOST / 64];
    // SAFETY: the kernel writes at most as many bytes as it is told that there are.
    let written = check(unsafe {
        libc::syscall(
            libc::SYS_sched_getaffinity,
            0,
            size_of_val(&mask),
            mask.as_mut_ptr(),
        )
    });
    written.map_or(1, |_| {
        mask.iter().map(|word| word.count_ones() as usize).sum()
    })
}

/// Whole processors' worth of time that the control group may use.
fn quota(dir: &Path, read: impl Fn(&Path) -> Option<String>) -> Option<usize> {
    let (quota, period) = if let Some(text) = read(&dir.join("cpu.max")) {
        let (quota, period) = text.trim().split_once(' ')?;
        // "max" is no number: no limit.
        (quota.parse::<usize>().ok()?, period.parse::<usize>().ok()?)
    } else {
        let number = |file| read(&dir.join(file))?.trim().parse::<usize>().ok();
        // -1 is no such number: no limit.
        (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
    };
    Some(quota.checked_div(period)?.max(1))
}

#[cfg(test)]
mod tests {
    use super::super::cgroup::files;
    use super::*;

    #[test]
    fn quotas_of_both_versions() {
        let of = |list: &[(&str, &str)]| quota(Path::new("/g"), files(list));
        assert_eq!(of(&[("/g/cpu.max", "250000 100000\n")]), Some(2));
        assert_eq!(of(&[("/g/cpu.max", "50000 100000\n")]), Some(1));
        assert_eq!(of(&[("/g/cpu.max", "max 100000\n")]), None);
        let v1 = [
            ("/g/cpu.cfs_quota_us", "400000\n"),
            ("/g/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(of(&v1), Some(4));
        let none = [
            ("/g/cpu.cfs_quota_us", "-1\n"),
            ("/g/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(of(&none), None);
        assert_eq!(of(&[("/g/cpu.max", "1 0\n")]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn agrees_with_std() {
        let std = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        assert_eq!(usable_cores(), std);
    }
}
