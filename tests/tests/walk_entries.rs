//! Roots, and what is known of every entry.

use std::fs;
use std::path::PathBuf;

use futures::StreamExt;
use ringwalk::{Action, Order, StatxMask, Walk};
use testkit::{mount, or_skip, tree};
use tests::{block_on, walks};

#[test]
fn roots_come_in_order_and_a_missing_one_is_an_item() {
    let place = tempfile::tempdir().unwrap();
    let [one, two, file, link, missing] =
        ["one", "two", "file", "link", "missing"].map(|name| place.path().join(name));
    fs::create_dir_all(one.join("sub")).unwrap();
    fs::create_dir(&two).unwrap();
    fs::write(two.join("inside"), "").unwrap();
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&two, &link).unwrap();
    let walk = Walk::new(&two).root(&missing).root(&file).root(&link);
    let walk = walk.root(&one).root(&two).order(Order::PreOrder);
    let expected = [
        &two,
        &two.join("inside"),
        &file,
        &link,
        &one,
        &one.join("sub"),
        &two,
        &two.join("inside"),
    ];
    for walk in walks::every_way(&walk) {
        for (paths, errors) in [walks::streamed(walk.clone()), walks::in_order(walk)] {
            assert_eq!(paths.iter().collect::<Vec<_>>(), expected);
            assert_eq!(errors.len(), 1);
            assert_eq!(errors[0].action(), Action::Stat);
            assert_eq!((errors[0].path(), errors[0].depth()), (&*missing, 0));
            assert_eq!(errors[0].raw_os_error(), Some(libc::ENOENT));
        }
    }
}

#[test]
fn roots_keep_the_way_they_were_written() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("d")).unwrap();
    fs::write(place.path().join("d/f"), "").unwrap();
    let root = place.path().to_str().unwrap();
    for suffix in ["", "/", "//", "/.", "/d/", "/d/..", "/d//"] {
        let root = PathBuf::from(format!("{root}{suffix}"));
        let expected = walks::found(&root, &[]);
        let paths = walks::in_order(Walk::new(&root)).0;
        let bytes = |paths: &[PathBuf]| -> Vec<_> {
            paths
                .iter()
                .map(|path| path.as_os_str().to_owned())
                .collect()
        };
        assert_eq!(bytes(&paths), bytes(&expected));
    }
    let (paths, errors) = walks::in_order(Walk::new(""));
    assert!(paths.is_empty());
    assert_eq!(errors[0].raw_os_error(), Some(libc::ENOENT));
}

#[test]
fn metadata_comes_with_every_entry() {
    use std::os::unix::fs::MetadataExt;
    let tree = tree::Builder::new(42).build().unwrap();
    let walk = Walk::new(tree.path()).metadata(StatxMask::SIZE | StatxMask::MTIME | StatxMask::INO);
    for walk in walks::every_way(&walk) {
        let entries: Vec<_> = block_on(walk.into_stream().collect());
        for entry in entries {
            let entry = entry.unwrap();
            let std = entry.path().symlink_metadata().unwrap();
            let ours = entry.stat().expect("it was asked for").unwrap();
            assert_eq!(ours.size(), Some(std.size()));
            assert_eq!(ours.mtime().unwrap().sec, std.mtime());
            assert_eq!(ours.ino(), Some(std.ino()));
        }
    }
    let bare: Vec<_> = block_on(Walk::new(tree.path()).into_stream().collect());
    for entry in bare {
        let entry = entry.unwrap();
        assert_eq!(entry.stat().is_some(), entry.depth() == 0);
    }
}

#[test]
fn a_directory_without_types_is_walked_all_the_same() {
    let mount = or_skip!(mount::ext4_without_types());
    let tree = tree::Builder::new(37).build_in(mount.path()).unwrap();
    let expected = walks::std_paths(tree.path());
    for walk in walks::every_way(&Walk::new(tree.path())) {
        let entries: Vec<_> = block_on(walk.into_stream().collect());
        for entry in &entries {
            let entry = entry.as_ref().unwrap();
            let std = entry.path().symlink_metadata().unwrap().file_type();
            let ours = entry.file_type().unwrap();
            assert_eq!(
                (ours.is_dir(), ours.is_file(), ours.is_symlink()),
                (std.is_dir(), std.is_file(), std.is_symlink())
            );
        }
        assert_eq!(entries.len(), expected.len());
    }
}
