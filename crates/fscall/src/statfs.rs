//! statfs(2), fstatfs(2).
#![allow(unsafe_code, reason = "the system calls")]
#![allow(
    clippy::unnecessary_cast,
    reason = "the C types differ between processors"
)]

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::sys::{check, retry_on_eintr};

bitflags::bitflags! {
    /// How a file system is mounted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct StatFsFlags: u64 {
        /// Nothing on it can be changed.
        #[doc(alias = "ST_RDONLY")]
        const RDONLY = libc::ST_RDONLY as u64;
        /// The bits that change who a program runs as have no effect.
        #[doc(alias = "ST_NOSUID")]
        const NOSUID = libc::ST_NOSUID as u64;
        /// Device files on it can't be opened.
        #[doc(alias = "ST_NODEV")]
        const NODEV = libc::ST_NODEV as u64;
        /// Programs on it can't be executed.
        #[doc(alias = "ST_NOEXEC")]
        const NOEXEC = libc::ST_NOEXEC as u64;
        /// Every write is synchronous.
        #[doc(alias = "ST_SYNCHRONOUS")]
        const SYNCHRONOUS = libc::ST_SYNCHRONOUS as u64;
        /// Mandatory locks are allowed.
        #[doc(alias = "ST_MANDLOCK")]
        const MANDLOCK = libc::ST_MANDLOCK as u64;
        /// Access times are not updated.
        #[doc(alias = "ST_NOATIME")]
        const NOATIME = libc::ST_NOATIME as u64;
        /// Access times of directories are not updated.
        #[doc(alias = "ST_NODIRATIME")]
        const NODIRATIME = libc::ST_NODIRATIME as u64;
        /// Access times are updated only if they are older than the last change.
        #[doc(alias = "ST_RELATIME")]
        const RELATIME = libc::ST_RELATIME as u64;
        /// Symbolic links on it are not followed. Linux 5.10.
        #[doc(alias = "ST_NOSYMFOLLOW")]
        const NOSYMFOLLOW = 0x2000;
        /// Flags without a name here are kept.
        const _ = !0;
    }
}

/// The kernel's mark that the flags are filled in; no flag of the mount.
const ST_VALID: u64 = 0x20;

/// How large and how full a file system is, as [`statfs`] and [`fstatfs`] answer.
#[doc(alias = "struct statfs")]
#[doc(alias = "statvfs")]
#[derive(Clone, Copy)]
pub struct StatFs(libc::statfs64);

#[allow(
    clippy::cast_sign_loss,
    clippy::cast_lossless,
    reason = "the C types differ between processors; sizes are not negative"
)]
impl StatFs {
    /// The number of its type, such as `EXT4_SUPER_MAGIC` (0xEF53); statfs(2) lists them.
    #[doc(alias = "f_type")]
    pub fn fs_type(&self) -> u32 {
        // A C long on most processors, and always a number of 32 bits.
        #[allow(clippy::cast_possible_truncation, reason = "it has 32 bits")]
        {
            self.0.f_type as u32
        }
    }

    /// The size that reads and writes should have, in bytes.
    #[doc(alias = "f_bsize")]
    pub fn io_size(&self) -> u64 {
        self.0.f_bsize as u64
    }

    /// The unit of [`blocks`](Self::blocks), in bytes.
    #[doc(alias = "f_frsize")]
    pub fn block_size(&self) -> u64 {
        // Kernels before 2.6 did not tell.
        match self.0.f_frsize as u64 {
            0 => self.io_size(),
            size => size,
        }
    }

    /// How large it is, in blocks.
    #[doc(alias = "f_blocks")]
    pub fn blocks(&self) -> u64 {
        self.0.f_blocks as u64
    }

    /// How many blocks are free.
    #[doc(alias = "f_bfree")]
    pub fn blocks_free(&self) -> u64 {
        self.0.f_bfree as u64
    }

    /// How many blocks an ordinary user may still take.
    #[doc(alias = "f_bavail")]
    pub fn blocks_available(&self) -> u64 {
        self.0.f_bavail as u64
    }

    /// How large it is, in bytes.
    pub fn bytes(&self) -> u64 {
        self.blocks().saturating_mul(self.block_size())
    }

    /// How many bytes are free.
    pub fn bytes_free(&self) -> u64 {
        self.blocks_free().saturating_mul(self.block_size())
    }

    /// How many bytes an ordinary user may still take.
    pub fn bytes_available(&self) -> u64 {
        self.blocks_available().saturating_mul(self.block_size())
    }

    /// How many inodes it has; 0 where their number has no limit.
    #[doc(alias = "f_files")]
    pub fn files(&self) -> u64 {
        self.0.f_files as u64
    }

    /// How many inodes are free.
    #[doc(alias = "f_ffree")]
    pub fn files_free(&self) -> u64 {
        self.0.f_ffree as u64
    }

    /// The longest name that a file can have, in bytes.
    #[doc(alias = "f_namelen")]
    #[doc(alias = "f_namemax")]
    pub fn name_max(&self) -> u64 {
        self.0.f_namelen as u64
    }

    /// How it is mounted.
    #[doc(alias = "f_flags")]
    pub fn flags(&self) -> StatFsFlags {
        StatFsFlags::from_bits_retain(self.0.f_flags as u64 & !ST_VALID)
    }
}

impl fmt::Debug for StatFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatFs")
            .field("fs_type", &format_args!("{:#x}", self.fs_type()))
            .field("io_size", &self.io_size())
            .field("block_size", &self.block_size())
            .field("blocks", &self.blocks())
            .field("blocks_free", &self.blocks_free())
            .field("blocks_available", &self.blocks_available())
            .field("files", &self.files())
            .field("files_free", &self.files_free())
            .field("name_max", &self.name_max())
            .field("flags", &self.flags())
            .finish()
    }
}

/// How large and how full the file system of a file is. Symbolic links are followed and
/// automounts triggered.
///
/// statfs(2); retried while a signal interrupts it. It asks the server of a network file system,
/// and waits for it: to learn what a mount is, see [`mounts`](crate::mounts).
///
/// # Errors
///
/// What statfs(2) answers; `ENOSYS` from a file system without the notion.
///
/// ```
/// let root = fscall::statfs(c"/")?;
/// assert!(root.bytes_available() <= root.bytes() && root.name_max() > 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn statfs(path: &CStr) -> io::Result<StatFs> {
    let mut answer = MaybeUninit::uninit();
    // SAFETY: `path` is a C string, and the call writes a `struct statfs64` to where it may.
    retry_on_eintr(|| check(unsafe { libc::statfs64(path.as_ptr(), answer.as_mut_ptr()) }))?;
    // SAFETY: the call has succeeded, so the structure is filled in.
    Ok(StatFs(unsafe { answer.assume_init() }))
}

/// As [`statfs`], of an open file.
///
/// # Errors
///
/// As [`statfs`].
pub fn fstatfs(fd: BorrowedFd<'_>) -> io::Result<StatFs> {
    let mut answer = MaybeUninit::uninit();
    // SAFETY: the call writes a `struct statfs64` to where it may.
    retry_on_eintr(|| check(unsafe { libc::fstatfs64(fd.as_raw_fd(), answer.as_mut_ptr()) }))?;
    // SAFETY: the call has succeeded, so the structure is filled in.
    Ok(StatFs(unsafe { answer.assume_init() }))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn path_and_descriptor_agree() {
        let by_path = statfs(c"/proc").unwrap();
        let proc = File::open("/proc").unwrap();
        let by_fd = fstatfs(proc.as_fd()).unwrap();
        assert_eq!(format!("{by_path:?}"), format!("{by_fd:?}"));
        assert_eq!(by_path.fs_type(), 0x9fa0);
        assert_eq!((by_path.name_max(), by_path.bytes()), (255, 0));
        assert_eq!(by_path.flags().bits() & ST_VALID, 0);
    }

    #[test]
    fn sizes_are_in_order() {
        let root = statfs(c"/").unwrap();
        assert!(root.blocks_available() <= root.blocks_free());
        assert!(root.blocks_free() <= root.blocks() && root.files_free() <= root.files());
        assert_eq!(root.bytes(), root.blocks() * root.block_size());
    }

    #[test]
    fn errors_are_the_kernels() {
        let error = statfs(c"/nonexistent").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }
}
