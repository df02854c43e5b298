//! The four times of a file.

use fscall::{Statx, StatxMask, Timestamp};

use crate::file::File;
use crate::quote::quote;

/// One of the times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    Access,
    Birth,
    Change,
    Modification,
}

impl Stamp {
    /// The one with this letter in `-newerXY`.
    pub(crate) fn of_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'a' => Self::Access,
            b'B' => Self::Birth,
            b'c' => Self::Change,
            b'm' => Self::Modification,
            _ => return None,
        })
    }

    /// What to ask `statx` for.
    pub(crate) fn mask(self) -> StatxMask {
        match self {
            Self::Access => StatxMask::ATIME,
            Self::Birth => StatxMask::BTIME,
            Self::Change => StatxMask::CTIME,
            Self::Modification => StatxMask::MTIME,
        }
    }

    /// Takes it from an answer. Only times of birth are unknown to some file systems; for the others
    /// the kernel has zeroes then.
    pub(crate) fn of(self, answer: &Statx) -> Option<Timestamp> {
        match self {
            Self::Access => Some(answer.atime().unwrap_or_default()),
            Self::Birth => answer.btime(),
            Self::Change => Some(answer.ctime().unwrap_or_default()),
            Self::Modification => Some(answer.mtime().unwrap_or_default()),
        }
    }

    /// That of a file. If it cannot be stat'ed or has none, that is reported.
    pub(crate) fn of_file(self, file: &mut File<'_>) -> Option<Timestamp> {
        let stamp = self.of(file.stat()?);
        if stamp.is_none() {
            let name = quote(&file.path());
            let text = [b"WARNING: cannot determine birth time of file ", &*name].concat();
            let message = file.messages.plain(&text);
            file.out.message(&message);
        }
        stamp
    }
}
