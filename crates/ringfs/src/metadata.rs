//! What is known of a file.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use fscall::{FileType, Statx, StatxAttributes, StatxMask, Timestamp};

/// A file's metadata, as `statx(2)` gives it.
///
/// The methods have the names and types of [`std::fs::Metadata`] and
/// [`std::os::unix::fs::MetadataExt`], and tell beyond them the birth time, mount id, attributes
/// and exact timestamps. (std's own type cannot be built from outside, so this is another.) Fields
/// that were not asked for, or that the file system does not have, read as 0 in the methods that
/// return plain numbers; [`statx`](Self::statx) tells them apart.
///
/// ```
/// # futures::executor::block_on(async {
/// let meta = ringfs::metadata("/").await?;
/// assert!(meta.is_dir() && meta.modified()? <= std::time::SystemTime::now());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "struct statx")]
pub struct Metadata(Statx);

impl Metadata {
    /// The fields that [`metadata`](crate::metadata) asks for: those of `stat(2)`, the birth time
    /// and the mount id, unique where the kernel has that.
    pub const MASK: StatxMask = StatxMask::BASIC_STATS
        .union(StatxMask::BTIME)
        .union(StatxMask::MNT_ID)
        .union(StatxMask::MNT_ID_UNIQUE);

    /// The kernel's whole answer, whose accessors are `None` for what it lacks.
    pub fn statx(&self) -> &Statx {
        &self.0
    }

    /// The type of the file.
    pub fn file_type(&self) -> FileType {
        // Every file system answers the type.
        self.0.file_type().unwrap_or(FileType::REGULAR)
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.file_type().is_dir()
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.file_type().is_file()
    }

    /// Whether it is a symbolic link, which only [`symlink_metadata`](crate::symlink_metadata)
    /// and its like can find.
    pub fn is_symlink(&self) -> bool {
        self.file_type().is_symlink()
    }

    /// Size in bytes.
    #[allow(clippy::len_without_is_empty, reason = "std's name for a file's size")]
    pub fn len(&self) -> u64 {
        self.0.size().unwrap_or(0)
    }

    /// The permission bits.
    pub fn permissions(&self) -> Permissions {
        Permissions::from_mode(self.mode())
    }

    /// When the contents were last changed.
    ///
    /// # Errors
    ///
    /// `Unsupported`: not asked for, unknown to the file system, or beyond what [`SystemTime`]
    /// can hold; [`mtime`](Self::mtime) has the raw number.
    pub fn modified(&self) -> io::Result<SystemTime> {
        system_time(self.0.mtime())
    }

    /// When the contents were last read.
    ///
    /// # Errors
    ///
    /// As [`modified`](Self::modified).
    pub fn accessed(&self) -> io::Result<SystemTime> {
        system_time(self.0.atime())
    }

    /// When the file was made (its birth time).
    ///
    /// # Errors
    ///
    /// As [`modified`](Self::modified); many network file systems have none.
    pub fn created(&self) -> io::Result<SystemTime> {
        system_time(self.0.btime())
    }

    /// The birth time as the kernel gives it.
    pub fn btime(&self) -> Option<Timestamp> {
        self.0.btime()
    }

    /// The id of the mount that the file was reached through. Since Linux 6.8 it is the one that
    /// no other mount will ever have, as `statmount(2)` takes it; before, since 5.8, the one of
    /// `/proc/self/mountinfo`.
    pub fn mnt_id(&self) -> Option<u64> {
        self.0.mnt_id_unique().or_else(|| self.0.mnt_id())
    }

    /// The file's attributes (`STATX_ATTR_*`), those that its file system knows.
    pub fn attributes(&self) -> StatxAttributes {
        self.0.attributes()
    }

    /// The device that the file is on.
    pub fn dev(&self) -> u64 {
        self.0.dev()
    }

    /// The inode number.
    pub fn ino(&self) -> u64 {
        self.0.ino().unwrap_or(0)
    }

    /// Type and permission bits, `st_mode`.
    pub fn mode(&self) -> u32 {
        self.0.mode().map_or(0, u32::from)
    }

    /// The number of hard links.
    pub fn nlink(&self) -> u64 {
        self.0.nlink().map_or(0, u64::from)
    }

    /// The owner.
    pub fn uid(&self) -> u32 {
        self.0.uid().unwrap_or(0)
    }

    /// The owning group.
    pub fn gid(&self) -> u32 {
        self.0.gid().unwrap_or(0)
    }

    /// The device that a device file stands for.
    pub fn rdev(&self) -> u64 {
        self.0.rdev()
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.len()
    }

    /// When the contents were last read, seconds since 1970.
    pub fn atime(&self) -> i64 {
        self.0.atime().map_or(0, |time| time.sec)
    }

    /// The nanoseconds of [`atime`](Self::atime).
    pub fn atime_nsec(&self) -> i64 {
        self.0.atime().map_or(0, |time| time.nsec.into())
    }

    /// When the contents were last changed, seconds since 1970.
    pub fn mtime(&self) -> i64 {
        self.0.mtime().map_or(0, |time| time.sec)
    }

    /// The nanoseconds of [`mtime`](Self::mtime).
    pub fn mtime_nsec(&self) -> i64 {
        self.0.mtime().map_or(0, |time| time.nsec.into())
    }

    /// When the inode was last changed, seconds since 1970.
    pub fn ctime(&self) -> i64 {
        self.0.ctime().map_or(0, |time| time.sec)
    }

    /// The nanoseconds of [`ctime`](Self::ctime).
    pub fn ctime_nsec(&self) -> i64 {
        self.0.ctime().map_or(0, |time| time.nsec.into())
    }

    /// The preferred size of a read or write, in bytes.
    pub fn blksize(&self) -> u64 {
        self.0.blksize().into()
    }

    /// Space allocated, in units of 512 bytes.
    pub fn blocks(&self) -> u64 {
        self.0.blocks().unwrap_or(0)
    }
}

impl From<Statx> for Metadata {
    fn from(statx: Statx) -> Self {
        Self(statx)
    }
}

fn system_time(time: Option<Timestamp>) -> io::Result<SystemTime> {
    time.and_then(Timestamp::system_time)
        .ok_or_else(|| io::ErrorKind::Unsupported.into())
}
