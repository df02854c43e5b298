//! One file after the other: what its evaluation does can be seen by all that comes after it.

use std::io;

use ringwalk::{EntryRef, Error, SerialVisitor, StatxMask, Visit, Walk};

use super::{Search, errno, may_be_directory};
use crate::errno::ELOOP;
use crate::file::{File, Status};
use crate::output::Output;
use crate::writer::Writer;

/// A running search.
pub(super) struct Serial {
    search: Search,
    writer: Writer,
    out: Output,
    quit: bool,
    /// How deep the last entry is.
    depth: Option<usize>,
    /// The last starting point that was visited.
    root: Vec<u8>,
}

impl Serial {
    pub(super) fn new(search: Search, writer: Writer) -> Self {
        Self {
            search,
            writer,
            out: Output::default(),
            quit: false,
            depth: None,
            root: Vec::new(),
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
        if !self.quit && self.depth.is_some_and(|depth| depth > 0) {
            self.writer.leave_directory();
        }
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

    /// Notes that an entry at this depth comes next. GNU find takes any other depth, and each starting
    /// point, for another directory.
    fn come_to(&mut self, depth: usize) {
        if depth == 0 || self.depth != Some(depth) {
            self.writer.leave_directory();
        }
        self.depth = Some(depth);
    }

    fn quit(&mut self) -> Visit {
        self.quit = true;
        Visit::Quit
    }

    /// Writes what is left of an evaluation's output.
    fn end_visit(&mut self, visit: Visit) -> Visit {
        self.writer.segment(&self.out);
        self.out.clear();
        if visit == Visit::Quit || self.writer.has_aborted() {
            return self.quit();
        }
        visit
    }
}

impl SerialVisitor for Serial {
    fn visit(&mut self, entry: &EntryRef<'_>) -> Visit {
        self.come_to(entry.depth());
        if entry.depth() == 0 {
            entry.root().clone_into(&mut self.root);
        }
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
        if error.raw_os_error() == Some(ELOOP) {
            return self.error(error);
        }
        self.come_to(entry.depth());
        self.visit_unknown(entry, error.io_error())
    }

    fn error(&mut self, error: &Error) -> Visit {
        // Of the starting point that was visited before, it is only a second word; an empty one is none.
        let path = error.path_bytes();
        let is_new = self.depth != Some(error.depth()) || error.depth() == 0 && self.root != path;
        if is_new && !path.is_empty() {
            self.come_to(error.depth());
        }
        self.writer.error(&self.search.message(error));
        if self.writer.has_aborted() {
            return self.quit();
        }
        Visit::Continue
    }
}
