//! Tests by time: as GNU find, to the nanosecond.

mod common;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{place, words};
use testkit::or_skip;
use testkit::oracle::{Place, gnu_find};

const DAY: u64 = 86_400;

/// Files with all times (but that of the inode's change) at this distance from now.
fn aged(place: &Place, name: &str, seconds: i64, nanoseconds: u32) {
    let now = SystemTime::now();
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let at = if seconds < 0 {
        now + distance
    } else {
        now - distance
    };
    set(place, name, at - Duration::from_nanos(nanoseconds.into()));
}

fn set(place: &Place, name: &str, at: SystemTime) {
    let times = std::fs::FileTimes::new().set_accessed(at).set_modified(at);
    place.file(name, 1).set_times(times).unwrap();
}

/// Both programs' present moments lie some milliseconds apart: no file's edge may lie between.
fn ages() -> Place {
    let place = place();
    for minutes in [0, 1, 2, 3, 10, 59, 60, 61, 1439, 1440, 1441] {
        aged(&place, &format!("t/m{minutes}"), minutes * 60 + 25, 1);
        aged(&place, &format!("t/n{minutes}"), minutes * 60 - 25, 1);
    }
    for days in [1, 2, 3, 7, 30, 101, 400, 10_000] {
        let seconds = days * DAY.cast_signed();
        aged(&place, &format!("t/d{days}"), seconds + 60, 999_999_999);
        aged(&place, &format!("t/e{days}"), seconds - 60, 999_999_999);
        aged(&place, &format!("t/h{days}"), seconds + 43_200, 7);
    }
    aged(&place, "t/tomorrow", -DAY.cast_signed(), 0);
    aged(&place, "t/next-year", -366 * DAY.cast_signed(), 0);
    let epoch = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
    set(&place, "t/epoch", UNIX_EPOCH);
    set(&place, "t/before", UNIX_EPOCH - Duration::from_nanos(1));
    set(
        &place,
        "t/long-before",
        UNIX_EPOCH - Duration::from_secs(1_000_000_000),
    );
    set(&place, "t/far", epoch(7_000_000_000));
    place
}

#[test]
fn ages_in_minutes_and_days() {
    or_skip!(gnu_find());
    let place = ages();
    let numbers = [
        "0", "1", "2", "3", "10", "60", "1440", "1.5", ".5", "0.001", "1e1", "0x2", "1e9", "30",
        "400", "1e300", "inf", "-1", "-0.5", "1e-300",
    ];
    for word in ["-amin", "-mmin", "-atime", "-mtime", "-cmin", "-ctime"] {
        for number in numbers {
            for sign in ["", "+", "-"] {
                for option in ["", "-daystart "] {
                    // The inode's change is now: an edge of its age would be, too.
                    if word.starts_with("-c") && matches!(number, "0" | "0.001" | "1e-300") {
                        continue;
                    }
                    place.compare(words(&format!("t {option}{word} {sign}{number}")));
                }
            }
        }
    }
}

#[test]
fn daystart_is_positional_and_counts_once() {
    or_skip!(gnu_find());
    let place = ages();
    for zone in [
        "UTC",
        "America/New_York",
        "Australia/Lord_Howe",
        "XYZ-13:37",
        "",
    ] {
        for line in [
            "t -daystart -mtime 0",
            "t -mtime 0 -o -daystart -mtime 1",
            "t -daystart -daystart -mtime +1",
            "t -daystart -mtime -2",
            "t -daystart -mmin -1000",
            "t -daystart -mmin 1440",
            "t ( -mmin +600 -daystart ) -mmin -800",
            "t -daystart -newermt now",
            "t -warn -mtime 1 -daystart",
        ] {
            place
                .case(words(line))
                .env("TZ", zone)
                .assert_like_find(place.program());
        }
    }
}

#[test]
fn edges_to_the_nanosecond() {
    or_skip!(gnu_find());
    let place = place();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let midnight = UNIX_EPOCH + Duration::from_secs(now.as_secs() / DAY * DAY);
    // Where the numbers below lead to from midnight, in nanoseconds.
    let edges: [i64; 9] = [
        0,
        86_400_000_000_000,
        43_200_000_000_000,
        -86_400_000_000_000,
        -86_399_000_000_000,
        90_000_000_000,
        60_000_000,
        86_400_001_000,
        100_000_000_000,
    ];
    for (number, edge) in edges.into_iter().enumerate() {
        for (name, nearby) in [
            ("a", edge - 1),
            ("b", edge),
            ("c", edge + 1),
            ("d", edge + 100),
        ] {
            let distance = Duration::from_nanos(nearby.unsigned_abs());
            for (side, at) in [("x", midnight - distance), ("y", midnight + distance)] {
                set(&place, &format!("t/{number}{name}{side}"), at);
            }
        }
    }
    for number in [
        "0",
        "1",
        "2",
        "0.5",
        "1.5",
        "-1",
        "0.001",
        "1.000000011574",
        "0.00001157407",
        "1.6666666666666667",
        "1440",
        "1438.5",
        "1441.5",
    ] {
        for word in ["-mtime", "-mmin", "-atime", "-amin"] {
            for sign in ["", "+", "-"] {
                let case = place.case(words(&format!("t -daystart {word} {sign}{number}")));
                case.env("TZ", "UTC").assert_like_find(place.program());
            }
        }
    }
}

#[test]
fn references() {
    or_skip!(gnu_find());
    let place = ages();
    let reference = SystemTime::now() - Duration::from_secs(5 * DAY);
    for (name, nanoseconds) in [("t/same", 0), ("t/later", 1), ("r", 0)] {
        set(&place, name, reference + Duration::from_nanos(nanoseconds));
    }
    set(&place, "t/earlier", reference - Duration::from_nanos(1));
    std::os::unix::fs::symlink("r", place.path().join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path().join("dangling")).unwrap();
    for line in [
        "t -newer r",
        "t -anewer r",
        "t -cnewer r",
        "t -newermm r",
        "t -neweraa r",
        "t -newerma r",
        "t -neweram r",
        "t -newercm r",
        "t -newermc r",
        "t -newercc r",
        "t ! -newermm r ! -newermm t/d400",
        "t -newer link",
        "t -newermm link",
        "t -anewer dangling",
        "t -newermm dangling",
        "t -newermm t",
    ] {
        place.compare(words(line));
        place.compare(words(&format!("-H {line}")));
        place.compare(words(&format!("-L {line}")));
    }
}

#[test]
fn days_between_change_and_use() {
    or_skip!(gnu_find());
    let place = ages();
    for days in [1, 2, 3, 40] {
        aged(
            &place,
            &format!("t/u{days}"),
            -days * DAY.cast_signed() - 60,
            5,
        );
        aged(
            &place,
            &format!("t/v{days}"),
            -days * DAY.cast_signed() + 60,
            5,
        );
    }
    for number in ["0", "1", "2", "3", "1.5", "40", "-1", "0.5"] {
        for sign in ["", "+", "-"] {
            place.compare(words(&format!("t -used {sign}{number}")));
        }
    }
}

#[test]
fn what_is_no_number_date_or_file() {
    or_skip!(gnu_find());
    let place = place();
    place.file("t/x", 3);
    for line in [
        "t -mtime",
        "t -mtime x",
        "t -mtime 1x",
        "t -mtime 1.5.5",
        "t -mtime 1,5",
        "t -mtime +",
        "t -mtime -",
        "t -mtime --1e30",
        "t -atime 1e5000",
        "t -atime 1e-310",
        "t -ctime 0x",
        "t -mmin",
        "t -mmin x",
        "t -mmin +-1e300",
        "t -amin ++inf",
        "t -amin +-inf",
        "t -cmin 1d",
        "t -used",
        "t -used x",
        "t -used +-1e300",
        "t -anewer",
        "t -anewer none",
        "t -cnewer none",
        "t -newermm none",
        "t -newermc t/none",
        "t -newermm",
        "t -newermt",
        "t -newermt foo",
        "t -newerat it's",
        "t -newertm 1",
        "t -newertt 1",
        "t -newermx 1",
        "t -newermtx 1",
        "t -newer",
        "t -newerm t",
        "t -daystart x",
    ] {
        place.compare_in_all_locales(words(line));
    }
    for text in ["", " ", "\u{2018}", "a\nb"] {
        place.compare_in_all_locales(["t", "-mtime", text]);
        place.compare_in_all_locales(["t", "-newerct", text]);
        place.compare_in_all_locales(["t", "-used", text]);
    }
}

#[test]
fn not_a_number_is_refused() {
    // GNU find aborts.
    let place = place();
    place.file("t/x", 3);
    for (line, message) in [
        ("t -mtime nan", "find: invalid argument `nan' to `-mtime'\n"),
        ("t -mmin -nan", "find: invalid argument `-nan' to `-mmin'\n"),
        ("t -used nan", "find: Invalid argument nan to -used\n"),
    ] {
        let answer = place.run(words(line));
        assert_eq!(String::from_utf8_lossy(&answer.stderr), message);
        assert_eq!(answer.status.code(), Some(1));
    }
}

#[test]
fn chances_decide_the_order() {
    or_skip!(gnu_find());
    let place = ages();
    std::os::unix::fs::symlink("nowhere", place.path().join("t/dangling")).unwrap();
    for line in [
        "t -mtime +500 -mtime -3 -size 1",
        "t -mtime -1 -o -mtime +300 -o -size 2",
        "t -newermt 2001-01-01 -mmin +5 -name d*",
        "t -newermt 2001-01-01 , -name d*",
        "t -used +100 , -mtime -1",
        "t -mtime -1 , -size +1 , -used 3",
        "-L t -mtime -1 , -type f",
    ] {
        place.compare(words(line));
    }
}

#[test]
fn own_names_and_times_of_birth() {
    let place = ages();
    set(&place, "old", SystemTime::now() - Duration::from_hours(1));
    set(&place, "next", SystemTime::now() + Duration::from_hours(1));
    let all = place.run(words("t -type f")).stdout;
    assert!(!all.is_empty());
    for line in [
        "t -type f -Bmin -5",
        "t -type f -Btime 0",
        "t -type f -Btime -1",
        "t -type f -daystart -Btime -2",
        "t -type f -Bnewer old",
        "t -type f -Bsince yesterday",
        "t -type f -newerBt yesterday",
        "t -type f -newerBm old",
        "t -type f ! -newerBB next",
        "t -type f -csince yesterday",
    ] {
        let answer = place.run(words(line));
        assert!(answer.stdout == all && answer.stderr.is_empty(), "{line}");
    }
    for line in [
        "t -Bmin +5",
        "t -Btime 1",
        "t -Bnewer next",
        "t -newerBt tomorrow",
    ] {
        assert!(place.run(words(line)).stdout.is_empty(), "{line}");
    }
    for (own, same) in [
        ("t -since yesterday", "t -newermt yesterday"),
        ("t -msince yesterday", "t -newermt yesterday"),
        ("t -asince yesterday", "t -newerat yesterday"),
        ("t -newermB old", "t -newermt yesterday"),
    ] {
        let found = place.run(words(own)).stdout;
        assert!(!found.is_empty() || own.contains('B'), "{own}");
        if !own.contains('B') {
            assert_eq!(found, place.run(words(same)).stdout, "{own}");
        }
    }
}

#[test]
fn a_missing_time_of_birth_is_reported() {
    let place = place();
    let answer = place.run(words("/proc/self/stat -Bmin -5"));
    assert!(answer.stdout.is_empty());
    let message =
        "find: WARNING: cannot determine birth time of file \u{2018}/proc/self/stat\u{2019}\n";
    assert_eq!(String::from_utf8_lossy(&answer.stderr), message);
    let answer = place.run(words("-newermB /proc/self/stat"));
    let message = "find: Cannot obtain birth time of file \u{2018}/proc/self/stat\u{2019}\n";
    assert_eq!(String::from_utf8_lossy(&answer.stderr), message);
    assert_eq!(answer.status.code(), Some(1));
}
