//! Random expressions on random trees: the same bytes in the same order, the same messages, the
//! same status.
//!
//! `URINGFIND_CASES` (200) and `URINGFIND_SEED` choose how many and which; a failure prints its
//! seed.

mod common;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::time::{Duration, SystemTime};

use common::{bytes, place};
use fastrand::Rng;
use testkit::or_skip;
use testkit::oracle::{LOCALES, NOBODY, Place, gnu_find};
use testkit::skip::needs_root;

/// One time out of so many.
fn one_in(random: &mut Rng, count: usize) -> bool {
    random.usize(..count) == 0
}

fn pick<'a, T: ?Sized>(random: &mut Rng, from: &[&'a T]) -> &'a T {
    from[random.usize(..from.len())]
}

const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"ab",
    b"a.c",
    b"b.c",
    b"x",
    b".h",
    b"long name",
    b"\xff",
    b"\xc3\xa9",
    b"new\nline",
    b"-d",
    b"*",
    b"\xe2\x80\x99",
    b"it's",
];

const SIZES: &[u64] = &[
    0,
    1,
    2,
    511,
    512,
    513,
    1024,
    1025,
    20_480,
    1 << 20,
    (1 << 20) + 1,
    1 << 30,
];

/// Fills `directory` and gives the paths made.
fn fill(random: &mut Rng, place: &Place, directory: &[u8], depth: usize, paths: &mut Vec<Vec<u8>>) {
    for _ in 0..=random.usize(..6) {
        let path = [directory, b"/", pick(random, NAMES)].concat();
        let full = place.path().join(bytes(&path));
        if full.symlink_metadata().is_ok() {
            continue;
        }
        match random.usize(..10) {
            0..=3 if depth > 0 => {
                std::fs::create_dir(&full).unwrap();
                fill(random, place, &path, depth - 1, paths);
            }
            4 => symlink(bytes(pick(random, NAMES)), &full).unwrap(),
            5 if one_in(random, 2) && full.as_os_str().as_bytes().len() < 100 => {
                drop(UnixListener::bind(&full).unwrap());
            }
            _ => {
                let file = std::fs::File::create(&full).unwrap();
                file.set_len(SIZES[random.usize(..SIZES.len())]).unwrap();
                let age = Duration::from_secs(random.u64(..86_400 * 300));
                file.set_modified(SystemTime::now() - age).unwrap();
            }
        }
        paths.push(path);
    }
}

/// Takes rights away from some directories.
fn lock(random: &mut Rng, place: &Place, paths: &[Vec<u8>]) {
    for path in paths.iter().rev() {
        let full = place.path().join(bytes(path));
        if full.symlink_metadata().unwrap().is_dir() && one_in(random, 4) {
            let mode = [0o700, 0o744, 0o711, 0o755][random.usize(..4)];
            place.mode(bytes(path), mode);
        }
    }
}

fn primary(random: &mut Rng, paths: &[Vec<u8>], out: &mut Vec<OsString>) {
    const PATTERNS: &[&[u8]] = &[
        b"a", b"*", b"*.c", b"a*", b"*b*", b"?", b"[ab]", b"[!a]*", b"*\\*", b"nothing", b"\xc3*",
        b"*\xa9", b"\xff", b"*n*e*",
    ];
    const TYPES: &[&str] = &["f", "d", "l", "s", "f,d", "l,s,p", "b,c"];
    const NUMBERS: &[&str] = &[
        "0", "1", "-1", "+0", "2c", "+1k", "-2b", "1M", "+1M", "-1G", "+20480c", "513c", "+3w",
    ];
    let mut push = |words: &[&[u8]]| out.extend(words.iter().map(|it| bytes(it)));
    match random.usize(..16) {
        0..=2 => push(&[b"-name", pick(random, PATTERNS)]),
        3 => push(&[
            b"-path",
            &[b"*".as_slice(), pick(random, PATTERNS)].concat(),
        ]),
        4 => push(&[b"-path", &paths[random.usize(..paths.len())]]),
        5..=6 => push(&[b"-type", pick(random, TYPES).as_bytes()]),
        7..=8 => push(&[b"-size", pick(random, NUMBERS).as_bytes()]),
        9 => push(&[b"-newer", &paths[random.usize(..paths.len())]]),
        10 => push(&[b"-true"]),
        11 => push(&[b"-false"]),
        12 => push(&[b"-prune"]),
        13 => push(&[b"-print"]),
        14 => push(&[b"-print0"]),
        _ if one_in(random, 4) => push(&[b"-quit"]),
        _ => push(&[b"-print"]),
    }
}

fn expression(random: &mut Rng, depth: usize, paths: &[Vec<u8>], out: &mut Vec<OsString>) {
    if depth == 0 || one_in(random, 3) {
        return primary(random, paths, out);
    }
    match random.usize(..12) {
        0..=1 => {
            out.push(pick(random, &["!", "-not"]).into());
            expression(random, depth - 1, paths, out);
        }
        2..=4 => {
            out.push("(".into());
            expression(random, depth - 1, paths, out);
            out.push(")".into());
        }
        kind => {
            expression(random, depth - 1, paths, out);
            match kind {
                5..=7 => {}
                8 => out.push("-a".into()),
                9..=10 => out.push("-o".into()),
                _ => out.push(",".into()),
            }
            expression(random, depth - 1, paths, out);
        }
    }
}

fn command_line(random: &mut Rng, paths: &[Vec<u8>]) -> Vec<OsString> {
    let mut line = Vec::new();
    if one_in(random, 6) {
        line.push(pick(random, &["-O0", "-O1", "-O2", "-O3", "-P"]).into());
    }
    for _ in 0..=random.usize(..2) {
        match random.usize(..8) {
            0 => line.push(bytes(&paths[random.usize(..paths.len())])),
            1 => line.push("missing".into()),
            2 => line.push(pick(random, &["r/", "./r", "r//", "", "."]).into()),
            _ => line.push("r".into()),
        }
    }
    if one_in(random, 5) {
        line.extend([
            pick(random, &["-maxdepth", "-mindepth"]).into(),
            OsString::from(random.usize(..4).to_string()),
        ]);
    }
    if one_in(random, 15) {
        line.push("-warn".into());
    }
    if !one_in(random, 12) {
        let depth = random.usize(..6);
        expression(random, depth, paths, &mut line);
    }
    if one_in(random, 12) && !line.is_empty() {
        // Something out of place, mostly an error.
        let at = random.usize(..line.len());
        line.insert(
            at,
            pick(
                random,
                &["(", ")", "!", "-a", "-o", ",", "-maxdepth", "x", "-foo"],
            )
            .into(),
        );
    }
    line
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .map_or(default, |text| text.parse().expect(variable))
}

#[test]
fn random_expressions_on_random_trees() {
    or_skip!(gnu_find());
    let cases = number("URINGFIND_CASES", 200);
    let seed = number(
        "URINGFIND_SEED",
        SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs(),
    );
    let privileged = match needs_root("another user") {
        Ok(()) => true,
        Err(skip) => {
            skip.report();
            false
        }
    };
    println!("URINGFIND_SEED={seed} URINGFIND_CASES={cases}");
    let mut random = Rng::with_seed(seed);
    let mut done = 0;
    while done < cases {
        let mut place = place();
        place.directory("r");
        let mut paths = vec![b"r".to_vec()];
        fill(&mut random, &place, b"r", 4, &mut paths);
        if privileged && one_in(&mut random, 2) {
            lock(&mut random, &place, &paths);
            place.user = Some(NOBODY);
        }
        for _ in 0..20 {
            place.locale = LOCALES[random.usize(..LOCALES.len())];
            let line = command_line(&mut random, &paths);
            if one_in(&mut random, 2) {
                place.compare_merged(&line);
            } else {
                place.compare(&line);
            }
            done += 1;
        }
    }
}
