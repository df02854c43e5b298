//! Symbolic links that are followed, and those that lead in circles.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use ringwalk::{Entry, Error, ErrorKind, FileType, StatxMask, Walk};
use tempfile::TempDir;
use testkit::{mount, or_skip, tree};
use tests::walks;

/// A place with these directories, each with a file in it, and these links.
fn place(dirs: &[&str], links: &[(&str, &str)]) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for dir in dirs {
        fs::create_dir_all(place.path().join(dir)).unwrap();
        fs::write(place.path().join(dir).join("file"), "content").unwrap();
    }
    for (link, target) in links {
        symlink(target, place.path().join(link)).unwrap();
    }
    place
}

fn parted(walk: Walk) -> (Vec<Entry>, Vec<Error>) {
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    for item in walks::items(walk) {
        match item {
            Ok(entry) => entries.push(entry),
            Err(error) => errors.push(error),
        }
    }
    (entries, errors)
}

fn only(entries: &[Entry], path: &Path) -> Entry {
    let mut found = entries.iter().filter(|entry| entry.path() == path);
    let entry = found
        .next()
        .unwrap_or_else(|| panic!("no {}", path.display()));
    assert!(found.next().is_none(), "{} came twice", path.display());
    entry.clone()
}

/// In pre-order as find, whose messages are about the loops, and in any order the same.
fn check_as_find(options: &[&str], walk: &Walk, root: &Path) {
    let expected = walks::found_with(options, root, &[]);
    let mut sorted = expected.clone();
    sorted.sort();
    for walk in walks::every_way(walk) {
        assert_eq!(walks::in_order(walk.clone()).0, expected, "{walk:?}");
        assert_eq!(walks::in_parallel(walk.clone()).0, sorted, "{walk:?}");
        let mut streamed = walks::streamed(walk.clone()).0;
        streamed.sort();
        assert_eq!(streamed, sorted, "{walk:?}");
    }
}

#[test]
fn links_lead_where_find_goes() {
    for seed in 0..8 {
        let tree = tree::Builder::new(seed)
            .entries(60)
            .depth(4)
            .build()
            .unwrap();
        let walk = Walk::new(tree.path());
        check_as_find(&["-P"], &walk, tree.path());
        check_as_find(&["-L"], &walk.clone().follow_links(true), tree.path());
        check_as_find(&["-H"], &walk.follow_root_links(true), tree.path());
    }
}

#[test]
fn each_loop_is_one_error_with_both_paths() {
    let links = [
        ("a/to-b", "../b"),
        ("b/to-a", "../a"),
        ("a/up", ".."),
        ("here", "."),
    ];
    let place = place(&["a", "b"], &links);
    let root = place.path();
    // Those that loop, and what they lead back to.
    let mut expected = [
        ("a/to-b/to-a", "a"),
        ("a/up", ""),
        ("b/to-a/to-b", "b"),
        ("b/to-a/up", ""),
        ("here", ""),
    ]
    .map(|(link, ancestor)| (root.join(link), root.join(ancestor)));
    expected.sort();
    for walk in walks::every_order(&Walk::new(root).follow_links(true)) {
        let (entries, mut errors) = parted(walk.clone());
        errors.sort_by_key(|error| error.path().to_owned());
        let came: Vec<_> = errors
            .iter()
            .map(|error| {
                (
                    error.path().to_owned(),
                    error.loop_ancestor().unwrap().to_owned(),
                )
            })
            .collect();
        assert_eq!(came, expected, "{walk:?}");
        for error in &errors {
            assert_eq!(error.kind(), ErrorKind::Loop, "{error}");
            let below = error.path().strip_prefix(root).unwrap();
            assert_eq!(error.depth(), below.components().count(), "{error}");
            let text = error.to_string();
            let ancestor = error.loop_ancestor().unwrap().display().to_string();
            assert!(text.contains(&error.path().display().to_string()), "{text}");
            assert!(text.contains(&ancestor), "{text}");
            let handed_out = entries.iter().any(|entry| entry.path() == error.path());
            assert!(!handed_out, "{error}: and an entry");
        }
    }
    check_as_find(&["-L"], &Walk::new(root).follow_links(true), root);
}

/// A link that leads out of the tree, to where the tree is met again.
#[test]
fn the_way_back_below_a_link_is_a_loop() {
    let place = place(&["in/sub"], &[("in/sub/out", "../.."), ("in/here", ".")]);
    let root = place.path().join("in");
    for (depth, expected) in [(1, &["here"][..]), (9, &["here", "sub/out/in"])] {
        let walk = Walk::new(&root).follow_links(true).max_depth(depth);
        for walk in walks::every_order(&walk) {
            let (_, mut errors) = parted(walk.clone());
            errors.sort_by_key(|error| error.path().to_owned());
            let came: Vec<_> = errors.iter().map(Error::path).collect();
            let expected: Vec<_> = expected.iter().map(|path| root.join(path)).collect();
            assert_eq!(came, expected, "{walk:?}");
            let is_root = |error: &Error| error.loop_ancestor() == Some(&root);
            assert!(errors.iter().all(is_root), "{walk:?}");
        }
    }
    check_as_find(&["-L"], &Walk::new(&root).follow_links(true), &root);
}

#[test]
fn mutual_links_of_many_directories_end() {
    let names = ["a", "b", "c", "d", "e"];
    let place = place(&names, &[]);
    for dir in names {
        for target in names.iter().filter(|target| **target != dir) {
            let link = place.path().join(dir).join(format!("to-{target}"));
            symlink(format!("../{target}"), link).unwrap();
        }
    }
    check_as_find(
        &["-L"],
        &Walk::new(place.path()).follow_links(true),
        place.path(),
    );
}

#[test]
fn links_that_lead_nowhere_but_to_links() {
    let mut links = vec![
        ("self", "self"),
        ("mutual-a", "mutual-b"),
        ("mutual-b", "mutual-a"),
    ];
    links.extend([
        ("nothing", "missing"),
        ("through", "a/file/x"),
        ("last", "a"),
    ]);
    let place = place(&["a"], &links);
    let root = place.path();
    for walk in walks::every_order(&Walk::new(root).follow_links(true).metadata(StatxMask::SIZE)) {
        let (entries, errors) = parted(walk);
        for name in ["nothing", "through"] {
            let entry = only(&entries, &root.join(name));
            assert_eq!(entry.file_type(), Some(FileType::SYMLINK));
            assert!(!entry.is_followed());
            let own = entry.path().symlink_metadata().unwrap();
            assert_eq!(entry.stat().unwrap().unwrap().size(), Some(own.size()));
        }
        let loops: BTreeSet<_> = errors.iter().map(Error::path).collect();
        let names = ["self", "mutual-a", "mutual-b"].map(|name| root.join(name));
        assert_eq!(loops, names.iter().map(PathBuf::as_path).collect());
        assert_eq!(errors.len(), 3);
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Loop, "{error}");
            assert_eq!(error.raw_os_error(), Some(libc::ELOOP), "{error}");
            assert_eq!(error.loop_ancestor(), None, "{error}");
        }
    }
}

#[test]
fn a_followed_link_is_what_it_leads_to() {
    let links = [
        ("to-file", "a/file"),
        ("to-dir", "a"),
        ("first", "second"),
        ("second", "to-dir"),
    ];
    let place = place(&["a"], &links);
    let root = place.path();
    let mask = StatxMask::SIZE | StatxMask::INO;
    for mask in [StatxMask::empty(), mask] {
        for walk in walks::every_order(&Walk::new(root).follow_links(true).metadata(mask)) {
            let (entries, errors) = parted(walk);
            assert!(errors.is_empty(), "{errors:?}");
            for entry in &entries {
                let std = entry.path().metadata().unwrap();
                let file_type = entry.file_type().unwrap();
                assert_eq!(file_type.is_dir(), std.is_dir(), "{entry:?}");
                assert_eq!(entry.is_followed(), entry.path().is_symlink(), "{entry:?}");
                if mask.contains(StatxMask::INO) {
                    let stat = entry.stat().unwrap().unwrap();
                    assert_eq!(stat.ino(), Some(std.ino()), "{entry:?}");
                    assert_eq!(stat.size(), Some(std.size()), "{entry:?}");
                }
            }
            for dir in ["a", "to-dir", "first", "second"] {
                only(&entries, &root.join(dir).join("file"));
            }
            assert_eq!(entries.len(), 1 + 5 + 4);
        }
    }
}

#[test]
fn a_chain_of_links_may_be_as_long_as_the_system_follows() {
    let place = place(&["link0"], &[]);
    for number in 1..=45 {
        let target = format!("link{}", number - 1);
        symlink(target, place.path().join(format!("link{number}"))).unwrap();
    }
    for walk in walks::every_order(&Walk::new(place.path()).follow_links(true)) {
        let (entries, errors) = parted(walk);
        for number in 0..=40 {
            only(&entries, &place.path().join(format!("link{number}/file")));
        }
        assert_eq!(entries.len(), 1 + 41 * 2);
        assert_eq!(errors.len(), 5, "{errors:?}");
        assert!(errors.iter().all(|error| error.kind() == ErrorKind::Loop));
    }
}

#[test]
fn root_links_alone_are_followed_if_that_is_wanted() {
    let links = [
        ("root", "a"),
        ("a/inner", "../b"),
        ("gone", "missing"),
        ("f", "a/file"),
    ];
    let place = place(&["a", "b"], &links);
    let [root, gone, file] = ["root", "gone", "f"].map(|name| place.path().join(name));
    let walk = Walk::new(&root)
        .root(&gone)
        .root(&file)
        .follow_root_links(true);
    for walk in walks::every_order(&walk) {
        let (entries, errors) = parted(walk);
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(entries.len(), 5);
        assert!(only(&entries, &root).is_followed());
        only(&entries, &root.join("file"));
        let inner = only(&entries, &root.join("inner"));
        assert_eq!(inner.file_type(), Some(FileType::SYMLINK));
        assert!(!inner.is_followed());
        assert!(!only(&entries, &gone).is_followed());
        let file = only(&entries, &file);
        assert_eq!(file.file_type(), Some(FileType::REGULAR));
        assert!(file.is_followed());
    }
    check_as_find(&["-H"], &Walk::new(&root).follow_root_links(true), &root);
}

#[test]
fn without_being_told_no_link_is_followed() {
    let place = place(&["a"], &[("root", "a"), ("a/up", "..")]);
    let root = place.path().join("root");
    for walk in walks::every_order(&Walk::new(&root).root(place.path().join("a"))) {
        let (entries, errors) = parted(walk);
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(entries.len(), 1 + 3);
        assert!(entries.iter().all(|entry| !entry.is_followed()));
        assert_eq!(only(&entries, &root).file_type(), Some(FileType::SYMLINK));
    }
}

/// The names that came, and how often each.
fn names(entries: &[Entry]) -> Vec<OsString> {
    let names = entries.iter().filter(|entry| entry.depth() > 0);
    let mut names: Vec<_> = names.map(|entry| entry.file_name().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_directory_is_walked_once_whichever_way_leads_there() {
    let links = [
        ("one", "a/sub"),
        ("two", "a/sub"),
        ("three", "one"),
        ("b/back", "../a"),
    ];
    let place = place(&["a/sub", "b"], &links);
    let walk = Walk::new(place.path()).follow_links(true).visit_once(true);
    for walk in walks::every_order(&walk) {
        let (entries, errors) = parted(walk);
        assert!(errors.is_empty(), "{errors:?}");
        let expected = [
            "a", "b", "back", "file", "file", "one", "sub", "three", "two",
        ];
        assert_eq!(names(&entries), expected);
    }
}

#[test]
fn loops_do_not_matter_if_each_directory_is_walked_once() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let place = place(&names, &[]);
    for dir in names {
        for target in names {
            let link = place.path().join(dir).join(format!("to-{target}"));
            symlink(format!("../{target}"), link).unwrap();
        }
    }
    let walk = Walk::new(place.path()).follow_links(true).visit_once(true);
    for walk in walks::every_order(&walk) {
        let (entries, errors) = parted(walk);
        let files = entries.iter().filter(|entry| entry.file_name() == "file");
        assert_eq!(files.count(), names.len());
        // A link to an ancestor is an error, or an entry like other links to what is known.
        let all = 1 + names.len() * (1 + 1 + names.len());
        assert_eq!(entries.len() + errors.len(), all);
        assert!(errors.iter().all(|error| error.kind() == ErrorKind::Loop));
    }
}

#[test]
fn a_root_given_twice_is_walked_once() {
    let place = place(&["a"], &[]);
    let walk = Walk::new(place.path())
        .root(place.path())
        .root(place.path().join("a"));
    for walk in walks::every_order(&walk.visit_once(true)) {
        let (entries, errors) = parted(walk);
        assert!(errors.is_empty(), "{errors:?}");
        let files = entries.iter().filter(|entry| entry.file_name() == "file");
        assert_eq!(files.count(), 1);
        assert_eq!(entries.iter().filter(|entry| entry.depth() == 0).count(), 3);
    }
}

#[test]
fn a_bind_mount_is_another_way_to_the_same_directory() {
    let place = place(&["a"], &[]);
    let again = or_skip!(mount::bind(&place.path().join("a")));
    let walk = Walk::new(place.path()).root(again.path());
    for walk in walks::every_order(&walk) {
        assert_eq!(parted(walk.clone()).0.len(), 3 + 2);
        assert_eq!(parted(walk.visit_once(true)).0.len(), 3 + 1);
    }
}

#[test]
fn a_link_out_of_the_tree_is_followed() {
    let outside = place(&["a"], &[]);
    let place = place(&["b"], &[]);
    symlink(outside.path(), place.path().join("out")).unwrap();
    check_as_find(
        &["-L"],
        &Walk::new(place.path()).follow_links(true),
        place.path(),
    );
    for walk in walks::every_order(&Walk::new(place.path()).follow_links(true)) {
        let (entries, _) = parted(walk);
        only(&entries, &place.path().join("out/a/file"));
    }
}
