//! Dates in words: the moments that GNU's `date -d` reads from the same texts.

mod common;

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{place, words};
use testkit::oracle::{Case, Place, gnu_find};
use testkit::{Skip, or_skip, process};

/// One to a line.
const STRINGS: &str = include_str!("dates/strings.txt");

/// What is read otherwise than by GNU, in one zone or in all (`*`), and why.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("*", "1000000 years", YEARS),
    ("*", "-1000000 years", YEARS),
    ("*", "99999999 weeks", YEARS),
    ("UTC", "9999-12-30 tomorrow", YEARS),
    ("America/New_York", "9999-12-30 tomorrow", YEARS),
    (
        "*",
        "2020-01-01T12",
        "an hour alone behind T is ISO 8601, but nothing to GNU",
    ),
    ("UTC", "2020-01-01 12:34:56 EST DST", DST),
    ("Asia/Kolkata", "2020-01-01 12:34:56 EST DST", DST),
    ("Australia/Lord_Howe", "2020-01-01 12:34:56 EST DST", DST),
    ("*", "12:34 +0199", "a zone's minutes end at 60"),
    ("*", "2 may 10:30:45", "GNU takes 10 for the year"),
    ("Australia/Lord_Howe", "2020-04-05 01:45", FOLD),
    ("Australia/Lord_Howe", "2020-04-05 01:30", FOLD),
];
const YEARS: &str = "distances reach from the year -9999 to 9999, but for its last day";
const DST: &str = "DST behind the name of a zone is not known";
const FOLD: &str =
    "of an hour that comes twice the first is meant, with GNU the one its library happens on";

/// `date` is GNU's, of about the same age as the oracle: later ones read some texts otherwise.
fn gnu_date() -> Result<(), Skip> {
    gnu_find()?;
    let skip = |reason: String| Skip::missing("GNU date 9.1", reason);
    let finished = process::run(Command::new("date").arg("--version"), b"", process::LIMIT)
        .map_err(|error| skip(error.to_string()))?;
    let text = finished.stdout_text();
    let first = text.lines().next().unwrap_or_default().to_owned();
    if first == "date (GNU coreutils) 9.1" {
        Ok(())
    } else {
        Err(skip(first))
    }
}

/// What `date` reads, in nanoseconds since 1970.
fn date(text: &str, zone: &str) -> Option<i128> {
    let mut command = Command::new("date");
    command
        .args(["-d", text, "+%s %N"])
        .env("TZ", zone)
        .env("LC_ALL", "C");
    let finished = process::run(&mut command, b"", process::LIMIT).expect("date");
    if !finished.status.success() {
        return None;
    }
    let answer = finished.stdout_text();
    let (seconds, nanoseconds) = answer.trim().split_once(' ').expect("two numbers");
    let [seconds, nanoseconds] = [seconds, nanoseconds].map(|it| it.parse::<i128>().unwrap());
    Some(seconds * 1_000_000_000 + nanoseconds)
}

fn system_time(nanoseconds: i128) -> Option<SystemTime> {
    let distance = nanoseconds.unsigned_abs();
    let seconds = u64::try_from(distance / 1_000_000_000).ok()?;
    let distance = Duration::new(seconds, u32::try_from(distance % 1_000_000_000).unwrap());
    if nanoseconds < 0 {
        UNIX_EPOCH.checked_sub(distance)
    } else {
        UNIX_EPOCH.checked_add(distance)
    }
}

/// Gives a file this time. False if the file system has not got it.
fn set(place: &Place, name: &str, nanoseconds: i128) -> bool {
    let Some(at) = system_time(nanoseconds) else {
        return false;
    };
    let file = place.file(name, 0);
    file.set_modified(at).is_ok() && file.metadata().unwrap().modified().unwrap() == at
}

/// Asks for files later than `text`, which means a moment from `earliest` to `latest`, and the same
/// moment if these are the same.
fn check(place: &Place, text: &str, zone: &str) -> Result<(), String> {
    let case = place
        .case(["t", "-type", "f", "-newermt", text])
        .env("TZ", zone);
    let earliest = date(text, zone);
    // A directory each: what a file system cannot hold stays away.
    let fits = earliest.is_none_or(|at| set(place, "t/a", at));
    let answer = place.answer(&case);
    let latest = date(text, zone);
    let (Some(_), Some(latest)) = (earliest, latest) else {
        return same(place, &case);
    };
    let fits = fits && set(place, "t/b", latest + 1);
    if !fits {
        return same(place, &case);
    }
    if !answer.status.success() {
        return Err(String::from_utf8_lossy(&answer.stderr).into_owned());
    }
    if answer.stdout.windows(3).any(|it| it == b"t/a") {
        return Err("it is read as an earlier moment".to_owned());
    }
    // This one is asked later, and may mean a later moment than `latest`.
    let far = system_time(latest + 1).unwrap() + drift(text, zone, latest);
    place.file("t/b", 0).set_modified(far).unwrap();
    match place.answer(&case).stdout.as_slice() {
        b"t/b\n" => Ok(()),
        _ => Err("it is read as a later moment".to_owned()),
    }
}

/// How far the meaning of `text` may have moved on when it is looked at next: nothing if it does not
/// move.
fn drift(text: &str, zone: &str, before: i128) -> Duration {
    if date(text, zone) == Some(before) {
        Duration::ZERO
    } else {
        Duration::from_secs(20)
    }
}

/// The same answer as GNU find's.
fn same(place: &Place, case: &Case) -> Result<(), String> {
    let expected = case.run_find().unwrap();
    let actual = place.answer(case);
    case.compare(&expected, &actual)
        .map_err(|difference| difference.to_string())
}

fn check_all(zone: &str) {
    or_skip!(gnu_date());
    let place = place();
    let mut count = 0;
    let mut failures = Vec::new();
    for text in STRINGS.lines() {
        let listed = DIFFERENT
            .iter()
            .find(|(where_, string, _)| [zone, "*"].contains(where_) && *string == text);
        match (check(&place, text, zone), listed) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Ok(()), Some((_, _, why))) => failures.push(format!("{text:?}: no difference: {why}")),
            (Err(failure), None) => failures.push(format!("{text:?}: {failure}")),
        }
        count += 1;
    }
    assert!(count > 600);
    assert!(failures.is_empty(), "in {zone}:\n{}", failures.join("\n"));
}

#[test]
fn in_universal_time() {
    check_all("UTC");
}

#[test]
fn in_new_york() {
    check_all("America/New_York");
}

#[test]
fn on_lord_howe_island() {
    check_all("Australia/Lord_Howe");
}

#[test]
fn in_kolkata() {
    check_all("Asia/Kolkata");
}

#[test]
fn zones_of_the_environment() {
    or_skip!(gnu_date());
    let place = place();
    for zone in [
        "",
        ":Europe/Berlin",
        "EST5EDT",
        "<+0330>-3:30",
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "AAA5BBB",
        "/usr/share/zoneinfo/Asia/Tokyo",
        "No/Such",
        "nonsense",
        "XYZ",
    ] {
        for text in [
            "2020-01-15 12:00",
            "2020-07-15",
            "1 month ago",
            "5 months ago",
            "monday",
        ] {
            check(&place, text, zone)
                .unwrap_or_else(|failure| panic!("{text} in {zone}: {failure}"));
        }
    }
    let case = place.case(words("t -newermt 2020-07-01")).env_remove("TZ");
    case.assert_like_find(place.program());
}

#[test]
fn odd_bytes() {
    or_skip!(gnu_find());
    let place = place();
    place.file("t/x", 3);
    for text in [
        &b"1 day\nago"[..],
        b"\t2020-01-01\x0b\x0c",
        b"2020-01-01\xff",
        b"\xc3\xa9",
        b"@9223372036854775807",
        b"@-9223372036854775808",
        b"@9223372036854775808",
        b"@-9223372036854775809",
    ] {
        let text = common::bytes(text);
        place.compare_in_all_locales(&["t".into(), "-newermt".into(), text.clone()]);
        place.compare_in_all_locales(&["t".into(), "!".into(), "-newerat".into(), text]);
    }
}
