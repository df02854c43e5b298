//! What follows from the name of a type of file system.

/// What is kept of a mount. Never 0, and fits in three bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Never sleeps for more than a local disk.
    Local = 1,
    /// As local, and directories are not worth sorting by inode.
    LocalInMemory = 2,
    /// Whatever its layers are.
    Overlay = 3,
    /// May sleep, and directories are not worth sorting by inode.
    Unsorted = 4,
    /// May sleep.
    Other = 5,
}

impl Kind {
    /// From the name as in `/proc/filesystems`, or with a subtype as in mountinfo.
    pub(super) fn of(fs_type: &[u8]) -> Self {
        match base(fs_type) {
            b"ext2" | b"ext3" | b"ext4" | b"xfs" | b"btrfs" | b"f2fs" | b"erofs" | b"squashfs" => {
                Self::Local
            }
            b"tmpfs" => Self::LocalInMemory,
            b"overlay" => Self::Overlay,
            // devtmpfs has the super block of a tmpfs.
            b"devtmpfs" | b"nfs" | b"nfs4" | b"lustre" => Self::Unsorted,
            _ => Self::Other,
        }
    }

    pub(super) fn from_bits(bits: u64) -> Option<Self> {
        [
            Self::Local,
            Self::LocalInMemory,
            Self::Overlay,
            Self::Unsorted,
            Self::Other,
        ]
        .into_iter()
        .find(|&kind| kind as u64 == bits)
    }

    /// Whether `st_dev` is always the number in the mount table. On btrfs it is the
    /// subvolume's, on overlay it may be a layer's.
    pub(super) fn has_one_dev(fs_type: &[u8]) -> bool {
        !matches!(base(fs_type), b"btrfs" | b"overlay" | b"bcachefs")
    }
}

/// `fuse.sshfs` is a `fuse`.
fn base(fs_type: &[u8]) -> &[u8] {
    fs_type
        .split(|&byte| byte == b'.')
        .next()
        .unwrap_or(fs_type)
}

/// Whether a call with `AT_STATX_DONT_SYNC` or `RESOLVE_CACHED` may wait for somebody else on
/// such a file system: it is known to, or nothing is known of it.
pub(super) fn ignores_dont_sync(fs_type: &[u8]) -> bool {
    let base = base(fs_type);
    WAITS_ALL_THE_SAME.contains(&base) || MAINLINE.binary_search(&base).is_err()
}

/// Whether such a file system passes questions on to somebody who may never answer: a server, a
/// daemon, another node. So does one of which nothing is known; ZFS is known, though no mainline
/// kernel has it.
pub(super) fn asks_a_server(fs_type: &[u8]) -> bool {
    let base = base(fs_type);
    ASKS.contains(&base) || base != b"zfs" && MAINLINE.binary_search(&base).is_err()
}

const ASKS: [&[u8]; 18] = [
    b"9p",
    b"afs",
    b"autofs",
    b"ceph",
    b"cifs",
    b"coda",
    b"fuse",
    b"fuseblk",
    b"gfs2",
    b"gfs2meta",
    b"nfs",
    b"nfs4",
    b"ocfs2",
    b"ocfs2_dlmfs",
    b"pvfs2",
    b"smb3",
    b"vboxsf",
    b"virtiofs",
];

/// Their `getattr` does not look at the flag (9p, coda, gfs2, ocfs2, pvfs2, which is orangefs), or
/// waits for writes and for invalidated attributes in spite of it (cifs, smb3).
const WAITS_ALL_THE_SAME: [&[u8]; 8] = [
    b"9p",
    b"cifs",
    b"coda",
    b"gfs2",
    b"gfs2meta",
    b"ocfs2",
    b"pvfs2",
    b"smb3",
];

/// The types that mainline kernels since 5.6 can mount, sorted.
const MAINLINE: [&[u8]; 99] = [
    b"9p",
    b"adfs",
    b"affs",
    b"afs",
    b"autofs",
    b"bcachefs",
    b"befs",
    b"bfs",
    b"binder",
    b"binfmt_misc",
    b"bpf",
    b"btrfs",
    b"ceph",
    b"cgroup",
    b"cgroup2",
    b"cifs",
    b"coda",
    b"configfs",
    b"cpuset",
    b"cramfs",
    b"debugfs",
    b"devpts",
    b"devtmpfs",
    b"ecryptfs",
    b"efivarfs",
    b"efs",
    b"erofs",
    b"exfat",
    b"ext2",
    b"ext3",
    b"ext4",
    b"f2fs",
    b"functionfs",
    b"fuse",
    b"fuseblk",
    b"fusectl",
    b"gadgetfs",
    b"gfs2",
    b"gfs2meta",
    b"hfs",
    b"hfsplus",
    b"hostfs",
    b"hpfs",
    b"hugetlbfs",
    b"ibmasmfs",
    b"iso9660",
    b"jffs2",
    b"jfs",
    b"minix",
    b"mqueue",
    b"msdos",
    b"nfs",
    b"nfs4",
    b"nfsd",
    b"nilfs2",
    b"nsfs",
    b"ntfs",
    b"ntfs3",
    b"nullfs",
    b"ocfs2",
    b"ocfs2_dlmfs",
    b"omfs",
    b"openpromfs",
    b"overlay",
    b"pidfs",
    b"proc",
    b"pstore",
    b"pvfs2",
    b"qib_fs",
    b"qnx4",
    b"qnx6",
    b"ramfs",
    b"reiserfs",
    b"resctrl",
    b"romfs",
    b"rootfs",
    b"rpc_pipefs",
    b"s390_hypfs",
    b"securityfs",
    b"selinuxfs",
    b"smackfs",
    b"smb3",
    b"spufs",
    b"squashfs",
    b"sysfs",
    b"sysv",
    b"tmpfs",
    b"tracefs",
    b"ubifs",
    b"udf",
    b"ufs",
    b"v7",
    b"vboxsf",
    b"vfat",
    b"virtiofs",
    b"vxfs",
    b"xenfs",
    b"xfs",
    b"zonefs",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(MAINLINE.is_sorted_by(|a, b| a < b));
        assert!(
            WAITS_ALL_THE_SAME
                .iter()
                .chain(&ASKS)
                .all(|name| MAINLINE.contains(name))
        );
    }

    #[test]
    fn every_kind_survives_its_bits() {
        for bits in 0..8 {
            assert!(Kind::from_bits(bits).is_none_or(|kind| kind as u64 == bits));
        }
        for kind in [
            Kind::Local,
            Kind::LocalInMemory,
            Kind::Overlay,
            Kind::Unsorted,
            Kind::Other,
        ] {
            assert_eq!(Kind::from_bits(kind as u64), Some(kind));
        }
    }

    #[test]
    fn names() {
        assert_eq!(Kind::of(b"ext4"), Kind::Local);
        assert_eq!(Kind::of(b"tmpfs"), Kind::LocalInMemory);
        for other in [
            "fuse.sshfs",
            "fuse",
            "proc",
            "ramfs",
            "zfs",
            "ext5",
            "",
            "9p",
        ] {
            assert_eq!(Kind::of(other.as_bytes()), Kind::Other, "{other}");
        }
        for waits in [
            "9p", "gfs2", "ocfs2", "cifs", "zfs", "lustre", "aufs", "", "fusex",
        ] {
            assert!(ignores_dont_sync(waits.as_bytes()), "{waits}");
        }
        for server in ["nfs4", "fuse.sshfs", "fuseblk", "lustre", "9p", ""] {
            assert!(asks_a_server(server.as_bytes()), "{server}");
        }
        for own in [
            "ext4", "overlay", "zfs", "proc", "tmpfs", "sysfs", "devtmpfs",
        ] {
            assert!(!asks_a_server(own.as_bytes()), "{own}");
        }
        for fine in [
            "ext4",
            "nfs4",
            "fuse.sshfs",
            "fuseblk",
            "autofs",
            "proc",
            "overlay",
        ] {
            assert!(!ignores_dont_sync(fine.as_bytes()), "{fine}");
        }
    }

    #[test]
    fn what_this_kernel_has_loaded_is_known() {
        let loaded = std::fs::read_to_string("/proc/filesystems").unwrap();
        // These exist inside of the kernel only: nobody can mount them.
        let internal = [
            "bdev",
            "sockfs",
            "pipefs",
            "dax",
            "secretmem",
            "anon_inodefs",
            "drm",
        ];
        let names = loaded.lines().filter_map(|line| line.split('\t').nth(1));
        let unknown: Vec<_> = names
            .filter(|name| MAINLINE.binary_search(&name.as_bytes()).is_err())
            .filter(|name| !internal.contains(name))
            .collect();
        // A distribution may have added its own; those count as unknown on purpose.
        println!("not known here: {unknown:?}");
        assert!(unknown.len() < 8, "{unknown:?}");
    }
}
