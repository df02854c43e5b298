//! `statx(2)`, `IORING_OP_STATX`.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use fscall::{Form, Prepared, Statx};

use super::{Answer, Operation, Place, Request};
use crate::capabilities::OperationKind;

/// One file's metadata, by either form.
pub(crate) struct StatxOp {
    dir: Option<Arc<OwnedFd>>,
    path: Option<CString>,
    prepared: Prepared,
    out: Box<Statx>,
}

impl StatxOp {
    /// `dir` is the directory, or the file itself in the descriptor form; `None` is the current
    /// directory.
    pub(crate) fn new(
        dir: Option<Arc<OwnedFd>>,
        path: Option<CString>,
        prepared: Prepared,
    ) -> Self {
        Self {
            dir,
            path,
            prepared,
            out: Box::default(),
        }
    }
}

fn as_dir(dir: Option<&OwnedFd>) -> BorrowedFd<'_> {
    dir.map_or(fscall::CWD, OwnedFd::as_fd)
}

impl Operation for StatxOp {
    type Output = Statx;

    fn kind(&self) -> OperationKind {
        match self.prepared.form() {
            Form::Fd => OperationKind::StatxFd,
            Form::Path => OperationKind::StatxPath,
        }
    }

    fn place(&self) -> Option<Place<'_>> {
        let path = self.path.as_ref().map_or(&[][..], |path| path.to_bytes());
        Some(Place::new(self.dir.as_ref(), path))
    }

    fn request(&mut self) -> Option<Request<'_>> {
        // No mainline kernel's ring takes a NULL path, so the descriptor form goes as "".
        let path: &CStr = match self.prepared.form() {
            Form::Fd => c"",
            Form::Path => self.path.as_deref().unwrap_or(c""),
        };
        Some(Request::Statx {
            dir: as_dir(self.dir.as_deref()),
            path,
            flags: self.prepared.flags(),
            mask: self.prepared.mask(),
            out: &mut self.out,
        })
    }

    fn call(&mut self) -> io::Result<Answer> {
        *self.out = self
            .prepared
            .call(as_dir(self.dir.as_deref()), self.path.as_deref())?;
        Ok(Answer::Done)
    }

    fn finish(mut self, _: Answer) -> io::Result<Statx> {
        self.out.keep_fields(self.prepared.mask());
        Ok(*self.out)
    }
}
