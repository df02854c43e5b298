//! A real tree, read by nothing but kernel calls.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::{Job, Work};
use crate::floor::Options;
use crate::sys;

/// The files below a directory.
#[derive(Debug, Clone)]
pub struct Files {
    root: CString,
    sizes: bool,
}

impl Files {
    /// Those below `root`, and whether each that is no directory is asked for its size.
    ///
    /// # Errors
    /// There is a NUL in the path.
    pub fn new(root: &Path, sizes: bool) -> io::Result<Self> {
        Ok(Self {
            root: CString::new(root.as_os_str().as_bytes())?,
            sizes,
        })
    }
}

/// A directory that waits to be read.
#[derive(Debug)]
pub struct Directory {
    /// `None` for the root.
    parent: Option<Arc<OwnedFd>>,
    name: CString,
    place: u128,
    /// So many places are its own and of those below.
    width: u128,
}

impl Job for Directory {
    fn place(&self) -> u128 {
        self.place
    }
}

/// A buffer for getdents64.
#[derive(Debug)]
pub struct Buffer(Vec<u8>);

impl Default for Buffer {
    fn default() -> Self {
        Self(vec![0; Options::BUFFER])
    }
}

impl Work for Files {
    type Job = Directory;
    type Tools = Buffer;

    fn root(&self) -> io::Result<Directory> {
        Ok(Directory {
            parent: None,
            name: self.root.clone(),
            place: 0,
            width: u128::MAX,
        })
    }

    fn walk(
        &self,
        job: &Directory,
        Buffer(buffer): &mut Buffer,
        found: &mut Vec<Directory>,
    ) -> io::Result<u64> {
        self.read(job, buffer, found).map_err(|error| {
            let name = job.name.to_string_lossy();
            io::Error::new(error.kind(), format!("{name}: {error}"))
        })
    }
}

impl Files {
    fn read(
        &self,
        job: &Directory,
        buffer: &mut [u8],
        found: &mut Vec<Directory>,
    ) -> io::Result<u64> {
        let parent = job.parent.as_ref().map_or(sys::CWD, |fd| fd.as_fd());
        let dir = sys::open_directory(parent, &job.name, job.parent.is_none())?;
        let dir = Arc::new(dir);
        let mut names = 0;
        loop {
            let length = sys::getdents64(dir.as_fd(), buffer)?;
            if length == 0 {
                break;
            }
            for record in sys::records(&buffer[..length]) {
                names += 1;
                if record.kind == libc::DT_DIR {
                    found.push(Directory {
                        parent: Some(Arc::clone(&dir)),
                        name: CStr::to_owned(record.name),
                        place: job.place,
                        width: 0,
                    });
                } else if self.sizes {
                    sys::statx(dir.as_fd(), record.name, libc::STATX_SIZE)?;
                }
            }
        }
        // Now it is known how many share the places.
        let width = job.width / (found.len() as u128 + 1);
        for (child, index) in found.iter_mut().zip(1..) {
            child.place += width * index;
            child.width = width;
        }
        Ok(names)
    }
}
