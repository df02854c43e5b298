//! What can go wrong during a walk.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// What was being done when a walk met an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
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
    kind: ErrorKind,
    path: Box<[u8]>,
    depth: usize,
    source: Arc<io::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, path: Vec<u8>, depth: usize, source: io::Error) -> Self {
        Self {
            kind,
            path: path.into(),
            depth,
            source: Arc::new(source),
        }
    }

    /// What was being done.
    pub fn kind(&self) -> ErrorKind {
        self.kind
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
        let what = match self.kind {
            ErrorKind::Stat => "cannot look at",
            ErrorKind::Open => "cannot open directory",
            ErrorKind::Read => "cannot read directory",
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
