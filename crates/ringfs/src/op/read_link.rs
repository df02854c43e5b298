//! `readlinkat(2)`, which has no ring operation.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Answer, Operation, Place, Request};
use crate::capabilities::OperationKind;

/// Reads a symbolic link.
pub(crate) struct ReadLink {
    dir: Option<Arc<OwnedFd>>,
    path: CString,
    target: Vec<u8>,
}

impl ReadLink {
    /// `None` is the current directory.
    pub(crate) fn new(dir: Option<Arc<OwnedFd>>, path: CString) -> Self {
        Self {
            dir,
            path,
            target: Vec::new(),
        }
    }
}

impl Operation for ReadLink {
    type Output = PathBuf;

    fn kind(&self) -> OperationKind {
        OperationKind::ReadLink
    }

    fn place(&self) -> Option<Place<'_>> {
        Some(Place::new(self.dir.as_ref(), self.path.to_bytes()))
    }

    fn request(&mut self) -> Option<Request<'_>> {
        None
    }

    fn call(&mut self) -> io::Result<Answer> {
        let dir = self.dir.as_ref().map_or(fscall::CWD, |dir| dir.as_fd());
        self.target = fscall::readlinkat(dir, &self.path)?;
        Ok(Answer::Done)
    }

    fn finish(self, _: Answer) -> io::Result<PathBuf> {
        Ok(OsString::from_vec(self.target).into())
    }
}
