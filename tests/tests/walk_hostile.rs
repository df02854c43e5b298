//! Trees and processes that break walkers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use ringwalk::{Action, Backend, ErrorKind, Order, StatxMask, Visit, Walk};
use testkit::child::{self};
use testkit::or_skip;
use testkit::skip::needs_root;
use tests::deep::{self, DeepPlace};
use tests::{LIMIT, block_on, driver, is_long, process, walks};

#[test]
fn a_chain_beyond_path_max_is_walked_to_its_end() {
    const LEVELS: usize = 3_000;
    const NAME: usize = 200;
    let deep = DeepPlace::new().unwrap();
    let place = deep.path();
    deep::chain(place, LEVELS, &"n".repeat(NAME)).unwrap();
    // One walk each: their paths are 900 MB, and slow without optimisation.
    let walks = [
        (Backend::Auto, Order::PreOrder),
        (Backend::Ring, Order::Any),
        (Backend::Threads, Order::Any),
    ];
    for (backend, order) in walks {
        let walk = Walk::new(place).driver(driver(backend)).order(order);
        let (paths, errors) = walks::streamed(walk.metadata(StatxMask::MODE));
        assert!(errors.is_empty(), "{:?}", errors.first());
        assert_eq!(paths.len(), LEVELS + 1);
        let longest = paths.iter().map(|path| path.as_os_str().len()).max();
        assert_eq!(longest, Some(place.as_os_str().len() + LEVELS * (NAME + 1)));
    }
}

/// At each level two directories, one of which goes on, and two files.
fn comb(root: &Path, levels: usize) -> usize {
    let mut dir = root.to_owned();
    for _ in 0..levels {
        for name in ["b", "f"] {
            fs::write(dir.join(name), "").unwrap();
        }
        fs::create_dir(dir.join("c")).unwrap();
        fs::write(dir.join("c/inside"), "").unwrap();
        dir.push("d");
        fs::create_dir(&dir).unwrap();
    }
    levels * 5
}

#[test]
fn hardly_any_descriptors_are_enough_for_a_comb() {
    const NAME: &str = "hardly_any_descriptors_are_enough_for_a_comb";
    if child::is_child(NAME) {
        let place = process::place();
        let count: usize = std::env::var("COUNT").unwrap().parse().unwrap();
        let backend: Backend = std::env::var("BACKEND").unwrap().parse().unwrap();
        // One driver: a ring takes a moment to go.
        let driver = driver(backend);
        let walk = Walk::new(&place).metadata(StatxMask::SIZE).driver(driver);
        let walks = [
            walk.clone(),
            walk.clone().order(Order::PreOrder),
            walk.clone().sort_by_file_name(),
            walk.clone().contents_first(true),
            walk.clone().contents_first(true).order(Order::PreOrder),
            walk.clone().follow_links(true).visit_once(true),
            walk.same_mount(true),
        ];
        for walk in walks {
            for _ in 0..3 {
                let streamed = walks::streamed(walk.clone());
                let serial = walks::one_by_one(walk.clone(), |_| Visit::Continue);
                for (paths, errors) in [streamed, serial] {
                    assert!(errors.is_empty(), "{backend}: {:?}", errors.first());
                    assert_eq!(paths.len(), count);
                }
            }
        }
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let count = comb(place.path(), 200) + 1;
    for (backend, descriptors) in [("threads", 13), ("auto", 13), ("ring", 16), ("auto", 16)] {
        process::rerun(NAME, place.path())
            .env("COUNT", count.to_string())
            .env("BACKEND", backend)
            .before_exec(process::inherit_nothing)
            .before_exec(move || process::limit(libc::RLIMIT_NOFILE, descriptors))
            .run()
            .assert_passed();
    }
}

#[test]
fn a_directory_that_may_not_be_read_is_an_entry_and_an_error() {
    const NAME: &str = "a_directory_that_may_not_be_read_is_an_entry_and_an_error";
    if child::is_child(NAME) {
        let place = process::place();
        return walks::every_way(&Walk::new(&place)).for_each(|walk| check_closed(&place, walk));
    }
    or_skip!(needs_root("become another user"));
    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join("sub/closed/inside")).unwrap();
    fs::create_dir_all(place.path().join("listed/inside")).unwrap();
    fs::write(place.path().join("sub/file"), "").unwrap();
    fs::write(place.path().join("listed/file"), "").unwrap();
    let modes = [
        (".", 0o755),
        ("sub", 0o755),
        ("sub/closed", 0),
        ("listed", 0o744),
    ];
    for (name, mode) in modes {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(place.path().join(name), mode).unwrap();
    }
    let rerun = process::rerun(NAME, place.path());
    rerun
        .before_exec(process::become_nobody)
        .run()
        .assert_passed();
}

fn check_closed(place: &Path, walk: Walk) {
    let expected = walks::found(place, &[]);
    let closed = place.join("sub/closed");
    // Its names can be read, but nothing can be opened in it.
    let inside = place.join("listed/inside");
    for (paths, mut errors) in [
        walks::streamed(walk.clone().order(Order::PreOrder)),
        walks::in_order(walk.clone()),
        walks::in_parallel(walk.clone()),
    ] {
        assert_eq!(paths.len(), expected.len());
        errors.sort_by_key(|error| error.path().to_owned());
        assert_eq!(errors.len(), 2, "{errors:?}");
        for (error, path) in errors.iter().zip([&inside, &closed]) {
            assert_eq!((error.action(), error.path()), (Action::Open, &**path));
            assert_eq!(
                (error.depth(), error.raw_os_error()),
                (2, Some(libc::EACCES))
            );
            let text = error.to_string();
            assert!(text.contains(&path.display().to_string()), "{text}");
            assert!(text.contains("Permission denied"), "{text}");
        }
    }
    // What can't be looked at still comes, with the reason in place of its metadata.
    let entries: Vec<_> = block_on(walk.metadata(StatxMask::SIZE).into_stream().collect());
    let blind = entries
        .iter()
        .flatten()
        .filter_map(|entry| entry.stat()?.err()?.raw_os_error())
        .filter(|errno| *errno == libc::EACCES);
    assert_eq!(
        blind.count(),
        2,
        "inside and file of the directory that can only be listed"
    );
}

#[test]
fn nobody_leads_a_walk_out_of_its_tree() {
    let swapping = Duration::from_secs(if is_long() { 60 } else { 3 });
    let place = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    for i in 0..50 {
        fs::create_dir_all(outside.path().join(format!("outside{i}/outside"))).unwrap();
    }
    let [victim, aside, link] = ["victim", "aside", "link"].map(|name| place.path().join(name));
    fs::create_dir_all(victim.join("a/b/c")).unwrap();
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (stop, inside) = (Arc::clone(&stop), victim.join("a"));
        let (victim, aside, link) = (victim.clone(), aside.clone(), link.clone());
        std::thread::spawn(move || {
            let inner_aside = victim.with_file_name("inner-aside");
            let mut swaps = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                // The top directory and one below it, in turns.
                let (place, keep) = if swaps.is_multiple_of(2) {
                    (&victim, &aside)
                } else {
                    (&inside, &inner_aside)
                };
                fs::rename(place, keep).unwrap();
                fs::rename(&link, place).unwrap();
                fs::rename(place, &link).unwrap();
                fs::rename(keep, place).unwrap();
                swaps += 1;
            }
            swaps
        })
    };
    let end = Instant::now() + swapping;
    let mut count = 0;
    while Instant::now() < end {
        let walk = Walk::new(place.path());
        let walks = [walk.clone().contents_first(true).sort_by_file_name(), walk];
        for walk in walks.iter().flat_map(walks::every_way) {
            for path in walks::streamed(walk).0 {
                let leads_out = path.to_str().unwrap().contains("outside");
                assert!(!leads_out, "{}", path.display());
                count += 1;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(swapper.join().unwrap() > 100 && count > 100);
}

#[test]
fn names_that_vanish_stop_nothing() {
    let _deadline = testkit::deadline(LIMIT);
    let place = tempfile::tempdir().unwrap();
    let stays = place.path().join("stays");
    comb(&stays_made(&stays), 20);
    let stop = Arc::new(AtomicBool::new(false));
    let churn = {
        let (stop, root) = (Arc::clone(&stop), place.path().to_owned());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let dir = root.join("comes-and-goes");
                fs::create_dir_all(dir.join("x/y/z")).unwrap();
                fs::write(dir.join("x/file"), "").unwrap();
                fs::remove_dir_all(&dir).unwrap();
            }
        })
    };
    for _ in 0..20 {
        for walk in walks::every_way(&Walk::new(place.path()).metadata(StatxMask::SIZE)) {
            let (paths, errors) = walks::streamed(walk);
            let stayed = paths.iter().filter(|path| path.starts_with(&stays)).count();
            assert_eq!(stayed, 20 * 5 + 1);
            for error in errors {
                assert_eq!(error.kind(), ErrorKind::Vanished, "{error}");
                assert!(
                    error
                        .path()
                        .starts_with(place.path().join("comes-and-goes")),
                    "{error}"
                );
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    churn.join().unwrap();
}

fn stays_made(path: &Path) -> PathBuf {
    fs::create_dir(path).unwrap();
    path.to_owned()
}
