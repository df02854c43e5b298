//! A search: the plan put on the walker.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use ringwalk::{Backend, EntryRef, Error, FileType, Order, OrderedVisitor, StatxMask, Visit, Walk};

use crate::expr::Expr;
use crate::file::{File, Status};
use crate::message::Messages;
use crate::output::{Mark, Output};
use crate::parse::Plan;
use crate::writer::Writer;

/// Carries out `plan` and gives the exit status.
pub(crate) fn run(plan: Plan, messages: &Messages, mut writer: Writer) -> u8 {
    let backend = match Backend::from_env() {
        Ok(backend) => backend,
        Err(error) => {
            writer.message(&messages.plain(error.to_string().as_bytes()));
            writer.fail();
            return writer.finish();
        }
    };
    let fields = plan.expression.stat_fields();
    let search = Arc::new(Search {
        fields: if fields.is_empty() {
            fields
        } else {
            fields | StatxMask::TYPE
        },
        expression: plan.expression,
        min_depth: plan.options.min_depth,
        max_depth: plan.options.max_depth,
        messages: messages.clone(),
        writer: Mutex::new(Some(writer)),
        flushes_when_idle: crate::output_is_terminal(),
        quit: AtomicBool::new(false),
    });

    let mut roots = plan
        .roots
        .iter()
        .map(|root| Path::new(OsStr::from_bytes(root)));
    let Some(first) = roots.next() else { return 0 };
    let mut walk = roots.fold(Walk::new(first), Walk::root);
    walk = walk
        .backend(backend)
        .order(Order::PreOrder)
        .sort_large_by_inode(true)
        // find opens them as any other directory.
        .automount(true);
    if let Some(depth) = plan.options.max_depth {
        walk = walk.max_depth(depth);
    }
    if let Some(jobs) = plan.options.jobs {
        walk = walk.parallelism(jobs);
    }
    walk.visit_in_order(Arc::clone(&search));

    // A worker that hangs in the kernel may still hold the search, so the writer is taken out of
    // it.
    let Some(writer) = search.lock().take() else {
        return 1;
    };
    let incomplete = plan.roots.iter().any(Vec::is_empty) && !search.quit.load(Relaxed);
    if incomplete {
        // After an empty starting point GNU find skips its last flush, and with it the name of what
        // failed.
        writer.finish()
    } else {
        writer.finish_search()
    }
}

/// A running search. Files are evaluated on the walker's workers; `writer` gets their output in
/// order.
struct Search {
    expression: Expr,
    /// All that the expression may ever ask of `statx`.
    fields: StatxMask,
    min_depth: usize,
    max_depth: Option<usize>,
    messages: Messages,
    writer: Mutex<Option<Writer>>,
    flushes_when_idle: bool,
    /// Some file was evaluated to `-quit`.
    quit: AtomicBool,
}

impl Search {
    fn lock(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Evaluates a file of which `status` and `file_type` are known.
    fn evaluate(
        &self,
        entry: &EntryRef<'_>,
        file_type: Option<FileType>,
        status: Status<'_>,
        out: &mut Output,
    ) -> Visit {
        if entry.depth() < self.min_depth {
            return Visit::Continue;
        }
        let mut file = File {
            kind: file_type,
            status,
            ..File::new(entry.file_name(), entry.dir_path(), out, &self.messages)
        };
        if self.expression.evaluate(&mut file).is_break() {
            Visit::Quit
        } else if file.prune {
            Visit::Prune
        } else {
            Visit::Continue
        }
    }

    /// A directory, or a file of unknown type, that cannot be stat'ed. GNU find stats those before
    /// it evaluates them: the message comes first, tests of the type are false, and there is no way
    /// into it.
    fn visit_unknown(&self, entry: &EntryRef<'_>, error: &io::Error, out: &mut Output) -> Visit {
        let errno = errno(error);
        out.message(&self.messages.file(&entry.path_bytes(), errno));
        match self.evaluate(
            entry,
            None,
            Status::Failed {
                errno,
                reported: true,
            },
            out,
        ) {
            Visit::Quit => self.quit(),
            Visit::Continue | Visit::Prune => Visit::Prune,
        }
    }

    fn quit(&self) -> Visit {
        self.quit.store(true, Relaxed);
        Visit::Quit
    }
}

impl OrderedVisitor for Search {
    type Segment = Output;

    fn wants(&self, entry: &EntryRef<'_>) -> StatxMask {
        let mut mask = StatxMask::empty();
        let file_type = entry.file_type();
        if may_be_directory(file_type) && self.max_depth == Some(entry.depth()) {
            // It will not be opened, so nothing else would tell that it cannot be stat'ed.
            mask |= StatxMask::TYPE;
        }
        if !self.fields.is_empty() && entry.depth() >= self.min_depth {
            let mut out = Output::default();
            let mut file = File {
                kind: file_type,
                ..File::new(
                    entry.file_name(),
                    entry.dir_path(),
                    &mut out,
                    &self.messages,
                )
            };
            mask |= self.expression.needed_fields(&mut file);
        }
        if mask.is_empty() {
            mask
        } else {
            mask | StatxMask::TYPE
        }
    }

    fn visit(&self, entry: &EntryRef<'_>, out: &mut Output) -> Visit {
        let file_type = entry.file_type();
        let ask = || entry.statx(self.fields | StatxMask::TYPE);
        let status = match entry.stat() {
            Some(Err(error)) if may_be_directory(file_type) => {
                return self.visit_unknown(entry, error, out);
            }
            Some(Err(error)) => Status::Failed {
                errno: errno(error),
                reported: false,
            },
            // A starting point's was made without asking `wants`.
            Some(Ok(answer)) if entry.depth() > 0 || answer.mask().contains(self.fields) => {
                Status::Known(answer)
            }
            Some(Ok(_)) | None => Status::Unasked(&ask),
        };
        let mark = out.mark();
        match self.evaluate(entry, file_type, status, out) {
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
        self.error(error, out)
    }

    fn error(&self, error: &Error, out: &mut Output) -> Visit {
        out.message(
            &self
                .messages
                .file(error.path_bytes(), errno(error.io_error())),
        );
        Visit::Continue
    }

    fn weight(&self, segment: &Output) -> usize {
        segment.len()
    }

    fn emit(&self, segment: Output) -> Visit {
        if let Some(writer) = self.lock().as_mut() {
            writer.segment(&segment);
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

/// GNU find stats what the directory entry calls a directory, or does not name.
fn may_be_directory(file_type: Option<FileType>) -> bool {
    file_type.is_none_or(FileType::is_dir)
}

fn errno(error: &io::Error) -> i32 {
    // Errors of the walker are errors of the kernel; EIO stands for anything else.
    error.raw_os_error().unwrap_or(5)
}
