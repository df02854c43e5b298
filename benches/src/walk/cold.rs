//! Caches that are empty.

use std::fs;
use std::io;
use std::process::Command;

use testkit::Skip;

/// Leave to empty the caches of the whole machine.
#[derive(Debug)]
pub struct Caches(());

impl Caches {
    /// Writes back what is dirty, which could not be dropped.
    ///
    /// # Errors
    /// No root.
    pub fn new() -> Result<Self, Skip> {
        let name = "drop caches";
        testkit::skip::needs_root(name)?;
        let synced = Command::new("sync").status();
        synced.map_err(|error| Skip::missing(name, format!("sync: {error}")))?;
        let caches = Self(());
        let dropped = caches.drop_all();
        dropped.map_err(|error| Skip::missing(name, error.to_string()))?;
        Ok(caches)
    }

    /// Lets the kernel drop all pages, names and inodes that nobody uses.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn drop_all(&self) -> io::Result<()> {
        let file = "/proc/sys/vm/drop_caches";
        fs::write(file, "3")
            .map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))
    }
}
