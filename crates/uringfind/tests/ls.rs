//! `-ls` and `-fls`: GNU find's columns, which grow while it runs.

mod common;

use std::os::unix::fs::symlink;
use std::path::Path;

use common::{place, words, zoo};
use testkit::or_skip;
use testkit::oracle::{LOCALES, NOBODY, gnu_find};
use testkit::skip::needs_root;

#[test]
fn every_kind_of_file() {
    or_skip!(gnu_find());
    let mut place = place();
    zoo::fill(&place);
    for locale in LOCALES {
        place.locale = locale;
        for line in [
            "t -ls",
            "-H t/link -ls",
            "t/names t/modes -ls",
            "t -type f -ls -o -type l -ls",
            "t -ls -ls",
            "t -ls -print",
            "t -name sparse -ls -o -name f -ls",
            "t/sparse t/f t/sparse t -maxdepth 1 -ls",
            "none t -ls",
            "/dev -maxdepth 1 -ls",
        ] {
            place.compare(words(line));
        }
        place.compare_merged(words("t none t/d -ls"));
    }
    for zone in ["America/New_York", "Asia/Kolkata"] {
        let case = place.case(words("t -ls")).env("TZ", zone);
        case.assert_like_find(place.program());
    }
    let case = place.case(words("t -ls")).env("POSIXLY_CORRECT", "1");
    case.assert_like_find(place.program());
}

#[test]
fn links_that_are_followed() {
    or_skip!(gnu_find());
    let place = place();
    zoo::fill(&place);
    std::fs::remove_file(place.path().join("t/through a file")).unwrap();
    place.compare(words("-L t -ls"));
}

/// Widths depend on all lines before, and those come from many threads.
#[test]
fn columns_grow_in_order() {
    or_skip!(gnu_find());
    let place = place();
    let mut size = 1_u64;
    for number in 0..300 {
        place.file(format!("t/{}/{number}", number % 17), size);
        size = (size * 3) % 99_999_999_989;
    }
    place.compare(words("t -ls"));
    place.compare(words("t -name *1 -ls -o -ls"));
}

#[test]
fn links_that_cannot_be_read() {
    or_skip!(gnu_find());
    or_skip!(needs_root("another user"));
    let mut place = place();
    place.directory("t");
    symlink("x", place.path().join("t/l")).unwrap();
    place.user = Some(NOBODY);
    if Path::new("/proc/1/exe").symlink_metadata().is_ok() {
        for line in [
            "/proc/1/exe -ls",
            "/proc/1/exe -printf %l,%Y\\n",
            "/proc/1/exe t -printf %p->%9l,%l\\n",
            "/proc/1/exe t -printf %p\\t>\\ta%%b%l%d%zx%l\\n",
            "/proc/1/cwd t -ls",
        ] {
            place.compare_merged(words(line));
            place.compare(words(line));
        }
    }
}
