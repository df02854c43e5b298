//! On a terminal: names without control characters, warnings without `-warn`.

mod common;

use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use common::{bytes, place, words};
use testkit::or_skip;
use testkit::oracle::{Answer, Case, FIND, LOCALES, gnu_find};
use testkit::stdio::terminal;

fn show(case: &Case, program: &Path) -> Answer {
    let (mut master, slave) = terminal().expect("openpty");
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
    symlink("\x1b\u{e9}", place.path().join("t/link")).unwrap();
    for locale in LOCALES {
        place.locale = locale;
        for line in [
            "t",
            "t -print0",
            "t -ls",
            "t -printf %p|%f|%h|%H|%P|%20p|%.9p|%-9.4f|%%\\n",
            "t -type l -printf %l|%9l|%y|%s|%t|\\n",
            "t -fprint /dev/stdout -fprintf /dev/stderr %p\\n -fprint0 /dev/stderr",
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
