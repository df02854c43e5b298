//! Where output goes and what happens when it cannot.

mod common;

use std::fs::OpenOptions;
use std::io::{Read, pipe};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use common::{place, words};
use testkit::or_skip;
use testkit::oracle::{Answer, FIND, LOCALES, Place, gnu_find};
use testkit::process::LIMIT;
use testkit::stdio::{close, ignore_sigpipe};

/// A tree whose list of names is longer than any buffer.
fn tree() -> Place {
    let place = place();
    for number in 0..2000 {
        place.file(format!("t/{}/{number}{}", number % 7, "x".repeat(100)), 0);
    }
    place
}

/// Runs both programs with what `change` does to them and compares.
fn compare(place: &Place, line: &str, change: impl Fn(&mut Command)) {
    let _deadline = testkit::deadline(2 * LIMIT);
    let case = place.case(words(line));
    let run = |program: &Path| {
        let mut command = case.command(program);
        change(&mut command);
        Answer::from(command.output().unwrap())
    };
    case.assert_same(&run(Path::new(FIND)), &run(&place.program()));
}

const LINES: &[&str] = &[
    "t",
    "t -name nothing",
    "none t",
    "t none",
    "t/0 -maxdepth 0 -print -quit",
    "t -foo",
    "t/6 none",
];

#[test]
fn a_full_device() {
    or_skip!(gnu_find());
    let mut place = tree();
    for locale in LOCALES {
        place.locale = locale;
        for line in LINES {
            compare(&place, line, |command| {
                command.stdout(OpenOptions::new().write(true).open("/dev/full").unwrap());
            });
        }
    }
}

#[test]
fn standard_error_on_a_full_device() {
    or_skip!(gnu_find());
    let place = tree();
    for line in [
        "t/0 -maxdepth 0 -path x/",
        "none",
        "t/0 -maxdepth 0",
        "-foo",
    ] {
        compare(&place, line, |command| {
            command.stderr(OpenOptions::new().write(true).open("/dev/full").unwrap());
        });
    }
}

#[test]
fn closed_descriptors() {
    or_skip!(gnu_find());
    let place = tree();
    for line in LINES {
        for fd in 0..3 {
            compare(&place, line, |command| close(command, fd));
        }
        compare(&place, line, |command| {
            close(command, 0);
            close(command, 1);
            close(command, 2);
        });
    }
}

#[test]
fn output_that_cannot_be_written_to() {
    or_skip!(gnu_find());
    let place = tree();
    for line in LINES {
        compare(&place, line, |command| {
            command.stdout(OpenOptions::new().read(true).open("/dev/null").unwrap());
        });
    }
}

#[test]
fn a_reader_that_goes_away() {
    let place = tree();
    let (mut reader, writer) = pipe().unwrap();
    let case = place.case(words("t t t t t t t t"));
    let mut command = case.command(place.program());
    command.stdout(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    reader.read_exact(&mut [0; 10]).unwrap();
    drop(reader);
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGPIPE));
}

#[test]
fn an_ignored_sigpipe_stays_ignored() {
    or_skip!(gnu_find());
    let place = tree();
    for line in LINES {
        compare(&place, line, |command| {
            let (reader, writer) = pipe().unwrap();
            drop(reader);
            ignore_sigpipe(command.stdout(writer));
        });
    }
}

#[test]
fn messages_keep_their_place() {
    or_skip!(gnu_find());
    let place = tree();
    place.compare_merged(words("t/1 none t/2 none/ t/3 t/1/none"));
}
