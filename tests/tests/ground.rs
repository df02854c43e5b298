//! The ground that the other tests stand on: random trees can be made on every
//! file system, and GNU find lists there what the tree says it holds.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use testkit::mount::{self, Mount};
use testkit::oracle::Case;
use testkit::tree::{self, Tree};
use testkit::{Skip, or_skip};

/// The paths that `find -print0` prints, without the root.
fn found(tree: &Tree) -> BTreeSet<Vec<u8>> {
    let case = Case::new(tree.path(), [".", "-mindepth", "1", "-print0"]).seed(tree.seed());
    let answer = case.run_find().unwrap();
    let paths = answer.stdout.split(|byte| *byte == 0);
    paths
        .filter_map(|path| path.strip_prefix(b"./"))
        .map(<[u8]>::to_vec)
        .collect()
}

fn check(mount: Result<Mount, Skip>) {
    let _deadline = testkit::deadline(testkit::process::LIMIT);
    let mount = or_skip!(mount);
    let tree = tree::Builder::new(1).build_in(mount.path()).unwrap();
    let told: BTreeSet<_> = tree
        .entries()
        .iter()
        .map(|entry| entry.path.as_os_str().as_bytes().to_vec())
        .collect();
    assert_eq!(found(&tree), told);
}

#[test]
fn find_lists_a_tree_on_ext4() {
    check(mount::ext4());
}

#[test]
fn find_lists_a_tree_on_ext4_without_types() {
    check(mount::ext4_without_types());
}

#[test]
fn find_lists_a_tree_on_xfs() {
    check(mount::xfs());
}

#[test]
fn find_lists_a_tree_on_btrfs() {
    check(mount::btrfs());
}

#[test]
fn find_lists_a_tree_on_tmpfs() {
    check(mount::tmpfs());
}

#[test]
fn find_lists_a_tree_on_overlay() {
    let lower = or_skip!(mount::tmpfs());
    check(mount::overlay(lower.path()));
}

#[test]
fn find_lists_a_tree_on_squashfs() {
    let tree = tree::Builder::new(2).build().unwrap();
    let mount = or_skip!(mount::squashfs(tree.path()));
    let list = |root: &Path| {
        // Sizes of regular files alone: those of directories are the file system's own affair.
        let each = "-printf|%p %y %m|(|-type|f|-printf| %s|,|-printf|\\0|)".split('|');
        let case = Case::new(root, ["."].into_iter().chain(each));
        let answer = case.run_find().unwrap();
        let mut entries: Vec<_> = answer
            .stdout
            .split(|byte| *byte == 0)
            .map(<[u8]>::to_vec)
            .collect();
        entries.sort_unstable();
        entries
    };
    assert_eq!(list(tree.path()), list(mount.path()));
}
