//! `getdents64(2)`, which has no ring operation on any mainline kernel.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::{Answer, Operation, Place, Request};
use crate::capabilities::OperationKind;
use crate::dir::DIR_FLAGS;

/// The first buffer, so that the first entries come soon; those after one that was filled are
/// [`LARGEST`].
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

    /// Reads on. `last` is how much the read before this one brought, and `spare` memory that can
    /// be used again.
    pub(crate) fn next(
        dir: Arc<OwnedFd>,
        last: usize,
        rewind: bool,
        spare: Option<Vec<u8>>,
    ) -> Self {
        // A directory that filled its buffer is a large one, and fewer, larger reads are cheaper.
        let capacity = if last > SMALLEST / 2 {
            LARGEST
        } else {
            SMALLEST
        };
        Self {
            source: Source::Open(dir),
            rewind,
            // Memory that has been written to before costs no page faults.
            buffer: spare
                .filter(|spare| spare.capacity() >= capacity)
                .unwrap_or_else(|| Vec::with_capacity(capacity)),
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
        if self.ended && self.buffer.len() < self.buffer.capacity() / 2 {
            // Nothing will be read into it again, and an entry may be held for long.
            self.buffer.shrink_to_fit();
        }
        Ok(dir)
    }
}

impl Operation for ReadChunk {
    type Output = Chunk;

    fn kind(&self) -> OperationKind {
        OperationKind::ReadDir
    }

    fn place(&self) -> Option<Place<'_>> {
        Some(match &self.source {
            Source::Path(path) => Place::new(None, path.to_bytes()),
            Source::Open(dir) => Place::new(Some(dir), &[]),
        })
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

#[cfg(test)]
mod tests {
    use fscall::Dirents;

    use super::*;

    fn dir(path: &std::path::Path) -> Arc<OwnedFd> {
        Arc::new(std::fs::File::open(path).unwrap().into())
    }

    fn read(mut op: ReadChunk) -> Chunk {
        let answer = op.call().unwrap();
        op.finish(answer).unwrap()
    }

    #[test]
    fn names_that_do_not_fit_grow_the_buffer() {
        let temp = tempfile::tempdir().unwrap();
        for length in [1, 20, 255] {
            std::fs::write(temp.path().join("n".repeat(length)), "").unwrap();
        }
        // Half full means that there is room for as much again, but not for what comes next.
        for capacity in (0..700).step_by(8) {
            let mut op = ReadChunk::next(dir(temp.path()), 0, false, None);
            op.buffer = Vec::with_capacity(capacity);
            let mut lengths = Vec::new();
            loop {
                let dir = match &op.source {
                    Source::Open(dir) => Arc::clone(dir),
                    Source::Path(_) => unreachable!("it is open"),
                };
                let chunk = read(op);
                assert!(chunk.error.is_none());
                for entry in Dirents::new(&chunk.records).map(Result::unwrap) {
                    lengths.extend((!entry.is_dot()).then_some(entry.name().len()));
                }
                if chunk.ended {
                    break;
                }
                op = ReadChunk::next(dir, 0, false, None);
                op.buffer = Vec::with_capacity(capacity);
            }
            lengths.sort_unstable();
            assert_eq!(lengths, [1, 20, 255], "a buffer of {capacity} bytes");
        }
    }

    #[test]
    fn memory_is_used_again_if_it_is_enough() {
        let dir = dir("/proc/self".as_ref());
        let spare = || Vec::with_capacity(2 * SMALLEST);
        for (last, used) in [(0, true), (SMALLEST / 2, true), (SMALLEST, false)] {
            let op = ReadChunk::next(Arc::clone(&dir), last, false, Some(spare()));
            assert_eq!(op.buffer.capacity() == 2 * SMALLEST, used);
            assert!(op.buffer.is_empty());
        }
    }

    #[test]
    fn what_ends_a_directory_holds_no_more_than_it_needs() {
        let temp = tempfile::tempdir().unwrap();
        let chunk = read(ReadChunk::next(dir(temp.path()), 0, false, None));
        assert!(chunk.ended && chunk.records.capacity() < SMALLEST);
    }
}
