//! How often files are stat'ed: at most once, and only if something asks for it.

mod common;

use std::collections::HashMap;
use std::process::Command;

use common::{Place, Program, words};

/// Runs a search under strace and counts `statx` per file named `file-…`.
fn stats(place: &Place, line: &str) -> Option<HashMap<String, usize>> {
    let find = place.command(Program::Ours, &words(line));
    let log = place.path().join("../log");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-e", "trace=statx,newfstatat", "-o"])
        .arg(&log);
    strace
        .arg("--")
        .arg(find.get_program())
        .args(find.get_args())
        .current_dir(place.path());
    // Threads make every call where strace can see it.
    let output = strace.env("RINGFS_BACKEND", "threads").output().ok()?;
    let log = std::fs::read_to_string(log)
        .ok()
        .filter(|_| output.status.success())?;
    let mut counts = HashMap::new();
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("\"file-") {
            let name = rest.split('"').next().unwrap_or_default();
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    Some(counts)
}

#[test]
fn at_most_one_per_file() {
    let place = Place::new();
    for number in 0..40 {
        place.file(
            format!("t/{}/file-{number}.{}", number % 3, ["c", "h"][number % 2]),
            1,
        );
    }
    if stats(&place, "t -size 1").is_none() {
        println!("skipped: at_most_one_per_file: strace cannot run here");
        return;
    }
    for (line, files) in [
        ("t", 0),
        ("t -type f -name *1*", 0),
        ("t -name *.c -prune -false", 20),
        ("t -size 1", 40),
        ("t -size 1 -newer t -o -size 2 -o -newer t", 40),
        ("t -size 1 -name *.c", 20),
        ("t -type d -size 1", 0),
        ("t -mindepth 3 -size 1", 0),
        ("t -maxdepth 2 -type f", 0),
    ] {
        let counts = stats(&place, line).unwrap();
        assert_eq!(counts.len(), files, "{line}: {counts:?}");
        assert!(
            counts.values().all(|&count| count == 1),
            "{line}: {counts:?}"
        );
    }
}
