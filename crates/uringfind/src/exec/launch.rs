//! One command, from its start to its end, with GNU find's messages.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use hostproc::{Command, Input};

use crate::errno::{E2BIG, EACCES, EAGAIN, ENOMEM};
use crate::quote::quote;
use crate::writer::Writer;

/// A command, ready to be run.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) arguments: Vec<&'a CStr>,
    pub(super) directory: Option<BorrowedFd<'a>>,
    pub(super) input: Input,
    /// It is run for many files: if it fails, the search has failed.
    pub(super) for_many: bool,
}

/// The kernel does not take so many arguments.
#[derive(Debug)]
pub(super) struct TooLong;

impl Launch<'_> {
    /// Runs it and tells whether it succeeded. All output comes out before it. Nothing is run once the
    /// search was aborted.
    pub(super) fn run(&self, writer: &mut Writer) -> Result<bool, TooLong> {
        if writer.has_aborted() {
            return Ok(false);
        }
        // What fails is remembered and reported at the end.
        let _ = writer.flush();
        let command = Command {
            arguments: &self.arguments,
            directory: self.directory,
            input: self.input,
        };
        let succeeded = match command.start() {
            Ok(child) => match child.wait() {
                Ok(status) => self.ended(status, writer),
                Err(error) => {
                    let text = [b"error waiting for ".as_slice(), &quote(self.name())].concat();
                    let errno = error.raw_os_error().unwrap_or(0);
                    writer.error(&writer.messages().errno(&text, errno));
                    false
                }
            },
            Err(error) => match error.raw_os_error().unwrap_or(0) {
                E2BIG => return Err(TooLong),
                errno @ (EAGAIN | ENOMEM) => {
                    let message = writer.messages().errno(b"cannot fork", errno);
                    writer.abort(&message);
                    false
                }
                errno => {
                    self.not_started(errno, writer);
                    false
                }
            },
        };
        if self.for_many && !succeeded {
            writer.fail();
        }
        Ok(succeeded)
    }

    /// Says that it has too many arguments.
    pub(super) fn report_too_long(&self, writer: &mut Writer) {
        self.not_started(E2BIG, writer);
        if self.for_many {
            writer.fail();
        }
    }

    /// The program's name.
    fn name(&self) -> &[u8] {
        self.arguments.first().map_or(b"", |name| name.to_bytes())
    }

    fn ended(&self, status: ExitStatus, writer: &mut Writer) -> bool {
        if let Some(signal) = status.signal() {
            let end = format!(" terminated by signal {signal}");
            let text = [quote(self.name()), end.into_bytes()].concat();
            writer.message(&writer.messages().plain(&text));
        }
        status.success()
    }

    fn not_started(&self, errno: i32, writer: &mut Writer) {
        let cannot_enter = errno == EACCES
            && self
                .directory
                .is_some_and(|directory| !fscall::searchable(directory).unwrap_or(true));
        let message = if cannot_enter {
            writer
                .messages()
                .errno(b"Failed to change directory", errno)
        } else {
            writer.messages().file(self.name(), errno)
        };
        // GNU find's child says it: the exit status does not tell.
        writer.message(&message);
    }
}
