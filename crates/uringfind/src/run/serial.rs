//! One file after the other: what its evaluation does can be seen by all that comes after it.

use ringwalk::{EntryRef, Error, SerialVisitor, StatxMask, Visit, Walk};

use super::{Search, errno, may_be_directory};
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

    /// Searches; gives the writer back, and whether the search ended early.
    pub(super) fn run(mut self, walk: Walk) -> (Option<Writer>, bool) {
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
        .visit_one_by_one(&mut self);
        if !self.quit && self.depth.is_some_and(|depth| depth > 0) {
            self.writer.leave_directory();
        }
        (Some(self.writer), self.quit)
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
    fn emit(&mut self) {
        self.writer.segment(&self.out);
        self.out.clear();
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
        let ask = || entry.statx(search.fields | StatxMask::TYPE);
        let mut unknown = false;
        let status = match entry.stat() {
            Some(Ok(answer)) if answer.mask().contains(search.fields) => Status::Known(answer),
            Some(Err(error)) => {
                unknown = may_be_directory(file_type);
                let errno = errno(error);
                if unknown {
                    out.message(&search.messages.file(&entry.path_bytes(), errno));
                }
                Status::Failed {
                    errno,
                    reported: unknown,
                }
            }
            Some(Ok(_)) | None => Status::Unasked(&ask),
        };
        let file_type = file_type.filter(|_| !unknown);
        let visit = search.evaluate(&mut File {
            writer: Some(writer),
            ..search.file(entry, file_type, status, out)
        });
        self.emit();
        match visit {
            _ if self.writer.has_aborted() => self.quit(),
            Visit::Quit => self.quit(),
            Visit::Continue if unknown => Visit::Prune,
            visit => visit,
        }
    }

    fn error(&mut self, error: &Error) -> Visit {
        // Of the starting point that was visited before, it is only a second word.
        if error.depth() > 0 || self.depth != Some(0) || self.root != error.path_bytes() {
            self.come_to(error.depth());
        }
        if let Some(message) = self.search.message(error) {
            self.writer.error(&message);
        }
        if self.writer.has_aborted() {
            return self.quit();
        }
        Visit::Continue
    }
}
