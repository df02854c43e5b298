//! All that these crates can do, compared with what std does.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ringfs::{Driver, Metadata};
use ringwalk::{Order, Walk};
use testkit::tree::{self, Tree};

use crate::{block_on, walks};

/// Stats, directories and walks of a tree give what std gives.
///
/// # Panics
/// They do not.
pub fn check_everything(driver: &Driver, root: &Path) {
    check_calls(driver, root);
    check_walks(driver, root);
}

/// Stats and directories of a tree give what std gives.
///
/// # Panics
/// They do not.
pub fn check_calls(driver: &Driver, root: &Path) {
    for path in &walks::std_paths(root) {
        let std = path.symlink_metadata().unwrap();
        let ours = block_on(driver.statx(path).follow_symlinks(false).into_future());
        let ours = Metadata::from(ours.unwrap());
        assert_eq!(
            (ours.ino(), ours.mode(), ours.size()),
            (std.ino(), std.mode(), std.size())
        );
        if std.is_dir() {
            check_dir(driver, path);
        }
    }
}

fn check_walks(driver: &Driver, root: &Path) {
    let expected = walks::std_paths(root);
    let walk = Walk::new(root).driver(driver.clone());
    let (mut paths, errors) = walks::streamed(walk.clone());
    paths.sort();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(paths, expected);
    let (in_order, errors) = walks::in_order(walk.clone());
    assert!(errors.is_empty(), "{errors:?}");
    let (paths, errors) = walks::streamed(walk.order(Order::PreOrder));
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(paths, in_order);
    assert_eq!(
        in_order.into_iter().collect::<BTreeSet<_>>(),
        expected.into_iter().collect()
    );
}

fn check_dir(driver: &Driver, path: &Path) {
    let expected: BTreeSet<_> = path
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    let names = block_on(async {
        let mut names = BTreeSet::new();
        let mut entries = driver.read_dir(path).await?;
        while let Some(entry) = entries.next_entry().await? {
            entry.metadata().await?;
            names.insert(entry.file_name());
        }
        // Once more by an open directory.
        let mut dir = driver.open_dir(path).await?;
        dir.statx().await?;
        dir.statx_at(".").await?;
        while !dir.read().await?.is_empty() {}
        dir.close().await?;
        io::Result::Ok(names)
    });
    assert_eq!(names.unwrap(), expected);
}

/// The tree that a child process looks at, which anybody may read.
///
/// # Panics
/// It can't be made.
pub fn tree() -> Tree {
    let tree = tree::Builder::new(21)
        .entries(120)
        .plain_modes()
        .build()
        .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(tree.path(), mode).unwrap();
    tree
}
