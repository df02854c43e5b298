//! Checks that need a compiler of their own kind, and pages that are made, as `cargo xtask COMMAND`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use lexopt::prelude::*;

mod asan;
mod docs;
mod fuzz;
mod loom;
mod step;
mod toolchain;

const HELP: &str = "\
Usage: cargo xtask COMMAND

Commands:
  loom                the thread pool in every order of events
  fuzz [--seconds N]  the parser of directory entries on made-up bytes, for 20 seconds
  asan                the tests of drops, faults and crowds under AddressSanitizer
  docs                write find-compat.md, uringfind's man page and its completions

What cannot be done on this machine is printed as `skipped: NAME: REASON`.
";

enum Command {
    Loom,
    Fuzz { seconds: u32 },
    Asan,
    Docs,
}

fn main() -> ExitCode {
    let command = match command() {
        Ok(Some(command)) => command,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("xtask: {error}; try `cargo xtask --help`");
            return ExitCode::from(2);
        }
    };
    let result = match command {
        Command::Loom => loom::run(),
        Command::Fuzz { seconds } => fuzz::run(seconds),
        Command::Asan => asan::run(),
        Command::Docs => docs::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// `None` where help was asked for.
fn command() -> Result<Option<Command>, lexopt::Error> {
    let mut parser = lexopt::Parser::from_env();
    let mut command = None;
    while let Some(arg) = parser.next()? {
        command = Some(match (arg, command) {
            (Short('h') | Long("help"), _) => return Ok(None),
            (Value(name), None) => match name.string()?.as_str() {
                "loom" => Command::Loom,
                "fuzz" => Command::Fuzz { seconds: 20 },
                "asan" => Command::Asan,
                "docs" => Command::Docs,
                name => return Err(format!("no command {name:?}").into()),
            },
            (Long("seconds"), Some(Command::Fuzz { .. })) => Command::Fuzz {
                seconds: parser.value()?.parse()?,
            },
            (arg, _) => return Err(arg.unexpected()),
        });
    }
    command.map(Some).ok_or_else(|| "no command".into())
}
