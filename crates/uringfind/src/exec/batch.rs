//! `… {} +`: one command for many files.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostproc::Input;

use super::arguments::Arguments;
use super::launch::{Launch, TooLong};
use super::limits::Limits;
use super::place::{self, Place};
use crate::failure::Failure;
use crate::file::File;
use crate::output::Receiver;
use crate::primary::Primary;
use crate::receiver::Receive;
use crate::writer::Writer;

/// A command and the files that are to be appended to it.
#[derive(Debug)]
pub(super) struct Batch {
    /// The command's own arguments, then the files.
    arguments: Arguments,
    /// How many are the command's own.
    own: usize,
    limits: Limits,
    /// How many files the kernel has taken, once it has refused more.
    most: usize,
    /// Where it is run, if not in find's own directory.
    directory: Option<OwnedFd>,
}

/// A single argument is too long.
const DOES_NOT_FIT: &[u8] = b"cannot fit single argument within argument list size limit";

impl Batch {
    pub(super) fn new(command: &[&[u8]], limits: Limits) -> Result<Self, Failure> {
        let mut arguments = Arguments::default();
        for word in command {
            arguments.push(&[word]);
        }
        if arguments.size() > limits.size {
            return Err(Failure::new(DOES_NOT_FIT));
        }
        Ok(Self {
            own: arguments.len(),
            arguments,
            limits,
            most: usize::MAX,
            directory: None,
        })
    }

    /// No file is waiting.
    fn is_empty(&self) -> bool {
        self.arguments.len() == self.own
    }

    /// Takes a file, of which `name` gives the parts. What does not fit beside it is run first.
    fn push(&mut self, name: &[&[u8]], writer: &mut Writer) {
        let size = name.iter().map(|part| part.len()).sum::<usize>() + 1;
        if self.arguments.size() + size > self.limits.size {
            if self.is_empty() {
                let message = writer.messages().plain(DOES_NOT_FIT);
                writer.abort(&message);
                return;
            }
            // Then it is taken, as by GNU find, even if it does not fit now.
            self.run_files(writer);
        }
        self.arguments.push(name);
        if self.arguments.len() >= self.limits.count {
            self.run_files(writer);
        }
    }

    /// Runs the command for the files that wait, if there are any.
    fn run(&mut self, writer: &mut Writer) {
        if !self.is_empty() {
            self.run_files(writer);
        }
        self.directory = None;
    }

    /// Runs the command; more than once if the kernel does not take so many files at once.
    fn run_files(&mut self, writer: &mut Writer) {
        let mut next = self.own;
        while next < self.arguments.len() {
            let end = next.saturating_add(self.most).min(self.arguments.len());
            let own = self.arguments.range(0..self.own);
            let launch = Launch {
                arguments: own.chain(self.arguments.range(next..end)).collect(),
                directory: self.directory.as_ref().map(AsFd::as_fd),
                input: Input::Inherited,
                for_many: true,
            };
            match launch.run(writer) {
                Err(TooLong) if end - next > 1 => self.most = (end - next) / 2,
                Err(TooLong) => {
                    launch.report_too_long(writer);
                    next = end;
                }
                Ok(_) => next = end,
            }
        }
        self.arguments.truncate(self.own);
    }
}

/// `-exec … {} +`: the writing thread collects, so files are evaluated in parallel.
#[derive(Debug)]
pub(super) struct Exec(pub(super) Receiver);

impl Primary for Exec {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let (directory, name) = (file.directory, file.name);
        file.out.send(self.0, |bytes| {
            bytes.extend_from_slice(directory);
            bytes.extend_from_slice(name);
        });
        true
    }
}

impl Receive for Batch {
    fn receive(&mut self, path: &[u8], writer: &mut Writer) {
        self.push(&[path], writer);
    }

    fn finish(&mut self, writer: &mut Writer) {
        self.run(writer);
    }

    fn runs_commands(&self) -> bool {
        true
    }
}

/// A batch whose files are all in the same directory.
#[derive(Clone, Debug)]
pub(super) struct DirectoryBatch(Arc<Mutex<Batch>>);

impl DirectoryBatch {
    pub(super) fn new(batch: Batch) -> Self {
        Self(Arc::new(Mutex::new(batch)))
    }

    fn lock(&self) -> MutexGuard<'_, Batch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `-execdir … {} +`.
#[derive(Debug)]
pub(super) struct Execdir(pub(super) DirectoryBatch);

impl Primary for Execdir {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let mut batch = self.0.lock();
        if batch.is_empty() {
            match Place::of(file).and_then(Place::keep) {
                Ok(directory) => batch.directory = Some(directory),
                Err(error) => {
                    place::give_up(file, &error);
                    return false;
                }
            }
        }
        let name = place::name(file);
        if let Some(writer) = file.hand_over() {
            batch.push(&name, writer);
            file.quit |= writer.has_aborted();
        }
        true
    }
}

impl Receive for DirectoryBatch {
    fn receive(&mut self, _: &[u8], _: &mut Writer) {}

    fn leave_directory(&mut self, writer: &mut Writer) {
        self.lock().run(writer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_itself_must_fit() {
        let limits = Limits { size: 7, count: 9 };
        assert!(Batch::new(&[b"rm", b"-r"], limits).is_ok());
        assert!(Batch::new(&[b"rm", b"-rf"], limits).is_ok());
        assert!(Batch::new(&[b"rm", b"-rfv"], limits).is_err());
    }
}
