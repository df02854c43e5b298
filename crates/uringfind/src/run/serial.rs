//! One file after the other: what its evaluation does can be seen by all that comes after it.

use std::io;

use ringwalk::{EntryRef, Error, SerialVisitor, StatxMask, Visit, Walk};

use super::{ELOOP, Search, errno, may_be_directory};
use crate::file::{File, Status};
use crate::output::Output;
use crate::writer::Writer;

/// A running search.
pub(super) struct Serial {
    search: Search,
    writer: Writer,
    out: Output,
    quit: bool,
}

impl Serial {
    pub(super) fn new(search: Search, writer: Writer) -> Self {
        Self {
            search,
            writer,
            out: Output::default(),
            quit: false,
        }
    }

    /// Searches what is below the starting points of `walk`.
    pub(super) fn run(&mut self, walk: Walk) {
        let fields = self.search.fields | StatxMask::TYPE;
        // Files that are no directories are looked at when a test asks for it, after the tests and
        // commands before it.
        walk.metadata_for(move |entry| {
            if may_be_directory(entry.file_type()) {
                fields
            } else {
                StatxMask::empty()
            }
        })
        .visit_one_by_one(self);
    }

    /// Whether `-quit` has ended the search.
    pub(super) fn has_quit(&self) -> bool {
        self.quit
    }

    pub(super) fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }

    pub(super) fn end(self) -> Writer {
        self.writer
    }

    /// As [`Parallel`](super::Parallel)'s: what may be a directory, or should have been followed, and
    /// cannot be stat'ed.
    fn visit_unknown(&mut self, entry: &EntryRef<'_>, error: &io::Error) -> Visit {
        let Self {
            search,
            writer,
            out,
            ..
        } = self;
        let errno = errno(error);
        out.message(&search.messages.file(&entry.path_bytes(), errno));
        let status = Status::Failed {
            errno,
            reported: true,
        };
        let visit = search.evaluate(&mut File {
            writer: Some(writer),
            ..search.file(entry, None, status, out)
        });
        match self.end_visit(visit) {
            Visit::Quit => Visit::Quit,
            Visit::Continue | Visit::Prune => Visit::Prune,
        }
    }

    /// Writes what is left of an evaluation's output.
    fn end_visit(&mut self, visit: Visit) -> Visit {
        self.writer.segment(&self.out);
        self.out.clear();
        self.quit |= visit == Visit::Quit;
        visit
    }
}

impl SerialVisitor for Serial {
    fn visit(&mut self, entry: &EntryRef<'_>) -> Visit {
        let Self {
            search,
            writer,
            out,
            ..
        } = self;
        let file_type = entry.file_type();
        if let Some(errno) = search.blocked_link(entry) {
            writer.error(&search.messages.file(&entry.path_bytes(), errno));
            if entry.depth() == 0 {
                return Visit::Continue;
            }
        }
        let ask = || entry.statx(search.fields | StatxMask::TYPE);
        let status = match entry.stat() {
            Some(Ok(answer)) if answer.mask().contains(search.fields) => Status::Known(answer),
            Some(Err(error)) if may_be_directory(file_type) => {
                return self.visit_unknown(entry, error);
            }
            Some(Err(error)) => Status::Failed {
                errno: errno(error),
                reported: false,
            },
            Some(Ok(_)) | None => Status::Unasked(&ask),
        };
        let visit = search.evaluate(&mut File {
            writer: Some(writer),
            ..search.file(entry, file_type, status, out)
        });
        self.end_visit(visit)
    }

    fn unfollowed(&mut self, entry: &EntryRef<'_>, error: &Error) -> Visit {
        match error.raw_os_error() {
            Some(ELOOP) => self.error(error),
            _ => self.visit_unknown(entry, error.io_error()),
        }
    }

    fn error(&mut self, error: &Error) -> Visit {
        self.writer.error(&self.search.message(error));
        Visit::Continue
    }
}
