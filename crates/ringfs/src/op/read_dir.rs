//! `getdents64(2)`, which has no ring operation on any mainline kernel.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::{Answer, Operation, Request};
use crate::capabilities::OperationKind;
use crate::dir::DIR_FLAGS;

/// The first buffer; further ones of the same directory grow to [`LARGEST`].
const SMALLEST: usize = 64 * 1024;
const LARGEST: usize = 1024 * 1024;

/// Fills one buffer with directory entries, opening the directory first if need be: one hop.
pub(crate) struct ReadChunk {
    source: Source,
    /// The directory's position is moved back to its start first.
    rewind: bool,
    buffer: Vec<u8>,
    ended: bool,
    error: Option<io::Error>,
}

enum Source {
    /// Relative to the current directory.
    Path(CString),
    Open(Arc<OwnedFd>),
}

/// What one read brought: the directory, and its records as the kernel wrote them.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) dir: Arc<OwnedFd>,
    pub(crate) records: Vec<u8>,
    /// There is nothing after them.
    pub(crate) ended: bool,
    /// What was met after them.
    pub(crate) error: Option<io::Error>,
}

impl ReadChunk {
    pub(crate) fn open(path: CString) -> Self {
        Self {
            source: Source::Path(path),
            rewind: false,
            buffer: Vec::new(),
            ended: false,
            error: None,
        }
    }

    /// Reads on. `last` is how much the read before this one brought.
    pub(crate) fn next(dir: Arc<OwnedFd>, last: usize, rewind: bool) -> Self {
        // A directory that filled its buffer is a large one, and fewer, larger reads are cheaper.
        let capacity = if last > SMALLEST / 2 {
            last.saturating_mul(2).clamp(SMALLEST, LARGEST)
        } else {
            SMALLEST
        };
        Self {
            source: Source::Open(dir),
            rewind,
            buffer: Vec::with_capacity(capacity),
            ended: false,
            error: None,
        }
    }

    fn read(&mut self) -> io::Result<Arc<OwnedFd>> {
        let dir = match &self.source {
            Source::Open(dir) => Arc::clone(dir),
            Source::Path(path) => {
                self.buffer.reserve(SMALLEST);
                Arc::new(fscall::openat(fscall::CWD, path, DIR_FLAGS)?)
            }
        };
        if self.rewind {
            fscall::rewind(dir.as_fd())?;
        }
        // Until the buffer is nearly full: that the directory has ended is found in this hop too.
        while !self.ended && self.buffer.len() <= self.buffer.capacity() / 2 {
            match fscall::read_records(dir.as_fd(), &mut self.buffer) {
                Ok(read) => self.ended = read == 0,
                // What was read before it is handed out first.
                Err(error) if !self.buffer.is_empty() => {
                    self.error = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(dir)
    }
}

impl Operation for ReadChunk {
    type Output = Chunk;

    fn kind(&self) -> OperationKind {
        OperationKind::ReadDir
    }

    fn request(&mut self) -> Option<Request<'_>> {
        None
    }

    fn call(&mut self) -> io::Result<Answer> {
        let dir = self.read()?;
        self.source = Source::Open(dir);
        Ok(Answer::Done)
    }

    fn finish(self, _: Answer) -> io::Result<Chunk> {
        match self.source {
            Source::Open(dir) => Ok(Chunk {
                dir,
                records: self.buffer,
                ended: self.ended,
                error: self.error,
            }),
            Source::Path(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
