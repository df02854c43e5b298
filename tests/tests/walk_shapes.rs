//! Trees of every shape, walked in every order with every back end: what comes is what a plain
//! recursion finds. Each test is named for its shape.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use ringwalk::{Backend, EntryRef, Error, FileType, Order, Visit, Walk};
use tempfile::TempDir;
use testkit::child;
use testkit::or_skip;
use testkit::skip::needs_root;
use tests::deep::{self, DeepPlace};
use tests::model::{Compare, Found, Model, Seen};
use tests::{LIMIT, driver, drivers, process, walks};

/// An order, and what it is for the model.
struct Way {
    name: &'static str,
    walk: fn(Walk) -> Walk,
    contents_first: bool,
    sort: Option<Compare>,
    /// Otherwise only the directory and its contents have one.
    has_order: bool,
}

const BY_NAME: Option<Compare> = Some(|a: &OsStr, b: &OsStr| a.as_bytes().cmp(b.as_bytes()));

const WAYS: [Way; 6] = [
    Way {
        name: "any order",
        walk: |walk| walk,
        contents_first: false,
        sort: None,
        has_order: false,
    },
    Way {
        name: "any order, contents first",
        walk: |walk| walk.contents_first(true),
        contents_first: true,
        sort: None,
        has_order: false,
    },
    Way {
        name: "pre-order",
        walk: |walk| walk.order(Order::PreOrder),
        contents_first: false,
        sort: None,
        has_order: true,
    },
    Way {
        name: "pre-order, contents first",
        walk: |walk| walk.order(Order::PreOrder).contents_first(true),
        contents_first: true,
        sort: None,
        has_order: true,
    },
    Way {
        name: "by name",
        walk: Walk::sort_by_file_name,
        contents_first: false,
        sort: BY_NAME,
        has_order: true,
    },
    Way {
        name: "by name, contents first",
        walk: |walk| walk.contents_first(true).sort_by_file_name(),
        contents_first: true,
        sort: BY_NAME,
        has_order: true,
    },
];

fn walk_of(roots: &[PathBuf]) -> Walk {
    let walk = Walk::new(&roots[0]);
    roots[1..].iter().fold(walk, Walk::root)
}

/// Walks in all ways; links are also followed where there are any.
fn check(roots: &[PathBuf]) {
    let drivers = drivers();
    let plain = Model::new(roots).run();
    let is_link = |seen: &Seen| seen.file_type == Some(FileType::SYMLINK);
    let has_links = plain.entries.iter().any(is_link);
    for follow_links in [false, true] {
        if follow_links && !has_links {
            break;
        }
        for way in WAYS {
            let model = Model {
                follow_links,
                contents_first: way.contents_first,
                sort: way.sort,
                ..Model::new(roots)
            };
            let expected = model.run();
            for driver in &drivers {
                let walk = walk_of(roots).follow_links(follow_links);
                let walk = (way.walk)(walk).driver(driver.clone());
                let context = format!("{}, {}, follow {follow_links}", driver.backend(), way.name);
                let t = std::time::Instant::now();
                check_way(&walk, &way, &expected, &context);
                eprintln!("{context} {:?}", t.elapsed());
            }
        }
    }
}

fn check_way(walk: &Walk, way: &Way, expected: &Found, context: &str) {
    let streamed = Found::of(walks::items(walk.clone()));
    check_nesting(&streamed.entries, way.contents_first, context);
    if way.has_order {
        streamed.assert_is(expected, context);
    } else {
        streamed
            .sorted()
            .assert_is(&expected.clone().sorted(), context);
    }
    // The visitors are told the same.
    let paths = |found: Vec<PathBuf>| -> Vec<_> {
        found.into_iter().map(PathBuf::into_os_string).collect()
    };
    let wanted = expected.entries.iter().map(|seen| seen.path.as_os_str());
    if way.has_order {
        let visits = [
            walks::in_order(walk.clone()),
            walks::one_by_one(walk.clone(), |_| Visit::Continue),
        ];
        for (came, errors) in visits {
            let same = paths(came).iter().eq(wanted.clone());
            assert!(same, "{context}: the visitor in order saw something else");
            assert_eq!(errors.len(), expected.errors.len(), "{context}");
        }
    } else {
        let (came, errors) = walks::in_parallel(walk.clone());
        let (mut came, mut wanted) = (paths(came), wanted.collect::<Vec<_>>());
        came.sort();
        wanted.sort();
        let same = came.iter().eq(wanted);
        assert!(same, "{context}: the parallel visitors saw something else");
        assert_eq!(errors.len(), expected.errors.len(), "{context}");
    }
}

/// A directory comes before what it holds, or after.
fn check_nesting(entries: &[Seen], contents_first: bool, context: &str) {
    let bytes = |seen: &'_ Seen| trimmed(seen.path.as_bytes()).len();
    let places: BTreeMap<_, _> = (0..)
        .zip(entries)
        .map(|(at, seen)| ((&seen.path.as_bytes()[..bytes(seen)], seen.depth), at))
        .collect();
    for (at, seen) in entries
        .iter()
        .enumerate()
        .filter(|(_, seen)| seen.depth > 0)
    {
        let path = seen.path.as_bytes();
        let name = path.iter().rposition(|&byte| byte == b'/');
        let parent = trimmed(&path[..name.expect("a path below a root")]);
        let parent: usize = places[&(parent, seen.depth - 1)];
        let right = (parent > at) == contents_first;
        assert!(
            right,
            "{context}: {} comes at {at}, what holds it at {parent}",
            seen.path.display()
        );
    }
}

/// Without slashes at the end.
fn trimmed(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|&byte| byte != b'/');
    &path[..end.map_or(0, |end| end + 1)]
}

/// A place for a tree, and its root.
fn place() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    fs::create_dir(&root).unwrap();
    (place, root)
}

/// Files with these names; a `/` at the end makes a directory.
fn fill(root: &Path, names: impl IntoIterator<Item = impl AsRef<OsStr>>) {
    for name in names {
        let path = root.join(name.as_ref());
        if name.as_ref().as_bytes().ends_with(b"/") {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    }
}

#[test]
fn an_empty_root() {
    let (_place, root) = place();
    check(&[root]);
}

#[test]
fn a_file_as_root() {
    let (_place, root) = place();
    fill(&root, ["file"]);
    check(&[root.join("file")]);
}

#[test]
fn one_level() {
    let (_place, root) = place();
    fill(&root, ["c", "a", "b", "d/"]);
    check(&[root]);
}

#[test]
fn a_chain_beyond_path_max() {
    let place = DeepPlace::new().unwrap();
    deep::chain(place.path(), 1_500, "dir").unwrap();
    check(&[place.path().to_owned()]);
}

#[test]
fn a_chain_of_three_thousand() {
    let place = DeepPlace::new().unwrap();
    deep::chain(place.path(), 3_000, "d").unwrap();
    let roots = [place.path().to_owned()];
    // Each in one way: the paths of one walk are 10 MB.
    let mut drivers = drivers().into_iter().cycle();
    for way in WAYS {
        let driver = drivers.next().unwrap();
        let context = format!("{}, {}", driver.backend(), way.name);
        let streamed = Found::of(walks::items((way.walk)(walk_of(&roots)).driver(driver)));
        check_nesting(&streamed.entries, way.contents_first, &context);
        let model = Model {
            contents_first: way.contents_first,
            ..Model::new(&roots)
        };
        let (streamed, expected) = (streamed.sorted(), model.run().sorted());
        streamed.assert_is(&expected, &context);
    }
}

#[test]
fn ten_thousand_levels() {
    let _deadline = testkit::deadline(LIMIT * 2);
    let place = DeepPlace::new().unwrap();
    deep::chain(place.path(), 10_000, "d").unwrap();
    let walk = Walk::new(place.path()).driver(driver(Backend::Auto));
    for walk in [walk.clone(), walk.contents_first(true)] {
        let seen = Arc::new(AtomicUsize::new(0));
        let deepest = Arc::new(AtomicUsize::new(0));
        let (all, most) = (Arc::clone(&seen), Arc::clone(&deepest));
        walk.visit_parallel(move || {
            let (all, most) = (Arc::clone(&all), Arc::clone(&most));
            move |entry: Result<&EntryRef<'_>, &Error>| {
                all.fetch_add(1, Relaxed);
                most.fetch_max(entry.unwrap().depth(), Relaxed);
                Visit::Continue
            }
        });
        let found = (seen.load(Relaxed), deepest.load(Relaxed));
        assert_eq!(found, (10_001, 10_000));
    }
}

#[test]
fn a_chain_with_files_on_the_way() {
    let (_place, root) = place();
    let names = (0..60).map(|level| format!("{}file{level}", "d/".repeat(level)));
    fill(&root, names);
    check(&[root]);
}

#[test]
fn ten_thousand_files() {
    let (_place, root) = place();
    testkit::tree::fill(&root, 10_000).unwrap();
    check(&[root]);
}

#[test]
fn ten_thousand_directories() {
    let (_place, root) = place();
    fill(&root, (0..10_000).map(|number| format!("{number}/")));
    check(&[root]);
}

#[test]
fn directories_alone() {
    let (_place, root) = place();
    let names = (0..400).map(|n| format!("{}/{}/{}/", n % 5, n % 7, n % 11));
    fill(&root, names);
    check(&[root]);
}

#[test]
fn odd_names() {
    let (_place, root) = place();
    let long = [b'n'; 255];
    let names: [&[u8]; 13] = [
        b"new\nline",
        b"\n",
        b"\xff\xfe",
        b"\xc3",
        b"-dash",
        b"--",
        &long,
        b" ",
        b"...",
        b"..a",
        b"*",
        b"\\",
        b"\x01\x7f",
    ];
    for name in names {
        let name = OsStr::from_bytes(name);
        fill(&root, [name]);
        // And as a directory.
        fill(&root.join("in").join(name), ["file", "-"]);
    }
    check(&[root]);
}

#[test]
fn hidden_names() {
    let (_place, root) = place();
    fill(
        &root,
        [".file", ".dir/.file", ".dir/file", "dir/.dir/.dir/x"],
    );
    check(&[root]);
}

/// One of each kind that the user may make.
fn make_specials(root: &Path) {
    let made = Command::new("mkfifo").arg(root.join("fifo")).status();
    assert!(made.unwrap().success());
    drop(UnixListener::bind(root.join("socket")).unwrap());
    let mut mknod = Command::new("mknod");
    match needs_root("mknod") {
        Ok(()) => {
            let made = mknod.arg(root.join("device")).args(["c", "1", "3"]);
            assert!(made.status().unwrap().success());
        }
        Err(skip) => skip.report(),
    }
}

#[test]
fn special_files() {
    let (_place, root) = place();
    fill(&root, ["dir/"]);
    make_specials(&root);
    make_specials(&root.join("dir"));
    // Nothing opens them: that of a pipe would wait.
    check(&[root.join("fifo"), root.join("socket"), root]);
}

#[test]
fn links_of_all_kinds() {
    let (_place, root) = place();
    fill(&root, ["file", "dir/inside", "dir/sub/deeper", "other/"]);
    let links = [
        ("dangling", "nothing"),
        ("through-a-file", "file/nothing"),
        ("to-file", "file"),
        ("to-dir", "dir"),
        ("to-empty-dir", "other"),
        ("to-sub", "dir/sub"),
        ("to-link", "to-dir"),
        ("self", "self"),
        ("mutual-a", "mutual-b"),
        ("mutual-b", "mutual-a"),
        ("here", "."),
        ("dir/parent", ".."),
        ("dir/sub/two-up", "../.."),
        ("dir/sub/across", "../../other"),
    ];
    for (link, target) in links {
        symlink(target, root.join(link)).unwrap();
    }
    symlink(&root, root.join("other/absolute")).unwrap();
    check(&[root]);
}

#[test]
fn links_as_roots() {
    let (_place, root) = place();
    fill(&root, ["file", "dir/inside"]);
    for (link, target) in [
        ("l-dir", "dir"),
        ("l-file", "file"),
        ("l-nothing", "nothing"),
        ("l-self", "l-self"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    let links = ["l-dir", "l-file", "l-nothing", "l-self"];
    check(&links.map(|link| root.join(link)));
    check(&[root.join("l-dir/")]);
}

#[test]
fn a_root_with_slashes() {
    let (_place, root) = place();
    fill(&root, ["dir/file", "file"]);
    for slashes in ["/", "//", "///", "/.", "/./", "/dir/..", "/dir/../"] {
        let mut root = root.clone().into_os_string();
        root.push(slashes);
        check(&[root.into()]);
    }
}

#[test]
fn the_current_directory_and_the_one_above() {
    const NAME: &str = "the_current_directory_and_the_one_above";
    if child::is_child(NAME) {
        std::env::set_current_dir(process::place()).unwrap();
        for root in [".", "..", "./", "../", "file", "dir", "../dir/sub"] {
            check(&[root.into()]);
        }
        return check(&[".".into(), "dir".into(), "..".into()]);
    }
    let (_place, root) = place();
    fill(&root, ["dir/file", "dir/dir/file", "dir/sub/x"]);
    let rerun = process::rerun(NAME, &root.join("dir"));
    rerun.run().assert_passed();
}

#[test]
fn a_root_below_another() {
    let (_place, root) = place();
    fill(&root, ["a/b/c/file", "a/file", "z"]);
    let below = root.join("a/b");
    check(&[root.clone(), below.clone()]);
    check(&[below, root]);
}

#[test]
fn a_missing_root_beside_good_ones() {
    let (_place, root) = place();
    fill(&root, ["one/file", "two/file"]);
    let roots = ["one", "missing", "two", "one/file/none", "missing/below"];
    check(&roots.map(|name| root.join(name)));
}

#[test]
fn only_missing_roots() {
    let (_place, root) = place();
    check(&["missing", "none"].map(|name| root.join(name)));
}

#[test]
fn unreadable_directories() {
    const NAME: &str = "unreadable_directories";
    if child::is_child(NAME) {
        let place = process::place();
        check(std::slice::from_ref(&place));
        return check(&["closed", "listed", "open"].map(|name| place.join(name)));
    }
    or_skip!(needs_root("become another user"));
    let (place, root) = place();
    for dir in ["closed", "listed", "open", "open/closed", "open/listed"] {
        fill(&root.join(dir), ["sub/file", "file"]);
    }
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(place.path(), 0o755);
    for (name, bits) in [("closed", 0o000), ("listed", 0o744)] {
        mode(&root.join(name), bits);
        mode(&root.join("open").join(name), bits);
    }
    let rerun = process::rerun(NAME, &root);
    let rerun = rerun.before_exec(process::become_nobody);
    rerun.run().assert_passed();
}

#[test]
fn random_trees() {
    for seed in 100..104 {
        let tree = testkit::tree::Builder::new(seed).entries(500);
        check(&[tree.build().unwrap().path().to_owned()]);
    }
}
