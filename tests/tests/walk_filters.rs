//! What is left out of a walk, what is counted during it, and how it is handed out in batches.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use futures::StreamExt;
use ringwalk::{EntryRef, Error, FileType, Order, Progress, StatxMask, Visit, Walk};
use testkit::tree::{self, Tree};
use tests::{LIMIT, alone, block_on, process, walks};

fn tree(seed: u64) -> Tree {
    let tree = tree::Builder::new(seed).entries(600).plain_names();
    tree.build().unwrap()
}

fn is_chosen(name: &[u8]) -> bool {
    name.first().is_some_and(|byte| byte % 3 == 0)
}

fn name(path: &Path) -> &[u8] {
    path.file_name().map_or(b"", OsStr::as_bytes)
}

/// The names below the root that lead to a path, the last not among them.
fn above<'a>(root: &Path, path: &'a Path) -> impl Iterator<Item = &'a Path> {
    let depth = path.components().count() - root.components().count();
    path.ancestors().skip(1).take(depth.saturating_sub(1))
}

/// Every way gives these of the tree's paths.
#[track_caller]
fn check(walk: &Walk, root: &Path, is_in: impl Fn(&Path) -> bool) {
    let mut expected = walks::std_paths(root);
    expected.retain(|path| is_in(path));
    for walk in walks::every_order(walk) {
        let (mut paths, errors) = walks::streamed(walk.clone());
        paths.sort();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(paths, expected, "{walk:?}");
        let (paths, _) = walks::in_parallel(walk.clone());
        assert_eq!(paths, expected, "{walk:?}");
    }
}

#[test]
fn what_is_filtered_out_is_neither_handed_out_nor_entered() {
    let tree = tree(70);
    let root = tree.path();
    let walk =
        Walk::new(root).filter_entry(|entry| entry.depth() == 0 || !is_chosen(entry.file_name()));
    let stays = |path: &Path| {
        let mut way = above(root, path).chain([path]);
        path == root || way.all(|path| !is_chosen(name(path)))
    };
    check(&walk, root, stays);
    // The filter also comes first where the contents do.
    check(&walk.contents_first(true), root, stays);
}

#[test]
fn what_is_not_descended_into_is_handed_out() {
    let tree = tree(71);
    let root = tree.path();
    let walk =
        Walk::new(root).descend_if(|entry| entry.depth() == 0 || !is_chosen(entry.file_name()));
    check(&walk, root, |path| {
        above(root, path).all(|path| !is_chosen(name(path)))
    });
    let nothing = Walk::new(root).descend_if(|_| false);
    check(&nothing, root, |path| path == root);
}

#[test]
fn both_filters_work_together() {
    let tree = tree(72);
    let root = tree.path();
    let out = |name: &[u8]| name.contains(&b'e');
    let walk = Walk::new(root)
        .filter_entry(move |entry| entry.depth() == 0 || !out(entry.file_name()))
        .descend_if(|entry| entry.depth() == 0 || !is_chosen(entry.file_name()));
    check(&walk, root, |path| {
        let closed = above(root, path).any(|path| is_chosen(name(path)));
        let gone = above(root, path).chain([path]).any(|path| out(name(path)));
        path == root || (!closed && !gone)
    });
}

#[test]
fn roots_are_filtered_as_well() {
    let [one, two] = [tree(73), tree(74)];
    let gone = two.path().as_os_str().as_bytes().to_vec();
    let walk = Walk::new(one.path()).root(two.path());
    let walk = walk.filter_entry(move |entry| entry.path_bytes() != gone);
    check(&walk, one.path(), |_| true);
}

#[test]
fn filters_and_depths_do_not_know_of_each_other() {
    let tree = tree(75);
    let root = tree.path();
    let depth = |path: &Path| path.components().count() - root.components().count();
    for (min, max) in [(0, 2), (1, 1), (2, 3), (3, usize::MAX), (3, 2), (9, 9)] {
        let least = AtomicUsize::new(usize::MAX);
        let seen = Arc::new(least);
        let shared = Arc::clone(&seen);
        let walk = Walk::new(root).min_depth(min).max_depth(max);
        let walk = walk.filter_entry(move |entry| {
            // What is only walked through is filtered too.
            shared.fetch_min(entry.depth(), Relaxed);
            entry.depth() == 0 || !is_chosen(entry.file_name())
        });
        check(&walk, root, |path| {
            let way = above(root, path).chain([path]);
            let stays = path == root || way.into_iter().all(|path| !is_chosen(name(path)));
            stays && (min..=max).contains(&depth(path))
        });
        assert_eq!(seen.load(Relaxed), 0);
    }
}

#[test]
fn a_filter_sees_the_metadata_that_was_asked_for() {
    let tree = tree(76);
    let root = tree.path();
    let small = |size: Option<u64>| size.is_some_and(|size| size < 1_000);
    let walk = Walk::new(root).metadata(StatxMask::SIZE | StatxMask::TYPE);
    let walk = walk.filter_entry(move |entry| {
        let stat = entry.stat().expect("it was asked for").unwrap();
        assert!(entry.file_type().is_some());
        entry.file_type() != Some(FileType::REGULAR) || small(stat.size())
    });
    check(&walk, root, |path| {
        let std = path.symlink_metadata().unwrap();
        !std.is_file() || small(Some(std.len()))
    });
}

#[test]
fn what_a_filter_leaves_out_is_not_opened() {
    // Where the directory lists types and nothing was asked for, looking would be a waste.
    let tree = tree(77);
    let progress = Progress::new();
    let walk = Walk::new(tree.path()).filter_entry(|entry| entry.depth() == 0);
    let walk = walk.progress(&progress);
    assert_eq!(walks::streamed(walk).0.len(), 1);
    assert_eq!((progress.entries(), progress.directories()), (1, 1));
}

#[test]
fn what_a_visitor_prunes_is_pruned_beside_filters() {
    let tree = tree(78);
    let root = tree.path();
    let walk = Walk::new(root).descend_if(|entry| !entry.file_name().starts_with(b"a"));
    for walk in walks::every_way(&walk) {
        let (mut paths, _) = walks::in_order_until(walk, |entry| {
            if entry.file_name().starts_with(b"b") {
                Visit::Prune
            } else {
                Visit::Continue
            }
        });
        paths.sort();
        let mut expected = walks::std_paths(root);
        expected.retain(|path| {
            let closed = |path: &Path| name(path).starts_with(b"a") || name(path).starts_with(b"b");
            !above(root, path).any(closed)
        });
        assert_eq!(paths, expected);
    }
}

#[test]
fn progress_counts_what_was_handed_out() {
    let tree = tree(79);
    let root = tree.path();
    let directories = |paths: &[PathBuf]| {
        let real = |path: &&PathBuf| path.symlink_metadata().unwrap().is_dir();
        u64::try_from(paths.iter().filter(real).count()).unwrap()
    };
    let everything = walks::std_paths(root);
    for walk in walks::every_order(&Walk::new(root)) {
        let progress = Progress::new();
        assert_eq!((progress.entries(), progress.directories()), (0, 0));
        assert_eq!((progress.queued(), progress.current()), (0, None));
        let paths = walks::streamed(walk.clone().progress(&progress)).0;
        assert_eq!(progress.entries(), paths.len() as u64, "{walk:?}");
        assert_eq!(progress.directories(), directories(&everything), "{walk:?}");
        assert_eq!(progress.queued(), 0, "{walk:?}");
        let current = progress.current().expect("a directory was walked");
        assert!(current.is_dir() && current.starts_with(root), "{current:?}");
        // What was filtered out, or lies above what is wanted, does not count.
        let progress = Progress::new();
        let some = walk.clone().min_depth(2).progress(&progress);
        let some = some.filter_entry(|entry| entry.depth() == 0 || !is_chosen(entry.file_name()));
        let paths = walks::in_parallel(some).0;
        assert_eq!(progress.entries(), paths.len() as u64, "{walk:?}");
        let progress = Progress::default();
        let none = walk.max_depth(0).progress(&progress);
        assert_eq!(walks::streamed(none).0.len(), 1);
        assert_eq!((progress.entries(), progress.directories()), (1, 0));
    }
}

#[test]
fn a_clone_of_a_progress_counts_the_same() {
    let tree = tree(80);
    let progress = Progress::new();
    let clone = progress.clone();
    let walk = Walk::new(tree.path()).progress(&progress);
    let count = walks::streamed(walk.clone()).0.len() as u64;
    assert_eq!(clone.entries(), count);
    // Of all walks that were told of it.
    walks::streamed(walk);
    assert_eq!(clone.entries(), 2 * count);
}

#[test]
fn progress_is_told_while_the_walk_goes_on() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..200 {
        let dir = place.path().join(number.to_string());
        std::fs::create_dir(&dir).unwrap();
        tree::fill(&dir, 500).unwrap();
    }
    for order in [Order::Any, Order::PreOrder] {
        let progress = Progress::new();
        let walk = Walk::new(place.path()).order(order).progress(&progress);
        let mut entries = walk.into_stream();
        block_on(async {
            for _ in 0..50_000 {
                entries.next().await.unwrap().unwrap();
            }
        });
        assert!(progress.entries() >= 50_000, "{progress:?}");
        assert!(progress.directories() >= 90, "{progress:?}");
        assert!(progress.queued() > 0, "{progress:?}");
        assert!(progress.current().is_some(), "{progress:?}");
        let rest = block_on(entries.count());
        assert_eq!(progress.entries(), 50_000 + rest as u64);
        assert_eq!(progress.queued(), 0);
    }
}

#[test]
fn batches_hold_what_the_stream_gives() {
    let tree = tree(81);
    for walk in walks::every_order(&Walk::new(tree.path()).root("/missing/root")) {
        let batches: Vec<_> = block_on(walk.clone().into_batches().collect());
        assert!(batches.iter().all(|batch| !batch.is_empty()));
        let mut paths = Vec::new();
        let mut errors = Vec::new();
        for item in batches.into_iter().flatten() {
            match item {
                Ok(entry) => paths.push(entry.into_path()),
                Err(error) => errors.push(error.path().to_owned()),
            }
        }
        assert_eq!(errors, [Path::new("/missing/root")]);
        let mut streamed = walks::streamed(walk.clone()).0;
        let in_order = walks::in_order(walk.clone()).0;
        if paths != in_order {
            paths.sort();
            streamed.sort();
        }
        assert_eq!(paths, streamed, "{walk:?}");
    }
    let ordered = Walk::new(tree.path()).order(Order::PreOrder);
    let batches: Vec<_> = block_on(ordered.clone().into_batches().collect());
    let paths = batches
        .into_iter()
        .flatten()
        .map(|item| item.unwrap().into_path());
    assert!(paths.eq(walks::in_order(ordered).0));
}

#[test]
fn batches_can_be_dropped() {
    alone("batches_can_be_dropped", || {
        let tree = tree(82);
        let drivers = tests::drivers();
        let walk_all = || {
            for driver in &drivers {
                let walk = Walk::new(tree.path()).driver(driver.clone());
                drop(walk.clone().into_batches());
                let mut batches = walk.into_batches();
                assert!(block_on(batches.next()).is_some());
                let start = Instant::now();
                drop(batches);
                assert!(start.elapsed() < Duration::from_millis(500));
            }
        };
        walk_all();
        std::thread::sleep(Duration::from_millis(200));
        let before = process::descriptors();
        for _ in 0..20 {
            walk_all();
        }
        let after = process::settles(process::descriptors, |&count| count <= before);
        assert!(after <= before, "{after} descriptors, {before} before");
    });
}

#[test]
fn a_filters_panic_is_thrown_once_on_the_caller() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree(83);
    let calls = Arc::new(AtomicUsize::new(0));
    for walk in walks::every_way(&Walk::new(tree.path())) {
        let shared = Arc::clone(&calls);
        let walk = walk.filter_entry(move |_| {
            let calls = shared.fetch_add(1, Relaxed);
            assert!(calls % 100 != 99, "the filter's panic");
            true
        });
        let thrown = catch_unwind(AssertUnwindSafe(|| {
            walk.visit_parallel(|| |_: Result<&EntryRef<'_>, &Error>| Visit::Continue);
        }));
        let thrown = thrown.unwrap_err();
        assert_eq!(thrown.downcast_ref::<&str>(), Some(&"the filter's panic"));
    }
}

#[test]
fn each_entry_is_filtered_once() {
    let tree = tree(84);
    let expected: BTreeSet<_> = walks::std_paths(tree.path()).into_iter().collect();
    for walk in walks::every_order(&Walk::new(tree.path()).contents_first(true)) {
        let seen = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
        let shared = Arc::clone(&seen);
        let walk = walk.filter_entry(move |entry| {
            let path = entry.path();
            assert!(shared.lock().unwrap().insert(path), "asked twice");
            true
        });
        walks::streamed(walk);
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}
