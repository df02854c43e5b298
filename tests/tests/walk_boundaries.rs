//! Walks that stay on their file system or mount, and automount triggers.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use futures::StreamExt;
use ringwalk::{StatxMask, Walk};
use testkit::autofs::{Autofs, Trigger};
use testkit::child;
use testkit::mount::{self, Mount};
use testkit::or_skip;
use tests::{LIMIT, drivers, process, walks};
use tokio::time::timeout;

/// By every way in either order, with and without metadata.
fn every_way(walk: &Walk) -> impl Iterator<Item = Walk> {
    let walks = [walk.clone().metadata(StatxMask::SIZE), walk.clone()];
    walks
        .into_iter()
        .flat_map(|walk| walks::every_order(&walk).collect::<Vec<_>>())
}

/// A directory that holds a mount called `mnt`: where testkit mounts things.
fn around(mount: &Mount) -> &Path {
    mount.path().parent().unwrap()
}

fn device(path: &Path) -> u64 {
    path.metadata().unwrap().dev()
}

/// The mount itself is handed out, and its contents if they should be.
#[track_caller]
fn check(walk: &Walk, root: &Path, inside: bool) {
    let point = root.join("mnt");
    fs::create_dir_all(point.join("dir")).unwrap();
    fs::write(point.join("dir/file"), "").unwrap();
    for walk in every_way(walk) {
        let (paths, errors) = walks::streamed(walk.clone());
        assert!(errors.is_empty(), "{errors:?}");
        let has = |path: &Path| paths.iter().any(|came| came == path);
        assert!(has(&point), "{walk:?}");
        assert_eq!(has(&point.join("dir")), inside, "{walk:?}");
        assert_eq!(has(&point.join("dir/file")), inside, "{walk:?}");
    }
}

#[test]
fn another_file_system_is_another_file_system_and_mount() {
    let mount = or_skip!(mount::tmpfs());
    let root = around(&mount);
    assert_ne!(device(root), device(mount.path()));
    check(&Walk::new(root), root, true);
    check(&Walk::new(root).same_file_system(true), root, false);
    check(&Walk::new(root).same_mount(true), root, false);
    check(
        &Walk::new(root).same_mount(true).same_file_system(true),
        root,
        false,
    );
}

#[test]
fn a_mount_as_root_is_walked() {
    let mount = or_skip!(mount::tmpfs());
    fs::create_dir_all(mount.path().join("dir/sub")).unwrap();
    let around = around(&mount);
    let walk = Walk::new(mount.path()).root(around);
    for walk in every_way(&walk.same_file_system(true)) {
        // Each root has boundaries of its own.
        assert_eq!(walks::streamed(walk).0.len(), 3 + 2);
    }
    for walk in every_way(&Walk::new(around).root(mount.path()).same_mount(true)) {
        assert_eq!(walks::streamed(walk).0.len(), 3 + 2);
    }
}

#[test]
fn a_bind_mount_is_another_mount_of_the_same_file_system() {
    let source = tempfile::tempdir().unwrap();
    let mount = or_skip!(mount::bind(source.path()));
    let root = around(&mount);
    assert_eq!(device(root), device(mount.path()));
    check(&Walk::new(root).same_file_system(true), root, true);
    check(&Walk::new(root).same_mount(true), root, false);
}

#[test]
fn a_subvolume_is_another_file_system_on_the_same_mount() {
    let mount = or_skip!(mount::btrfs());
    let root = mount.path();
    let subvolume = root.join("mnt");
    let mut create = Command::new("btrfs");
    create.args(["subvolume", "create"]).arg(&subvolume);
    match create.output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => testkit::skip!("btrfs subvolume", "{error}"),
    }
    assert_ne!(device(&subvolume), device(root));
    check(&Walk::new(root), root, true);
    check(&Walk::new(root).same_file_system(true), root, false);
    check(&Walk::new(root).same_mount(true), root, true);
}

#[test]
fn nothing_of_an_overlay_is_left_out() {
    let lower = tempfile::tempdir().unwrap();
    fs::create_dir_all(lower.path().join("lower/sub")).unwrap();
    fs::write(lower.path().join("lower/sub/file"), "").unwrap();
    let mount = or_skip!(mount::overlay(lower.path()));
    fs::create_dir_all(mount.path().join("upper/sub")).unwrap();
    // In a directory of both layers.
    fs::create_dir_all(mount.path().join("lower/sub/upper")).unwrap();
    let expected = walks::std_paths(mount.path());
    let walk = Walk::new(mount.path());
    for walk in [walk.clone().same_file_system(true), walk.same_mount(true)] {
        for walk in every_way(&walk) {
            let mut paths = walks::streamed(walk).0;
            paths.sort();
            assert_eq!(paths, expected);
        }
    }
    let root = around(&mount);
    check(&Walk::new(root).same_file_system(true), root, false);
    check(&Walk::new(root).same_mount(true), root, false);
}

#[test]
fn a_link_does_not_lead_over_the_boundary() {
    let mount = or_skip!(mount::tmpfs());
    fs::create_dir(mount.path().join("dir")).unwrap();
    fs::write(mount.path().join("file"), "").unwrap();
    let place = tempfile::tempdir().unwrap();
    symlink(mount.path(), place.path().join("link")).unwrap();
    symlink(mount.path().join("file"), place.path().join("to-file")).unwrap();
    let walk = Walk::new(place.path()).follow_links(true);
    for (walk, count) in [
        (walk.clone(), 5),
        (walk.clone().same_file_system(true), 3),
        (walk.same_mount(true), 3),
    ] {
        for walk in every_way(&walk) {
            let (paths, errors) = walks::streamed(walk.clone());
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(paths.len(), count, "{walk:?}");
        }
    }
    // find -xdev hands out and enters the same.
    let found = walks::found_with(&["-L"], place.path(), &["-xdev"]);
    assert_eq!(found.len(), 3);
}

#[test]
fn no_trigger_is_opened() {
    const NAME: &str = "no_trigger_is_opened";
    with_triggers(NAME, false, |trigger| {
        let parent = trigger.parent().unwrap();
        // Not asked whether it is there: names that are missing are triggers as well.
        let beside = parent.join("beside");
        let walk = Walk::new(parent);
        for walk in every_way(&walk).chain(every_way(&walk.clone().follow_links(true))) {
            let (paths, errors) = walks::streamed(walk.clone());
            assert!(errors.is_empty(), "{walk:?}: {errors:?}");
            let came = paths.iter().filter(|path| *path == trigger);
            assert_eq!(came.count(), 1, "{walk:?}");
            let went_on = paths.contains(&beside);
            assert_eq!(went_on, process::place() == beside, "{walk:?}");
        }
    });
}

#[test]
fn triggers_are_opened_if_that_is_wanted() {
    const NAME: &str = "triggers_are_opened_if_that_is_wanted";
    with_triggers(NAME, true, |trigger| {
        let _deadline = testkit::deadline(LIMIT);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().unwrap();
        for driver in drivers() {
            let walk = Walk::new(trigger.parent().unwrap()).automount(true);
            let entries = walk.driver(driver).into_stream();
            // It waits for a mount that never comes, until the process ends.
            let waited = async { timeout(Duration::from_millis(500), entries.count()).await };
            assert!(runtime.block_on(waited).is_err());
        }
    });
}

/// Walks in a process of its own, as who waits for a mount that never comes can only be killed;
/// here it is seen whether anybody wanted one.
fn with_triggers(name: &str, wanted: bool, walk: impl FnOnce(&Path)) {
    if child::is_child(name) {
        let trigger: PathBuf = std::env::var_os("TRIGGER").unwrap().into();
        return walk(&trigger);
    }
    for kind in [Trigger::Direct, Trigger::Indirect] {
        let mut autofs = or_skip!(Autofs::new(kind));
        let beside = autofs.trigger().with_file_name("beside");
        let place = match kind {
            // Only the server makes directories beside an indirect one.
            Trigger::Indirect => Path::new(""),
            Trigger::Direct => {
                fs::create_dir(&beside).unwrap();
                &beside
            }
        };
        let rerun = process::rerun(name, place).env("TRIGGER", autofs.trigger());
        let finished = rerun.limit(Duration::from_secs(50)).run();
        let text = finished.stderr_text();
        assert_eq!(autofs.was_triggered(), wanted, "{kind:?}: {text}");
        finished.assert_passed();
    }
}
