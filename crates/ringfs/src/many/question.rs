//! What a batch asks.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use fscall::{Prepared, Statx, StatxFlags, StatxMask};

use super::Answers;
use super::names::Names;
use crate::dispatch::AtOnce;
use crate::driver::Driver;
use crate::op::{Place, StatxOp};

/// The same question about many files.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) driver: Driver,
    /// What the names are relative to; `None` is the current directory.
    pub(super) dir: Option<Arc<OwnedFd>>,
    pub(super) names: Names,
    pub(super) flags: StatxFlags,
    pub(super) mask: StatxMask,
}

impl Question {
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_ref().map_or(fscall::CWD, |dir| dir.as_fd())
    }

    #[inline]
    fn prepare(&self, index: usize) -> io::Result<(&CStr, Prepared)> {
        let name = self.names.get(index)?;
        let prepared = Prepared::new(self.dir(), Some(name), self.flags, self.mask)?;
        Ok((name, prepared))
    }

    /// The answer if it can be had without sleeping.
    pub(super) fn try_inline(&self, index: usize) -> Option<io::Result<Statx>> {
        match self.prepare(index) {
            Ok((name, prepared)) => {
                let mut answer = Statx::default();
                let tried = self
                    .driver
                    .try_inline(self.dir(), Some(name), &prepared, &mut answer);
                match tried {
                    AtOnce::Answered(result) => Some(result.map(|()| answer)),
                    AtOnce::Miss => None,
                }
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// The answer by a plain call, which may sleep.
    pub(super) fn call(&self, index: usize) -> io::Result<Statx> {
        let mut answer = Statx::default();
        self.call_into(index, &mut answer).map(|()| answer)
    }

    /// The same, added to the answers where it stays: of a call that is answered from memory, copying
    /// its 256 bytes is a part that shows.
    #[inline]
    pub(super) fn call_onto(&self, index: usize, answers: &mut Answers) {
        answers.push(Ok(Statx::default()));
        if let Some(answer) = answers.last_mut()
            && let Ok(stat) = answer
            && let Err(error) = self.call_into(index, stat)
        {
            *answer = Err(error);
        }
    }

    #[inline]
    fn call_into(&self, index: usize, answer: &mut Statx) -> io::Result<()> {
        let (name, prepared) = self.prepare(index)?;
        prepared.call_into(self.dir(), Some(name), answer)?;
        answer.keep_fields(prepared.mask());
        Ok(())
    }

    /// Where the file at `index` is, if there is one.
    pub(super) fn place(&self, index: usize) -> Option<Place<'_>> {
        let name = (index < self.len()).then(|| self.names.get(index).ok())?;
        Some(Place::new(self.dir.as_ref(), name?.to_bytes()))
    }

    /// The operation that brings the answer.
    pub(super) fn operation(&self, index: usize) -> io::Result<StatxOp> {
        let (name, prepared) = self.prepare(index)?;
        Ok(StatxOp::new(
            self.dir.clone(),
            Some(CString::from(name)),
            prepared,
        ))
    }

    /// Whether the directory is known to be on a file system where a call can sleep even though
    /// what it asks for is in memory.
    pub(super) fn is_remote(&self) -> bool {
        self.dir
            .as_ref()
            .is_some_and(|dir| self.driver.is_remote(dir.as_fd()))
    }
}
