//! On a terminal: names without control characters, warnings without `-warn`.

mod common;

use std::os::unix::fs::symlink;
use std::path::Path;

use common::{bytes, on_terminal, place, words};
use testkit::or_skip;
use testkit::oracle::{FIND, LOCALES, gnu_find};

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
            let gnu = on_terminal(&case, Path::new(FIND));
            case.assert_same(&gnu, &on_terminal(&case, &place.program()));
        }
    }
}
