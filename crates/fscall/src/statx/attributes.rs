//! Attributes of a file beside its mode.

use linux_raw_sys::general as sys;

bitflags::bitflags! {
    /// What a file is beside its type and mode; see `chattr(1)`.
    ///
    /// Bits that have no name here are kept.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct StatxAttributes: u64 {
        /// Compressed by the file system.
        #[doc(alias = "STATX_ATTR_COMPRESSED")]
        const COMPRESSED = sys::STATX_ATTR_COMPRESSED as u64;
        /// Can't be changed, removed, renamed or linked to.
        #[doc(alias = "STATX_ATTR_IMMUTABLE")]
        const IMMUTABLE = sys::STATX_ATTR_IMMUTABLE as u64;
        /// Can only be appended to.
        #[doc(alias = "STATX_ATTR_APPEND")]
        const APPEND = sys::STATX_ATTR_APPEND as u64;
        /// Backups leave it out.
        #[doc(alias = "STATX_ATTR_NODUMP")]
        const NODUMP = sys::STATX_ATTR_NODUMP as u64;
        /// Needs a key to be read.
        #[doc(alias = "STATX_ATTR_ENCRYPTED")]
        const ENCRYPTED = sys::STATX_ATTR_ENCRYPTED as u64;
        /// A directory that something is mounted on when it is entered.
        #[doc(alias = "STATX_ATTR_AUTOMOUNT")]
        const AUTOMOUNT = sys::STATX_ATTR_AUTOMOUNT as u64;
        /// The root of a mount. Linux 5.8.
        #[doc(alias = "STATX_ATTR_MOUNT_ROOT")]
        const MOUNT_ROOT = sys::STATX_ATTR_MOUNT_ROOT as u64;
        /// Protected by fs-verity. Linux 5.5.
        #[doc(alias = "STATX_ATTR_VERITY")]
        const VERITY = sys::STATX_ATTR_VERITY as u64;
        /// Mapped straight from persistent memory. Linux 5.8.
        #[doc(alias = "STATX_ATTR_DAX")]
        const DAX = sys::STATX_ATTR_DAX as u64;
        /// Can be written undivided. Linux 6.11.
        #[doc(alias = "STATX_ATTR_WRITE_ATOMIC")]
        const WRITE_ATOMIC = sys::STATX_ATTR_WRITE_ATOMIC as u64;

        const _ = !0;
    }
}
