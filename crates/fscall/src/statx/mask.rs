//! Which fields a statx call asks for, and which an answer has.

use linux_raw_sys::general as sys;

bitflags::bitflags! {
    /// Fields of a [`Statx`](crate::Statx).
    ///
    /// Asking for a field does not mean to get it, and a file system may answer more than it was
    /// asked. Bits without a name here can be asked for with
    /// [`from_bits_retain`](Self::from_bits_retain), except [`RESERVED`](Self::RESERVED).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct StatxMask: u32 {
        /// The type of the file.
        #[doc(alias = "STATX_TYPE")]
        const TYPE = sys::STATX_TYPE;
        /// The permission bits.
        #[doc(alias = "STATX_MODE")]
        const MODE = sys::STATX_MODE;
        /// The number of hard links.
        #[doc(alias = "STATX_NLINK")]
        const NLINK = sys::STATX_NLINK;
        /// The owner.
        #[doc(alias = "STATX_UID")]
        const UID = sys::STATX_UID;
        /// The owning group.
        #[doc(alias = "STATX_GID")]
        const GID = sys::STATX_GID;
        /// When the contents were last read.
        #[doc(alias = "STATX_ATIME")]
        const ATIME = sys::STATX_ATIME;
        /// When the contents were last changed.
        #[doc(alias = "STATX_MTIME")]
        const MTIME = sys::STATX_MTIME;
        /// When the inode was last changed.
        #[doc(alias = "STATX_CTIME")]
        const CTIME = sys::STATX_CTIME;
        /// The inode number.
        #[doc(alias = "STATX_INO")]
        const INO = sys::STATX_INO;
        /// The size in bytes.
        #[doc(alias = "STATX_SIZE")]
        const SIZE = sys::STATX_SIZE;
        /// The space allocated.
        #[doc(alias = "STATX_BLOCKS")]
        const BLOCKS = sys::STATX_BLOCKS;
        /// All that `stat(2)` answers.
        #[doc(alias = "STATX_BASIC_STATS")]
        const BASIC_STATS = sys::STATX_BASIC_STATS;
        /// When the file was made.
        #[doc(alias = "STATX_BTIME")]
        const BTIME = sys::STATX_BTIME;
        /// The id of the mount, as in `/proc/self/mountinfo`. Linux 5.8.
        #[doc(alias = "STATX_MNT_ID")]
        const MNT_ID = sys::STATX_MNT_ID;
        /// How direct I/O has to be aligned. Linux 6.1.
        #[doc(alias = "STATX_DIOALIGN")]
        const DIOALIGN = sys::STATX_DIOALIGN;
        /// The id of the mount that no other mount will ever have, in place of
        /// [`MNT_ID`](Self::MNT_ID) if both are asked for. Linux 6.8.
        #[doc(alias = "STATX_MNT_ID_UNIQUE")]
        const MNT_ID_UNIQUE = sys::STATX_MNT_ID_UNIQUE;
        /// The subvolume (btrfs, bcachefs). Linux 6.10.
        #[doc(alias = "STATX_SUBVOL")]
        const SUBVOL = sys::STATX_SUBVOL;
        /// What can be written at once, undivided. Linux 6.11.
        #[doc(alias = "STATX_WRITE_ATOMIC")]
        const WRITE_ATOMIC = sys::STATX_WRITE_ATOMIC;
        /// How direct reads have to be aligned. Linux 6.14.
        #[doc(alias = "STATX_DIO_READ_ALIGN")]
        const DIO_READ_ALIGN = sys::STATX_DIO_READ_ALIGN;
    }
}

impl StatxMask {
    /// The bit that the kernel keeps for a longer `struct statx`. Asking for it is `EINVAL`.
    #[doc(alias = "STATX__RESERVED")]
    pub const RESERVED: Self = Self::from_bits_retain(sys::STATX__RESERVED);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_basic_fields_are_eleven() {
        assert_eq!(StatxMask::BASIC_STATS.bits().count_ones(), 11);
        assert_eq!(StatxMask::BASIC_STATS.bits(), libc::STATX_BASIC_STATS);
    }

    #[test]
    fn the_reserved_bit_is_no_field() {
        assert!(!StatxMask::all().contains(StatxMask::RESERVED));
    }
}
