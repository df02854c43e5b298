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

use common::{LOCALES, NOBODY, Place, bytes, can_drop_privileges, oracle};

/// Deterministic numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
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
fn fill(
    random: &mut Random,
    place: &Place,
    directory: &[u8],
    depth: usize,
    paths: &mut Vec<Vec<u8>>,
) {
    for _ in 0..=random.below(6) {
        let path = [directory, b"/", random.pick(NAMES)].concat();
        let full = place.path().join(bytes(&path));
        if full.symlink_metadata().is_ok() {
            continue;
        }
        match random.below(10) {
            0..=3 if depth > 0 => {
                std::fs::create_dir(&full).unwrap();
                fill(random, place, &path, depth - 1, paths);
            }
            4 => symlink(bytes(random.pick(NAMES)), &full).unwrap(),
            5 if random.one_in(2) && full.as_os_str().as_bytes().len() < 100 => {
                drop(UnixListener::bind(&full).unwrap());
            }
            _ => {
                let file = std::fs::File::create(&full).unwrap();
                file.set_len(SIZES[random.below(SIZES.len())]).unwrap();
                let age = Duration::from_secs(random.next() % (86_400 * 300));
                file.set_modified(SystemTime::now() - age).unwrap();
            }
        }
        paths.push(path);
    }
}

/// Takes rights away from some directories.
fn lock(random: &mut Random, place: &Place, paths: &[Vec<u8>]) {
    for path in paths.iter().rev() {
        let full = place.path().join(bytes(path));
        if full.symlink_metadata().unwrap().is_dir() && random.one_in(4) {
            let mode = [0o700, 0o744, 0o711, 0o755][random.below(4)];
            place.mode(bytes(path), mode);
        }
    }
}

fn primary(random: &mut Random, paths: &[Vec<u8>], out: &mut Vec<OsString>) {
    const PATTERNS: &[&[u8]] = &[
        b"a", b"*", b"*.c", b"a*", b"*b*", b"?", b"[ab]", b"[!a]*", b"*\\*", b"nothing", b"\xc3*",
        b"*\xa9", b"\xff", b"*n*e*",
    ];
    const TYPES: &[&str] = &["f", "d", "l", "s", "f,d", "l,s,p", "b,c"];
    const NUMBERS: &[&str] = &[
        "0", "1", "-1", "+0", "2c", "+1k", "-2b", "1M", "+1M", "-1G", "+20480c", "513c", "+3w",
    ];
    let mut push = |words: &[&[u8]]| out.extend(words.iter().map(|it| bytes(it)));
    match random.below(16) {
        0..=2 => push(&[b"-name", random.pick(PATTERNS)]),
        3 => push(&[b"-path", &[b"*".as_slice(), random.pick(PATTERNS)].concat()]),
        4 => push(&[b"-path", &paths[random.below(paths.len())]]),
        5..=6 => push(&[b"-type", random.pick(TYPES).as_bytes()]),
        7..=8 => push(&[b"-size", random.pick(NUMBERS).as_bytes()]),
        9 => push(&[b"-newer", &paths[random.below(paths.len())]]),
        10 => push(&[b"-true"]),
        11 => push(&[b"-false"]),
        12 => push(&[b"-prune"]),
        13 => push(&[b"-print"]),
        14 => push(&[b"-print0"]),
        _ if random.one_in(4) => push(&[b"-quit"]),
        _ => push(&[b"-print"]),
    }
}

fn expression(random: &mut Random, depth: usize, paths: &[Vec<u8>], out: &mut Vec<OsString>) {
    if depth == 0 || random.one_in(3) {
        return primary(random, paths, out);
    }
    match random.below(12) {
        0..=1 => {
            out.push(random.pick(&["!", "-not"]).into());
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

fn command_line(random: &mut Random, paths: &[Vec<u8>]) -> Vec<OsString> {
    let mut line = Vec::new();
    if random.one_in(6) {
        line.push(random.pick(&["-O0", "-O1", "-O2", "-O3", "-P"]).into());
    }
    for _ in 0..=random.below(2) {
        match random.below(8) {
            0 => line.push(bytes(&paths[random.below(paths.len())])),
            1 => line.push("missing".into()),
            2 => line.push(random.pick(&["r/", "./r", "r//", "", "."]).into()),
            _ => line.push("r".into()),
        }
    }
    if random.one_in(5) {
        line.extend([
            random.pick(&["-maxdepth", "-mindepth"]).into(),
            OsString::from(random.below(4).to_string()),
        ]);
    }
    if random.one_in(15) {
        line.push("-warn".into());
    }
    if !random.one_in(12) {
        let depth = random.below(6);
        expression(random, depth, paths, &mut line);
    }
    if random.one_in(12) && !line.is_empty() {
        // Something out of place, mostly an error.
        let at = random.below(line.len());
        line.insert(
            at,
            random
                .pick(&["(", ")", "!", "-a", "-o", ",", "-maxdepth", "x", "-foo"])
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
    if !oracle("random_expressions_on_random_trees") {
        return;
    }
    let cases = number("URINGFIND_CASES", 200);
    let seed = number(
        "URINGFIND_SEED",
        SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs(),
    );
    let privileged = can_drop_privileges("random_expressions_on_random_trees as an ordinary user");
    println!("URINGFIND_SEED={seed} URINGFIND_CASES={cases}");
    let mut random = Random(seed);
    let mut done = 0;
    while done < cases {
        let mut place = Place::new();
        place.directory("r");
        let mut paths = vec![b"r".to_vec()];
        fill(&mut random, &place, b"r", 4, &mut paths);
        if privileged && random.one_in(2) {
            lock(&mut random, &place, &paths);
            place.user = Some(NOBODY);
        }
        for _ in 0..20 {
            place.locale = LOCALES[random.below(2)];
            let line = command_line(&mut random, &paths);
            if random.one_in(2) {
                place.compare_merged(&line);
            } else {
                place.compare(&line);
            }
            done += 1;
        }
    }
}
