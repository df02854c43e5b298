//! `close(2)`, `IORING_OP_CLOSE`.

use std::io;
use std::os::fd::OwnedFd;

use super::{Answer, Operation, Place, Request};
use crate::capabilities::OperationKind;

/// Closes a descriptor where its last close may take time.
pub(crate) struct Close(Option<OwnedFd>);

impl Close {
    pub(crate) fn new(fd: OwnedFd) -> Self {
        Self(Some(fd))
    }
}

impl Operation for Close {
    type Output = ();

    fn kind(&self) -> OperationKind {
        OperationKind::Close
    }

    fn place(&self) -> Option<Place<'_>> {
        // It must not wait, since its descriptor does.
        None
    }

    fn request(&mut self) -> Option<Request<'_>> {
        self.0.take().map(|fd| Request::Close { fd })
    }

    fn call(&mut self) -> io::Result<Answer> {
        self.0.take().map_or(Ok(()), fscall::close)?;
        Ok(Answer::Done)
    }

    fn finish(self, _: Answer) -> io::Result<()> {
        Ok(())
    }
}
