//! Which mount can make a call sleep: one owner of the question for statx, the walker, automount
//! points and the order of directories.
//!
//! A mount is learnt from what the kernel itself knows (`statmount(2)`, `/proc/self/mountinfo`),
//! never by `statfs(2)`: that asks the server, and hangs where the server does.

mod kind;
pub(crate) mod mountinfo;
mod servers;
mod table;
mod types;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use self::kind::Kind;
pub use self::servers::Servers;
use self::table::{Entry, Table};
pub use self::types::FsTypes;
use self::watch::{MountInfo, Watch};
use crate::{Statx, StatxMask, statmount};

/// Whether a mount may make a call sleep for longer than a disk takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// Its own kernel answers: ext2, ext3, ext4, xfs, btrfs, f2fs, erofs, squashfs, tmpfs.
    Local,
    /// As local as its layers, of which nothing is known.
    Overlay,
    /// Everything else, and whatever is not known.
    MaySleep,
}

/// Which mounts keep the promise that [`DONT_SYNC`](crate::StatxFlags::DONT_SYNC) and
/// [`CACHED`](crate::ResolveFlags::CACHED) make: not to wait for anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DontSync {
    /// All of them.
    Everywhere = 1,
    /// That of `/`, and not all others: a path from there must not lead to another mount.
    OnRoot = 2,
    /// Nobody knows.
    Unknown = 3,
}

impl DontSync {
    fn from_bits(bits: u8) -> Option<Self> {
        [Self::Everywhere, Self::OnRoot, Self::Unknown]
            .into_iter()
            .find(|&answer| answer as u8 == bits)
    }
}

/// What has been learnt of mounts.
///
/// Threads share it. It holds a lock and an open file, so a forked child should have its own.
///
/// ```
/// use fscall::mounts::{Locality, Mounts};
/// use fscall::{CWD, StatxFlags};
///
/// let mounts = Mounts::new();
/// let proc = fscall::statx(CWD, Some(c"/proc"), StatxFlags::empty(), Mounts::mask())?;
/// assert_eq!(mounts.locality(&proc), Locality::MaySleep);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Mounts {
    unique: Table,
    watch: Watch,
    honoured: Looked<256>,
    servers: Looked<16>,
    autofs: Looked<256>,
}

/// What a look at the mount table told, which is asked for so many times before the next. On a cache
/// line of its own: every inline call counts here.
#[repr(align(64))]
struct Looked<const TIMES: u32> {
    calls: AtomicU32,
    /// 0 before the first look.
    answer: AtomicU8,
}

impl<const TIMES: u32> Looked<TIMES> {
    const fn new() -> Self {
        Self {
            calls: AtomicU32::new(0),
            answer: AtomicU8::new(0),
        }
    }

    fn get_or_look<T>(
        &self,
        known: impl Fn(u8) -> Option<T>,
        look: impl FnOnce() -> u8,
    ) -> Option<T> {
        // No atomic addition: a count that is a little off looks a little earlier or later.
        let calls = self.calls.load(Ordering::Relaxed);
        self.calls.store(calls.wrapping_add(1), Ordering::Relaxed);
        let answer = known(self.answer.load(Ordering::Relaxed));
        if answer.is_some() && !calls.is_multiple_of(TIMES) {
            return answer;
        }
        let answer = look();
        self.answer.store(answer, Ordering::Relaxed);
        known(answer)
    }
}

impl Mounts {
    /// Knows nothing yet. Costs no kernel call.
    pub const fn new() -> Self {
        Self {
            unique: Table::new(),
            watch: Watch::new(),
            honoured: Looked::new(),
            servers: Looked::new(),
            autofs: Looked::new(),
        }
    }

    /// What statx has to be asked for, or the other methods know nothing of its answer.
    ///
    /// With both bits kernels since 6.8 answer the unique id, and older ones the plain id. A
    /// caller that is to see the plain id itself asks for that alone: it does too, but costs a
    /// look whether mounts have changed (poll(2)) each time.
    pub const fn mask() -> StatxMask {
        StatxMask::MNT_ID_UNIQUE.union(StatxMask::MNT_ID)
    }

    /// [`mask`](Self::mask), so that the answer to `asked` stays what it would be: if that has
    /// the plain mount id and not the unique one, no more is needed.
    pub fn mask_beside(asked: StatxMask) -> StatxMask {
        if asked.contains(StatxMask::MNT_ID) && !asked.contains(StatxMask::MNT_ID_UNIQUE) {
            StatxMask::MNT_ID
        } else {
            Self::mask()
        }
    }

    /// Whether the mount that this answer came from may make a call sleep.
    ///
    /// An answer with a unique mount id (Linux 6.8) costs one load once the mount is known; to
    /// learn it, one statmount(2), or the mount table if that is refused. An answer with a plain
    /// mount id (Linux 5.8) is looked up in the mount table. Neither ever sleeps, and a mount
    /// that can't be learnt may sleep.
    pub fn locality(&self, stat: &Statx) -> Locality {
        locality(self.kind(stat, true))
    }

    /// As [`locality`](Self::locality), without statmount(2), for which some sandboxes kill. It
    /// knows less: nothing of btrfs where the answer has a unique mount id.
    pub fn locality_by_mountinfo(&self, stat: &Statx) -> Locality {
        locality(self.kind(stat, false))
    }

    /// Whether it pays to go through a big directory of this mount in the order of its inode
    /// numbers: not in memory (tmpfs, devtmpfs), and not where the numbers are a server's (NFS,
    /// Lustre).
    ///
    /// This is the list of GNU find, so SMB is not on it: only for version 1 of that protocol
    /// does statfs(2) answer the number that find knows. True where the mount can't be learnt.
    pub fn inode_order_helps(&self, stat: &Statx, use_statmount: bool) -> bool {
        let kind = self.kind(stat, use_statmount);
        !matches!(kind, Some(Kind::LocalInMemory | Kind::Unsorted))
    }

    /// Where [`DONT_SYNC`](crate::StatxFlags::DONT_SYNC) and
    /// [`CACHED`](crate::ResolveFlags::CACHED) keep a call from waiting for somebody else: not on
    /// 9p, cifs, coda, gfs2, ocfs2, pvfs2, and any type that mainline kernels do not have.
    ///
    /// Every 256th call looks whether mounts have changed.
    pub fn dont_sync(&self) -> DontSync {
        let look = || {
            let answer = self.watch.retry_and_look(MountInfo::dont_sync);
            answer.unwrap_or(DontSync::Unknown) as u8
        };
        let answer = self.honoured.get_or_look(DontSync::from_bits, look);
        answer.unwrap_or(DontSync::Unknown)
    }

    /// The mounts that pass questions on to somebody; `None` if there is none, or the mount table
    /// can't be read.
    ///
    /// Every 16th call looks whether mounts have changed, or each while there is one.
    pub fn servers(&self) -> Option<Arc<Servers>> {
        const NONE: u8 = 1;
        const SOME: u8 = 2;
        let look = || {
            let servers = self.watch.look(|mounts| Arc::clone(mounts.servers()));
            servers.filter(|servers| !servers.is_empty())
        };
        let known = |answer| (answer != 0).then_some(answer);
        let any = || if look().is_some() { SOME } else { NONE };
        let is_there = self.servers.get_or_look(known, any) == Some(SOME);
        is_there.then(look).flatten()
    }

    /// Whether there is an automount point of autofs anywhere. Every 256th call looks whether mounts
    /// have changed.
    pub fn has_automount_points(&self) -> bool {
        const NONE: u8 = 1;
        const SOME: u8 = 2;
        let look = || {
            let any = self.watch.retry_and_look(MountInfo::has_autofs);
            if any == Some(true) { SOME } else { NONE }
        };
        let known = |answer| (answer != 0).then_some(answer);
        self.autofs.get_or_look(known, look) == Some(SOME)
    }

    /// Whether this is an automount point of autofs that waits to be triggered, so that opening it
    /// would mount something, and take as long as that takes. The answer must have been asked for with
    /// [`NO_AUTOMOUNT`](crate::StatxFlags::NO_AUTOMOUNT), or it has been triggered already.
    ///
    /// It goes by the device, which is autofs's own until something is mounted there:
    /// [`StatxAttributes::AUTOMOUNT`](crate::StatxAttributes::AUTOMOUNT) is not set by autofs.
    pub fn is_automount_point(&self, stat: &Statx) -> bool {
        let is_mount_point = stat
            .attributes()
            .contains(crate::StatxAttributes::MOUNT_ROOT);
        let dev = stat.dev_numbers();
        let look = |mounts: &MountInfo| mounts.is_trigger(dev, is_mount_point);
        self.watch.look(look).unwrap_or(false)
    }

    fn kind(&self, stat: &Statx, may_statmount: bool) -> Option<Kind> {
        let dev = stat.dev_numbers();
        let Some(id) = stat.mnt_id_unique() else {
            let id = stat.mnt_id()?;
            return self.watch.look(|mounts| mounts.by_id(id, dev))?;
        };
        match self.unique.get(id) {
            Some(Entry::Known(kind)) => return Some(kind),
            None if may_statmount => match self.learn(id) {
                Entry::Known(kind) => return Some(kind),
                Entry::Refused => {}
            },
            Some(Entry::Refused) | None => {}
        }
        // The mount table has only the plain ids.
        self.watch.look(|mounts| mounts.by_dev(dev))?
    }

    #[cold]
    fn learn(&self, id: u64) -> Entry {
        let entry = match statmount(id) {
            Ok(mount) => mount
                .fs_type
                .map_or(Entry::Refused, |name| Entry::Known(Kind::of(&name))),
            Err(_) => Entry::Refused,
        };
        self.unique.set(id, entry);
        entry
    }
}

/// The name of the type of file system of a device (`st_dev`), as the mount table has it: with the
/// part that FUSE file systems add, and nothing of btrfs and overlay, whose files have devices of
/// their own. statmount(2) knows more where the answer has a unique mount id.
pub fn fs_type_of_device(dev: (u32, u32)) -> Option<Vec<u8>> {
    FsTypes::read().ok()?.of_device(dev).map(<[u8]>::to_vec)
}

fn locality(kind: Option<Kind>) -> Locality {
    match kind {
        Some(Kind::Local | Kind::LocalInMemory) => Locality::Local,
        Some(Kind::Overlay) => Locality::Overlay,
        Some(Kind::Unsorted | Kind::Other) | None => Locality::MaySleep,
    }
}

impl Default for Mounts {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Mounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mounts").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CWD, StatxFlags, statx};

    #[test]
    fn an_answer_without_a_mount_id_may_sleep() {
        let mounts = Mounts::new();
        assert_eq!(mounts.locality(&Statx::default()), Locality::MaySleep);
        assert!(mounts.inode_order_helps(&Statx::default(), true));
    }

    #[test]
    fn where_statmount_is_refused_the_mount_table_is_asked() {
        let refused = Mounts::new();
        for path in [c"/", c"/proc", c"/dev/shm"] {
            let stat = statx(CWD, Some(path), StatxFlags::empty(), Mounts::mask());
            let Ok(stat) = stat else { continue };
            let Some(id) = stat.mnt_id_unique() else {
                return;
            };
            refused.unique.set(id, Entry::Refused);
            assert_eq!(
                refused.locality(&stat),
                Mounts::new().locality_by_mountinfo(&stat)
            );
            assert_eq!(refused.unique.get(id), Some(Entry::Refused));
        }
    }

    #[test]
    fn the_callers_mount_id_stays_what_it_is() {
        let both = Mounts::mask();
        assert_eq!(Mounts::mask_beside(StatxMask::BASIC_STATS), both);
        assert_eq!(Mounts::mask_beside(StatxMask::MNT_ID), StatxMask::MNT_ID);
        assert_eq!(Mounts::mask_beside(StatxMask::MNT_ID_UNIQUE), both);
        assert_eq!(Mounts::mask_beside(both), both);
    }
}
