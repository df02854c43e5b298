//! `statfs(2)`, which has no ring operation.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use fscall::StatFs;

use super::{Answer, Operation, Place, Request};
use crate::capabilities::OperationKind;

/// How large and how full a file system is.
pub(crate) struct StatFsOp {
    target: Target,
    answer: Option<StatFs>,
}

enum Target {
    Path(CString),
    Open(Arc<OwnedFd>),
}

impl StatFsOp {
    pub(crate) fn of_path(path: CString) -> Self {
        Self {
            target: Target::Path(path),
            answer: None,
        }
    }

    pub(crate) fn of_fd(fd: Arc<OwnedFd>) -> Self {
        Self {
            target: Target::Open(fd),
            answer: None,
        }
    }
}

impl Operation for StatFsOp {
    type Output = StatFs;

    fn kind(&self) -> OperationKind {
        OperationKind::StatFs
    }

    fn place(&self) -> Option<Place<'_>> {
        Some(match &self.target {
            Target::Path(path) => Place::new(None, path.to_bytes()),
            Target::Open(fd) => Place::new(Some(fd), &[]),
        })
    }

    fn request(&mut self) -> Option<Request<'_>> {
        None
    }

    fn call(&mut self) -> io::Result<Answer> {
        self.answer = Some(match &self.target {
            Target::Path(path) => fscall::statfs(path)?,
            Target::Open(fd) => fscall::fstatfs(fd.as_fd())?,
        });
        Ok(Answer::Done)
    }

    fn finish(self, _: Answer) -> io::Result<StatFs> {
        self.answer.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}
