//! What is found, and in which order: as GNU find.

mod common;

use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use common::{bytes, place, words};
use testkit::or_skip;
use testkit::oracle::{Place, gnu_find};

fn tree() -> Place {
    let place = place();
    for (name, size) in [
        ("t/a/1", 0),
        ("t/a/2", 1),
        ("t/a/b/3", 511),
        ("t/a/b/4", 512),
        ("t/c/5", 513),
        ("t/c/x.c", 1024),
        ("t/6", 1025),
    ] {
        place.file(name, size);
    }
    place.file("t/large", (1 << 30) + 1);
    place.directory("t/empty");
    symlink("a", place.path().join("t/link")).unwrap();
    symlink("nowhere", place.path().join("t/dangling")).unwrap();
    symlink("t", place.path().join("l")).unwrap();
    place.file("f", 7);
    place
}

#[test]
fn starting_points() {
    or_skip!(gnu_find());
    let place = tree();
    for line in [
        "",
        ".",
        "./",
        ".//",
        "t",
        "t/",
        "t//",
        "t t",
        "t f",
        "f t/a f",
        "l",
        "l/",
        "l//",
        "l/a",
        "t/a/..",
        "f/",
        "none",
        "none t none/ t/none",
        "t/6/x t",
        "- t",
        "t/dangling",
        "t/dangling/",
        "../w/t",
        "./t/../f",
    ] {
        place.compare_in_all_locales(words(line));
    }
    for line in [
        "/ -maxdepth 0 -name /",
        "// -maxdepth 0 -name /",
        "/ -maxdepth 0 -path /",
        "t/ -maxdepth 1 -name t",
    ] {
        place.compare(words(line));
    }
    let root = place.path().into_os_string();
    place.compare([&root]);
    place.compare(&[bytes(b""), bytes(b"t"), bytes(b"")]);
    place.compare_merged(&[bytes(b""), bytes(b"t"), bytes(b"none"), bytes(b"f")]);
}

#[test]
fn tests_and_actions() {
    or_skip!(gnu_find());
    let place = tree();
    let old = SystemTime::now() - Duration::from_hours(24 * 200);
    place.file("t/old", 5).set_modified(old).unwrap();
    place
        .file("t/older", 5)
        .set_modified(old - Duration::from_nanos(1))
        .unwrap();
    for line in [
        "t -type f",
        "t -type d,l",
        "t -type b,c,d,f,l,p,s",
        "t ! -type f",
        "t -name *.c",
        "t -name [ab]",
        "t -name ?",
        "t -name \\[",
        "t -path t/a*",
        "t -path *b*",
        "t -wholename t",
        "t -size 0",
        "t -size 1",
        "t -size -1",
        "t -size +1",
        "t -size 2b",
        "t -size 513c",
        "t -size +1k",
        "t -size -1M",
        "t -size 1M",
        "t -size +1G",
        "t -size 2G",
        "t -size 256w",
        "t -size ++0",
        "t -size +0 -name 5",
        "t -size +0 , -name 5",
        "t -name 5 , -size +0",
        "t ( -size +100 -o -name 1 ) , -type d",
        "t -newer t/old",
        "t -newer t/older",
        "t -newer t/link",
        "t ! -newer t/old -print0",
        "t -mindepth 1",
        "t -mindepth 2 -maxdepth 2",
        "t -mindepth 3 -maxdepth 1",
        "t -maxdepth 0",
        "t f -maxdepth 1 -mindepth 1",
        "t -name a -prune",
        "t -name a -prune -o -print",
        "t -name a -prune -false -o -print",
        "t -prune",
        "t -type f -prune -o -name c -prune -o -print",
        "t -mindepth 1 -prune",
        "t -name b -quit",
        "t -name b -print -quit",
        "t -print -name b -quit -print",
        "t -quit",
        "t -print -quit , -print",
        "t f -name f -print -quit -o -print",
        "t ! -quit -o -print",
        "t -print -print0",
        "t -true",
        "t -false",
        "t -not -false",
        "t ! ! -name a",
        "t -false -o -true -a -false , -name c",
        "t -name a -o -name b -a -name c -o -name 5",
        "t ( -name a -o -name b ) -print -o -name c -print",
        "t ( -name a , -name b )",
        "t -print , -print",
        "t -maxdepth 1 -print -o -true",
        "-O0 t -size +0 -name 5 -type f",
        "-O1 t -size +0 -name 5 -type f",
        "-O3 t -size +0 ! -name 5 -type f",
    ] {
        place.compare(words(line));
        place.compare_merged(words(line));
    }
}

#[test]
fn odd_names() {
    or_skip!(gnu_find());
    let place = place();
    let names: &[&[u8]] = &[
        b"\xff",
        b"\xc3\xa9",
        b"\xc3",
        b"new\nline",
        b"-dash",
        b"sp ace",
        b"*",
        b"[",
        b"\\",
        b"'",
        b"\xe2\x80\x99",
        b"(",
        b")",
        b"!",
        b",",
        b"\x01",
        b".hidden",
        b"~",
    ];
    for name in names {
        place.file(bytes(&[b"t/", *name].concat()), 1);
    }
    let long = [b'n'; 255];
    place.file(bytes(&[b"t/d/".as_slice(), &long].concat()), 1);
    place.compare_in_all_locales(words("t"));
    place.compare_in_all_locales(words("t -print0"));
    for pattern in [
        &b"?"[..],
        b"??",
        b"*\xa9",
        b"\xc3*",
        b"\xc3\xa9",
        b"*\xff*",
        b"[\xc3]",
        b"[[:print:]]",
        b"\\*",
        b"\\[",
        b"[[]",
        b".*",
        b"\\",
    ] {
        place.compare_in_all_locales(&[bytes(b"t"), bytes(b"-name"), bytes(pattern)]);
        let path = [b"t/", pattern].concat();
        place.compare_in_all_locales(&[bytes(b"t"), bytes(b"-path"), bytes(&path)]);
    }
    for name in names {
        place.compare_in_all_locales(&[bytes(&[b"t/missing ", *name].concat())]);
    }
}

#[test]
fn deep_and_wide() {
    or_skip!(gnu_find());
    let place = place();
    let mut path = String::from("deep");
    for _ in 0..200 {
        path.push_str("/d");
    }
    place.directory(&path);
    for number in 0..3000 {
        place.file(format!("wide/{}/{number}", number % 50), number);
    }
    for line in [
        "deep wide",
        "wide -size -2",
        "wide -type d",
        "deep -name d -prune",
        "wide -name *99 -print -quit",
    ] {
        place.compare(words(line));
    }
}

/// From 10,000 entries on, GNU find sorts a directory by inode on most file systems.
#[test]
fn huge_directories() {
    or_skip!(gnu_find());
    let place = place();
    for number in 0..10_050 {
        place.file(format!("t/{number}"), number % 2);
        if number % 1000 == 0 {
            place.file(format!("t/d{number}/inner"), 0);
        }
    }
    for line in [
        "t",
        "t -size 0",
        "t -name d* -prune -o -print",
        "t -name 77 -print -quit",
    ] {
        place.compare(words(line));
    }
}

#[test]
fn deeply_nested_expressions() {
    or_skip!(gnu_find());
    let place = tree();
    let mut line = words("t");
    for _ in 0..130 {
        line.extend(words("! ( -name nothing -o"));
    }
    line.extend(words("-size 1"));
    line.extend(vec![bytes(b")"); 130]);
    place.compare(&line);
}
