//! The kernel's answer.

use std::fmt;

use linux_raw_sys::general as sys;

use super::{StatxAttributes, StatxMask, Timestamp};
use crate::FileType;

/// What `statx(2)` answers: the kernel's own `struct statx`.
///
/// An accessor is `None` where the kernel did not say that the field is valid, whether or not it
/// was asked for.
///
/// ```
/// use fscall::{CWD, StatxFlags, StatxMask};
///
/// let answer = fscall::statx(CWD, Some(c"/"), StatxFlags::empty(), StatxMask::SIZE)?;
/// assert!(answer.size().is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "struct statx")]
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Statx(sys::statx);

const TIME: sys::statx_timestamp = sys::statx_timestamp {
    tv_sec: 0,
    tv_nsec: 0,
    __reserved: 0,
};

const EMPTY: sys::statx = sys::statx {
    stx_mask: 0,
    stx_blksize: 0,
    stx_attributes: 0,
    stx_nlink: 0,
    stx_uid: 0,
    stx_gid: 0,
    stx_mode: 0,
    __spare0: [0],
    stx_ino: 0,
    stx_size: 0,
    stx_blocks: 0,
    stx_attributes_mask: 0,
    stx_atime: TIME,
    stx_btime: TIME,
    stx_ctime: TIME,
    stx_mtime: TIME,
    stx_rdev_major: 0,
    stx_rdev_minor: 0,
    stx_dev_major: 0,
    stx_dev_minor: 0,
    stx_mnt_id: 0,
    stx_dio_mem_align: 0,
    stx_dio_offset_align: 0,
    stx_subvol: 0,
    stx_atomic_write_unit_min: 0,
    stx_atomic_write_unit_max: 0,
    stx_atomic_write_segments_max: 0,
    stx_dio_read_offset_align: 0,
    stx_atomic_write_unit_max_opt: 0,
    __spare2: [0],
    __spare3: [0; 8],
};

// What the kernel writes.
const _: () = assert!(size_of::<Statx>() == 256);

impl Statx {
    fn field<T>(&self, field: StatxMask, value: T) -> Option<T> {
        self.mask().intersects(field).then_some(value)
    }

    /// The fields that are valid.
    #[doc(alias = "stx_mask")]
    pub fn mask(&self) -> StatxMask {
        StatxMask::from_bits_retain(self.0.stx_mask)
    }

    /// The type of the file. `None` also for an anonymous inode, which has none.
    pub fn file_type(&self) -> Option<FileType> {
        self.field(StatxMask::TYPE, self.0.stx_mode)
            .and_then(|mode| FileType::from_mode(mode.into()))
    }

    /// Type and permission bits together, as in `st_mode`; needs both
    /// [`TYPE`](StatxMask::TYPE) and [`MODE`](StatxMask::MODE).
    #[doc(alias = "stx_mode")]
    pub fn mode(&self) -> Option<u16> {
        self.mask()
            .contains(StatxMask::TYPE | StatxMask::MODE)
            .then_some(self.0.stx_mode)
    }

    /// The permission bits with set-user-id, set-group-id and sticky bit: `0o7777` at most.
    pub fn permission_bits(&self) -> Option<u16> {
        self.field(StatxMask::MODE, self.0.stx_mode & 0o7777)
    }

    /// The number of hard links.
    #[doc(alias = "stx_nlink")]
    pub fn nlink(&self) -> Option<u32> {
        self.field(StatxMask::NLINK, self.0.stx_nlink)
    }

    /// The owner.
    #[doc(alias = "stx_uid")]
    pub fn uid(&self) -> Option<u32> {
        self.field(StatxMask::UID, self.0.stx_uid)
    }

    /// The owning group.
    #[doc(alias = "stx_gid")]
    pub fn gid(&self) -> Option<u32> {
        self.field(StatxMask::GID, self.0.stx_gid)
    }

    /// The inode number.
    #[doc(alias = "stx_ino")]
    pub fn ino(&self) -> Option<u64> {
        self.field(StatxMask::INO, self.0.stx_ino)
    }

    /// The size in bytes.
    #[doc(alias = "stx_size")]
    pub fn size(&self) -> Option<u64> {
        self.field(StatxMask::SIZE, self.0.stx_size)
    }

    /// The space allocated, in units of 512 bytes.
    #[doc(alias = "stx_blocks")]
    pub fn blocks(&self) -> Option<u64> {
        self.field(StatxMask::BLOCKS, self.0.stx_blocks)
    }

    /// When the contents were last read.
    #[doc(alias = "stx_atime")]
    pub fn atime(&self) -> Option<Timestamp> {
        self.field(StatxMask::ATIME, self.0.stx_atime.into())
    }

    /// When the contents were last changed.
    #[doc(alias = "stx_mtime")]
    pub fn mtime(&self) -> Option<Timestamp> {
        self.field(StatxMask::MTIME, self.0.stx_mtime.into())
    }

    /// When the inode was last changed.
    #[doc(alias = "stx_ctime")]
    pub fn ctime(&self) -> Option<Timestamp> {
        self.field(StatxMask::CTIME, self.0.stx_ctime.into())
    }

    /// When the file was made.
    #[doc(alias = "stx_btime")]
    pub fn btime(&self) -> Option<Timestamp> {
        self.field(StatxMask::BTIME, self.0.stx_btime.into())
    }

    /// The id of the mount as in `/proc/self/mountinfo`. Another mount may get it when this one
    /// is gone. `None` if the answer has the unique id instead.
    #[doc(alias = "stx_mnt_id")]
    pub fn mnt_id(&self) -> Option<u64> {
        self.field(StatxMask::MNT_ID, self.0.stx_mnt_id)
    }

    /// The id of the mount that no other will ever have.
    #[doc(alias = "stx_mnt_id")]
    pub fn mnt_id_unique(&self) -> Option<u64> {
        self.field(StatxMask::MNT_ID_UNIQUE, self.0.stx_mnt_id)
    }

    /// The subvolume.
    #[doc(alias = "stx_subvol")]
    pub fn subvol(&self) -> Option<u64> {
        self.field(StatxMask::SUBVOL, self.0.stx_subvol)
    }

    /// How memory has to be aligned for direct I/O, in bytes; 0 if there is none on this file.
    #[doc(alias = "stx_dio_mem_align")]
    pub fn dio_mem_align(&self) -> Option<u32> {
        self.field(StatxMask::DIOALIGN, self.0.stx_dio_mem_align)
    }

    /// How offset and length have to be aligned for direct I/O, in bytes; 0 if there is none on
    /// this file.
    #[doc(alias = "stx_dio_offset_align")]
    pub fn dio_offset_align(&self) -> Option<u32> {
        self.field(StatxMask::DIOALIGN, self.0.stx_dio_offset_align)
    }

    /// As [`dio_offset_align`](Self::dio_offset_align), for reads alone.
    #[doc(alias = "stx_dio_read_offset_align")]
    pub fn dio_read_offset_align(&self) -> Option<u32> {
        self.field(StatxMask::DIO_READ_ALIGN, self.0.stx_dio_read_offset_align)
    }

    /// The smallest write that is undivided, in bytes.
    #[doc(alias = "stx_atomic_write_unit_min")]
    pub fn atomic_write_unit_min(&self) -> Option<u32> {
        self.field(StatxMask::WRITE_ATOMIC, self.0.stx_atomic_write_unit_min)
    }

    /// The largest write that is undivided, in bytes.
    #[doc(alias = "stx_atomic_write_unit_max")]
    pub fn atomic_write_unit_max(&self) -> Option<u32> {
        self.field(StatxMask::WRITE_ATOMIC, self.0.stx_atomic_write_unit_max)
    }

    /// The most buffers that an undivided write may be gathered from.
    #[doc(alias = "stx_atomic_write_segments_max")]
    pub fn atomic_write_segments_max(&self) -> Option<u32> {
        self.field(
            StatxMask::WRITE_ATOMIC,
            self.0.stx_atomic_write_segments_max,
        )
    }

    /// The preferred size of a read or write, in bytes. Always valid.
    #[doc(alias = "stx_blksize")]
    pub fn blksize(&self) -> u32 {
        self.0.stx_blksize
    }

    /// The attributes that are set. What is not in [`attributes_mask`](Self::attributes_mask) is
    /// unknown to the file system.
    #[doc(alias = "stx_attributes")]
    pub fn attributes(&self) -> StatxAttributes {
        StatxAttributes::from_bits_retain(self.0.stx_attributes)
    }

    /// The attributes that the file system knows.
    #[doc(alias = "stx_attributes_mask")]
    pub fn attributes_mask(&self) -> StatxAttributes {
        StatxAttributes::from_bits_retain(self.0.stx_attributes_mask)
    }

    /// Major and minor number of the device that the file system is on. Always valid.
    #[doc(alias = "stx_dev_major")]
    #[doc(alias = "stx_dev_minor")]
    pub fn dev_numbers(&self) -> (u32, u32) {
        (self.0.stx_dev_major, self.0.stx_dev_minor)
    }

    /// The device that the file system is on, as one number like `st_dev`. Always valid.
    pub fn dev(&self) -> u64 {
        let (major, minor) = self.dev_numbers();
        libc::makedev(major, minor)
    }

    /// Major and minor number of the device that a device file stands for; zeros otherwise.
    #[doc(alias = "stx_rdev_major")]
    #[doc(alias = "stx_rdev_minor")]
    pub fn rdev_numbers(&self) -> (u32, u32) {
        (self.0.stx_rdev_major, self.0.stx_rdev_minor)
    }

    /// The device that a device file stands for, as one number like `st_rdev`; 0 otherwise.
    pub fn rdev(&self) -> u64 {
        let (major, minor) = self.rdev_numbers();
        libc::makedev(major, minor)
    }

    /// The structure, for a call that fills it in.
    ///
    /// Any bytes are valid in it, so it may be written to freely.
    pub fn as_mut_ptr(&mut self) -> *mut sys::statx {
        &raw mut self.0
    }
}

impl Statx {
    /// Hides fields that were asked for on behalf of somebody else than the caller: they become
    /// invalid, and zero.
    #[inline]
    pub fn clear_fields(&mut self, fields: StatxMask) {
        let mut gone = self.mask().intersection(fields).bits();
        let kept = self.mask().difference(fields);
        self.0.stx_mask = kept.bits();
        while gone != 0 {
            let lowest = gone & gone.wrapping_neg();
            self.zero(StatxMask::from_bits_retain(lowest), kept);
            gone ^= lowest;
        }
    }

    /// Hides all fields but these; see [`clear_fields`](Self::clear_fields). Kernels differ in what
    /// they answer beyond what they were asked.
    #[inline]
    pub fn keep_fields(&mut self, fields: StatxMask) {
        self.clear_fields(StatxMask::from_bits_retain(!fields.bits()));
    }

    fn zero(&mut self, field: StatxMask, kept: StatxMask) {
        let raw = &mut self.0;
        match field {
            StatxMask::TYPE => raw.stx_mode &= 0o7777,
            StatxMask::MODE => raw.stx_mode &= !0o7777,
            StatxMask::NLINK => raw.stx_nlink = 0,
            StatxMask::UID => raw.stx_uid = 0,
            StatxMask::GID => raw.stx_gid = 0,
            StatxMask::ATIME => raw.stx_atime = TIME,
            StatxMask::MTIME => raw.stx_mtime = TIME,
            StatxMask::CTIME => raw.stx_ctime = TIME,
            StatxMask::BTIME => raw.stx_btime = TIME,
            StatxMask::INO => raw.stx_ino = 0,
            StatxMask::SIZE => raw.stx_size = 0,
            StatxMask::BLOCKS => raw.stx_blocks = 0,
            // Both are told in the same place.
            StatxMask::MNT_ID if kept.contains(StatxMask::MNT_ID_UNIQUE) => {}
            StatxMask::MNT_ID_UNIQUE if kept.contains(StatxMask::MNT_ID) => {}
            StatxMask::MNT_ID | StatxMask::MNT_ID_UNIQUE => raw.stx_mnt_id = 0,
            StatxMask::DIOALIGN => (raw.stx_dio_mem_align, raw.stx_dio_offset_align) = (0, 0),
            StatxMask::SUBVOL => raw.stx_subvol = 0,
            StatxMask::WRITE_ATOMIC => {
                raw.stx_atomic_write_unit_min = 0;
                raw.stx_atomic_write_unit_max = 0;
                raw.stx_atomic_write_unit_max_opt = 0;
                raw.stx_atomic_write_segments_max = 0;
            }
            StatxMask::DIO_READ_ALIGN => raw.stx_dio_read_offset_align = 0,
            _ => {}
        }
    }
}

impl Default for Statx {
    /// An answer without any field.
    fn default() -> Self {
        Self(EMPTY)
    }
}

impl fmt::Debug for Statx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statx")
            .field("mask", &self.mask())
            .field("file_type", &self.file_type())
            .field(
                "permission_bits",
                &format_args!("{:#o}", self.permission_bits().unwrap_or(0)),
            )
            .field("dev", &self.dev_numbers())
            .field("ino", &self.ino())
            .field("nlink", &self.nlink())
            .field("size", &self.size())
            .field("mtime", &self.mtime())
            .field("attributes", &self.attributes())
            .finish_non_exhaustive()
    }
}
