//! What these tests share beyond testkit.

#![allow(dead_code)] // Each test program uses a part.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Output, Stdio};

use testkit::oracle::{Answer, Case, Place};
use testkit::stdio::terminal;

/// A place to run uringfind in, or another program, which `URINGFIND_PROGRAM` names.
pub(crate) fn place() -> Place {
    match std::env::var_os("URINGFIND_PROGRAM") {
        Some(program) => Place::new(program),
        None => Place::new(env!("CARGO_BIN_EXE_uringfind")),
    }
}

/// An argument of these bytes.
pub(crate) fn bytes(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// The arguments in `line`, separated by spaces.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    line.split(' ')
        .filter(|it| !it.is_empty())
        .map(|it| OsStr::from_bytes(it.as_bytes()).to_owned())
        .collect()
}

/// A program's answer to a case, with a terminal for input and output.
pub(crate) fn on_terminal(case: &Case, program: &Path) -> Answer {
    let (mut master, slave) = terminal().expect("openpty");
    let mut command = case.command(program);
    command.stdout(slave.try_clone().unwrap()).stdin(slave);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    // Reading fails with EIO once all of it is read and the other side is closed.
    let mut stdout = Vec::new();
    let _ = master.read_to_end(&mut stdout);
    Answer::from(Output {
        stdout,
        ..child.wait_with_output().unwrap()
    })
}
