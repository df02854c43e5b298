//! The types of what is mounted, by device.

use std::collections::HashMap;
use std::io;

use super::mountinfo;

/// The types of all file systems that are mounted, as they were at one moment.
///
/// Only what has a device of its own is found: on btrfs, and on some overlays, files have other
/// devices than their mounts.
///
/// ```
/// use fscall::mounts::FsTypes;
/// use fscall::{CWD, StatxFlags, StatxMask};
///
/// let types = FsTypes::read()?;
/// let proc = fscall::statx(CWD, Some(c"/proc"), StatxFlags::empty(), StatxMask::TYPE)?;
/// assert_eq!(types.of_device(proc.dev_numbers()), Some(&b"proc"[..]));
/// assert!(types.contains(b"proc"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FsTypes {
    by_device: HashMap<(u32, u32), Vec<u8>>,
    /// Those of mounts that a later one of the same device has taken the place of.
    others: Vec<Vec<u8>>,
}

impl FsTypes {
    /// Reads the mount table, `/proc/self/mountinfo`.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn read() -> io::Result<Self> {
        Ok(Self::of(&std::fs::read("/proc/self/mountinfo")?))
    }

    fn of(table: &[u8]) -> Self {
        let mut types = Self::default();
        for mount in mountinfo::lines(table).flatten() {
            let name = mountinfo::unescape(mount.fs_type);
            if let Some(before) = types.by_device.insert(mount.dev, name) {
                types.others.push(before);
            }
        }
        types
    }

    /// The type of the file system with this device, as the mount table calls it. If there are
    /// several mounts, it is the last one's.
    pub fn of_device(&self, dev: (u32, u32)) -> Option<&[u8]> {
        self.by_device.get(&dev).map(Vec::as_slice)
    }

    /// Whether any file system of this type is mounted.
    pub fn contains(&self, name: &[u8]) -> bool {
        self.by_device
            .values()
            .chain(&self.others)
            .any(|it| it == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mount_counts() {
        let types = FsTypes::of(
            b"1 2 0:3 / / rw - rootfs none rw\n\
              2 1 0:3 / / rw - fuse.a\\040b none rw\n\
              broken\n\
              3 2 8:1 / /x rw - ext4 /dev/x rw\n",
        );
        assert_eq!(types.of_device((0, 3)), Some(&b"fuse.a b"[..]));
        assert_eq!(types.of_device((8, 1)), Some(&b"ext4"[..]));
        assert_eq!(types.of_device((8, 2)), None);
        assert!(types.contains(b"rootfs") && types.contains(b"ext4"));
        assert!(!types.contains(b"ext3"));
    }
}
