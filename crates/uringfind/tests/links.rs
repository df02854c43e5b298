//! `-H`, `-L` and `-follow`: links that lead somewhere, nowhere, and in circles.

mod common;

use std::os::unix::fs::symlink;

use common::{place, words};
use testkit::or_skip;
use testkit::oracle::{NOBODY, Place, gnu_find};
use testkit::skip::needs_root;

fn tree() -> Place {
    let place = place();
    for name in ["t/a/b/f", "t/a/g", "t/c/d/h", "u/x/y", "f"] {
        place.file(name, 600);
    }
    for (target, name) in [
        ("t", "l"),
        ("l", "ll"),
        ("t/", "lslash"),
        ("f", "lf"),
        ("nowhere", "lnowhere"),
        ("a", "t/link"),
        ("nowhere", "t/dangling"),
        ("loop", "t/loop"),
        ("one", "t/two"),
        ("two", "t/one"),
        ("a/g/x", "t/blocked"),
        ("..", "t/a/up"),
        ("../..", "t/a/b/top"),
        (".", "t/c/here"),
        ("../a/b", "t/c/across"),
        ("../../u", "t/c/out"),
        ("../../t", "u/x/back"),
        ("../../l", "u/x/backlink"),
    ] {
        symlink(target, place.path().join(name)).unwrap();
    }
    place
}

const ROOTS: &[&str] = &[
    "t",
    "t/",
    ".",
    "u",
    "l",
    "l/",
    "ll",
    "lslash",
    "lf",
    "lnowhere",
    "t/loop",
    "t/one",
    "t/dangling",
    "t/blocked",
    "t/c/here",
    "t/c/here/",
    "u/x/back",
    "t u l",
];

#[test]
fn every_start_in_every_way() {
    or_skip!(gnu_find());
    let place = tree();
    for root in ROOTS {
        for follow in ["-P", "-H", "-L"] {
            for rest in ["", "-depth", "-type l", "-size +0", "-maxdepth 1"] {
                place.compare_in_all_locales(words(&format!("{follow} {root} {rest}")));
            }
            place.compare_merged(words(&format!("{follow} {root}")));
        }
    }
}

#[test]
fn tests_of_followed_links() {
    or_skip!(gnu_find());
    let place = tree();
    for line in [
        "-L t -type f",
        "-L t -type d",
        "-L t -xtype l",
        "-L t -size 2",
        "-L t -size -2",
        "-L t -links 2",
        "-L t -empty",
        "-L t -newer t/a",
        "-L t -newer lnowhere",
        "-L t -newer lf",
        "-H t -newer lf",
        "t -newer lf",
        "t -newer t/loop",
        "-L t -newer t/loop",
        "t -newer lf -follow",
        "t -follow -newer lf",
        "-L t -name link -prune -o -print",
        "-L t -name up -prune",
        "-L t -mindepth 2",
        "-L t -mindepth 3 -maxdepth 3",
        "-L t -maxdepth 2 -depth",
        "-L t -name h -print -quit",
        "-L u -path *back* -type d",
        "-L t -xdev",
        "-L t -inum +0 -name blocked",
        "-L t -prune",
        "-L t u -quit",
        "t -follow -depth",
        "-P -L t -maxdepth 1",
        "-L -P t -maxdepth 1",
        "-L -H l -maxdepth 1",
        "-H -follow l",
        "l -follow -maxdepth 2",
        "l ( -follow -o -true ) -maxdepth 2",
    ] {
        place.compare(words(line));
        place.compare_merged(words(line));
    }
}

#[test]
fn links_into_what_cannot_be_searched() {
    or_skip!(gnu_find());
    or_skip!(needs_root("another user"));
    let mut place = tree();
    place.file("secret/inner/f", 3);
    for (target, name) in [
        ("../secret/inner", "t/s1"),
        ("../secret/inner/f", "t/s2"),
        ("../secret/nothing", "t/s3"),
        ("../secret", "t/s4"),
    ] {
        symlink(target, place.path().join(name)).unwrap();
    }
    place.mode("secret", 0o600);
    place.mode("u/x", 0o444);
    place.user = Some(NOBODY);
    for line in [
        "-L t",
        "-L t -depth",
        "-L t -type f",
        "-L t ! -type f",
        "-L t -size +0",
        "-L t -print -size +0",
        "-L t -xtype l",
        "-L t -inum +0",
        "-L t -mindepth 2",
        "-L t -maxdepth 1",
        "-L t -name s* -print -quit",
        "-L t -readable",
        "-L t -empty",
        "-L u",
        "-L t/s1 t/s2 t/s3 t/s4",
        "-H t/s1 t/s2 t/s3 t/s4",
        "t -xtype f",
        "t -xtype l",
        "u -type l",
        "u -inum +0",
        "u -inum +0 -name back",
        "u -size +0 -inum +0",
        "u -inum +0 -size +0",
        "u -samefile t",
        "u -links +0",
        "u -lname *",
        "u -perm /1",
        "u -user root",
        "u -nouser",
        "u -fstype tmpfs",
    ] {
        place.compare_in_all_locales(words(line));
        place.compare_merged(words(line));
    }
}
