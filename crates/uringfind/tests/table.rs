//! The table of words: whole, told of by `--help`, and asked when a word is misspelt.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{place, words};
use testkit::oracle::{LOCALES, Place};
use testkit::stdio::terminal;
use uringfind::{Section, Word};

/// What GNU find 4.9 understands.
const OF_GNU: &str = "\
    -amin -anewer -atime -cmin -cnewer -context -ctime -empty -executable -false -fstype -gid -group \
    -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -newerXY \
    -nogroup -nouser -path -perm -readable -regex -samefile -size -true -type -uid -used -user \
    -wholename -writable -xtype \
    -delete -exec -execdir -fls -fprint -fprint0 -fprintf -ls -ok -okdir -print -print0 -printf -prune \
    -quit \
    -d -daystart -depth -files0-from -follow -help --help -ignore_readdir_race -maxdepth -mindepth \
    -mount -noignore_readdir_race -noleaf -nowarn -regextype -version --version -warn -xdev \
    ( ) ! -not -a -and -o -or , \
    -H -L -P -D -O --";

#[test]
fn gnus_words_are_there_and_no_others_are_said_to_be() {
    let gnu: BTreeSet<_> = OF_GNU.split_whitespace().collect();
    let table = uringfind::words();
    let said = table.iter().filter(|word| word.doc.in_gnu);
    let said: BTreeSet<_> = said.map(|word| word.name.as_str()).collect();
    assert_eq!(gnu, said);
}

#[test]
fn help_names_every_word() {
    let output = place().run(["--help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    for word in here() {
        let form = format!("\n  {}", word.form());
        assert!(help.contains(&form), "{}", word.name);
    }
}

#[test]
fn words_that_are_here_are_understood() {
    let place = place();
    for word in here() {
        let output = match word.doc.section {
            Section::Leading => place.run([word.name.as_str()]),
            _ => place.run([".", word.name.as_str()]),
        };
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !stderr.contains("unknown predicate"),
            "{}: {stderr}",
            word.name
        );
        assert!(!stderr.contains("not supported"), "{}: {stderr}", word.name);
    }
}

#[test]
fn arguments_that_are_listed_are_accepted() {
    let place = place();
    for word in here() {
        for value in word.doc.values {
            let name = word.name.as_str();
            let output = match word.doc.section {
                Section::Leading => place.run([name, value, ".", "-maxdepth", "0"]),
                _ => place.run([".", "-maxdepth", "0", name, value]),
            };
            assert!(output.stderr.is_empty(), "{} {value}", word.name);
        }
    }
}

#[test]
fn every_word_has_a_line_and_its_test() {
    let mut missing = Vec::new();
    for word in here() {
        let (name, doc) = (&word.name, &word.doc);
        assert!(!doc.line.is_empty() && !doc.line.ends_with('.'), "{name}");
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let tests = tests.join(doc.tests).with_extension("rs");
        let text = fs::read_to_string(&tests).unwrap_or_default();
        if !mentions(&text, name) {
            missing.push(format!("{name} is not in {}", tests.display()));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Whether `text` has the word, and not just a longer one.
fn mentions(text: &str, name: &str) -> bool {
    // `-newerXY` is there with letters for X and Y.
    let name = name.trim_end_matches("XY");
    text.match_indices(name).any(|(at, _)| {
        let rest = &text[at + name.len()..];
        name == "-newer" || !rest.starts_with(|it: char| it.is_alphanumeric() || "-_".contains(it))
    })
}

fn here() -> Vec<Word> {
    let mut words = uringfind::words();
    words.retain(|word| word.doc.is_here);
    words
}

/// What `line` writes to standard error if that is a terminal.
fn on_terminal(place: &Place, line: &str) -> String {
    let (mut master, slave) = terminal().expect("openpty");
    let mut command: Command = place.case(words(line)).command(place.program());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(slave);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut text = Vec::new();
    // Reading fails with EIO once all of it is read and the other side is closed.
    let _ = master.read_to_end(&mut text);
    assert_eq!(child.wait().unwrap().code(), Some(1), "{line}");
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

#[test]
fn a_terminal_gets_a_hint() {
    let mut place = place();
    place.locale = LOCALES[1];
    for (line, expected) in [
        (
            ". -nmae *.c",
            "find: unknown predicate `-nmae'\n\
             find: did you mean -name?\n    find . -nmae '*.c'\n           ^~~~~\n",
        ),
        (
            "é -size 1 -pirnt",
            "find: unknown predicate `-pirnt'\n\
             find: did you mean -print?\n    find 'é' -size 1 -pirnt\n                     ^~~~~~\n",
        ),
        (
            ". -L",
            "find: unknown predicate `-L'\n\
             find: -L belongs in front of the starting points\n    find . -L\n           ^~\n",
        ),
        (". -qwertz", "find: unknown predicate `-qwertz'\n"),
    ] {
        assert_eq!(on_terminal(&place, line), expected, "{line}");
    }
}

#[test]
fn a_pipe_gets_gnus_line_alone() {
    for line in [". -nmae x", ". -warn -nmae x", ". -L"] {
        let output = place().run(words(line));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with("find: unknown predicate `-"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
