//! What these tests share beyond testkit.

#![allow(dead_code)] // Each test program uses a part.

pub(crate) mod draw;
pub(crate) mod effects;
pub(crate) mod zoo;

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
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

/// The program says that it does not support a word of the language yet.
pub(crate) fn lacks(place: &Place, word: &str) -> bool {
    let answer = place.run([word, "missing", word]);
    String::from_utf8_lossy(&answer.stderr).contains("not supported yet")
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

/// Files that are larger are not looked into.
const SMALL: u64 = 1 << 20;

/// All that is below a directory, a line each: path, mode, links, size and what is in it.
pub(crate) fn contents(directory: &Path) -> Vec<u8> {
    let mut lines = Vec::new();
    describe(directory, &mut lines);
    lines.sort_unstable();
    lines.concat()
}

fn describe(directory: &Path, lines: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let mut line = path.as_os_str().as_bytes().escape_ascii().to_string();
        let _ = write!(line, " {:o} {}", metadata.mode(), metadata.nlink());
        if metadata.is_file() {
            let _ = write!(line, " {}", metadata.len());
            if metadata.len() < SMALL {
                let bytes = fs::read(&path).unwrap();
                let _ = write!(line, ": {}", bytes.escape_ascii());
            }
        }
        lines.push((line + "\n").into_bytes());
        if metadata.is_dir() {
            describe(&path, lines);
        }
    }
}
