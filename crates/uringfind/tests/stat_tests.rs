//! Tests of what a file is: owners, permissions, links, inodes, types, emptiness.

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::os::unix::net::UnixListener;

use common::{bytes, place, words};
use testkit::or_skip;
use testkit::oracle::{LOCALES, NOBODY, Place, gnu_find};
use testkit::skip::needs_root;

fn tree() -> Place {
    let place = place();
    for (name, size) in [("t/a/zero", 0), ("t/a/f", 5), ("t/README", 1), ("t/c", 1)] {
        place.file(name, size);
    }
    place.directory("t/empty");
    place.directory("t/full/empty");
    place.file("t/full/.hidden/x", 0);
    let at = |name: &str| place.path().join(name);
    fs::hard_link(at("t/a/f"), at("t/a/hard")).unwrap();
    fs::hard_link(at("t/a/f"), at("t/hard")).unwrap();
    for (target, name) in [
        ("a", "t/link"),
        ("a/f", "t/tofile"),
        ("nowhere", "t/dangling"),
        ("loop", "t/loop"),
        ("README/x", "t/blocked"),
        ("Nowhere/Else", "t/a/upper"),
    ] {
        symlink(target, at(name)).unwrap();
    }
    let _ = UnixListener::bind(at("t/socket"));
    for (name, mode) in [
        ("t/a/zero", 0o4755),
        ("t/a/f", 0o640),
        ("t/README", 0),
        ("t/c", 0o711),
        ("t/empty", 0o1777),
        ("t/full", 0o2750),
    ] {
        place.mode(name, mode);
    }
    place
}

#[test]
fn numbers() {
    or_skip!(gnu_find());
    let place = tree();
    let inode = fs::metadata(place.path().join("t/a/f")).unwrap().ino();
    let directory = fs::metadata(place.path().join("t/full")).unwrap().ino();
    for line in [
        format!("t -inum {inode}"),
        format!("t -inum +{inode}"),
        format!("t -inum -{inode} -type f"),
        format!("t -inum {directory}"),
        format!("-L t -inum {inode}"),
        format!("t/full -inum {directory}"),
        format!("t ! -inum {inode} -size +0"),
        format!("-O0 t -size 0 -inum {inode} -type f"),
    ] {
        place.compare(words(&line));
    }
    for word in ["-inum", "-links", "-uid", "-gid"] {
        for number in [
            "0",
            "1",
            "2",
            "3",
            "+0",
            "-1",
            "-5",
            "+1",
            "+ +1",
            "x",
            "",
            "1x",
            "-x",
            "+-1",
            "--1",
            "18446744073709551615",
            "18446744073709551616",
            "4294967296",
        ] {
            place.compare_in_all_locales(["t", word, number]);
        }
        place.compare(["t", word]);
        place.compare(["t", "-name", "x", word]);
    }
}

#[test]
fn owners() {
    or_skip!(gnu_find());
    let place = tree();
    if needs_root("files of others").is_ok() {
        for (name, uid, gid) in [
            ("t/a/zero", 1, 1),
            ("t/c", 4_123_456, 0),
            ("t/README", 0, 4_123_456),
            ("t/empty", NOBODY, NOBODY),
        ] {
            chown(place.path().join(name), Some(uid), Some(gid)).unwrap();
        }
    }
    for word in ["-user", "-group"] {
        for who in [
            "root",
            "daemon",
            "0",
            "1",
            "65534",
            "4123456",
            "00",
            "nosuch",
            "",
            "12x",
            "x12",
            "-1",
            "+1",
            " 1",
            "é",
            "no\nline",
            "2147483647",
            "2147483648",
            "4294967295",
            "9223372036854775807",
            "9223372036854775808",
        ] {
            place.compare_in_all_locales(["t", word, who]);
        }
        place.compare(["t", word]);
    }
    for line in [
        "t -nouser",
        "t -nogroup",
        "t -nouser -nogroup",
        "t ! -nouser",
        "t -nouser -o -nogroup",
        "t -nouser -user 4123456 -name c",
        "t -group root -user root -size -2",
    ] {
        place.compare(words(line));
    }
}

#[test]
fn permissions() {
    or_skip!(gnu_find());
    let place = tree();
    let modes = [
        "0",
        "000",
        "644",
        "0640",
        "4755",
        "04755",
        "00004755",
        "1777",
        "2750",
        "7777",
        "77777",
        "8",
        "64x",
        "",
        "u",
        "u=",
        "=",
        "u=rw,g=r",
        "u=rwxs,go=rx",
        "u=rwx,g=u",
        "g=u",
        "o=u-w",
        "a+r",
        "a-r",
        "+x",
        "+X",
        "a+X",
        "u+x,+X",
        "ug+wX",
        "u+s",
        "g+s",
        "o+t",
        "+t",
        "u+t",
        "+st",
        "u+s,=",
        "u=r,",
        ",u=r",
        "u=rq",
        "x",
        "u=644",
        "=644",
        "=644+x",
        "-x",
        "u+x+u",
        "u=rw,o=g",
        "+u",
        "a=rx,u+w",
        "ugoa=x",
        "u+r-r",
        "u=g=o",
    ];
    for mode in modes {
        for kind in ["", "-", "/", "+"] {
            let mode = format!("{kind}{mode}");
            place.compare_in_all_locales(["t", "-perm", &mode]);
        }
    }
    place.compare_in_all_locales(&[bytes(b"t"), bytes(b"-perm"), bytes(b"u=\xff\xc3\xa9")]);
    place.compare(words("t -perm"));
    place.compare(words("-L t/c t/link -perm /111"));
}

#[test]
fn access() {
    or_skip!(gnu_find());
    let mut place = tree();
    let users = if needs_root("another user").is_ok() {
        vec![None, Some(NOBODY)]
    } else {
        vec![None]
    };
    place.mode("t/a", 0o700);
    for user in users {
        place.user = user;
        for line in [
            "t -readable",
            "t -writable",
            "t -executable",
            "t ! -executable",
            "t ! -readable -o -writable",
            "t -readable -size +0 -name f",
            "t -executable -type d",
            "-L t -readable",
            "-L t ! -executable",
            "t -executable -quit",
            "t -name R* -readable",
        ] {
            place.compare(words(line));
            place.compare_merged(words(line));
        }
    }
}

#[test]
fn emptiness() {
    or_skip!(gnu_find());
    let mut place = tree();
    for line in [
        "t -empty",
        "t ! -empty",
        "t -empty -type f",
        "t -depth -empty",
        "-L t -empty",
        "t -empty -prune -o -print",
        "t/empty t/full -maxdepth 0 -empty",
    ] {
        place.compare(words(line));
    }
    or_skip!(needs_root("another user"));
    place.mode("t/empty", 0o711);
    place.mode("t/full", 0o744);
    place.user = Some(NOBODY);
    for line in [
        "t -empty",
        "t -depth -empty",
        "t -empty -empty",
        "t ! -empty",
        "t -depth",
        "t -depth -size +0",
        "t -depth ! -name full -print",
        "t/empty -empty",
        "t/empty -depth",
        "t -maxdepth 1 -depth -empty",
    ] {
        for locale in LOCALES {
            place.locale = locale;
            place.compare(words(line));
            place.compare_merged(words(line));
        }
    }
}

#[test]
fn names_in_any_case() {
    or_skip!(gnu_find());
    let place = tree();
    for name in [
        "t/Éa",
        "t/éb",
        "t/kelvin \u{212a}",
        "t/KILO",
        "t/x/READ/me",
        "t/\u{130}i",
        "t/ß",
        "t/ẞ",
    ] {
        place.file(name, 0);
    }
    place.file(bytes(b"t/bad \xff K"), 0);
    for pattern in [
        "*",
        "readme",
        "README",
        "r*",
        "*ME",
        "*eaD*",
        "É*",
        "é*",
        "*k",
        "*K",
        "*\u{212a}*",
        "k*",
        "i*",
        "*I",
        "ß",
        "[r]*",
        "?EADME",
        "[[:upper:]]*",
        "\\R*",
        "a/b",
        "",
        "**",
        "*bad*",
        "*\u{130}*",
    ] {
        for word in ["-iname", "-ilname", "-lname"] {
            place.compare_in_all_locales(["t", word, pattern]);
        }
        let path = format!("T/{pattern}");
        place.compare_in_all_locales(["t", "-ipath", &path]);
        place.compare_in_all_locales(["t", "-iwholename", pattern]);
    }
    for line in [
        "t -lname nowhere",
        "t -lname a*",
        "t -ilname NOWHERE*",
        "-L t -lname *",
        "-H t/link t/dangling -lname *",
        "t -iname",
        "t -lname",
        "t -ipath",
        "t -warn -iname a/b",
        "t -ipath x/ -maxdepth 0",
        "t -iwholename x/ -maxdepth 0",
        "t/ -ipath T/",
        "-ipath ./ -maxdepth 0",
        "-O0 t -size +0 -iname readme -type f",
        "t -lname x -readable -size 0 -iname c",
    ] {
        place.compare_in_all_locales(words(line));
    }
}

#[test]
fn types_behind_links() {
    or_skip!(gnu_find());
    let place = tree();
    for kind in [
        "f", "d", "l", "s", "p", "b", "c", "f,l", "d,s", "", "x", "D", "f,", ",", "fd", "f,f",
    ] {
        place.compare_in_all_locales(["t", "-xtype", kind]);
        place.compare_in_all_locales(["-L", "t", "-xtype", kind]);
        let roots = ["t/link", "t/tofile", "t/dangling", "t/loop", "t/blocked"];
        for follow in ["-P", "-H", "-L"] {
            let line = [&[follow][..], &roots, &["-xtype", kind]].concat();
            place.compare(line);
        }
    }
    place.compare(words("t -xtype"));
    place.compare(words("t -xtype l -xtype l"));
    place.compare(words("t -type l -xtype f -o -xtype l"));
    place.compare_merged(words("t -print -xtype l"));
}

#[test]
fn same_files() {
    or_skip!(gnu_find());
    let place = tree();
    for reference in [
        "t/a/f",
        "t/hard",
        "t/tofile",
        "t/link",
        "t",
        "t/dangling",
        "t/loop",
        "t/blocked",
        "none",
        "",
    ] {
        for follow in ["-P", "-H", "-L"] {
            place.compare_in_all_locales([follow, "t", "-samefile", reference]);
        }
        place.compare(["t", "-follow", "-samefile", reference]);
        place.compare(["t", "-samefile", reference, "-follow"]);
    }
    place.compare(words("t -samefile"));
    place.compare(words("t/a -samefile t/hard -samefile t/a/hard"));
}

#[test]
fn file_systems() {
    or_skip!(gnu_find());
    let place = tree();
    for name in [
        "ext4", "tmpfs", "proc", "overlay", "btrfs", "nosuch", "unknown", "afs", "",
    ] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let roots = ["/proc/self/status", "/dev/null", "/dev/shm", "t", "/sys"];
            let line = [&[level][..], &roots, &["-maxdepth", "0", "-fstype", name]].concat();
            place.compare(line);
        }
        place.compare(["t", "!", "-fstype", name]);
    }
    place.compare(words("t -fstype"));
    place.compare(words("t -fstype proc -o -size 0 -name c"));
}

#[test]
fn security_contexts() {
    or_skip!(gnu_find());
    let place = tree();
    if fs::exists("/sys/fs/selinux/enforce").unwrap_or(false) {
        return;
    }
    for line in ["t -context", "t -context x", "t -name x -context x -foo"] {
        place.compare(words(line));
    }
}
