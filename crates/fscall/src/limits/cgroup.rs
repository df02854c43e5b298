//! The control groups that a process is in, as their files show them; cgroups(7).

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::mounts::mountinfo;

/// No file that is read here is longer, but the mount table of a host with very many mounts.
const LONGEST: u64 = 16 << 20;

/// The text of a file, without a question for its size: those in `/proc` and `/sys` do not tell.
pub(super) fn read(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(path)
        .ok()?
        .take(LONGEST)
        .read_to_end(&mut text)
        .ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The smallest of what `limit` finds in the directories of this process's control group and of
/// those above it that can be seen, in each hierarchy with the `controller`.
pub(super) fn tightest<T: Ord>(controller: &str, limit: impl Fn(&Path) -> Option<T>) -> Option<T> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let mounts = read(Path::new("/proc/self/mountinfo"))?;
    tightest_in(controller, groups.as_bytes(), mounts.as_bytes(), limit)
}

pub(super) fn tightest_in<T: Ord>(
    controller: &str,
    groups: &[u8],
    mounts: &[u8],
    limit: impl Fn(&Path) -> Option<T>,
) -> Option<T> {
    groups
        .split(|&byte| byte == b'\n')
        .filter_map(|line| by_line(controller.as_bytes(), line, mounts, &limit))
        .min()
}

/// By one line of `/proc/self/cgroup`: `0::/path` or `5:pids,memory:/path`.
fn by_line<T: Ord>(
    controller: &[u8],
    line: &[u8],
    mounts: &[u8],
    limit: impl Fn(&Path) -> Option<T>,
) -> Option<T> {
    let mut parts = line.splitn(3, |&byte| byte == b':');
    let hierarchy = parts.next()?;
    let controllers = parts.next()?;
    let group = parts.next()?;
    let has_it = |list: &[u8]| {
        list.split(|&byte| byte == b',')
            .any(|name| name == controller)
    };
    let is_v2 = hierarchy == b"0" && controllers.is_empty();
    if !is_v2 && !has_it(controllers) {
        return None;
    }
    mountinfo::lines(mounts)
        .flatten()
        .filter(|mount| match mount.fs_type {
            b"cgroup2" => is_v2,
            b"cgroup" => !is_v2 && has_it(mount.super_options),
            _ => false,
        })
        .filter_map(|mount| {
            let root = mountinfo::unescape(mount.root);
            let point = PathBuf::from(OsStr::from_bytes(&mountinfo::unescape(mount.point)));
            let inside = below(group, &root)?;
            inside
                .ancestors()
                .filter_map(|group| limit(&point.join(group)))
                .min()
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

/// Files for tests of what is read from them.
#[cfg(test)]
pub(super) fn files<'a>(files: &'a [(&'a str, &'a str)]) -> impl Fn(&Path) -> Option<String> + 'a {
    move |path| {
        let (_, content) = files.iter().find(|(name, _)| Path::new(name) == path)?;
        Some((*content).to_owned())
    }
}
