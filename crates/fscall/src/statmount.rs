//! statmount(2).
#![allow(unsafe_code, reason = "the system call")]

use std::io;
use std::mem::MaybeUninit;

use linux_raw_sys::general as sys;

use crate::sys::check;

/// What is known of a mount.
#[doc(alias = "struct statmount")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MountStat {
    /// The unique id of the mount.
    pub id: u64,
    /// Major and minor number of the device of its super block.
    #[doc(alias = "sb_dev_major")]
    #[doc(alias = "sb_dev_minor")]
    pub dev: (u32, u32),
    /// The number of its type of file system; `EXT4_SUPER_MAGIC` and so on.
    pub sb_magic: Option<u64>,
    /// The name of its type of file system as in `/proc/filesystems`: without the part that FUSE
    /// file systems add.
    pub fs_type: Option<Vec<u8>>,
}

/// Room for the fixed part and the name of the type.
#[repr(C, align(8))]
struct Buffer {
    fixed: [u8; size_of::<sys::statmount>()],
    strings: [u8; 256],
}

/// What a mount is, by the unique id that statx answers
/// ([`MNT_ID_UNIQUE`](crate::StatxMask::MNT_ID_UNIQUE)).
///
/// It tells what the kernel knows without asking the file system, so unlike statfs(2) it does not
/// wait for a server. statmount(2), Linux 6.8.
///
/// # Errors
///
/// `ENOSYS` before 6.8; `EPERM` for a mount outside of this process's root; `ENOENT` if the mount
/// is gone or in another namespace.
///
/// ```
/// use fscall::{CWD, StatxFlags, StatxMask};
///
/// let root = fscall::statx(CWD, Some(c"/"), StatxFlags::empty(), StatxMask::MNT_ID_UNIQUE)?;
/// if let Some(id) = root.mnt_id_unique() {
///     match fscall::statmount(id) {
///         Ok(mount) => assert!(mount.fs_type.is_some()),
///         Err(error) => println!("{error}"),
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn statmount(unique_mnt_id: u64) -> io::Result<MountStat> {
    let request = sys::mnt_id_req {
        size: sys::MNT_ID_REQ_SIZE_VER0,
        spare: 0,
        mnt_id: unique_mnt_id,
        param: (sys::STATMOUNT_SB_BASIC | sys::STATMOUNT_FS_TYPE).into(),
        mnt_ns_id: 0,
    };
    let mut buffer = MaybeUninit::<Buffer>::zeroed();
    // SAFETY: `request` has at least the size that it says, and the kernel writes at most as many
    // bytes to `buffer` as it has.
    check(unsafe {
        libc::syscall(
            sys::__NR_statmount.into(),
            &raw const request,
            buffer.as_mut_ptr(),
            size_of::<Buffer>(),
            0,
        )
    })?;
    // SAFETY: it is all bytes, zeroed before the call.
    let buffer = unsafe { buffer.assume_init_ref() };
    Ok(MountStat {
        id: unique_mnt_id,
        ..parse(buffer)
    })
}

/// Reads the fields at their offsets, which unlike the structure's end do not change.
fn parse(buffer: &Buffer) -> MountStat {
    let mask = word(buffer, std::mem::offset_of!(sys::statmount, mask));
    let has = |field: u32| mask & u64::from(field) != 0;
    let mut mount = MountStat::default();
    if has(sys::STATMOUNT_SB_BASIC) {
        mount.dev.0 = half(buffer, std::mem::offset_of!(sys::statmount, sb_dev_major));
        mount.dev.1 = half(buffer, std::mem::offset_of!(sys::statmount, sb_dev_minor));
        mount.sb_magic = Some(word(buffer, std::mem::offset_of!(sys::statmount, sb_magic)));
    }
    if has(sys::STATMOUNT_FS_TYPE) {
        let start = half(buffer, std::mem::offset_of!(sys::statmount, fs_type)) as usize;
        mount.fs_type = buffer.strings.get(start..).and_then(c_string);
    }
    mount
}

fn word(buffer: &Buffer, at: usize) -> u64 {
    buffer.fixed[at..]
        .first_chunk()
        .map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

fn half(buffer: &Buffer, at: usize) -> u32 {
    buffer.fixed[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

fn c_string(bytes: &[u8]) -> Option<Vec<u8>> {
    bytes
        .iter()
        .position(|&byte| byte == 0)
        .map(|end| bytes[..end].to_vec())
}
