//! On a terminal: names without control characters, warnings without `-warn`.

mod common;

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
            let gnu = on_terminal(&case, Path::new(FIND));
            case.assert_same(&gnu, &on_terminal(&case, &place.program()));
        }
    }
}
