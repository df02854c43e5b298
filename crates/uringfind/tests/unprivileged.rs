//! An ordinary user in trees that he may not read: the same files, the same messages, in the same
//! places.

mod common;

use common::{place, words};
use testkit::or_skip;
use testkit::oracle::{LOCALES, NOBODY, gnu_find};
use testkit::skip::needs_root;

#[test]
fn unreadable_trees() {
    or_skip!(gnu_find());
    or_skip!(needs_root("another user"));
    let mut place = place();
    for parent in ["t/none", "t/read", "t/search", "t/all"] {
        for name in ["f", "g.c", "d/inner", "e/inner.c"] {
            place.file(format!("{parent}/{name}"), 600);
        }
        std::os::unix::fs::symlink("f", place.path().join(parent).join("l")).unwrap();
    }
    place.mode("t/none", 0o700);
    place.mode("t/read", 0o744);
    place.mode("t/search", 0o711);
    place.mode("t/all/d", 0o700);
    place.mode("t/all/e", 0o744);
    place.user = Some(NOBODY);
    for line in [
        "t",
        "t/none t/read t/search t/all",
        "t/read/d t/read/f t/none/f t/search/f t/search/d",
        "t/read/",
        "t -type f",
        "t -type d",
        "t -type d -print -o -name f -print",
        "t ! -type d",
        "t -size +0",
        "t -size +0 -size -5",
        "t ! -size +0",
        "t -print -size +0 -print",
        "t -size +0 -name no",
        "t -size +0 ! -name no",
        "t -size +0 ( -name f -o -name g.c )",
        "t ( -name f -size 2 ) -o ( -size 3 -name g.c )",
        "t ( -name x* -size 1 ) -newer t",
        "t -newer t ( -name x* -size 1 )",
        "t -size +100 , -name f",
        "t -name f , -size +100",
        "t -size +0 -type l",
        "t -size +0 -o -type l",
        "t -newer t/all",
        "t -newer t/none/f",
        "t -prune",
        "t ! -name read ! -name t -prune",
        "t ! -name read ! -name t -prune -print -o -print",
        "t -name d -prune -o -print",
        "t -name d -prune",
        "t -name d -quit",
        "t -name d -print -quit",
        "t -name f -size +0 -print -quit",
        "t -path t/read/* -print -quit",
        "t -maxdepth 0",
        "t -maxdepth 1",
        "t -maxdepth 2",
        "t -mindepth 2",
        "t -mindepth 3",
        "t -mindepth 3 -maxdepth 2",
        "t -maxdepth 2 -mindepth 3 -size 1",
        "t -mindepth 2 -size +0 -name f",
        "-O0 t -size +0 -type f -name no",
        "-O1 t -size +0 -type l -name f",
        "-O3 t -size +0 -newer t -name f",
    ] {
        for locale in LOCALES {
            place.locale = locale;
            place.compare(words(line));
            place.compare_merged(words(line));
        }
    }
}

#[test]
fn an_unreadable_working_directory() {
    or_skip!(gnu_find());
    or_skip!(needs_root("another user"));
    let mut place = place();
    place.file("f", 1);
    place.file("d/f", 1);
    place.user = Some(NOBODY);
    place.mode("", 0o711);
    for line in ["", ". d", "d f", "../w"] {
        place.compare(words(line));
    }
}
