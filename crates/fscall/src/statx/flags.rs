//! How a statx call looks up its file, and how fresh the answer has to be.

use linux_raw_sys::general as sys;

bitflags::bitflags! {
    /// Flags of [`statx`](crate::statx()).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct StatxFlags: u32 {
        /// An empty path means the directory descriptor itself, which may be any file.
        #[doc(alias = "AT_EMPTY_PATH")]
        const EMPTY_PATH = sys::AT_EMPTY_PATH;

        /// If the last component is a symbolic link, the answer is about the link.
        #[doc(alias = "AT_SYMLINK_NOFOLLOW")]
        const SYMLINK_NOFOLLOW = sys::AT_SYMLINK_NOFOLLOW;

        /// If the last component is an automount point, nothing is mounted. (`stat(2)` has
        /// always behaved so; a `statx(2)` without the flag mounts.)
        #[doc(alias = "AT_NO_AUTOMOUNT")]
        const NO_AUTOMOUNT = sys::AT_NO_AUTOMOUNT;

        /// A network file system asks its server, even if what it remembers is fresh.
        #[doc(alias = "AT_STATX_FORCE_SYNC")]
        const FORCE_SYNC = sys::AT_STATX_FORCE_SYNC;

        /// A network file system answers from memory, even if what it remembers is old.
        #[doc(alias = "AT_STATX_DONT_SYNC")]
        const DONT_SYNC = sys::AT_STATX_DONT_SYNC;
    }
}

impl StatxFlags {
    /// Both bits that say how fresh the answer has to be. At most one may be set; with neither
    /// the file system does what it does for `stat(2)`.
    #[doc(alias = "AT_STATX_SYNC_TYPE")]
    pub const SYNC_TYPE: Self = Self::FORCE_SYNC.union(Self::DONT_SYNC);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_system() {
        assert_eq!(
            StatxFlags::EMPTY_PATH.bits(),
            libc::AT_EMPTY_PATH.cast_unsigned()
        );
        assert_eq!(
            StatxFlags::SYMLINK_NOFOLLOW.bits(),
            libc::AT_SYMLINK_NOFOLLOW.cast_unsigned()
        );
        assert_eq!(
            StatxFlags::NO_AUTOMOUNT.bits(),
            libc::AT_NO_AUTOMOUNT.cast_unsigned()
        );
        assert_eq!(
            StatxFlags::SYNC_TYPE.bits(),
            libc::AT_STATX_SYNC_TYPE.cast_unsigned()
        );
    }
}
