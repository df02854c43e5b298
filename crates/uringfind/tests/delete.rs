//! `-delete`: what goes and what stays, as with GNU find, and nothing outside of the tree.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::effects::compare_effects;
use common::{bytes, place, words};
use testkit::or_skip;
use testkit::oracle::{LOCALES, NOBODY, Place, gnu_find};
use testkit::skip::needs_root;
use testkit::strace;

fn fill(place: &Place) {
    for name in ["t/a", "t/b.o", "t/s/x", "t/s/y.o", "t/s/u/z.o", "t/c.o/f"] {
        place.file(name, 1);
    }
    place.directory("t/empty/er");
    place.directory("victim");
    place.file("victim/kept", 1);
    symlink("../victim", place.path().join("t/link")).unwrap();
    symlink("nowhere", place.path().join("t/dangling")).unwrap();
    symlink("s", place.path().join("t/inner")).unwrap();
}

#[test]
fn what_goes_and_what_stays() {
    or_skip!(gnu_find());
    let place = place();
    for line in [
        "t -delete",
        "t -rm",
        "t/ -delete",
        "t/. -delete",
        "./t -delete",
        ". -delete",
        "./ -delete",
        "t -name *.o -delete",
        "t -name *.o -print -delete",
        "t -name *.o -delete -print",
        "t -type f -delete",
        "t -type d -delete",
        "t -type l -delete -o -print",
        "t -mindepth 1 -delete",
        "t -type d -empty -delete",
        "t -depth -prune -delete",
        "t -depth -name s -prune -o -print -delete",
        "t -xtype l -delete",
        "t -delete -printf %p:%s\\n",
        "t -ignore_readdir_race -delete -delete",
        "t -delete -noignore_readdir_race -delete",
        "t -ignore_readdir_race -execdir true ; -delete -delete",
        "t -execdir true ; -ignore_readdir_race -delete -delete",
        "t -d -delete -o -prune",
        "t -maxdepth 1 -delete",
        "t -maxdepth 0 -delete",
        "t/a -delete",
        "t/a/ -delete",
        "t/link -delete",
        "t/link/ -delete",
        "-L t -delete",
        "-L t -mindepth 1 -delete",
        "-H t/link -delete",
        "none t/a none -delete",
        "t t -delete",
        "t -size 1 -delete",
        "t ! -name x -delete",
        "t -name x -quit -o -delete",
        "t -name x -delete -quit",
        "t ( -name x , -name y.o ) -delete",
        "t -delete -delete",
        "t -delete -exec echo {} ;",
        "t -delete -exec echo {} +",
        "t -exec rm -r {} ; -delete",
    ] {
        if line == "t -rm" {
            fill(&place);
            assert!(place.run(words(line)).status.success());
            assert!(!place.path().join("t").exists());
            continue;
        }
        compare_effects(&place, fill, words(line), |case| case);
    }
}

#[test]
fn messages_speak_the_locale() {
    or_skip!(gnu_find());
    let mut place = place();
    let fill = |place: &Place| {
        place.file("t/d/\u{e9} \\", 1);
        let odd = place.path().join(bytes(b"t/d/\xff\n"));
        fs::write(odd, "").unwrap();
        // Not empty: its contents are passed through unseen.
        place.file("t/d/k/l", 1);
    };
    for locale in LOCALES {
        place.locale = locale;
        compare_effects(&place, fill, words("t ! -name l -delete"), |case| case);
    }
}

#[test]
fn contents_come_first_so_pruning_is_refused() {
    or_skip!(gnu_find());
    let place = place();
    fill(&place);
    for line in [
        "t -name s -prune -o -delete",
        "t -delete -o -prune",
        "t -false -delete -false -prune",
        "t -prune -false -delete )",
        "t -print -false -delete",
        "t -false -delete -o -print",
    ] {
        place.compare_merged(words(line));
    }
    assert!(place.path().join("t/s/x").exists());
}

#[test]
fn without_permission() {
    or_skip!(gnu_find());
    or_skip!(needs_root("another user"));
    let mut place = place();
    place.user = Some(NOBODY);
    let fill = |place: &Place| {
        fill(place);
        for name in ["t", "t/s", "t/empty"] {
            std::os::unix::fs::chown(place.path().join(name), Some(NOBODY), None).unwrap();
        }
        place.mode("t/s/u", 0o700);
        place.mode("t/empty", 0o555);
    };
    compare_effects(&place, fill, words("t -delete"), |case| case);
    compare_effects(&place, fill, words("t -print -delete"), |case| case);
}

#[test]
fn no_file_is_looked_at_before_it_goes() {
    let place = place();
    for number in 0..40 {
        place.file(format!("t/{}/file-{number}", number % 3), 1);
    }
    let case = place.case(words("t -name file-* -delete"));
    let trace = or_skip!(strace::trace(&case.command(place.program()), &[]));
    trace.finished.assert_passed();
    let is_about_files =
        |call: &&strace::Call| call.name != "execve" && call.rest.contains("\"file-");
    let about_files = trace.calls.iter().filter(is_about_files);
    let mut names: Vec<&str> = about_files.map(|call| call.name.as_str()).collect();
    assert_eq!(names.len(), 40, "{names:?}");
    names.dedup();
    assert_eq!(names, ["unlinkat"]);
}

/// How long races are tried.
fn patience() -> Duration {
    let long = std::env::var_os("RINGFS_LONG_TESTS").is_some_and(|value| value == "1");
    Duration::from_secs(if long { 10 } else { 1 })
}

#[test]
fn a_directory_swapped_for_a_link_leads_nowhere() {
    let place = place();
    let root = place.path();
    let names: Vec<String> = (0..50).map(|number| format!("f{number}")).collect();
    place.directory("victim/below");
    for name in &names {
        place.file(format!("victim/{name}"), 0);
        place.file(format!("victim/below/{name}"), 0);
    }
    place.directory("t/d/below");
    let (stop, runs) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut deletions = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            let (dir, away, link) = (root.join("t/d"), root.join("away"), root.join("link"));
            symlink(root.join("victim"), &link).unwrap();
            while !stop.load(Ordering::Relaxed) {
                if !runs.load(Ordering::Relaxed) {
                    thread::yield_now();
                    continue;
                }
                swap(&dir, &away, &link);
            }
        });
        let start = Instant::now();
        while start.elapsed() < patience() {
            for name in &names {
                // Through the directory or, if it is the link now, not at all.
                for below in ["", "below/"] {
                    let path = root.join("t/d").join(below).join(name);
                    if !root.join("t/d").is_symlink() {
                        let _ = fs::write(path, "");
                    }
                }
            }
            runs.store(true, Ordering::Relaxed);
            let answer = place.run(words("t -mindepth 2 -type f -delete"));
            runs.store(false, Ordering::Relaxed);
            assert!(answer.status.code().is_some());
            deletions += 1;
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(deletions > 0);
    for name in &names {
        assert!(root.join("victim").join(name).exists(), "{name}");
        assert!(
            root.join("victim/below").join(name).exists(),
            "below/{name}"
        );
    }
}

/// Puts the link in the place of the directory, and back.
fn swap(dir: &Path, away: &Path, link: &Path) {
    fs::rename(dir, away).unwrap();
    fs::rename(link, dir).unwrap();
    thread::yield_now();
    fs::rename(dir, link).unwrap();
    fs::rename(away, dir).unwrap();
}
