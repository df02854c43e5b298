//! How many more processes and threads the control group allows; cgroups(7).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::mounts::mountinfo;

/// How many more processes and threads this process's control group allows: the smallest
/// `pids.max` - `pids.current` of the group and those above it that can be seen.
///
/// `None`: no limit, or none that can be told. Reads a handful of files in `/proc` and
/// `/sys/fs/cgroup`, of both versions of control groups.
#[doc(alias = "pids.max")]
pub fn pids_left() -> Option<u64> {
    let groups = fs::read("/proc/self/cgroup").ok()?;
    let mounts = fs::read("/proc/self/mountinfo").ok()?;
    pids_left_in(&groups, &mounts, |path| fs::read_to_string(path).ok())
}

fn pids_left_in(
    groups: &[u8],
    mounts: &[u8],
    read: impl Fn(&Path) -> Option<String>,
) -> Option<u64> {
    groups
        .split(|&byte| byte == b'\n')
        .filter_map(|line| left_by(line, mounts, &read))
        .min()
}

/// What one line of `/proc/self/cgroup` leaves: `0::/path` or `5:pids,memory:/path`.
fn left_by(line: &[u8], mounts: &[u8], read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let mut parts = line.splitn(3, |&byte| byte == b':');
    let hierarchy = parts.next()?;
    let controllers = parts.next()?;
    let group = parts.next()?;
    let has_pids = |list: &[u8]| list.split(|&byte| byte == b',').any(|name| name == b"pids");
    let is_v2 = hierarchy == b"0" && controllers.is_empty();
    if !is_v2 && !has_pids(controllers) {
        return None;
    }
    mountinfo::lines(mounts)
        .flatten()
        .filter(|mount| match mount.fs_type {
            b"cgroup2" => is_v2,
            b"cgroup" => !is_v2 && has_pids(mount.super_options),
            _ => false,
        })
        .filter_map(|mount| {
            let root = mountinfo::unescape(mount.root);
            let point = PathBuf::from(OsStr::from_bytes(&mountinfo::unescape(mount.point)));
            left_up_to(&point, below(group, &root)?, &read)
        })
        .min()
}

/// The group as seen from a mount of `root`, which in a container may be the group itself.
fn below<'a>(group: &'a [u8], root: &[u8]) -> Option<&'a Path> {
    let group = Path::new(OsStr::from_bytes(group));
    // A group outside of this cgroup namespace begins with `/..`: it can't be seen.
    let inside = group
        .strip_prefix(Path::new(OsStr::from_bytes(root)))
        .ok()?;
    (!inside.starts_with("..")).then_some(inside)
}

fn left_up_to(point: &Path, group: &Path, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let number = |path: PathBuf| read(&path)?.trim().parse::<u64>().ok();
    group
        .ancestors()
        .filter_map(|group| {
            let dir = point.join(group);
            // "max" is no number: no limit.
            let max = number(dir.join("pids.max"))?;
            Some(max.saturating_sub(number(dir.join("pids.current"))?))
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files<'a>(files: &'a [(&'a str, &'a str)]) -> impl Fn(&Path) -> Option<String> + 'a {
        move |path| {
            let (_, content) = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some((*content).to_owned())
        }
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
