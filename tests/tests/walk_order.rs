//! What a walk hands out, and in which order.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use ringwalk::{Backend, EntryRef, Order, Visit, Walk};
use testkit::mount::{self, Mount};
use testkit::tree::{self, Tree};
use testkit::{Skip, or_skip};
use tests::{driver, walks};

fn trees() -> impl Iterator<Item = Tree> {
    (30..34).map(|seed| tree::Builder::new(seed).entries(400).build().unwrap())
}

fn sorted(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths
}

#[test]
fn any_order_has_every_entry_once() {
    for tree in trees() {
        let expected = walks::std_paths(tree.path());
        for walk in walks::every_way(&Walk::new(tree.path())) {
            let context = format!("seed {}, {walk:?}", tree.seed());
            let (paths, errors) = walks::streamed(walk.clone());
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(sorted(paths), expected, "{context}");
            let (paths, errors) = walks::in_parallel(walk);
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(paths, expected, "{context}");
        }
    }
}

#[test]
fn in_any_order_a_directory_comes_before_its_contents() {
    let tree = tree::Builder::new(35).entries(2_000).build().unwrap();
    let mut seen = BTreeSet::new();
    for path in walks::streamed(Walk::new(tree.path())).0 {
        let parent = path.parent().unwrap();
        assert!(
            path == tree.path() || seen.contains(parent),
            "{}",
            path.display()
        );
        seen.insert(path);
    }
}

#[test]
fn pre_order_is_that_of_find() {
    for tree in trees() {
        let expected = walks::found(tree.path(), &[]);
        for walk in walks::every_way(&Walk::new(tree.path()).order(Order::PreOrder)) {
            let context = format!("seed {}, {walk:?}", tree.seed());
            assert_eq!(walks::streamed(walk.clone()).0, expected, "{context}");
            assert_eq!(walks::in_order(walk).0, expected, "{context}");
        }
    }
}

#[test]
fn pre_order_is_that_of_find_on_other_file_systems() {
    let mounts: [fn() -> Result<Mount, Skip>; 4] = [
        mount::ext4_without_types,
        mount::xfs,
        mount::btrfs,
        mount::tmpfs,
    ];
    for mount in mounts {
        let mount = match mount() {
            Ok(mount) => mount,
            Err(skip) => {
                skip.report();
                continue;
            }
        };
        let tree = tree::Builder::new(36)
            .entries(400)
            .build_in(mount.path())
            .unwrap();
        let expected = walks::found(tree.path(), &[]);
        for walk in walks::every_way(&Walk::new(tree.path()).order(Order::PreOrder)) {
            let (paths, errors) = walks::streamed(walk.clone());
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(paths, expected, "{walk:?}");
        }
    }
}

#[test]
fn depths_are_bounded_as_finds() {
    let tree = tree::Builder::new(38)
        .entries(400)
        .depth(5)
        .build()
        .unwrap();
    for (min, max) in [
        (0, 0),
        (0, 1),
        (1, 1),
        (2, 3),
        (3, 2),
        (1, 100),
        (6, 100),
        (9, 100),
    ] {
        let (least, most) = (min.to_string(), max.to_string());
        let expected = walks::found(tree.path(), &["-mindepth", &least, "-maxdepth", &most]);
        let walk = Walk::new(tree.path()).min_depth(min).max_depth(max);
        for walk in walks::every_way(&walk) {
            let any = walks::streamed(walk.clone()).0;
            assert_eq!(sorted(any), sorted(expected.clone()), "{min} to {max}");
            assert_eq!(walks::in_order(walk).0, expected, "{min} to {max}");
        }
    }
}

#[test]
fn what_is_pruned_is_not_entered() {
    let tree = tree::Builder::new(39)
        .entries(600)
        .plain_names()
        .build()
        .unwrap();
    let expected = walks::found(
        tree.path(),
        &["-mindepth", "1", "-name", "[a-k]*", "-prune", "-o"],
    );
    let everything = walks::found(tree.path(), &[]);
    let is_pruned = |name: &[u8]| {
        name.first()
            .is_some_and(|byte| (b'a'..=b'k').contains(byte))
    };
    for walk in walks::every_way(&Walk::new(tree.path())) {
        let (paths, _) = walks::in_order_until(walk, move |entry| {
            if entry.depth() > 0 && is_pruned(entry.file_name()) {
                Visit::Prune
            } else {
                Visit::Continue
            }
        });
        // find prints those that it does not prune; both come in the same order.
        let entered: Vec<_> = paths
            .iter()
            .filter(|path| {
                *path == tree.path() || !is_pruned(path.file_name().unwrap_or_default().as_bytes())
            })
            .collect();
        let plain: Vec<_> = [tree.path()]
            .into_iter()
            .chain(expected.iter().map(PathBuf::as_path))
            .collect();
        assert_eq!(entered, plain);
        assert!(paths.len() < everything.len());
    }
}

#[test]
fn after_quit_nothing_comes() {
    let tree = tree::Builder::new(40).entries(800).build().unwrap();
    let everything = walks::found(tree.path(), &[]);
    for at in [0, 1, 2, 17, 300, 799, 800] {
        let last = everything[at].clone();
        for walk in walks::every_way(&Walk::new(tree.path())) {
            let last = last.clone();
            let (paths, _) = walks::in_order_until(walk, move |entry: &EntryRef<'_>| {
                if entry.path() == last {
                    Visit::Quit
                } else {
                    Visit::Continue
                }
            });
            assert_eq!(paths, everything[..=at], "{at}");
        }
    }
}

#[test]
fn the_first_quit_in_order_counts() {
    let tree = tree::Builder::new(41)
        .entries(800)
        .plain_names()
        .build()
        .unwrap();
    let quits = |name: &[u8]| name.contains(&b'q') || name.contains(&b'z');
    let everything = walks::found(tree.path(), &[]);
    let at = everything
        .iter()
        .skip(1)
        .position(|path| quits(path.file_name().unwrap_or_default().as_bytes()))
        .unwrap();
    for _ in 0..5 {
        for walk in walks::every_way(&Walk::new(tree.path())) {
            let (paths, _) = walks::in_order_until(walk, move |entry| {
                if entry.depth() > 0 && quits(entry.file_name()) {
                    Visit::Quit
                } else {
                    Visit::Continue
                }
            });
            assert_eq!(paths, everything[..=at + 1]);
        }
    }
}

#[test]
fn contents_first_is_finds_depth() {
    for tree in trees() {
        let expected = walks::found(tree.path(), &["-depth"]);
        let walk = Walk::new(tree.path()).contents_first(true);
        for walk in walks::every_way(&walk.order(Order::PreOrder)) {
            assert_eq!(walks::streamed(walk.clone()).0, expected, "{walk:?}");
            assert_eq!(walks::in_order(walk).0, expected);
        }
        let quits = expected.len() / 3;
        for at in [0, 1, quits, expected.len() - 1] {
            let walk = Walk::new(tree.path()).contents_first(true);
            for walk in walks::every_way(&walk) {
                let last = expected[at].clone();
                let (paths, _) = walks::in_order_until(walk, move |entry| {
                    if entry.path() == last {
                        Visit::Quit
                    } else {
                        Visit::Continue
                    }
                });
                assert_eq!(paths, expected[..=at], "{at}");
            }
        }
    }
}

#[test]
fn contents_first_with_depths_is_finds() {
    let tree = tree::Builder::new(42).entries(400).build().unwrap();
    for (min, max) in [(0, 1), (1, 2), (2, 3), (3, 2), (2, 100)] {
        let (least, most) = (min.to_string(), max.to_string());
        let args = ["-depth", "-mindepth", &least, "-maxdepth", &most];
        let expected = walks::found(tree.path(), &args);
        let walk = Walk::new(tree.path()).contents_first(true);
        for walk in walks::every_way(&walk.min_depth(min).max_depth(max)) {
            let any = walks::streamed(walk.clone()).0;
            assert_eq!(sorted(any), sorted(expected.clone()), "{min} to {max}");
            assert_eq!(walks::in_order(walk).0, expected, "{min} to {max}");
        }
    }
}

#[test]
fn a_key_decides_and_the_directory_where_keys_are_alike() {
    let place = testkit::tree::flat(3_000).unwrap();
    for number in 0..20 {
        let dir = place.path().join(format!("d{number}"));
        fs::create_dir(&dir).unwrap();
        testkit::tree::fill(&dir, 30).unwrap();
    }
    let key = |name: &[u8]| std::cmp::Reverse(name.last().copied());
    let mut expected = Vec::new();
    let mut pending = vec![place.path().to_owned()];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            entries.sort_by_key(|path| key(path.as_os_str().as_bytes()));
            pending.extend(entries.into_iter().rev());
        }
        expected.push(path);
    }
    let walk = Walk::new(place.path()).sort_by_key(move |entry| key(entry.file_name()));
    for walk in walks::every_way(&walk) {
        assert!(walks::streamed(walk.clone()).0 == expected, "{walk:?}");
        assert!(walks::in_order(walk.clone()).0 == expected, "{walk:?}");
    }
}

fn check_large(mount: Result<Mount, Skip>) {
    let mount = or_skip!(mount);
    let dir = mount.path().join("large");
    fs::create_dir(&dir).unwrap();
    // Names in an order that is not that of their inodes.
    for i in 0..12_000_u32 {
        let name = format!("{:05}", i.wrapping_mul(7_919) % 12_000);
        fs::write(dir.join(name), "").unwrap();
    }
    fs::create_dir(dir.join("sub")).unwrap();
    fs::write(dir.join("sub/file"), "").unwrap();
    let expected = walks::found(&dir, &[]);
    for backend in [Backend::Auto, Backend::Ring, Backend::Threads] {
        let walk = Walk::new(&dir)
            .driver(driver(backend))
            .sort_large_by_inode(true);
        let paths = walks::in_order(walk).0;
        assert!(paths == expected, "{backend}: another order than find's");
    }
}

#[test]
fn a_large_directory_is_sorted_as_find_does_on_ext4() {
    check_large(mount::ext4());
}

#[test]
fn a_large_directory_is_not_sorted_on_tmpfs() {
    check_large(mount::tmpfs());
}

#[test]
fn a_large_directory_is_sorted_as_find_does_on_xfs_and_btrfs() {
    check_large(mount::xfs());
    check_large(mount::btrfs());
}

#[test]
fn unsorted_order_is_that_of_the_directory() {
    let place = testkit::tree::flat(12_000).unwrap();
    let expected: Vec<_> = fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let paths = walks::in_order(Walk::new(place.path()).min_depth(1)).0;
    assert!(paths == expected);
}

/// One entry after the other: what a visit does is seen by all that comes after it, and a directory is
/// read only when it is its turn.
#[test]
fn one_by_one_sees_what_its_visits_do() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    let walk = Walk::new(&root);
    let (paths, errors) = walks::one_by_one(walk.clone(), |entry| {
        if entry.file_type().unwrap().is_dir() && entry.depth() < 20 {
            fs::create_dir_all(entry.path().join("made")).unwrap();
        }
        Visit::Continue
    });
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(sorted(paths), walks::std_paths(&root));
    assert!(walks::std_paths(&root).len() > 40);

    // Removed before its turn: an error in its place, and the walk goes on.
    let victim = root.join("a");
    let (_, errors) = walks::one_by_one(walk.clone(), |entry| {
        if entry.path() == victim {
            fs::remove_dir_all(&victim).unwrap();
        }
        Visit::Continue
    });
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].kind(), ringwalk::ErrorKind::Vanished);

    // Contents first, a tree can be removed on the way.
    let (_, errors) = walks::one_by_one(walk.contents_first(true), |entry| {
        fs::remove_dir(entry.path()).unwrap();
        Visit::Continue
    });
    assert!(errors.is_empty(), "{errors:?}");
    assert!(!root.exists());
}

/// The walk ends where the visitor says, and does not enter what it prunes.
#[test]
fn one_by_one_quits_and_prunes() {
    for tree in trees() {
        let walk = Walk::new(tree.path());
        let all = walks::found(tree.path(), &[]);
        for last in [0, 1, 7, all.len() / 2] {
            let mut left = last;
            let (paths, _) = walks::one_by_one(walk.clone(), |_| {
                left = left.wrapping_sub(1);
                if left == usize::MAX {
                    Visit::Quit
                } else {
                    Visit::Continue
                }
            });
            assert_eq!(paths, all[..=last], "seed {}", tree.seed());
        }
        let (paths, _) = walks::one_by_one(walk, |entry| match entry.depth() {
            0 => Visit::Continue,
            _ => Visit::Prune,
        });
        let expected = walks::found(tree.path(), &["-maxdepth", "1"]);
        assert_eq!(paths, expected, "seed {}", tree.seed());
    }
}
