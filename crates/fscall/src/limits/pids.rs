//! How many more processes and threads the control group allows; cgroups(7).

use std::path::Path;

use super::cgroup::{read, tightest};

/// How many more processes and threads this process's control group allows: the smallest
/// `pids.max` - `pids.current` of the group and those above it that can be seen.
///
/// `None`: no limit, or none that can be told. Reads a handful of files in `/proc` and
/// `/sys/fs/cgroup`, of both versions of control groups.
#[doc(alias = "pids.max")]
pub fn pids_left() -> Option<u64> {
    tightest("pids", |dir| left(dir, read))
}

fn left(dir: &Path, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let number = |file| read(&dir.join(file))?.trim().parse::<u64>().ok();
    // "max" is no number: no limit.
    Some(number("pids.max")?.saturating_sub(number("pids.current")?))
}

#[cfg(test)]
mod tests {
    use super::super::cgroup::{files, tightest_in};
    use super::*;

    fn pids_left_in(
        groups: &[u8],
        mounts: &[u8],
        read: impl Fn(&Path) -> Option<String>,
    ) -> Option<u64> {
        tightest_in("pids", groups, mounts, |dir| left(dir, &read))
    }

    const V2: &[u8] = b"31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    const V1: &[u8] = b"39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

    #[test]
    fn the_tightest_group_counts() {
        let read = files(&[
            ("/sys/fs/cgroup/a/b/pids.max", "max\n"),
            ("/sys/fs/cgroup/a/b/pids.current", "3\n"),
            ("/sys/fs/cgroup/a/pids.max", "100\n"),
            ("/sys/fs/cgroup/a/pids.current", "40\n"),
        ]);
        assert_eq!(pids_left_in(b"0::/a/b\n", V2, &read), Some(60));
        assert_eq!(pids_left_in(b"0::/\n", V2, &read), None);
        assert_eq!(pids_left_in(b"0::/a/b\n", V1, &read), None);
    }

    #[test]
    fn version_1_and_both() {
        let read = files(&[
            ("/sys/fs/cgroup/pids/x/pids.max", "10\n"),
            ("/sys/fs/cgroup/pids/x/pids.current", "12\n"),
        ]);
        let groups = b"5:cpu,cpuacct:/y\n3:pids:/x\n0::/\n";
        assert_eq!(pids_left_in(groups, &[V1, V2].concat(), &read), Some(0));
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let mounts = b"39 31 0:36 /docker/7f /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n";
        let read = files(&[
            ("/sys/fs/cgroup/pids/pids.max", "64\n"),
            ("/sys/fs/cgroup/pids/pids.current", "4\n"),
        ]);
        assert_eq!(
            pids_left_in(b"3:pids:/docker/7f\n", mounts, &read),
            Some(60)
        );
        assert_eq!(pids_left_in(b"3:pids:/docker/8a\n", mounts, &read), None);
        assert_eq!(pids_left_in(b"3:pids:/../..\n", V1, &read), None);
    }

    #[test]
    fn this_process() {
        // No figure can be expected; that it neither panics nor waits can.
        let _ = pids_left();
    }
}
