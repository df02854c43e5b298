//! Where the command of a directory variant is run, and what its file is called there.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use fscall::{CWD, OFlags};

use crate::errno::EACCES;
use crate::file::File;
use crate::path;
use crate::quote::quote;

/// The directory that a file is in.
#[derive(Debug)]
pub(super) enum Place<'a> {
    /// Open already.
    Open(BorrowedFd<'a>),
    /// Of a starting point that has a directory in its path.
    Opened(OwnedFd),
}

impl<'a> Place<'a> {
    /// Of this file.
    pub(super) fn of(file: &File<'a>) -> io::Result<Self> {
        if file.depth > 0 {
            // It was opened to be read, which is not enough to be in it.
            return if fscall::searchable(file.at)? {
                Ok(Self::Open(file.at))
            } else {
                Err(io::Error::from_raw_os_error(EACCES))
            };
        }
        let directory = directory(file.name);
        fscall::with_c_path(directory, |path| fscall::openat(CWD, path, OFlags::RDONLY))
            .map(Self::Opened)
    }

    /// To stay open.
    pub(super) fn keep(self) -> io::Result<OwnedFd> {
        match self {
            Self::Open(fd) => fd.try_clone_to_owned(),
            Self::Opened(fd) => Ok(fd),
        }
    }
}

impl AsFd for Place<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Open(fd) => *fd,
            Self::Opened(fd) => fd.as_fd(),
        }
    }
}

/// What the file is called in its directory, in two parts: nothing that could be taken for an option
/// or looked for in `PATH`.
pub(super) fn name<'a>(file: &File<'a>) -> [&'a [u8]; 2] {
    let name = if file.depth > 0 {
        file.name
    } else {
        path::last(file.name)
    };
    if name.starts_with(b"/") {
        [b"", name]
    } else {
        [b"./", name]
    }
}

/// Ends the search, as the directory cannot be kept open.
pub(super) fn give_up(file: &mut File<'_>, error: &io::Error) {
    let name = if file.follows {
        file.path()
    } else {
        file.name.to_vec()
    };
    let text = b"Failed to save working directory in order to run a command on ";
    let text = [&text[..], &quote(&name)].concat();
    let message = file
        .messages
        .errno(&text, error.raw_os_error().unwrap_or(0));
    file.abort(&message);
}

/// What stands before the last component; `.` if nothing does.
fn directory(path: &[u8]) -> &[u8] {
    let is_name = |&byte: &u8| byte != b'/';
    let Some(end) = path.iter().rposition(is_name) else {
        return b"/";
    };
    let Some(slash) = memchr::memrchr(b'/', &path[..end]) else {
        return b".";
    };
    match path[..slash].iter().rposition(is_name) {
        Some(end) => &path[..=end],
        None => b"/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starting_points() {
        for (point, above, name) in [
            ("a", ".", "a"),
            ("a/", ".", "a/"),
            ("a//", ".", "a/"),
            ("a/b", "a", "b"),
            ("a//b//", "a", "b/"),
            ("/", "/", "/"),
            ("//", "/", "/"),
            ("/a", "/", "a"),
            ("//a/", "/", "a/"),
            (".", ".", "."),
            ("./", ".", "./"),
            ("../..", "..", ".."),
        ] {
            assert_eq!(directory(point.as_bytes()), above.as_bytes(), "{point}");
            assert_eq!(path::last(point.as_bytes()), name.as_bytes(), "{point}");
        }
    }
}
