//! Many files at once, on the walker's workers; their output is written in order.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ringwalk::{EntryRef, Error, OrderedVisitor, StatxMask, Visit};

use super::{Search, errno, may_be_directory};
use crate::errno::ELOOP;
use crate::file::Status;
use crate::output::{Mark, Output};
use crate::writer::Writer;

/// A running search. Files are evaluated on the walker's workers; `writer` gets their output in
/// order.
pub(super) struct Parallel {
    search: Search,
    writer: Mutex<Option<Writer>>,
    flushes_when_idle: bool,
    /// Some file was evaluated to `-quit`.
    quit: AtomicBool,
}

impl Parallel {
    pub(super) fn new(search: Search, writer: Writer) -> Self {
        Self {
            search,
            flushes_when_idle: writer.is_on_terminal(),
            writer: Mutex::new(Some(writer)),
            quit: AtomicBool::new(false),
        }
    }

    /// Whether `-quit` has ended the search.
    pub(super) fn has_quit(&self) -> bool {
        self.quit.load(Relaxed)
    }

    /// Writes between two walks.
    pub(super) fn with_writer(&self, act: impl FnOnce(&mut Writer)) {
        if let Some(writer) = self.lock().as_mut() {
            act(writer);
        }
    }

    /// The writer. A worker that hangs in the kernel may still hold the search, so it is taken out of
    /// it.
    pub(super) fn end(&self) -> Option<Writer> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A directory, or a file of unknown type, that cannot be stat'ed. GNU find stats those before
    /// it evaluates them: the message comes first, tests of the type are false, and there is no way
    /// into it.
    fn visit_unknown(&self, entry: &EntryRef<'_>, error: &io::Error, out: &mut Output) -> Visit {
        let errno = errno(error);
        out.message(&self.search.messages.file(&entry.path_bytes(), errno));
        let status = Status::Failed {
            errno,
            reported: true,
        };
        match self
            .search
            .evaluate(&mut self.search.file(entry, None, status, out))
        {
            Visit::Quit => self.quit(),
            Visit::Continue | Visit::Prune => Visit::Prune,
        }
    }

    fn quit(&self) -> Visit {
        self.quit.store(true, Relaxed);
        Visit::Quit
    }
}

impl OrderedVisitor for Parallel {
    type Segment = Output;

    fn wants(&self, entry: &EntryRef<'_>) -> StatxMask {
        let mut mask = StatxMask::empty();
        let file_type = entry.file_type();
        if may_be_directory(file_type) && self.search.options.max_depth == Some(entry.depth()) {
            // It will not be opened, so nothing else would tell that it cannot be stat'ed.
            mask |= StatxMask::TYPE;
        }
        if !self.search.fields.is_empty() && entry.depth() >= self.search.options.min_depth {
            let mut out = Output::default();
            let unasked = Status::Failed {
                errno: 0,
                reported: true,
            };
            let mut file = self.search.file(entry, file_type, unasked, &mut out);
            mask |= self.search.expression.needed_fields(&mut file);
        }
        if mask.is_empty() {
            mask
        } else {
            mask | StatxMask::TYPE
        }
    }

    fn visit(&self, entry: &EntryRef<'_>, out: &mut Output) -> Visit {
        let file_type = entry.file_type();
        if let Some(errno) = self.search.blocked_link(entry) {
            out.message(&self.search.messages.file(&entry.path_bytes(), errno));
            if entry.depth() == 0 {
                return Visit::Continue;
            }
        }
        let ask = || entry.statx(self.search.fields | StatxMask::TYPE);
        let status = match entry.stat() {
            Some(Err(error)) if may_be_directory(file_type) => {
                return self.visit_unknown(entry, error, out);
            }
            Some(Err(error)) => Status::Failed {
                errno: errno(error),
                reported: false,
            },
            // A starting point's was made without asking `wants`.
            Some(Ok(answer)) if entry.depth() > 0 || answer.mask().contains(self.search.fields) => {
                Status::Known(answer)
            }
            Some(Ok(_)) | None => Status::Unasked(&ask),
        };
        let mark = out.mark();
        match self
            .search
            .evaluate(&mut self.search.file(entry, file_type, status, out))
        {
            Visit::Quit => {
                if may_be_directory(file_type)
                    && entry.stat().is_none()
                    && let Err(error) = entry.statx(StatxMask::TYPE)
                {
                    out.rewind(mark);
                    return self.visit_unknown(entry, &error, out);
                }
                self.quit()
            }
            visit => visit,
        }
    }

    fn unopened(&self, entry: &EntryRef<'_>, error: &Error, out: &mut Output) -> Visit {
        if entry.stat().is_none()
            && let Err(error) = entry.statx(StatxMask::TYPE)
        {
            out.rewind(Mark::START);
            return self.visit_unknown(entry, &error, out);
        }
        if self.search.options.contents_first {
            // GNU find opens it before its own turn comes.
            out.message_first(&self.search.message(error));
            return Visit::Continue;
        }
        self.error(error, out)
    }

    fn unfollowed(&self, entry: &EntryRef<'_>, error: &Error, out: &mut Output) -> Visit {
        match error.raw_os_error() {
            Some(ELOOP) => self.error(error, out),
            _ => self.visit_unknown(entry, error.io_error(), out),
        }
    }

    fn error(&self, error: &Error, out: &mut Output) -> Visit {
        out.message(&self.search.message(error));
        Visit::Continue
    }

    fn weight(&self, segment: &Output) -> usize {
        segment.len()
    }

    fn emit(&self, segment: Output) -> Visit {
        if let Some(writer) = self.lock().as_mut() {
            writer.segment(&segment);
            if writer.has_aborted() {
                return self.quit();
            }
        }
        Visit::Continue
    }

    fn idle(&self) {
        if self.flushes_when_idle
            && let Some(writer) = self.lock().as_mut()
        {
            // What fails is remembered and reported at the end.
            let _ = writer.flush();
        }
    }
}
