//! find(1) in parallel: GNU find's language, its bytes and its order, on the walker of `ringwalk`.
//!
//! The way of a command line through this crate:
//!
//! 1. `options` takes what stands before the starting points; `parse` turns the rest into tokens
//!    by one table of primaries (`primary`, one file each) and the tokens into a typed expression
//!    (`expr`).
//! 2. `order` arranges the expression as GNU does, because that decides which files are stat'ed,
//!    and so which errors can appear.
//! 3. The walker visits files on its workers. For each one the expression first tells what it may
//!    need to know of it (`expr::Expr::foresee`), then is evaluated; output and messages go to a
//!    segment (`output`).
//! 4. Segments come back in find's order and are written by one writer (`writer`), so standard
//!    output and standard error keep their places relative to each other.
//!
//! Where the expression runs commands or changes files, 3 and 4 are done for one file after the other,
//! on one thread.
//!
//! The library exists for the program and its tests; its one entry point is [`main()`].

#![forbid(unsafe_code)]

mod dates;
mod debug;
mod errno;
mod estimate;
mod exec;
mod expr;
mod failure;
mod file;
mod files;
mod format;
mod fs_type;
mod help;
mod hint;
mod listing;
mod message;
mod names;
mod options;
mod order;
mod output;
mod parse;
mod path;
mod pattern;
mod primary;
mod quote;
mod receiver;
mod regex;
mod run;
mod window;
mod writer;

#[doc(hidden)]
pub use primary::{Doc, InBfs, Section, Word, words};

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use crate::message::Messages;
use crate::options::Environment;
use crate::parse::Request;
use crate::writer::{Descriptors, Writer};

/// Runs find with the arguments of the process, the program's name first, and gives its exit
/// status: 0 if all went well, 1 if there was any error.
///
/// It owns the process: it restores SIGPIPE, takes the locale from the environment and writes to
/// descriptors 1 and 2. Call it at once from `main`.
#[must_use]
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    hostproc::startup::restore();
    let mut arguments = arguments.into_iter();
    let program = arguments.next().unwrap_or_else(|| OsString::from("find"));
    let arguments: Vec<Vec<u8>> = arguments
        .map(|argument| argument.as_bytes().to_vec())
        .collect();

    // GNU find reads this one before it sets the locale; the message quotes nothing, so the order
    // does not show.
    hostproc::locale::init();
    let messages = Messages::new(program.as_bytes());
    let mut writer = Writer::new(Descriptors, messages.clone());

    let parsed = parse::parse(&arguments, Environment::of_process());
    for warning in &parsed.warnings {
        writer.message(&messages.plain(warning));
    }
    let status = match parsed.request {
        Ok(Request::Find(plan)) => return ExitCode::from(run::run(*plan, &messages, writer)),
        Ok(Request::Help) => {
            writer.output(&help::help(program.as_bytes()));
            writer.finish()
        }
        Ok(Request::DebugHelp) => {
            writer.output(debug::TEXT.as_bytes());
            writer.finish()
        }
        Ok(Request::Version) => {
            writer.output(help::VERSION.as_bytes());
            writer.finish()
        }
        Err(failure) => {
            for message in failure.messages(&messages) {
                writer.message(&message);
            }
            if std::io::stderr().is_terminal()
                && let Some(word) = failure.unknown_word
                && let Some(hint) = hint::hint(program.as_bytes(), &arguments, word)
            {
                writer.message(&messages.plain(&hint));
            }
            writer.fail();
            writer.finish()
        }
    };
    ExitCode::from(status)
}

/// Whether descriptor 1 is a terminal, where names are shown without control characters.
fn output_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}
