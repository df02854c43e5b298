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
        (Some(self.writer), self.quit)
    }

    /// Writes what is left of an evaluation's output.
    fn emit(&mut self) {
        self.writer.segment(&self.out);
        self.out.clear();
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
            Visit::Quit => {
                self.quit = true;
                Visit::Quit
            }
            Visit::Continue if unknown => Visit::Prune,
            visit => visit,
        }
    }

    fn error(&mut self, error: &Error) -> Visit {
        if let Some(message) = self.search.message(error) {
            self.writer.error(&message);
        }
        Visit::Continue
    }
}
