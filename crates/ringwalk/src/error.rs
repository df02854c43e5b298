//! What can go wrong during a walk.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// What stands between the walk and a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It was listed, or was given as a root, and is not there (any more): `ENOENT`, `ENOTDIR`,
    /// `ESTALE`.
    Vanished,
    /// Permission: `EACCES`, `EPERM`.
    Denied,
    /// A link that leads to one of the directories it is in, or to itself (`ELOOP`).
    Loop,
    /// Everything else.
    Io,
}

/// What was being done when a walk met an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Looking at a file: `statx(2)`.
    Stat,
    /// Opening a directory.
    Open,
    /// Reading a directory's entries; those read before it have been visited.
    Read,
}

/// A file or directory that could not be looked at, with its path and depth.
///
/// The walk goes on with whatever else there is.
#[derive(Clone, Debug)]
pub struct Error {
    action: Action,
    path: Box<[u8]>,
    depth: usize,
    source: Arc<io::Error>,
    loop_ancestor: Option<Box<[u8]>>,
}

impl Error {
    pub(crate) fn new(action: Action, path: Vec<u8>, depth: usize, source: io::Error) -> Self {
        Self {
            action,
            path: path.into(),
            depth,
            source: Arc::new(source),
            loop_ancestor: None,
        }
    }

    /// A link that was followed, or a directory below one, that turned out to be a directory that it is in.
    pub(crate) fn found_loop(path: Vec<u8>, depth: usize, ancestor: Vec<u8>) -> Self {
        let source = io::Error::from_raw_os_error(libc::ELOOP);
        Self {
            loop_ancestor: Some(ancestor.into()),
            ..Self::new(Action::Open, path, depth, source)
        }
    }

    /// What was being done.
    pub fn action(&self) -> Action {
        self.action
    }

    /// What stood against it; told from the system's error number.
    pub fn kind(&self) -> ErrorKind {
        match self.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR | libc::ESTALE) => ErrorKind::Vanished,
            Some(libc::EACCES | libc::EPERM) => ErrorKind::Denied,
            Some(libc::ELOOP) => ErrorKind::Loop,
            _ => ErrorKind::Io,
        }
    }

    /// Of a link that leads to a directory that it is in, or of such a directory itself where it is met again
    /// below a link: the path of that directory, the outer one.
    pub fn loop_ancestor(&self) -> Option<&Path> {
        let path = self.loop_ancestor.as_deref()?;
        Some(Path::new(OsStr::from_bytes(path)))
    }

    /// The file or directory it is about.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// The bytes of [`path`](Self::path).
    pub fn path_bytes(&self) -> &[u8] {
        &self.path
    }

    /// The depth of that path; 0 is a root.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The system's error.
    pub fn io_error(&self) -> &io::Error {
        &self.source
    }

    /// The system's error number.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.source.raw_os_error()
    }

    /// The system's error, with its number kept.
    pub fn into_io_error(self) -> io::Error {
        Arc::try_unwrap(self.source).unwrap_or_else(|shared| match shared.raw_os_error() {
            Some(errno) => io::Error::from_raw_os_error(errno),
            None => io::Error::new(shared.kind(), shared),
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(ancestor) = self.loop_ancestor() {
            let link = self.path().display();
            return write!(f, "{link} leads back to {}", ancestor.display());
        }
        let what = match self.action {
            Action::Stat => "cannot look at",
            Action::Open => "cannot open directory",
            Action::Read => "cannot read directory",
        };
        write!(f, "{what} {}: {}", self.path().display(), self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.source)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        error.into_io_error()
    }
}
