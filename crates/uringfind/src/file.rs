//! One file as an expression sees it.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;

use fscall::{CWD, FileType, Statx};

use crate::errno::{EIO, ENOENT};
use crate::message::Messages;
use crate::output::Output;
use crate::path;
use crate::writer::Writer;

/// A file under evaluation: what is known of it, and what evaluating it leads to.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct File<'a> {
    pub(crate) name: &'a [u8],
    /// What stands before the name in the path; empty for a starting point.
    pub(crate) directory: &'a [u8],
    /// The starting point that it is below, or is.
    pub(crate) root: &'a [u8],
    /// 0 for a starting point.
    pub(crate) depth: usize,
    /// The open directory that it is in, to reach it by its name; of a starting point the current
    /// one.
    pub(crate) at: BorrowedFd<'a>,
    /// Links are followed here, by `-L` or for a starting point by `-H`. One that leads nowhere is
    /// seen itself.
    pub(crate) follows: bool,
    /// It is a link that was followed: all that is known is the target's.
    pub(crate) followed: bool,
    /// That it vanishes while the search runs is no error.
    pub(crate) ignores_races: bool,
    /// From the directory entry, or from `statx`.
    pub(crate) kind: Option<FileType>,
    /// The inode's number as the directory lists it; 0 if it does not.
    pub(crate) listed_inode: u64,
    pub(crate) status: Status<'a>,
    /// Where lines and messages go.
    pub(crate) out: &'a mut Output,
    pub(crate) messages: &'a Messages,
    /// To write at once and run commands: only where the plan acts, and so one file is evaluated after
    /// the other.
    pub(crate) writer: Option<&'a mut Writer>,
    /// Set by `-prune`.
    pub(crate) prune: bool,
    /// Set by `-quit`.
    pub(crate) quit: bool,
}

/// What `statx` has said.
pub(crate) enum Status<'a> {
    /// Nothing yet; this asks now.
    Unasked(&'a dyn Fn() -> io::Result<Statx>),
    Known(&'a Statx),
    Asked(Box<Statx>),
    /// It failed with this error number.
    Failed {
        errno: i32,
        /// The message is out. One file gets one.
        reported: bool,
    },
}

impl Status<'_> {
    /// What `statx` has said so far.
    pub(crate) fn answer(&self) -> Option<&Statx> {
        match self {
            Self::Known(answer) => Some(answer),
            Self::Asked(answer) => Some(answer),
            Self::Unasked(_) | Self::Failed { .. } => None,
        }
    }
}

impl<'a> File<'a> {
    /// A file of which only the directory entry is known.
    pub(crate) fn new(
        name: &'a [u8],
        directory: &'a [u8],
        out: &'a mut Output,
        messages: &'a Messages,
    ) -> Self {
        Self {
            name,
            directory,
            root: name,
            depth: 0,
            at: CWD,
            follows: false,
            followed: false,
            ignores_races: false,
            writer: None,
            kind: None,
            listed_inode: 0,
            status: Status::Failed {
                errno: 0,
                reported: true,
            },
            out,
            messages,
            prune: false,
            quit: false,
        }
    }

    /// What `-name` compares: the last component, without slashes behind it; `/` if there is
    /// nothing else.
    pub(crate) fn base_name(&self) -> &'a [u8] {
        if self.directory.is_empty() {
            path::bare(self.name)
        } else {
            self.name
        }
    }

    /// The path.
    pub(crate) fn path(&self) -> Vec<u8> {
        [self.directory, self.name].concat()
    }

    /// The writer, which has got all output so far. Only where one file is evaluated after the other.
    pub(crate) fn hand_over(&mut self) -> Option<&mut Writer> {
        let writer = self.writer.as_deref_mut()?;
        writer.segment(self.out);
        self.out.clear();
        Some(writer)
    }

    /// Ends the search with the message of an error; what waits to be done is not done.
    pub(crate) fn abort(&mut self, message: &[u8]) {
        if let Some(writer) = self.hand_over() {
            writer.abort(message);
        }
        self.quit = true;
    }

    /// What `statx` says. If it fails, that is reported (once per file) and the test that asks is
    /// false.
    pub(crate) fn stat(&mut self) -> Option<&Statx> {
        if let Status::Unasked(ask) = self.status {
            self.status = match ask() {
                Ok(answer) => Status::Asked(Box::new(answer)),
                Err(error) => Status::Failed {
                    errno: error.raw_os_error().unwrap_or(0),
                    reported: false,
                },
            };
        }
        if let Status::Failed {
            errno,
            reported: reported @ false,
        } = &mut self.status
        {
            *reported = true;
            let errno = *errno;
            if errno != ENOENT || !self.ignores_races {
                self.report(errno);
            }
        }
        self.status.answer()
    }

    /// The type. If it takes a `statx` that fails, as [`stat`](Self::stat).
    pub(crate) fn file_type(&mut self) -> Option<FileType> {
        if self.kind.is_none() {
            self.kind = self.stat().and_then(Statx::file_type);
        }
        self.kind
    }

    /// Whether the directory's word for the inode's number is good enough, as GNU find has it: not
    /// of a directory, where something may be mounted.
    pub(crate) fn inode_is_listed(&self) -> bool {
        let is_other = |kind: FileType| !kind.is_dir();
        self.listed_inode != 0 && !self.followed && self.kind.is_some_and(is_other)
    }

    /// The inode's number. If it takes a `statx` that fails, as [`stat`](Self::stat).
    pub(crate) fn inode(&mut self) -> Option<u64> {
        if let Some(inode) = self.status.answer().and_then(Statx::ino) {
            return Some(inode);
        }
        if self.inode_is_listed() {
            return Some(self.listed_inode);
        }
        self.stat().map(|answer| answer.ino().unwrap_or(0))
    }

    /// Calls `call` with the directory that the file is in and its name there.
    pub(crate) fn reach<T>(
        &self,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> io::Result<T>,
    ) -> io::Result<T> {
        fscall::with_c_path(self.name, |name| call(self.at, name))
    }

    /// Appends the message that something beyond `statx` failed with `error`.
    pub(crate) fn report_error(&mut self, error: &io::Error) {
        self.report(error.raw_os_error().unwrap_or(EIO));
    }

    /// Appends the message that the file failed with `errno`.
    pub(crate) fn report(&mut self, errno: i32) {
        let message = self.messages.file(&self.path(), errno);
        self.out.message(&message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_stat_is_reported_once() {
        let messages = Messages::new(b"find");
        let mut out = Output::default();
        let ask = || Err(io::Error::from_raw_os_error(13));
        let mut file = File::new(b"f", b"d/", &mut out, &messages);
        file.status = Status::Unasked(&ask);
        assert!(file.stat().is_none() && file.file_type().is_none() && file.stat().is_none());
        assert_eq!(out.pieces().count(), 1);
        assert_eq!(*out.text(), b"find: 'd/f': Permission denied\n");
    }
}
