//! Chains of directories whose paths are longer than the system takes.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A place for trees that are too deep for `remove_dir_all` of any library.
#[derive(Debug)]
pub struct DeepPlace(PathBuf);

impl DeepPlace {
    /// A new one.
    ///
    /// # Errors
    /// As [`tempfile::tempdir`].
    pub fn new() -> io::Result<Self> {
        tempfile::tempdir().map(TempDir::keep).map(Self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for DeepPlace {
    fn drop(&mut self) {
        let mut rm = Command::new("rm");
        let _ = rm.arg("-rf").arg(&self.0).stderr(Stdio::null()).status();
    }
}

/// Makes `levels` directories of the same name, each in the one before it.
///
/// # Errors
/// What making or opening one answered.
pub fn chain(place: &Path, levels: usize, name: &str) -> io::Result<()> {
    let mut dir = File::open(place)?;
    for _ in 0..levels {
        let next = within(&dir, name);
        fs::create_dir(&next)?;
        dir = File::open(&next)?;
    }
    Ok(())
}

/// A path for std that leads to a name in an open directory, however deep that lies.
pub fn within(dir: &File, name: impl AsRef<Path>) -> PathBuf {
    Path::new("/proc/self/fd")
        .join(dir.as_raw_fd().to_string())
        .join(name)
}
