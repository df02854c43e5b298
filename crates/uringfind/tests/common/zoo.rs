//! A tree with a file of every kind.

use std::fs::FileTimes;
use std::os::unix::fs::{chown, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use testkit::oracle::Place;
use testkit::process;
use testkit::skip::needs_root;

use super::bytes;

/// Names that need care.
const NAMES: &[&[u8]] = &[
    b"sp ace",
    b"new\nline",
    b"tab\tq\"uote",
    b"b\\ackslash",
    b"\xc3\xa9",
    b"\xff",
    b"\xc3",
    b"%p",
    b"-dash",
    b"bell\x07\x0b\x08\x0c\r\x7f",
];

/// Seconds since 1970, before it if negative, and nanoseconds.
const TIMES: &[(i64, u32)] = &[
    (0, 0),
    (-1, 500_000_000),
    (-86_400 * 365 * 30, 1),
    (1, 999_999_999),
    (951_782_400, 10),
    (1_000_000_000, 123_456_789),
    (1_711_846_800, 0),
    (1_730_000_000, 5),
    (4_000_000_000, 0),
];

/// Fills the directory `t`. Devices and owners only with the rights for them.
pub(crate) fn fill(place: &Place) {
    for (name, size) in [
        ("empty", 0),
        ("f", 1),
        ("sparse", 1 << 20),
        ("d/inner", 512),
        ("d/e/deep", 1025),
        ("sticky/x", 7),
    ] {
        place.file(format!("t/{name}"), size);
    }
    let at = |name: &str| place.path().join("t").join(name);
    std::fs::write(at("full"), vec![b'x'; 70_001]).unwrap();
    std::fs::hard_link(at("full"), at("same")).unwrap();
    for name in NAMES {
        place.file(bytes(&[b"t/names/", *name].concat()), 3);
    }
    for (target, name) in [
        ("f", "link"),
        ("d", "link to a directory"),
        ("nowhere", "dangling"),
        ("loop", "loop"),
        ("f/x", "through a file"),
        ("new\nline \u{e9}", "odd link"),
        ("/dev/null", "device link"),
    ] {
        symlink(target, at(name)).unwrap();
    }
    symlink(bytes(b"\xff\x1b"), at("raw link")).unwrap();
    drop(socket(&at("socket")));
    run("mkfifo", &[at("fifo")]);
    for (number, mode) in [
        0o000, 0o001, 0o644, 0o4755, 0o4644, 0o2755, 0o2644, 0o1777, 0o1776, 0o7777, 0o7000,
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("t/modes/{number}");
        place.file(&name, 0);
        place.mode(name, mode);
    }
    place.mode("t/sticky", 0o1777);
    for (number, &(seconds, nanoseconds)) in TIMES.iter().enumerate() {
        let file = place.file(format!("t/times/{number}"), 0);
        let time = time(seconds, nanoseconds);
        let times = FileTimes::new().set_modified(time).set_accessed(time);
        file.set_times(times).unwrap();
    }
    if needs_root("devices and owners").is_ok() {
        for (name, kind, major, minor) in [("char", "c", 1, 3), ("block", "b", 259, 1_000_000)] {
            let mut mknod = Command::new("mknod");
            mknod.arg(at(name)).arg(kind);
            mknod.arg(major.to_string()).arg(minor.to_string());
            // Not where a sandbox forbids it.
            let _ = process::run(&mut mknod, b"", process::LIMIT);
        }
        chown(at("f"), Some(65534), Some(65534)).unwrap();
        chown(at("sparse"), Some(1_234_567), Some(2_345_678_901)).unwrap();
        lchown(at("dangling"), Some(1), Some(12)).unwrap();
    }
    // From now on reading changes no time of access.
    let case = place.case(["t", "-printf", "%l%Y"]);
    for _ in 0..2 {
        let _ = case.run_find();
    }
}

/// Sockets have short paths, so it is moved.
fn socket(path: &PathBuf) -> UnixListener {
    let directory = tempfile::tempdir().unwrap();
    let short = directory.path().join("s");
    let socket = UnixListener::bind(&short).unwrap();
    std::fs::rename(short, path).unwrap();
    socket
}

/// A moment before or after 1970.
pub(crate) fn time(seconds: i64, nanoseconds: u32) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = if seconds < 0 {
        SystemTime::UNIX_EPOCH - whole
    } else {
        SystemTime::UNIX_EPOCH + whole
    };
    whole + Duration::from_nanos(nanoseconds.into())
}

fn run(program: &str, arguments: &[PathBuf]) {
    let mut command = Command::new(program);
    command.args(arguments);
    process::run(&mut command, b"", process::LIMIT)
        .unwrap()
        .assert_passed();
}
