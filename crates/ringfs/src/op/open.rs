//! `openat2(2)`, `IORING_OP_OPENAT2`; `openat(2)` where the sandbox must not see the former.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use fscall::{OFlags, OpenHow, ResolveFlags};

use super::{Answer, Operation, Place, Request};
use crate::capabilities::OperationKind;

/// Opens a file relative to a directory.
pub(crate) struct Open {
    dir: Option<Arc<OwnedFd>>,
    path: CString,
    flags: OFlags,
    how: OpenHow,
}

impl Open {
    pub(crate) fn new(dir: Option<Arc<OwnedFd>>, path: CString, flags: OFlags) -> Self {
        let flags = flags | OFlags::CLOEXEC;
        Self {
            dir,
            path,
            flags,
            how: OpenHow::new(flags, ResolveFlags::empty()),
        }
    }
}

impl Operation for Open {
    type Output = OwnedFd;

    fn kind(&self) -> OperationKind {
        OperationKind::Open
    }

    fn place(&self) -> Option<Place<'_>> {
        Some(Place::new(self.dir.as_ref(), self.path.to_bytes()))
    }

    fn request(&mut self) -> Option<Request<'_>> {
        let dir = self.dir.as_ref().map_or(fscall::CWD, |dir| dir.as_fd());
        Some(Request::Openat2 {
            dir,
            path: &self.path,
            how: &self.how,
        })
    }

    fn call(&mut self) -> io::Result<Answer> {
        // Without resolve flags openat(2) is the same, and no sandbox refuses it.
        let dir = self.dir.as_ref().map_or(fscall::CWD, |dir| dir.as_fd());
        fscall::openat(dir, &self.path, self.flags).map(Answer::Fd)
    }

    fn finish(self, answer: Answer) -> io::Result<OwnedFd> {
        answer.into_fd()
    }
}
