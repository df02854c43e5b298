//! On a terminal: names without control characters, warnings without `-warn`.

mod common;

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::process::Output;

use common::{bytes, place, words};
use testkit::or_skip;
use testkit::oracle::{Answer, Case, FIND, LOCALES, gnu_find};

/// A pseudo-terminal: what is written to the second comes out of the first.
fn terminal() -> (File, OwnedFd) {
    let (mut master, mut slave) = (-1, -1);
    let null = std::ptr::null_mut::<()>();
    // SAFETY: both descriptors are valid for writes; name, settings and size may be null.
    let result = unsafe {
        libc::openpty(
            &raw mut master,
            &raw mut slave,
            null.cast(),
            null.cast(),
            null.cast(),
        )
    };
    assert_eq!(result, 0, "openpty");
    // SAFETY: openpty succeeded, so this is an open descriptor that nobody else owns.
    let master = unsafe { File::from_raw_fd(master) };
    // SAFETY: as above.
    let slave = unsafe { OwnedFd::from_raw_fd(slave) };
    (master, slave)
}

fn show(case: &Case, program: &Path) -> Answer {
    let (mut master, slave) = terminal();
    let mut command = case.command(program);
    command.stdout(slave.try_clone().unwrap()).stdin(slave);
    let child = command
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(command);
    // Reading fails with EIO once all of it is read and the other side is closed.
    let mut stdout = Vec::new();
    let _ = master.read_to_end(&mut stdout);
    Answer::from(Output {
        stdout,
        ..child.wait_with_output().unwrap()
    })
}

#[test]
fn names_and_warnings() {
    or_skip!(gnu_find());
    let mut place = place();
    for name in [
        &b"a\nb"[..],
        b"\xff",
        b"\xc3\xa9",
        b"\xc3",
        b"\x1b[1m",
        b"\xe2\x80\xa8",
        b"\xf0\x9f\x98\x80",
        b"e\xcc\x81",
    ] {
        place.file(bytes(&[b"t/", name, b"/sub"].concat()), 1);
    }
    for locale in LOCALES {
        place.locale = locale;
        for line in [
            "t",
            "t -print0",
            "t -maxdepth 1 -name a/b",
            "t -nowarn -name a/b",
            "t -name x -maxdepth 0",
            "t none",
            "t -foo",
        ] {
            let case = place.case(words(line));
            let gnu = show(&case, Path::new(FIND));
            case.assert_same(&gnu, &show(&case, &place.program()));
        }
    }
}
