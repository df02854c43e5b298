//! `-printf`, `-fprintf`, `-fprint` and `-fprint0`: GNU find's bytes, for every directive and every kind
//! of file.
//!
//! `URINGFIND_CASES` (200) and `URINGFIND_SEED` choose how many random formats are tried and which.

mod common;

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::time::SystemTime;

use common::draw::number;
use common::{bytes, place, words, zoo};
use fastrand::Rng;
use testkit::oracle::{Case, LOCALES, NOBODY, Place, gnu_find};
use testkit::skip::needs_root;
use testkit::{mount, or_skip};

/// All directives of one letter.
const LETTERS: &[u8] = b"abcdDfFgGhHiklmMnpPsStuUyYZ";

/// What may follow `%A`, `%C` and `%T`.
const TIME_LETTERS: &[u8] =
    b"@+aAbBcCdDeEFgGhHIjklmMnNOpPqQrRsStTuUvVwWxXyYzZ%-_0^#1iJKLof .\\\xc3";

const ZONES: &[&str] = &[
    "UTC",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "ABC-1:23:45",
    "right/UTC",
    "nonsense",
];

fn printf(place: &Place, format: &[u8]) -> Case {
    place.case([bytes(b"t"), bytes(b"-printf"), bytes(format)])
}

#[track_caller]
fn compare(place: &Place, format: &[u8]) {
    printf(place, format).assert_like_find(place.program());
}

fn filled() -> Place {
    let place = place();
    zoo::fill(&place);
    place
}

#[test]
fn every_directive() {
    or_skip!(gnu_find());
    let mut place = filled();
    for locale in LOCALES {
        place.locale = locale;
        for &letter in LETTERS {
            for flags in [
                "",
                "30",
                "-30",
                "030",
                "-030",
                "+",
                " ",
                "#",
                ".3",
                "12.2",
                "-+ #012.5",
                ".0",
                ".",
                "#.0",
                "0.3",
                "+ 5",
            ] {
                let format = [b"[%", flags.as_bytes(), &[letter], b"]\n"].concat();
                compare(&place, &format);
            }
        }
    }
}

#[test]
fn every_form_of_time() {
    or_skip!(gnu_find());
    let mut place = filled();
    for zone in ZONES {
        place.locale = LOCALES[usize::from(*zone == "UTC")];
        // Many letters in one format; what is left of a strange one must not spoil the next.
        let mut format = Vec::new();
        for &letter in TIME_LETTERS {
            for clock in [&b"T"[..], b"40A", b"-40.9C"] {
                format.extend_from_slice(b"[%");
                format.extend_from_slice(clock);
                format.extend_from_slice(&[letter, b']']);
            }
        }
        format.extend_from_slice(b"%a %c %t %p\n");
        let case = printf(&place, &format).env("TZ", zone);
        case.assert_like_find(place.program());
    }
}

#[test]
fn times_far_away() {
    or_skip!(gnu_find());
    let tmpfs = or_skip!(mount::tmpfs());
    let place = place();
    for (number, seconds) in [
        i64::MAX,
        67_768_036_191_676_799,
        67_768_036_191_676_800,
        253_402_300_800,
        253_402_300_799,
        -30_610_224_000,
        -62_167_219_200,
        -62_167_219_201,
        -67_768_040_609_740_800,
        -67_768_040_609_740_801,
    ]
    .into_iter()
    .enumerate()
    {
        let file = std::fs::File::create(tmpfs.path().join(number.to_string())).unwrap();
        let _ = file.set_modified(zoo::time(seconds, 0));
    }
    let root = tmpfs.path().as_os_str().to_owned();
    let format = "%t|%T@|%T+|%TY|%Tm|%TS|%TT|%TX|%Tc|%TD|%Ts|%TG|%TC|%Ty|%TF %p\n";
    place.compare([root.clone(), "-printf".into(), format.into()]);
    place.compare([root, "-ls".into()]);
}

#[test]
fn escapes_and_warnings() {
    or_skip!(gnu_find());
    let place = filled();
    for format in [
        &b""[..],
        br"a\a\b\f\n\r\t\v\\z\0\1\12\123\1234\400\777\8\9",
        br"\q\ \x41\%\'",
        b"\\",
        b"x\\",
        b"%",
        b"x%",
        b"%5",
        b"%-",
        b"%5.",
        b"%{x",
        b"%5[x",
        b"%(",
        b"%%%5%%-5%%.2%|",
        b"%z%5z%-05.3z%!%\xc3\xa9%\n%q",
        b"%0-5d%5+d%1$d%*d%ld%hhd",
        b"%A",
        b"%T",
        b"%5B",
        b"%A\n",
        br"%A\n%p",
        br"%p\c%q",
        br"%p\n\c",
        br"\c",
        b"%2147483648p|%99999999999999999999d|%.2147483648s|%.99999999999999999999p\n",
        b"%p",
    ] {
        for switch in ["-nowarn", "-warn"] {
            let line = [
                bytes(b"t"),
                bytes(b"-maxdepth"),
                bytes(b"1"),
                bytes(switch.as_bytes()),
                bytes(b"-printf"),
                bytes(format),
            ];
            place.compare_in_all_locales(&line);
            place.compare_merged(&line);
        }
    }
}

#[test]
fn starting_points() {
    or_skip!(gnu_find());
    let place = filled();
    std::fs::remove_file(place.path().join("t/through a file")).unwrap();
    let format = bytes(b"%d|%p|%P|%H|%h|%f|%y|%Y|%l|\n");
    for root in [
        "t",
        "t/",
        "t//",
        "./t",
        "t/d",
        "t/d/",
        "t/.",
        "t/..",
        ".",
        "./",
        "..",
        "t/f",
        "t/link",
        "t/link to a directory/",
        "t/dangling",
        "t/loop",
        "t/times//",
        "/dev/null",
        "//dev/null",
    ] {
        for follow in ["-P", "-H", "-L"] {
            place.compare([
                &bytes(follow.as_bytes()),
                &bytes(root.as_bytes()),
                &"-printf".into(),
                &format,
            ]);
        }
    }
    for root in ["/", "//", "/dev", "/dev/"] {
        let line = [
            bytes(root.as_bytes()),
            "-maxdepth".into(),
            "0".into(),
            "-printf".into(),
        ];
        place.compare(line.iter().chain([&format]));
    }
}

#[test]
fn links_that_are_followed() {
    or_skip!(gnu_find());
    let place = filled();
    std::fs::remove_file(place.path().join("t/through a file")).unwrap();
    for follow in ["-H", "-L"] {
        for format in [
            "%p %y %Y %l|\n",
            "%i %p\n",
            "%s %b %k %n %p\n",
            "%p %F %D\n",
            "%M %m %u %p\n",
            "%Z\n",
        ] {
            place.compare([follow, "t", "-printf", format]);
        }
    }
}

#[test]
fn inodes_that_are_listed_otherwise() {
    or_skip!(gnu_find());
    let place = filled();
    for mount in [
        mount::bind(&place.path().join("t")),
        mount::overlay(&place.path().join("t")),
        mount::xfs_without_types(),
        mount::ext4_without_types(),
        mount::btrfs(),
    ] {
        let mount = or_skip!(mount);
        let _ = std::fs::write(mount.path().join("new file"), "x");
        let _ = symlink("new file", mount.path().join("new link"));
        let root = mount.path().as_os_str().to_owned();
        for format in ["%i %f\n", "%y %f\n", "%i %y %s %f\n", "%F %D %f\n"] {
            place.compare([root.clone(), "-printf".into(), OsString::from(format)]);
        }
    }
}

#[test]
fn what_cannot_be_seen() {
    or_skip!(gnu_find());
    or_skip!(needs_root("another user"));
    let mut place = filled();
    for mode in ["none", "read", "search"] {
        for name in ["f", "d/x"] {
            place.file(format!("l/{mode}/{name}"), 3);
        }
        symlink("f", place.path().join("l").join(mode).join("link")).unwrap();
        symlink(
            format!("{mode}/f"),
            place.path().join("l").join(format!("to {mode}")),
        )
        .unwrap();
    }
    place.mode("l/none", 0o700);
    place.mode("l/read", 0o744);
    place.mode("l/search", 0o711);
    place.user = Some(NOBODY);
    for &letter in LETTERS {
        if b"aAcC".contains(&letter) {
            continue;
        }
        let format = format!("[%{}]\n", char::from(letter));
        place.compare(["l", "-printf", &format]);
        place.compare_merged(["l", "-printf", &format]);
    }
    for line in [
        "l -size +0 -printf %i,%p\\n",
        "l -printf %p\\n -size +0 -printf %i\\n",
        "l -printf %s,%p\\n -o -printf %p\\n",
        "l -ls",
        "l -type f -printf %y",
        "l -printf %y%i%d",
        "l -maxdepth 1 -printf %Y%i",
    ] {
        place.compare_merged(words(line));
    }
}

#[test]
fn combined_with_other_primaries() {
    or_skip!(gnu_find());
    let place = filled();
    for line in [
        "t -printf %p -o -print",
        "t ! -printf %p",
        "t -printf",
        "t -fprintf",
        "t -fprintf x",
        "t -fprint",
        "t -fls",
        "t -name f -printf %s\\n -o -type d -printf %p/\\n",
        "t -size +1 -printf %p, -print0 -printf \\n",
        "t none -printf %p\\n",
        "t -printf %f\\n -name d -prune",
        "t -printf %f\\n -name modes -quit",
        "t -maxdepth 1 -printf %d",
    ] {
        place.compare(words(line));
        place.compare_merged(words(line));
    }
}

/// The place's file `name` after each of the programs has run, which are to write the same.
#[track_caller]
fn compare_files(place: &Place, line: &str, names: &[&str]) {
    let case = place.case(words(line));
    let files = || -> Vec<_> {
        let read = |name: &&str| std::fs::read(place.path().join(name)).ok();
        let contents = names.iter().map(read).collect();
        for name in names {
            let _ = std::fs::remove_file(place.path().join(name));
        }
        contents
    };
    for name in names {
        std::fs::write(place.path().join(name), "old").unwrap();
    }
    let expected = (case.run_find().unwrap(), files());
    for name in names {
        std::fs::write(place.path().join(name), "old").unwrap();
    }
    let actual = (place.answer(&case), files());
    case.assert_same(&expected.0, &actual.0);
    assert!(expected.1 == actual.1, "{line}: {expected:?} {actual:?}");
}

#[test]
fn files() {
    or_skip!(gnu_find());
    let place = filled();
    for line in [
        "t -fprint a",
        "t -fprint0 a",
        "t -fprintf a %f,%s\\n",
        "t -fls a",
        "t -fls a -ls -fls b",
        "t -fprint a -fprint a -fprint ./a",
        "t -fprint a -fprintf b %p -fprint0 a -print",
        "t -name f -fprint a -o -fprint b",
        "t -fprint a -fprint /dev/stdout -print",
        "t -fprint /dev/stderr",
        "t -fprint0 /dev/stderr -fprintf /dev/stderr %p",
        "t -fls /dev/stdout -ls",
        "t -fprintf a %p\\c -fprintf b %p",
        "t -fprint a -name d -quit",
        "t -fprint a -foo",
        "t -fprint a -fprint no/such/file",
        "t -fprint a -fprintf b %",
        "t none -fprint a",
        "t -fprint /",
        "t -fprint t/d",
        "t -fprint /dev/full",
        "t -fprintf /dev/full x -fprint a",
        "t/f -fls /dev/full",
        "t -name f -fprintf /dev/full x\\c",
        "t -name f -printf x\\c",
        "t -false -fprint /dev/full",
    ] {
        compare_files(&place, line, &["a", "b"]);
    }
    place.compare([bytes(b"t"), bytes(b"-fprint"), bytes(b"")]);
    place.compare([
        bytes(b""),
        bytes(b"t"),
        bytes(b"-fprint"),
        bytes(b"/dev/full"),
    ]);
}

/// GNU find as most systems have it knows no time of birth.
#[test]
fn birth() {
    let ext4 = or_skip!(mount::ext4());
    let place = place();
    let file = ext4.path().join("f");
    std::fs::write(&file, "x").unwrap();
    let print = |path: &std::path::Path, format: &str| {
        let answer = place.run([path.as_os_str(), "-printf".as_ref(), format.as_ref()]);
        String::from_utf8(answer.stdout).unwrap()
    };
    let born = std::fs::metadata(&file).unwrap().created().unwrap();
    let since = born.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let expected = format!("{}.{:09}0", since.as_secs(), since.subsec_nanos());
    assert_eq!(print(&file, "%B@"), expected);
    assert_eq!(
        print(&file, "[%B+]").len(),
        2 + "2000-01-01+00:00:00.0000000000".len()
    );
    let none = std::path::Path::new("/proc/self/status");
    if std::fs::metadata(none).unwrap().created().is_err() {
        assert_eq!(print(none, "[%B@][%5BY][%Bk] %f"), "[][     ][] status");
    }
}

fn random_format(random: &mut Rng) -> Vec<u8> {
    let mut format = Vec::new();
    for _ in 0..=random.usize(..8) {
        match random.usize(..10) {
            0 => format.extend_from_slice(b" text,"),
            1 => {
                format.push(b'\\');
                // Behind `\%` GNU find takes what follows for a format of printf(3).
                let escapes = b"abfnrtv\\0123456789c q\xc3";
                format.push(escapes[random.usize(..escapes.len())]);
            }
            2 => {
                let unknown = b"%zjwEx!~";
                format.extend([b'%', unknown[random.usize(..unknown.len())]]);
            }
            _ => {
                format.push(b'%');
                for _ in 0..random.usize(..3) {
                    format.push(b"-+ #0"[random.usize(..5)]);
                }
                if random.bool() {
                    format.extend_from_slice(random.usize(..40).to_string().as_bytes());
                }
                if random.usize(..3) == 0 {
                    format.extend_from_slice(format!(".{}", random.usize(..20)).as_bytes());
                }
                if random.usize(..3) == 0 {
                    format.push(b"ACT"[random.usize(..3)]);
                    format.push(TIME_LETTERS[random.usize(..TIME_LETTERS.len())]);
                } else {
                    format.push(LETTERS[random.usize(..LETTERS.len())]);
                }
            }
        }
    }
    format.extend_from_slice(b"\n");
    format
}

#[test]
fn random_formats() {
    or_skip!(gnu_find());
    let mut place = filled();
    let seed = number("URINGFIND_SEED", 7);
    let cases = number("URINGFIND_CASES", 200);
    println!("URINGFIND_SEED={seed} URINGFIND_CASES={cases}");
    let mut random = Rng::with_seed(seed);
    for _ in 0..cases {
        place.locale = LOCALES[random.usize(..LOCALES.len())];
        let format = random_format(&mut random);
        if format.windows(2).any(|pair| pair == b"\\%") {
            // What GNU find makes of it is left to chance.
            continue;
        }
        let zone = ZONES[random.usize(..ZONES.len())];
        let case = printf(&place, &format).env("TZ", zone);
        case.assert_like_find(place.program());
    }
}
