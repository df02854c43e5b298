//! What a measurement was made on.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The facts of the machine that every report names.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Usable cores.
    pub cores: usize,
    /// Model name of the first processor.
    pub cpu: String,
    /// Kernel release.
    pub kernel: String,
    /// Type of the file system that the measured path is on.
    pub file_system: String,
}

impl Machine {
    /// Looks at this machine and at the mount that holds `path`.
    /// What cannot be learnt is called "unknown".
    pub fn of(path: &Path) -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = text("/proc/cpuinfo");
        let model = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            cpu: or_unknown(model.map_or("", |(_, name)| name.trim())),
            kernel: or_unknown(text("/proc/sys/kernel/osrelease").trim()),
            file_system: or_unknown(
                file_system(&text("/proc/self/mountinfo"), &path).unwrap_or(""),
            ),
        }
    }
}

fn or_unknown(text: &str) -> String {
    if text.is_empty() {
        "unknown".to_owned()
    } else {
        text.to_owned()
    }
}

/// The type of the mount with the longest mount point above `path`; of equal ones the last, which hides the others.
fn file_system<'a>(mountinfo: &'a str, path: &Path) -> Option<&'a str> {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let point = PathBuf::from(before.split(' ').nth(4)?);
        Some((point, after.split(' ').next()?))
    });
    mounts
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.as_os_str().len())
        .map(|(_, kind)| kind)
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cores ({}), Linux {}, {}",
            self.cores, self.cpu, self.kernel, self.file_system
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_and_last_mount_counts() {
        let mountinfo = "\
            1 0 8:1 / / rw - ext4 /dev/a rw\n\
            2 1 0:1 / /tmp rw shared:1 - xfs /dev/b rw\n\
            3 2 0:2 / /tmp rw - tmpfs tmpfs rw\n\
            4 1 0:3 / /tmp2 rw - btrfs /dev/c rw\n";
        assert_eq!(file_system(mountinfo, Path::new("/tmp/a/b")), Some("tmpfs"));
        assert_eq!(file_system(mountinfo, Path::new("/tmp2")), Some("btrfs"));
        assert_eq!(file_system(mountinfo, Path::new("/usr")), Some("ext4"));
        assert_eq!(file_system("", Path::new("/usr")), None);
    }

    #[test]
    fn this_machine_has_cores() {
        assert!(Machine::of(Path::new(".")).cores > 0);
    }
}
