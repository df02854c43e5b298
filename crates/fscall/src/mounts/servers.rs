//! Which mounts pass questions on to somebody who may never answer, by the places they are at.

use std::collections::HashMap;

use super::kind::asks_a_server;
use super::mountinfo::{MountLine, unescape};

/// The mounts of a process at one moment, as far as they pass questions on; from
/// [`Mounts::servers`](super::Mounts::servers).
///
/// These are a network's file systems, FUSE's, autofs, and the types that neither mainline kernels
/// have nor are known to be local. autofs within `/proc` is not among them: it is there on most
/// systems, for `binfmt_misc`, and nobody looks for files there.
#[derive(Debug, Default)]
pub struct Servers {
    /// The last one at a place covers those before it.
    by_point: HashMap<Vec<u8>, At>,
    any: bool,
}

/// What is mounted at a place.
#[derive(Clone, Copy, Debug)]
struct At {
    id: u64,
    asks_a_server: bool,
}

impl Servers {
    pub(super) fn add(&mut self, mount: &MountLine<'_>) {
        let point = unescape(mount.point);
        let is_binfmt = mount.fs_type == b"autofs" && point.starts_with(b"/proc/");
        let at = At {
            id: mount.id,
            asks_a_server: asks_a_server(mount.fs_type) && !is_binfmt,
        };
        self.any |= at.asks_a_server;
        self.by_point.insert(point, at);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.any
    }

    /// The id in `/proc/self/mountinfo` of such a mount, if an absolute path leads there. Nobody is
    /// asked: the path is taken as it is written, without `.`, `..` and symbolic links, and what was
    /// unmounted while in use (`umount -l`) is not seen.
    ///
    /// ```
    /// let mounts = fscall::mounts::Mounts::new();
    /// if let Some(servers) = mounts.servers() {
    ///     assert_eq!(servers.at(b"/proc/self"), None);
    /// }
    /// ```
    pub fn at(&self, path: &[u8]) -> Option<u64> {
        let mut end = path.len();
        loop {
            let point = if end == 0 { b"/" } else { &path[..end] };
            if let Some(at) = self.by_point.get(point) {
                return at.asks_a_server.then_some(at.id);
            }
            if end == 0 {
                return None;
            }
            end = path[..end].iter().rposition(|&byte| byte == b'/')?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::mountinfo;

    fn servers(table: &[u8]) -> Servers {
        let mut servers = Servers::default();
        for mount in mountinfo::lines(table).flatten() {
            servers.add(&mount);
        }
        servers
    }

    #[test]
    fn by_the_place_they_are_mounted_at() {
        let table = b"\
            1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
            2 1 0:5 / /proc rw - proc proc rw\n\
            3 2 0:9 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n";
        assert!(servers(table).is_empty());
        let more = b"\
            6 1 0:7 / /b rw - nfs4 host:/ rw\n\
            7 6 0:8 / /b/x\\040y rw - tmpfs t rw\n\
            8 1 0:6 / /f rw - fuse.z z rw\n";
        let table = [&table[..], more].concat();
        for (path, server) in [
            ("/", None),
            ("/proc/1", None),
            ("/proc/sys/fs/binfmt_misc/x", None),
            ("/b", Some(6)),
            ("/b/dir/file", Some(6)),
            ("/bb", None),
            ("/b/x y/file", None),
            ("/f/", Some(8)),
            ("relative", None),
            ("(unreachable)/f", None),
            ("", None),
        ] {
            assert_eq!(servers(&table).at(path.as_bytes()), server, "{path}");
        }
        // What is mounted over another hides it.
        let with = |line: &[u8]| servers(&[&table[..], line].concat());
        assert_eq!(with(b"9 6 0:8 / /b rw - ext4 t rw\n").at(b"/b/f"), None);
        assert_eq!(with(b"9 1 0:8 / / rw - nfs h:/ rw\n").at(b"/x"), Some(9));
    }
}
