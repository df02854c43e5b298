//! Options that hold for the whole search.

mod common;

use std::io::{Read, Write};
use std::process::Stdio;

use common::{bytes, place, words};
use testkit::or_skip;
use testkit::oracle::{LOCALES, Place, gnu_find};

fn tree() -> Place {
    let place = place();
    for name in ["t/a/b/f", "t/a/g", "t/c", "u/x"] {
        place.file(name, 1);
    }
    place
}

#[test]
fn ways_through_the_tree() {
    or_skip!(gnu_find());
    let place = tree();
    for line in [
        "t -depth",
        "t u t -depth",
        "t -d",
        "t -warn -d",
        "t -warn -true -d",
        "t -warn -true -depth",
        "t -depth -maxdepth 0",
        "t -depth -maxdepth 1",
        "t -depth -mindepth 1",
        "t -depth -mindepth 2 -maxdepth 2",
        "t -depth -mindepth 3 -maxdepth 1",
        "t -depth -name a -prune -o -print",
        "t -depth -name g -quit",
        "t -depth -name g -print -quit",
        "t -depth -name a -print -quit",
        "t -depth -print0",
        "t -depth ( -type d -o -name f )",
        "t -depth none u",
        "t -xdev",
        "t -mount",
        "t -warn -true -mount",
        "/dev -maxdepth 2 -xdev -name s*",
        "/dev -maxdepth 2 -mount -type d",
        "/dev -maxdepth 1 -depth -xdev -type d",
        "t -noleaf",
        "t -warn -true -noleaf",
        "t -ignore_readdir_race",
        "t -noignore_readdir_race",
        "none t -ignore_readdir_race",
        "none t -ignore_readdir_race -noignore_readdir_race -size +0",
        "t -warn -true -follow -maxdepth 0",
        "t -depth -follow",
        "t ! -depth",
        "t -depth -o -name x",
        "t ( -xdev -o -false )",
    ] {
        place.compare_in_all_locales(words(line));
        place.compare_merged(words(line));
    }
    let case = place.case(words("t -mount -d")).env("POSIXLY_CORRECT", "1");
    case.assert_like_find(place.program());
}

#[test]
fn debugging() {
    or_skip!(gnu_find());
    let place = tree();
    for line in [
        "-D",
        "-D ,",
        "-D ,,, t",
        "-D foo t",
        "-D foo,bar t",
        "-D exec,foo -D baz t -depth",
        "-D exec t",
        "-L -D x -P t -Ox",
        "t -D exec",
        "-D x -Ox",
    ] {
        place.compare_in_all_locales(words(line));
    }
    for flags in ["tree", "opt", "rates", "search", "stat", "time", "all"] {
        let answer = place.run(["-D", flags, "t", "-maxdepth", "0"]);
        assert_eq!(
            (&*answer.stdout, &*answer.stderr),
            (&b"t\n"[..], &b""[..]),
            "{flags}"
        );
    }
    for line in ["-D help", "-D tree,help nonsense -foo", "-D help -Ox"] {
        let answer = place.run(words(line));
        assert!(answer.status.success() && answer.stdout.starts_with(b"Arguments of -D: "));
        assert!(answer.stderr.is_empty());
    }
    let answer = place.run(words("-D x,help"));
    assert!(answer.status.success() && answer.stderr.ends_with(b"\xe2\x80\x98x\xe2\x80\x99\n"));
}

/// A file of names, and what it is called.
fn names(place: &Place, name: &str, text: &[u8]) {
    place.file(name, 0).write_all(text).unwrap();
}

const NAMES: &[(&str, &[u8])] = &[
    ("n.some", b"t\0u\0"),
    ("n.open", b"t/a\0u"),
    ("n.none", b""),
    ("n.zero", b"\0"),
    ("n.zeros", b"t\0\0\0u/x\0\0\0t/a"),
    ("n.odd", b"-name\0!\0a\nb\0(\0t/\0\xff\0"),
    ("n.newline", b"t\nu\n"),
];

#[test]
fn starting_points_from_files() {
    or_skip!(gnu_find());
    let place = tree();
    for (name, text) in NAMES {
        names(&place, name, text);
        for rest in [
            "",
            "-depth",
            "-type f",
            "-maxdepth 0",
            "-name x -print -quit",
            "-quit",
            "-path t/ -size 5",
        ] {
            let line = format!("-files0-from {name} {rest}");
            place.compare_in_all_locales(words(&line));
            place.compare_merged(words(&line));
        }
    }
    for line in [
        "-files0-from",
        "-files0-from nosuch",
        "-files0-from t",
        "-files0-from t -name x",
        "t -files0-from n.some",
        "t u -files0-from nosuch",
        "-- -files0-from n.some",
        "-L -files0-from n.some",
        "-warn -true -files0-from n.some",
        "-files0-from n.none -files0-from n.some",
        "-files0-from n.some -foo",
        "-files0-from n.some -path t/",
    ] {
        place.compare_in_all_locales(words(line));
    }
    place.compare_in_all_locales(&[bytes(b"-files0-from"), bytes(b"")]);
    place.compare_in_all_locales(&[bytes(b"-files0-from"), bytes(b"it's \xff")]);
}

/// After any other message GNU find 4.9 names the wrong file here: the one of that message.
#[test]
fn empty_names_after_another_message() {
    let mut place = tree();
    place.locale = LOCALES[0];
    names(&place, "list", b"none\0\0u/x\0");
    let answer = place.run(words("-files0-from list"));
    assert_eq!(answer.stdout, b"u/x\n");
    assert_eq!(answer.status.code(), Some(1));
    let expected =
        "find: 'none': No such file or directory\nfind: 'list':2: invalid zero-length file name\n";
    assert_eq!(String::from_utf8_lossy(&answer.stderr), expected);
}

#[test]
fn starting_points_from_standard_input() {
    or_skip!(gnu_find());
    let place = tree();
    let many: Vec<u8> = (0..30_000).flat_map(|_| *b"u/x\0").collect();
    for (_, text) in NAMES.iter().chain(&[("", &many[..])]) {
        for file in ["-", "/dev/stdin"] {
            for locale in LOCALES {
                let case = place.case(["-files0-from", file]).locale(locale);
                case.stdin(*text).assert_like_find(place.program());
            }
        }
    }
    let case = place.case(["t", "-files0-from", "-"]);
    case.stdin("u").assert_like_find(place.program());
}

/// What a program names is searched while it goes on looking.
#[test]
fn starting_points_are_not_waited_for() {
    let place = tree();
    let mut command = place.case(["-files0-from", "-"]).command(place.program());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    for _ in 0..3 {
        stdin.write_all(b"u/x\0").unwrap();
        let mut line = [0; 4];
        stdout.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"u/x\n");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn closed_standard_input() {
    or_skip!(gnu_find());
    let place = tree();
    let run = |program: &std::path::Path| {
        let script = r#"exec "$0" -files0-from - <&-"#;
        let mut command = std::process::Command::new("sh");
        command
            .arg("-c")
            .arg(script)
            .arg(program)
            .env("LC_ALL", "C");
        let output = command.current_dir(place.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let message = stderr.split_once(": ").map(|(_, text)| text.to_owned());
        (output.stdout, message, output.status.code())
    };
    assert_eq!(run(&place.program()), run(std::path::Path::new("find")));
}
