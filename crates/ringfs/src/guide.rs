//! Which server an operation leads to, if any, without asking anybody.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use blockpool::PerFork;
use fscall::OFlags;
use fscall::mounts::Servers;

use crate::inline::mounts;
use crate::op::Place;

/// Finds out which server operations lead to. What was learnt of a directory is used for the next
/// operation as well, so one is for operations that are asked together.
pub(crate) struct Guide {
    servers: Arc<Servers>,
    base: Option<(RawFd, PathBuf)>,
}

impl Guide {
    /// `None` if there is no server that anything could lead to.
    pub(crate) fn new() -> Option<Self> {
        let servers = mounts().servers()?;
        Some(Self {
            servers,
            base: None,
        })
    }

    /// The id of the mount.
    pub(crate) fn server_of(&mut self, place: Place<'_>) -> Option<u64> {
        let path = Path::new(OsStr::from_bytes(place.path));
        let absolute = if path.is_absolute() {
            lexical(path)
        } else {
            lexical(&self.base(place.dir)?.join(path))
        };
        self.servers.at(absolute.as_os_str().as_bytes())
    }

    fn base(&mut self, dir: BorrowedFd<'_>) -> Option<&Path> {
        let fd = dir.as_raw_fd();
        if self.base.as_ref().is_none_or(|(known, _)| *known != fd) {
            let path = if fd == fscall::CWD.as_raw_fd() {
                path_of(c"cwd")
            } else {
                path_of(&CString::new(format!("fd/{fd}")).ok()?)
            };
            self.base = Some((fd, path?));
        }
        self.base.as_ref().map(|(_, path)| path.as_path())
    }
}

/// The path of a directory of this process, as the kernel has it in memory; `getcwd(3)` would go and
/// look for what the kernel can't tell.
fn path_of(link: &CStr) -> Option<PathBuf> {
    /// `/proc/self`, open: whatever the root file system is, it need not be asked for it again.
    static SELF: PerFork<OnceLock<Option<OwnedFd>>> = PerFork::new(OnceLock::new);
    let proc = SELF.get().get_or_init(|| {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        fscall::openat(fscall::CWD, c"/proc/self", flags).ok()
    });
    let path = fscall::readlinkat(proc.as_ref()?.as_fd(), link).ok()?;
    Some(OsString::from_vec(path).into())
}

/// An absolute path without `.` and `..`, as if no component were a symbolic link. What is not one
/// (`(unreachable)/…`) stays none.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::RootDir => plain.push("/"),
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_as_they_are_written() {
        for (path, plain) in [
            ("/a/./b//c/", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("/", "/"),
            ("/..", "/"),
            ("(unreachable)/a", "(unreachable)/a"),
        ] {
            assert_eq!(lexical(Path::new(path)), Path::new(plain));
        }
    }

    #[test]
    fn directories_have_their_paths() {
        assert_eq!(path_of(c"cwd"), std::env::current_dir().ok());
        let etc = std::fs::File::open("/etc").unwrap();
        let link = CString::new(format!("fd/{}", etc.as_raw_fd())).unwrap();
        assert_eq!(path_of(&link).as_deref(), Some(Path::new("/etc")));
        assert_eq!(path_of(c"fd/999999"), None);
    }
}
