//! `realpath(3)`: many calls, so one hop for all of them.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{Answer, Operation, Place, Request};
use crate::capabilities::OperationKind;

/// Resolves a path as [`std::fs::canonicalize`] does.
pub(crate) struct Canonicalize(PathBuf);

impl Canonicalize {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }
}

impl Operation for Canonicalize {
    type Output = PathBuf;

    fn kind(&self) -> OperationKind {
        OperationKind::Canonicalize
    }

    fn place(&self) -> Option<Place<'_>> {
        Some(Place::new(None, self.0.as_os_str().as_bytes()))
    }

    fn request(&mut self) -> Option<Request<'_>> {
        None
    }

    fn call(&mut self) -> io::Result<Answer> {
        self.0 = std::fs::canonicalize(&self.0)?;
        Ok(Answer::Done)
    }

    fn finish(self, _: Answer) -> io::Result<PathBuf> {
        Ok(self.0)
    }
}
