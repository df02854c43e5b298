//! Which files are stat'ed, how often and through what: at most once, and only if something asks
//! for it.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{place, words};
use testkit::mount::{self, Mount};
use testkit::oracle::Place;
use testkit::strace::{self, Call, Trace};
use testkit::{Skip, or_skip, tree};

/// Calls that stat a file.
const STATS: [&str; 5] = ["stat", "lstat", "fstat", "newfstatat", "statx"];

/// Calls for which some sandboxes kill. What strace is too old to name, it numbers.
const NEW: [&str; 6] = [
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "openat2",
    "statmount",
    "syscall_0x1c9",
];

/// Files in the tree that [`fill`] makes.
const FILES: usize = 40;

/// The calls of a search with this back end.
fn trace(place: &Place, backend: &str, line: &str) -> Result<Trace, Skip> {
    let case = place.case(words(line)).env("RINGFS_BACKEND", backend);
    let trace = strace::trace(&case.command(place.program()), &[])?;
    trace.finished.assert_passed();
    Ok(trace)
}

fn stats(trace: &Trace) -> Vec<&Call> {
    let is_stat = |call: &&Call| STATS.contains(&call.name.as_str());
    trace.calls.iter().filter(is_stat).collect()
}

/// How often each file is stat'ed whose name begins with `file-`.
fn per_file(trace: &Trace) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for call in stats(trace) {
        if let Some((_, rest)) = call.rest.split_once("\"file-") {
            let name = rest.split('"').next().unwrap_or_default();
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

/// [`FILES`] files in three directories in `t`, and nothing in `empty`.
fn fill(directory: &Path) {
    for number in 0..FILES {
        let name = format!("{}/file-{number}.{}", number % 3, ["c", "h"][number % 2]);
        let path = directory.join("t").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    fs::create_dir(directory.join("empty")).unwrap();
}

/// ext4 with one directory, `large`, that GNU find would sort.
fn large() -> Result<Mount, Skip> {
    let mount = mount::ext4_for(10_200)?;
    let large = mount.path().join("large");
    fs::create_dir(&large).unwrap();
    tree::fill(&large, 10_100).unwrap();
    Ok(mount)
}

#[test]
fn at_most_one_per_file() {
    let place = place();
    fill(&place.path());
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
        ("t -printf %p%f%h%H%P%d%y%i", 0),
        ("t -printf %s%T@%i%M%u -ls", 40),
        ("t -name *.c -printf %s -o -fprint /dev/stdout", 20),
    ] {
        // Threads make every call where strace can see it.
        let trace = or_skip!(trace(&place, "threads", line));
        let counts = per_file(&trace);
        assert_eq!(counts.len(), files, "{line}: {counts:?}");
        assert!(
            counts.values().all(|&count| count == 1),
            "{line}: {counts:?}"
        );
    }
}

#[test]
fn nothing_but_starting_points_and_what_is_asked_for() {
    let ext4 = or_skip!(mount::ext4());
    fill(ext4.path());
    let place = place();
    let at = ext4.path().display();
    for backend in ["auto", "threads"] {
        let trace = |line: &str| trace(&place, backend, line);
        // The start of the process, and one starting point.
        let least = stats(&or_skip!(trace(&format!("{at}/empty -type f")))).len();
        for (line, more) in [
            (format!("{at}/t -type f"), 0),
            (format!("{at}/t -type f -name *.c"), 0),
            (format!("{at}/t {at}/empty {at}/t/0 -type f"), 2),
            (format!("{at}/t -type f -size +0"), FILES),
            (format!("{at}/t/1 {at}/t/2 -type f -size +0"), 1 + 26),
        ] {
            let trace = or_skip!(trace(&line));
            let made = stats(&trace);
            // A call that is traced sleeps, so the rest of a directory is asked about at the same time,
            // and who does that looks at the directory, and at the mount table.
            let directories = if line.contains("-size") { 4 } else { 0 };
            let range = least + more..=least + more + 2 * directories;
            assert!(range.contains(&made.len()), "{backend}: {line}: {made:?}");
            assert!(per_file(&trace).values().all(|&count| count == 1));
        }
        let trace = or_skip!(trace(&format!("{at}/t -type f")));
        let root = format!("\"{at}/t\"");
        let of_root = stats(&trace)
            .into_iter()
            .filter(|call| call.rest.contains(&root));
        assert_eq!(of_root.count(), 1, "{backend}: {:?}", trace.calls);
    }
}

/// What file system it is on decides whether it is sorted: that may take a probe of what statx can
/// do, the directory's own statx, and one of the mount table.
#[test]
fn a_large_directory_takes_three_at_most() {
    let large = or_skip!(large());
    let place = place();
    let at = large.path().display();
    for backend in ["auto", "threads"] {
        let least = or_skip!(trace(&place, backend, &format!("{at} -maxdepth 0")));
        let whole = or_skip!(trace(&place, backend, &format!("{at}/large -type f")));
        let more = stats(&whole).len() - stats(&least).len();
        assert!(more <= 3, "{backend}: {:?}", stats(&whole));
    }
}

#[test]
fn threads_make_no_new_calls() {
    let large = or_skip!(large());
    let place = place();
    fill(&place.path());
    let at = large.path().display();
    for line in ["t -type f", "t -type f -size +0", &format!("{at}/large")] {
        let trace = or_skip!(trace(&place, "threads", line));
        for name in NEW {
            assert_eq!(trace.count(name), 0, "{name}: {line}");
        }
    }
}

#[test]
fn the_ring_stats_files_unseen() {
    let place = place();
    fill(&place.path());
    let least = or_skip!(trace(&place, "ring", "empty"));
    let refused = least
        .calls
        .iter()
        .find(|call| call.name == "io_uring_setup" && call.rest.contains(" = -1 "));
    if let Some(call) = refused {
        let skip = Skip::not_possible_here("io_uring", &call.rest);
        or_skip!(Err::<(), _>(skip));
    }
    for line in ["t -type f", "t -type f -size +0"] {
        let trace = or_skip!(trace(&place, "ring", line));
        assert!(trace.count("io_uring_enter") > 0, "{line}");
        let made = stats(&trace);
        assert_eq!(made.len(), stats(&least).len(), "{line}: {made:?}");
        assert!(per_file(&trace).is_empty());
    }
}
