//! `openat2(2)` with `RESOLVE_BENEATH` and `statx(2)` of what it opened, in one hop; on the ring,
//! `IORING_OP_OPENAT2` alone.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use fscall::{OFlags, OpenHow, ResolveFlags, Statx, StatxFlags};

use super::{Answer, Operation, Place, Request};
use crate::beneath;
use crate::capabilities::OperationKind;
use crate::metadata::Metadata;

/// Opens a file that lies beneath a directory, and looks at it.
pub(crate) struct OpenBeneath {
    dir: Arc<OwnedFd>,
    path: CString,
    how: OpenHow,
    /// The sandbox may kill for `openat2`.
    sandboxed: bool,
    answer: Option<io::Result<(OwnedFd, Statx)>>,
}

/// What came of it, by who did it.
#[allow(clippy::large_enum_variant, reason = "mostly it is the large one")]
pub(crate) enum Opened {
    /// By plain calls, which have nobody to ask after them: their error is final.
    ByCall(io::Result<(OwnedFd, Statx)>),
    /// By the ring, which leaves the metadata to another operation.
    ByRing(OwnedFd),
}

impl OpenBeneath {
    pub(crate) fn new(dir: Arc<OwnedFd>, path: CString, flags: OFlags, sandboxed: bool) -> Self {
        Self {
            dir,
            path,
            how: OpenHow::new(flags, ResolveFlags::BENEATH),
            sandboxed,
            answer: None,
        }
    }

    fn open(&self) -> io::Result<(OwnedFd, Statx)> {
        let dir = self.dir.as_fd();
        let fd = if self.sandboxed {
            beneath::open_by_steps(dir, &self.path, self.how.flags())?
        } else {
            beneath::open(dir, &self.path, &self.how)?
        };
        let mut stat = fscall::statx_fd(fd.as_fd(), StatxFlags::empty(), Metadata::MASK)?;
        stat.keep_fields(Metadata::MASK);
        Ok((fd, stat))
    }
}

impl Operation for OpenBeneath {
    type Output = Opened;

    fn kind(&self) -> OperationKind {
        OperationKind::OpenBeneath
    }

    fn place(&self) -> Option<Place<'_>> {
        Some(Place::new(Some(&self.dir), self.path.to_bytes()))
    }

    fn request(&mut self) -> Option<Request<'_>> {
        (!self.sandboxed).then(|| Request::Openat2 {
            dir: self.dir.as_fd(),
            path: &self.path,
            how: &self.how,
        })
    }

    fn call(&mut self) -> io::Result<Answer> {
        self.answer = Some(self.open());
        Ok(Answer::Done)
    }

    fn finish(self, answer: Answer) -> io::Result<Opened> {
        match answer {
            Answer::Fd(fd) => Ok(Opened::ByRing(fd)),
            Answer::Done => self
                .answer
                .map(Opened::ByCall)
                .ok_or_else(|| io::ErrorKind::InvalidData.into()),
        }
    }
}
