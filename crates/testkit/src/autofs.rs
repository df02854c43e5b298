//! Automount triggers whose daemon is a test: it sees who triggers a mount,
//! and mounts nothing.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::skip::needs_root;
use crate::{Skip, mount};

/// What triggers a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The mount point itself.
    Direct,
    /// A directory in it: [`Autofs::trigger`].
    Indirect,
}

/// A mounted autofs.
#[derive(Debug)]
pub struct Autofs {
    point: PathBuf,
    trigger: PathBuf,
    /// Where the kernel writes which mounts it wants.
    requests: File,
    /// Leads the only process group that triggers nothing: the daemon's.
    daemon: Child,
    _directory: TempDir,
}

impl Autofs {
    /// Mounts it.
    ///
    /// # Errors
    /// No root, or the kernel has no autofs.
    pub fn new(kind: Trigger) -> Result<Self, Skip> {
        let name = "mount autofs";
        needs_root(name)?;
        let filesystems = fs::read_to_string("/proc/filesystems").unwrap_or_default();
        if !filesystems.lines().any(|line| line.ends_with("\tautofs")) {
            return Err(Skip::not_possible_here(name, "the kernel has no autofs"));
        }
        Self::mount(kind).map_err(|error| Skip::missing(name, error.to_string()))
    }

    fn mount(kind: Trigger) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("autofs-").tempdir()?;
        let point = directory.path().join("mnt");
        fs::create_dir(&point)?;
        let (requests, wanted) = pipe()?;
        let daemon = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()?;
        let group = daemon.id();
        let mut autofs = Self {
            trigger: point.clone(),
            point,
            requests: requests.into(),
            daemon,
            _directory: directory,
        };
        let kind_word = match kind {
            Trigger::Direct => "direct",
            Trigger::Indirect => "indirect",
        };
        let pipe = wanted.as_raw_fd();
        let options = format!("fd={pipe},pgrp={group},minproto=5,maxproto=5,{kind_word}");
        mount::mount("testkit", &autofs.point, "autofs", 0, &options)?;
        if kind == Trigger::Indirect {
            autofs.trigger.push("trigger");
            // As the daemon: others may make nothing here.
            let mut mkdir = Command::new("mkdir");
            let group = i32::try_from(group).map_err(io::Error::other)?;
            mkdir.arg(&autofs.trigger).process_group(group);
            // Not by the module for that, which gives each program a group of its own.
            if !mkdir.status()?.success() {
                return Err(io::Error::other("the daemon may make no directory"));
            }
        }
        Ok(autofs)
    }

    /// The path that triggers a mount.
    pub fn trigger(&self) -> &Path {
        &self.trigger
    }

    /// Whether a mount was wanted since this was last asked.
    pub fn was_triggered(&mut self) -> bool {
        // A packet is smaller than that; without one the pipe answers EAGAIN.
        self.requests
            .read(&mut [0; 4096])
            .is_ok_and(|read| read > 0)
    }
}

impl Drop for Autofs {
    fn drop(&mut self) {
        let _ = mount::unmount(&self.point, libc::MNT_DETACH);
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// Both ends of a pipe that never blocks and is not inherited.
#[allow(unsafe_code)]
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: each is open, and nobody else's.
    Ok(ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) }).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::or_skip;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn whoever_goes_through_triggers_a_mount() {
        for kind in [Trigger::Direct, Trigger::Indirect] {
            let mut autofs = or_skip!(Autofs::new(kind));
            assert!(!autofs.was_triggered());
            let mut through = Command::new("ls");
            through.arg(autofs.trigger().join("x"));
            let through = through.stdout(Stdio::null()).stderr(Stdio::null());
            let mut through = through.spawn().unwrap();
            let end = Instant::now() + Duration::from_secs(10);
            while !autofs.was_triggered() {
                assert!(Instant::now() < end, "{kind:?}: nothing was wanted");
                thread::sleep(Duration::from_millis(5));
            }
            // It waits for the mount until it is killed.
            through.kill().unwrap();
            through.wait().unwrap();
        }
    }
}
