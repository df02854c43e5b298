//! What cannot be run, and what is warned of: the same words as GNU find's.

mod common;

use common::{bytes, place, words};
use testkit::or_skip;
use testkit::oracle::gnu_find;

const LINES: &[&str] = &[
    // Operators without operands.
    "t -a",
    "t -and -true",
    "t -o -true",
    "t -true -o",
    "t -true -or",
    "t -true -a",
    "t -true ,",
    "t , -true",
    "-true -a -a -true",
    "t !",
    "t -not",
    "t ! -a -true",
    "t ! ! -o",
    "t -print -a",
    "t -print !",
    "t -print -not -not",
    "t -print ,",
    "t -print -o -print -o",
    // Parentheses.
    "t (",
    "t ( )",
    "t ( ( ) )",
    "t ( -true",
    "t ( -true -a )",
    "t ( -true -o ) -true",
    "t ( ! )",
    "t ( -a -true )",
    "t ( -true ) )",
    "t -true )",
    "t -true ) )",
    "t -print )",
    "t -print ( -true",
    "t -print (",
    "t -print ( )",
    "t -print ( -true ) )",
    "t ( ( -true )",
    "t -( -true -) -maxdepth 0",
    "t ! )",
    "t )",
    ")",
    ",",
    "t ( , )",
    // Unknown and misplaced words.
    "t -foo",
    "t --",
    "-- -x",
    "-- --",
    "t -P",
    "t -H",
    "t --name x",
    "t ---help",
    "t -nam",
    "t -NAME x",
    "t -newerxy",
    "t -newermx t",
    "t -newertm t",
    "t -newer",
    "t ---noop",
    "t -noop",
    "t -name x y",
    "t -name x t",
    "t -maxdepth 0 t",
    "t ( t )",
    "t -true -",
    "t -true (2",
    "t -true )x",
    "t -true !x",
    "-true t u",
    // Arguments.
    "t -name",
    "t -path",
    "t -wholename",
    "t -type",
    "t -size",
    "t -maxdepth",
    "t -mindepth",
    "-maxdepth",
    "t -type x",
    "t -type D",
    "t -type f,",
    "t -type ,",
    "t -type fd",
    "t -type f,f",
    "t -type f,,d",
    "t -type f,D",
    "t -type d,x",
    "t -size x",
    "t -size 5x",
    "t -size c",
    "t -size +",
    "t -size -k",
    "t -size x5k",
    "t -size +-5",
    "t -size --5",
    "t -size 5kk",
    "t -size 1.5M",
    "t -size 0x10",
    "t -size 18446744073709551616",
    "t -size 18446744073709551615c",
    "t -maxdepth x",
    "t -maxdepth +1",
    "t -maxdepth -1",
    "t -maxdepth 1x",
    "t -mindepth -1",
    "t -mindepth 2147483648",
    "t -maxdepth 9223372036854775807",
    "t -maxdepth 9223372036854775808",
    "t -maxdepth 00000000000000000000000001 -maxdepth 0",
    "t -newer nothing-there",
    "t -newer t/",
    "t -maxdepth 1 -type f -size 1 -foo",
    // The level of reordering.
    "-O",
    "-Ox",
    "-O1x t",
    "-O99999 t",
    "-O99999999999999999999999 t",
    "-O0 t -maxdepth 0",
    // Warnings.
    "t -warn -name a/b -maxdepth 0",
    "t -warn -name x -maxdepth 0 -mindepth 0",
    "t -warn -name x -nowarn -maxdepth 0",
    "t -warn ( -maxdepth 0 )",
    "t -warn -maxdepth 0 -name x/ -foo",
    "t -maxdepth 0 -path x/",
    "t -maxdepth 0 -path t/",
    "t/ -maxdepth 0 -path t/",
    "t/ -maxdepth 0 -path *t/",
    "-maxdepth 0 -path ./",
    "t -nowarn -maxdepth 0 -wholename x/",
    "t -warn -false -maxdepth 0",
];

#[test]
fn messages_are_gnus() {
    or_skip!(gnu_find());
    let place = place();
    place.file("t/x", 3);
    assert!(LINES.len() >= 60);
    for line in LINES {
        place.compare_in_all_locales(words(line));
    }
}

#[test]
fn arguments_that_are_no_words() {
    or_skip!(gnu_find());
    let place = place();
    place.file("t/x", 3);
    let odd: &[&[u8]] = &[
        b"",
        b" ",
        b" 5",
        b"5 ",
        b"\n",
        b"\xff",
        b"\xc3\xa9",
        b"\xc3",
        b"a\xe2\x80b",
        b"\xe2\x80\x98\xe2\x80\x99",
        b"it's",
        b"back\\slash",
        b"\x01\x7f\t\x1b[1m",
        b"\xe2\x80\xa8\xc2\x85\xf0\x9f\x98\x80\xcc\x81",
    ];
    for argument in odd {
        let argument = bytes(argument);
        for name in [
            "-name",
            "-path",
            "-type",
            "-size",
            "-maxdepth",
            "-mindepth",
            "-newer",
        ] {
            place.compare_in_all_locales(&[bytes(b"t"), name.into(), argument.clone()]);
        }
        place.compare_in_all_locales(&[argument.clone(), "-maxdepth".into(), "0".into()]);
        place.compare_in_all_locales(&[bytes(b"t"), "-true".into(), argument.clone()]);
        place.compare_in_all_locales(&[bytes(&[b"-", argument.as_encoded_bytes()].concat())]);
        place.compare_in_all_locales(&[
            "t".into(),
            bytes(&[b"-", argument.as_encoded_bytes()].concat()),
        ]);
    }
}

#[test]
fn the_environment_switches_warnings_off() {
    or_skip!(gnu_find());
    let place = place();
    place.file("t/x", 3);
    for (name, line) in [
        ("POSIXLY_CORRECT", "t -warn -name a/b -path x/ -maxdepth 0"),
        ("FIND_BLOCK_SIZE", "t"),
        ("FIND_BLOCK_SIZE", "--help"),
    ] {
        let case = place.case(words(line)).env(name, "1");
        case.assert_like_find(place.program());
    }
}

#[test]
fn own_options() {
    let place = place();
    place.file("t/x", 3);
    let run = |line: &str| place.run(words(line));
    for good in ["-j 1 t", "-j2 t", "t -j 3", "t -j4 -print", "-P -j 2 -- t"] {
        assert_eq!(run(good).stdout, b"t\nt/x\n", "{good}");
        assert_eq!(run(good).status.code(), Some(0), "{good}");
    }
    for bad in ["-j", "-j 0 t", "-jx t", "t -j", "t -j -1", "t -j0"] {
        let output = run(bad);
        assert_eq!(output.status.code(), Some(1), "{bad}");
        assert!(output.stdout.is_empty(), "{bad}");
        assert!(output.stderr.starts_with(b"find: "), "{bad}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr).lines().count(),
            1,
            "{bad}"
        );
    }
    for (line, start) in [
        ("--help", "Usage: find "),
        ("-version", "uringfind "),
        ("t -false --version", "uringfind "),
    ] {
        assert!(run(line).stdout.starts_with(start.as_bytes()), "{line}");
        assert_eq!(run(line).status.code(), Some(0));
    }
    let output = place.answer(&place.case(["t"]).env("RINGFS_BACKEND", "nonsense"));
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty() && output.stderr.starts_with(b"find: "));
}
