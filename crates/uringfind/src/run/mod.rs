//! A search: the plan put on the walker.

mod parallel;
mod serial;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ringwalk::{Backend, EntryRef, Error, FileType, Order, StatxMask, Visit, Walk};

use crate::expr::Expr;
use crate::file::{File, Status};
use crate::message::Messages;
use crate::options::Options;
use crate::output::Output;
use crate::parse::Plan;
use crate::writer::Writer;
use parallel::Parallel;
use serial::Serial;

/// Carries out `plan` and gives the exit status.
pub(crate) fn run(plan: Plan, messages: &Messages, mut writer: Writer) -> u8 {
    let backend = match Backend::from_env() {
        Ok(backend) => backend,
        Err(error) => {
            writer.error(&messages.plain(error.to_string().as_bytes()));
            return writer.finish();
        }
    };
    writer.set_receivers(plan.receivers);
    let Some(walk) = walk(&plan.roots, &plan.options, backend) else {
        return 0;
    };
    let fields = plan.expression.stat_fields();
    let search = Search {
        fields: if fields.is_empty() {
            fields
        } else {
            fields | StatxMask::TYPE
        },
        expression: plan.expression,
        options: plan.options,
        messages: messages.clone(),
    };
    let (writer, quit) = if search.expression.is_serial() {
        Serial::new(search, writer).run(walk)
    } else {
        let parallel = Arc::new(Parallel::new(search, writer));
        walk.visit_in_order(Arc::clone(&parallel));
        parallel.end()
    };
    // A worker that hangs in the kernel may still be writing.
    let Some(mut writer) = writer else { return 1 };
    writer.finish_receivers();
    if plan.roots.iter().any(Vec::is_empty) && !quit {
        // After an empty starting point GNU find skips its last flush, and with it the name of what
        // failed.
        writer.finish()
    } else {
        writer.finish_search()
    }
}

/// The walk of all starting points; `None` if there are none.
fn walk(roots: &[Vec<u8>], options: &Options, backend: Backend) -> Option<Walk> {
    let mut roots = roots.iter().map(|root| Path::new(OsStr::from_bytes(root)));
    let first = roots.next()?;
    let mut walk = roots
        .fold(Walk::new(first), Walk::root)
        .backend(backend)
        .order(Order::PreOrder)
        .sort_large_by_inode(true)
        .contents_first(options.contents_first)
        .same_file_system(options.one_file_system)
        .follow_links(options.follow.at(1))
        // find opens them as any other directory.
        .automount(true);
    if !options.follow.at(1) {
        walk = walk.follow_root_links(options.follow.at(0));
    }
    if let Some(depth) = options.max_depth {
        walk = walk.max_depth(depth);
    }
    if let Some(jobs) = options.jobs {
        walk = walk.parallelism(jobs);
    }
    Some(walk)
}

/// What is searched for.
struct Search {
    expression: Expr,
    /// All that the expression may ever ask of `statx`.
    fields: StatxMask,
    options: Options,
    messages: Messages,
}

impl Search {
    /// The entry as the expression sees it, of which `status` and `file_type` are known.
    fn file<'a>(
        &'a self,
        entry: &EntryRef<'a>,
        file_type: Option<FileType>,
        status: Status<'a>,
        out: &'a mut Output,
    ) -> File<'a> {
        File {
            kind: file_type,
            status,
            root: entry.root(),
            depth: entry.depth(),
            at: entry.parent_fd(),
            follows: self.options.follow.at(entry.depth()),
            followed: entry.is_followed(),
            ..File::new(entry.file_name(), entry.dir_path(), out, &self.messages)
        }
    }

    /// Evaluates a file.
    fn evaluate(&self, file: &mut File<'_>) -> Visit {
        if file.depth < self.options.min_depth {
            return Visit::Continue;
        }
        if self.expression.evaluate(file).is_break() {
            Visit::Quit
        } else if file.prune && !self.options.contents_first {
            Visit::Prune
        } else {
            Visit::Continue
        }
    }

    /// The message for what the walk could not do; `None` if it is none that the user wants to see.
    fn message(&self, error: &Error) -> Option<Vec<u8>> {
        let errno = errno(error.io_error());
        if self.options.ignore_races && errno == ENOENT {
            return None;
        }
        Some(self.messages.file(error.path_bytes(), errno))
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

/// "No such file or directory".
const ENOENT: i32 = 2;
