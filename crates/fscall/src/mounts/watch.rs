//! The mount table, read again whenever it has changed.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::sync::{Arc, PoisonError, RwLock};

use super::kind::{Kind, ignores_dont_sync};
use super::servers::Servers;
use super::{DontSync, mountinfo};

/// `/proc/self/mountinfo`, open, and what was read from it.
pub(super) struct Watch {
    state: RwLock<State>,
}

enum State {
    Unread,
    /// No `/proc`, or not allowed.
    Unreadable,
    Read {
        file: File,
        mounts: MountInfo,
    },
}

type Dev = (u32, u32);

/// What the mount table says.
#[derive(Default)]
pub(super) struct MountInfo {
    by_id: HashMap<u64, (Option<Dev>, Kind)>,
    /// `None`: mounts of this device do not agree.
    by_dev: HashMap<Dev, Option<Kind>>,
    servers: Arc<Servers>,
    /// The automount points, and which of them list what they would mount below them.
    autofs: HashMap<Dev, bool>,
    any_ignores_dont_sync: bool,
    /// The mount of `/` is there and does not.
    root_honours_it: bool,
}

impl Watch {
    pub(super) const fn new() -> Self {
        Self {
            state: RwLock::new(State::Unread),
        }
    }

    /// Looks into the table as it is now; `None` if it can't be read.
    ///
    /// The kernel reports a change once. A thread that asks between the report to another one
    /// and that one's reading looks into the old table; what comes of that is an answer from
    /// memory, never a wait.
    pub(super) fn look<T>(&self, look: impl FnOnce(&MountInfo) -> T) -> Option<T> {
        match &*self.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Read { file, mounts } if !has_changed(file) => return Some(look(mounts)),
            State::Unreadable => return None,
            State::Read { .. } | State::Unread => {}
        }
        self.read_again(look)
    }

    /// As [`look`](Self::look), and tries again to read a table that could not be read.
    pub(super) fn retry_and_look<T>(&self, look: impl FnOnce(&MountInfo) -> T) -> Option<T> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let unreadable = matches!(*state, State::Unreadable);
        drop(state);
        if unreadable {
            self.read_again(look)
        } else {
            self.look(look)
        }
    }

    fn read_again<T>(&self, look: impl FnOnce(&MountInfo) -> T) -> Option<T> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *state, State::Unreadable);
        let file = match old {
            State::Read { file, .. } => Ok(file),
            State::Unread | State::Unreadable => File::open("/proc/self/mountinfo"),
        };
        let (file, mounts) = file.and_then(read).ok()?;
        let answer = look(&mounts);
        *state = State::Read { file, mounts };
        Some(answer)
    }
}

/// Room for most mount tables: a file in `/proc` does not tell its size, and is made anew up to the
/// position of each read.
const LIKELY: usize = 16 * 1024;

fn read(mut file: File) -> io::Result<(File, MountInfo)> {
    let mut content = Vec::with_capacity(LIKELY);
    file.rewind()?;
    file.read_to_end(&mut content)?;
    Ok((file, MountInfo::parse(&content)))
}

impl MountInfo {
    fn parse(content: &[u8]) -> Self {
        let mut mounts = Self::default();
        let mut servers = Servers::default();
        for line in mountinfo::lines(content) {
            let Some(line) = line else {
                // A mount of which nothing is known.
                mounts.any_ignores_dont_sync = true;
                continue;
            };
            let kind = Kind::of(line.fs_type);
            let dev = Kind::has_one_dev(line.fs_type).then_some(line.dev);
            mounts.by_id.insert(line.id, (dev, kind));
            let of_dev = mounts.by_dev.entry(line.dev).or_insert(Some(kind));
            if *of_dev != Some(kind) {
                *of_dev = None;
            }
            servers.add(&line);
            if line.fs_type == b"autofs" {
                let mut options = line.super_options.split(|&byte| byte == b',');
                let indirect = options.any(|option| option == b"indirect");
                mounts.autofs.insert(line.dev, indirect);
            }
            let ignores = ignores_dont_sync(line.fs_type);
            mounts.any_ignores_dont_sync |= ignores;
            if line.point == b"/" {
                // The last one covers those before it.
                mounts.root_honours_it = !ignores;
            }
        }
        mounts.servers = Arc::new(servers);
        mounts
    }

    /// By the id that other mounts may have had before, checked by the device where that tells.
    pub(super) fn by_id(&self, id: u64, dev: Dev) -> Option<Kind> {
        let (own_dev, kind) = *self.by_id.get(&id)?;
        own_dev.is_none_or(|own_dev| own_dev == dev).then_some(kind)
    }

    /// By the device alone.
    pub(super) fn by_dev(&self, dev: Dev) -> Option<Kind> {
        *self.by_dev.get(&dev)?
    }

    pub(super) fn has_autofs(&self) -> bool {
        !self.autofs.is_empty()
    }

    /// Whether a directory of this device is, or may be, an automount point that waits to be
    /// triggered. That of an indirect one itself is not: the directories in it are.
    pub(super) fn is_trigger(&self, dev: Dev, is_mount_point: bool) -> bool {
        let indirect = self.autofs.get(&dev);
        indirect.is_some_and(|indirect| !(*indirect && is_mount_point))
    }

    pub(super) fn servers(&self) -> &Arc<Servers> {
        &self.servers
    }

    pub(super) fn dont_sync(&self) -> DontSync {
        if !self.any_ignores_dont_sync {
            DontSync::Everywhere
        } else if self.root_honours_it {
            DontSync::OnRoot
        } else {
            DontSync::Unknown
        }
    }
}

/// Whether mounts have changed since this was asked last, or since the file was opened.
#[allow(unsafe_code, reason = "the system call")]
fn has_changed(file: &File) -> bool {
    let mut poll = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLPRI,
        revents: 0,
    };
    // SAFETY: one structure to read and write.
    match unsafe { libc::poll(&raw mut poll, 1, 0) } {
        0 => false,
        1 => poll.revents & (libc::POLLPRI | libc::POLLERR) != 0,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"\
        1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
        2 1 0:5 / /proc rw - proc proc rw\n\
        3 1 8:1 /sub /bind rw - ext4 /dev/sda1 rw\n\
        4 1 0:9 /@home /home rw - btrfs /dev/sdb rw\n\
        5 1 0:7 / /a rw - tmpfs t rw\n\
        6 1 0:7 / /b rw - nfs4 host:/ rw\n";

    #[test]
    fn by_id_needs_the_device_where_it_tells() {
        let mounts = MountInfo::parse(TABLE);
        assert_eq!(mounts.by_id(1, (8, 1)), Some(Kind::Local));
        assert_eq!(mounts.by_id(3, (8, 1)), Some(Kind::Local));
        assert_eq!(mounts.by_id(1, (8, 2)), None);
        // A subvolume has a device of its own.
        assert_eq!(mounts.by_id(4, (0, 77)), Some(Kind::Local));
        assert_eq!(mounts.by_id(99, (8, 1)), None);
    }

    #[test]
    fn by_device_where_all_mounts_agree() {
        let mounts = MountInfo::parse(TABLE);
        assert_eq!(mounts.by_dev((8, 1)), Some(Kind::Local));
        assert_eq!(mounts.by_dev((0, 5)), Some(Kind::Other));
        assert_eq!(mounts.by_dev((0, 7)), None);
        assert_eq!(mounts.by_dev((0, 77)), None);
    }

    #[test]
    fn what_triggers_a_mount() {
        let autofs = b"\
            7 1 0:50 / /net rw - autofs auto.net rw,fd=5,timeout=300,indirect\n\
            8 1 0:51 / /direct rw - autofs auto rw,fd=5,direct\n\
            9 1 0:52 / /offset rw - autofs auto rw,fd=5,offset\n";
        assert!(!MountInfo::parse(TABLE).has_autofs());
        let mounts = MountInfo::parse(&[TABLE, autofs].concat());
        assert!(mounts.has_autofs());
        for (dev, point, below) in [
            ((0, 50), false, true),
            ((0, 51), true, true),
            ((0, 52), true, true),
            ((8, 1), false, false),
        ] {
            assert_eq!(mounts.is_trigger(dev, true), point, "{dev:?}");
            assert_eq!(mounts.is_trigger(dev, false), below, "{dev:?}");
        }
    }

    #[test]
    fn one_unknown_mount_is_enough() {
        assert_eq!(MountInfo::parse(TABLE).dont_sync(), DontSync::Everywhere);
        let with = |line: &[u8]| MountInfo::parse(&[TABLE, line].concat()).dont_sync();
        assert_eq!(with(b"7 1 0:8 / /z rw - zfs tank rw\n"), DontSync::OnRoot);
        assert_eq!(with(b"7 1 0:8 / /9 rw - 9p share rw\n"), DontSync::OnRoot);
        assert_eq!(with(b"7 1 0:8 / / rw - 9p share rw\n"), DontSync::Unknown);
        assert_eq!(with(b"garbage\n"), DontSync::OnRoot);
        assert_eq!(
            with(b"7 1 0:8 / /s rw - fuse.sshfs host: rw\n"),
            DontSync::Everywhere
        );
    }

    #[test]
    fn the_table_of_this_process() {
        let watch = Watch::new();
        let proc_mounts = |mounts: &MountInfo| mounts.by_id.len();
        assert!(watch.look(proc_mounts).is_some_and(|count| count > 0));
        assert_eq!(watch.look(proc_mounts), watch.retry_and_look(proc_mounts));
    }
}
