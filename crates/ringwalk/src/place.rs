//! Which directory it is: what does not change when it is renamed.

use std::io;
use std::os::fd::BorrowedFd;

use fscall::mounts::Mounts;
use fscall::{Statx, StatxFlags, StatxMask};

use crate::options::Boundary;

/// What makes a directory the same: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    dev: u64,
    ino: Option<u64>,
}

impl Identity {
    pub(crate) fn of(stat: &Statx) -> Self {
        Self {
            dev: stat.dev(),
            ino: stat.ino(),
        }
    }
}

/// A directory and the mount that it was reached through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) identity: Identity,
    mount: Option<u64>,
}

impl Place {
    /// The fields that tell it.
    pub(crate) const MASK: StatxMask = StatxMask::INO.union(Mounts::mask());

    pub(crate) fn of(stat: &Statx) -> Self {
        Self {
            identity: Identity::of(stat),
            mount: stat.mnt_id_unique().or(stat.mnt_id()),
        }
    }

    /// Of an open directory, which no server is asked for: it can't become another.
    pub(crate) fn of_fd(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let flags = StatxFlags::DONT_SYNC;
        fscall::statx_fd(fd, flags, Self::MASK).map(|stat| Self::of(&stat))
    }

    /// Whether a walk that does not leave `boundary` may go from here to `other`. A kernel that does
    /// not tell mounts (before Linux 5.8) is asked for devices instead.
    pub(crate) fn may_lead_to(&self, other: &Self, boundary: Boundary) -> bool {
        let same_device = self.identity.dev == other.identity.dev;
        match boundary {
            Boundary::None => true,
            Boundary::FileSystem => same_device,
            Boundary::Mount => match (self.mount, other.mount) {
                (Some(here), Some(there)) => here == there,
                _ => same_device,
            },
        }
    }
}
