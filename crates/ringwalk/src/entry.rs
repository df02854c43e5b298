//! An entry of the tree, as a visitor sees it and as a consumer keeps it.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fscall::{FileType, Statx, StatxFlags, StatxMask};
use smallvec::SmallVec;

/// A file that the walk has come to. It borrows from the buffers of the walk; the path is built
/// only when asked for.
#[derive(Clone, Copy, Debug)]
pub struct EntryRef<'a> {
    pub(crate) dir: BorrowedFd<'a>,
    pub(crate) dir_path: &'a [u8],
    pub(crate) name: &'a [u8],
    pub(crate) depth: usize,
    /// How long the root's name is.
    pub(crate) root_len: usize,
    pub(crate) ino: u64,
    pub(crate) file_type: Option<FileType>,
    pub(crate) followed: bool,
    pub(crate) stat: Option<Result<&'a Statx, &'a io::Error>>,
}

impl<'a> EntryRef<'a> {
    /// The bare name; of a root, the root as it was given.
    pub fn file_name(&self) -> &'a [u8] {
        self.name
    }

    /// What stands before the name in the path, up to and with the last `/`; empty for a root.
    pub fn dir_path(&self) -> &'a [u8] {
        self.dir_path
    }

    /// Appends the path to `out`.
    pub fn write_path(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.dir_path);
        out.extend_from_slice(self.name);
    }

    /// The path: the root as it was given, and the names that lead from it to the entry.
    pub fn path_bytes(&self) -> Vec<u8> {
        [self.dir_path, self.name].concat()
    }

    /// [`path_bytes`](Self::path_bytes) as a path.
    pub fn path(&self) -> PathBuf {
        std::ffi::OsString::from_vec(self.path_bytes()).into()
    }

    /// How many names below its root the entry is; 0 is a root itself.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The root that the entry is below, or is, as it was given.
    pub fn root(&self) -> &'a [u8] {
        if self.depth == 0 {
            self.name
        } else {
            self.dir_path.get(..self.root_len).unwrap_or_default()
        }
    }

    /// The inode number that the directory lists. On mount points and some file systems (overlay,
    /// FUSE) the file's own may be another.
    pub fn ino(&self) -> u64 {
        self.ino
    }

    /// The type: from the directory if it lists it, else from the file. `None` only if looking at
    /// the file failed. Of a link that was [followed](Self::is_followed) it is the target's.
    pub fn file_type(&self) -> Option<FileType> {
        self.file_type
    }

    /// The entry is a symbolic link that was followed, so type and metadata are those of what it
    /// leads to.
    pub fn is_followed(&self) -> bool {
        self.followed
    }

    /// The answer to the fields that were asked for with the walk, or the error; `None` if none
    /// were. Of a symbolic link that was not followed it is the link's own. A root always has one.
    pub fn stat(&self) -> Option<Result<&'a Statx, &'a io::Error>> {
        self.stat
    }

    /// Asks for the metadata now, relative to the directory that was read; of what a link leads to if
    /// it was [followed](Self::is_followed). It may sleep.
    ///
    /// # Errors
    ///
    /// Those of `statx(2)`.
    pub fn statx(&self, mask: StatxMask) -> io::Result<Statx> {
        fscall::with_c_path(self.name, |name| {
            if self.followed {
                stat(self.dir, name, mask)
            } else {
                lstat(self.dir, name, mask)
            }
        })
    }

    /// The open directory that the entry was found in, for calls that must not be led astray by a
    /// rename; of a root, the current directory.
    pub fn parent_fd(&self) -> BorrowedFd<'a> {
        self.dir
    }

    /// A copy that can be kept.
    pub fn to_owned(&self) -> Entry {
        self.owned_in(Arc::from(self.dir_path))
    }

    /// The same, with the [`dir_path`](Self::dir_path) that entries of the same directory share.
    pub(crate) fn owned_in(self, dir_path: Arc<[u8]>) -> Entry {
        Entry {
            dir_path,
            name: SmallVec::from_slice(self.name),
            path: OnceLock::new(),
            depth: self.depth,
            ino: self.ino,
            file_type: self.file_type,
            followed: self.followed,
            stat: self.stat.map(|stat| match stat {
                Ok(stat) => Ok(Box::new(*stat)),
                Err(error) => Err(error.raw_os_error().unwrap_or(libc::EIO)),
            }),
        }
    }
}

/// Looks at a file itself, never at what a link points to, and mounts nothing.
pub(crate) fn lstat(dir: BorrowedFd<'_>, path: &CStr, mask: StatxMask) -> io::Result<Statx> {
    let flags = StatxFlags::SYMLINK_NOFOLLOW | StatxFlags::NO_AUTOMOUNT;
    fscall::statx(dir, Some(path), flags, mask)
}

/// Looks at what a path leads to, and mounts nothing.
pub(crate) fn stat(dir: BorrowedFd<'_>, path: &CStr, mask: StatxMask) -> io::Result<Statx> {
    fscall::statx(dir, Some(path), StatxFlags::NO_AUTOMOUNT, mask)
}

/// An entry that has been copied out of the walk. What stands before its name it shares with others of
/// its directory; the path is made when it is asked for.
#[derive(Clone, Debug)]
pub struct Entry {
    dir_path: Arc<[u8]>,
    name: SmallVec<[u8; INLINE]>,
    path: OnceLock<Box<[u8]>>,
    depth: usize,
    ino: u64,
    file_type: Option<FileType>,
    followed: bool,
    /// The answer or the error number. Boxed, since most entries have none.
    stat: Option<Result<Box<Statx>, i32>>,
}

/// A name that is no longer is kept without an allocation of its own.
const INLINE: usize = 24;

impl Entry {
    fn path_bytes(&self) -> Box<[u8]> {
        [&*self.dir_path, &self.name].concat().into()
    }

    /// The path: the root as it was given, and the names that lead from it to the entry. Made by the
    /// first call, and kept.
    pub fn path(&self) -> &Path {
        let path = self.path.get_or_init(|| self.path_bytes());
        Path::new(OsStr::from_bytes(path))
    }

    /// The path, taken out.
    pub fn into_path(mut self) -> PathBuf {
        let path = self.path.take().unwrap_or_else(|| self.path_bytes());
        std::ffi::OsString::from_vec(path.into()).into()
    }

    /// The bare name; of a root, the root as it was given.
    pub fn file_name(&self) -> &OsStr {
        OsStr::from_bytes(&self.name)
    }

    /// What stands before the name in the path, up to and with the last `/`; empty for a root.
    pub fn dir_path(&self) -> &[u8] {
        &self.dir_path
    }

    /// How many names below its root the entry is; 0 is a root itself.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The inode number that the directory lists; see [`EntryRef::ino`].
    pub fn ino(&self) -> u64 {
        self.ino
    }

    /// The type; `None` only if looking at the file failed. See [`EntryRef::file_type`].
    pub fn file_type(&self) -> Option<FileType> {
        self.file_type
    }

    /// The entry is a symbolic link that was followed; see [`EntryRef::is_followed`].
    pub fn is_followed(&self) -> bool {
        self.followed
    }

    /// The answer to the fields that were asked for with the walk, or the error; `None` if none
    /// were. See [`EntryRef::stat`].
    pub fn stat(&self) -> Option<io::Result<&Statx>> {
        let stat = self.stat.as_ref()?;
        Some(
            stat.as_deref()
                .map_err(|errno| io::Error::from_raw_os_error(*errno)),
        )
    }
}
