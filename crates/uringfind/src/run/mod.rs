//! A search: the plan put on the walker.

mod parallel;
mod serial;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use fscall::StatxFlags;
use ringwalk::{Backend, EntryRef, Error, FileType, Order, StatxMask, Visit, Walk};

use crate::errno::ENOENT;
use crate::expr::Expr;
use crate::file::{File, Status};
use crate::message::Messages;
use crate::names::Next;
use crate::options::Options;
use crate::output::Output;
use crate::parse::{Plan, StartingPoints};
use crate::quote::quote;
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
    let runs_commands = plan.receivers.iter().any(|it| it.runs_commands());
    writer.set_receivers(plan.receivers);
    writer.set_files(plan.files);
    let options = plan.options.clone();
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
    let is_serial = search.expression.is_serial() || runs_commands && processes_are_scarce();
    let mut engine = Engine::new(search, writer, is_serial);
    let all_searched = match plan.starting_points {
        StartingPoints::Listed(points) => {
            if let Some(walk) = walk(&points, &options, backend) {
                engine.search(walk);
            }
            !points.iter().any(Vec::is_empty)
        }
        StartingPoints::Named(mut names) => {
            let mut all = true;
            while !engine.has_quit() {
                // More may be long in coming.
                engine.with_writer(|writer| {
                    let _ = writer.flush();
                });
                match names.next(messages) {
                    Next::Names(points) => {
                        if let Some(walk) = walk(&points, &options, backend) {
                            engine.search(walk);
                        }
                    }
                    Next::Wrong(message) => {
                        all = false;
                        engine.with_writer(|writer| writer.error(&message));
                    }
                    Next::End => break,
                }
            }
            all
        }
    };
    let quit = engine.has_quit();
    // A worker that hangs in the kernel may still be writing.
    let Some(mut writer) = engine.end() else {
        return 1;
    };
    writer.finish_receivers();
    if all_searched || quit {
        writer.finish_search()
    } else {
        // After an empty starting point GNU find skips its last flush, and with it the name of what
        // failed.
        writer.finish()
    }
}

/// One of the two ways to search.
enum Engine {
    Serial(Box<Serial>),
    Parallel(Arc<Parallel>),
}

impl Engine {
    fn new(search: Search, writer: Writer, is_serial: bool) -> Self {
        if is_serial {
            Self::Serial(Box::new(Serial::new(search, writer)))
        } else {
            Self::Parallel(Arc::new(Parallel::new(search, writer)))
        }
    }

    fn search(&mut self, walk: Walk) {
        match self {
            Self::Serial(serial) => serial.run(walk),
            Self::Parallel(parallel) => walk.visit_in_order(Arc::clone(parallel)),
        }
    }

    /// Whether `-quit` has ended it all.
    fn has_quit(&self) -> bool {
        match self {
            Self::Serial(serial) => serial.has_quit(),
            Self::Parallel(parallel) => parallel.has_quit(),
        }
    }

    /// Writes between two walks.
    fn with_writer(&mut self, act: impl FnOnce(&mut Writer)) {
        match self {
            Self::Serial(serial) => act(serial.writer()),
            Self::Parallel(parallel) => parallel.with_writer(act),
        }
    }

    fn end(self) -> Option<Writer> {
        match self {
            Self::Serial(serial) => Some(serial.end()),
            Self::Parallel(parallel) => parallel.end(),
        }
    }
}

/// Whether threads of ours might take the place of a command.
fn processes_are_scarce() -> bool {
    /// Of processes that the user may have.
    const FEW: u64 = 1024;
    /// Of processes that may be added.
    const HARDLY_ANY: u64 = 16;
    fscall::limits::nproc().is_ok_and(|(limit, _)| limit < FEW)
        || fscall::limits::pids_left().is_some_and(|left| left < HARDLY_ANY)
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
            listed_inode: entry.ino(),
            at: entry.parent_fd(),
            follows: self.options.follow.at(entry.depth()),
            followed: entry.is_followed(),
            ignores_races: self.options.ignore_races,
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

    /// Why a link that is followed here, and leads nowhere, does not lead to a file: GNU find takes it for
    /// an ordinary dangling link only if that is because nothing is there.
    fn blocked_link(&self, entry: &EntryRef<'_>) -> Option<i32> {
        let is_link = entry.file_type().is_some_and(FileType::is_symlink);
        if !is_link || entry.is_followed() || !self.options.follow.at(entry.depth()) {
            return None;
        }
        let answer = fscall::with_c_path(entry.file_name(), |name| {
            let flags = StatxFlags::NO_AUTOMOUNT;
            fscall::statx(entry.parent_fd(), Some(name), flags, StatxMask::TYPE)
        });
        let errno = answer.err()?.raw_os_error()?;
        (errno != ENOENT).then_some(errno)
    }

    /// The message for what the walk could not do.
    fn message(&self, error: &Error) -> Vec<u8> {
        if let Some(ancestor) = error.loop_ancestor() {
            let text: [&[u8]; 5] = [
                b"File system loop detected; ",
                &quote(error.path_bytes()),
                b" is part of the same file system loop as ",
                &quote(ancestor.as_os_str().as_bytes()),
                b".",
            ];
            return self.messages.plain(&text.concat());
        }
        self.messages
            .file(error.path_bytes(), errno(error.io_error()))
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
