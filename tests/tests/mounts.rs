//! On each kind of mount the inline route answers what the measured table of
//! its file system says, and leaves the rest to the next route.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ringfs::{Driver, Metadata, Route, StatxFlags};
use testkit::autofs::{Autofs, Trigger};
use testkit::child::{self, Rerun};
use testkit::mount::{self, Mount};
use testkit::{Skip, or_skip};
use tests::plain::Plain;
use tests::rows::{self, Cache, Inline, Row, check_all_routes, check_inline, check_tree};
use tests::{block_on, drivers, walks};

fn check(mount: Result<Mount, Skip>, kind: &str, cache: Cache) {
    let mount = or_skip!(mount);
    rows::make_files(mount.path()).unwrap();
    check_tree(mount.path(), kind, cache);
}

const ALL: Cache = Cache {
    links: Inline::Answers,
    missing: Inline::Answers,
};

#[test]
fn ext4_answers_from_memory() {
    check(mount::ext4(), "ext4", ALL);
}

#[test]
fn btrfs_answers_from_memory() {
    check(mount::btrfs(), "btrfs", ALL);
}

#[test]
fn xfs_follows_no_link_from_memory() {
    let links = Inline::Passes;
    check(mount::xfs(), "xfs", Cache { links, ..ALL });
}

#[test]
fn tmpfs_knows_no_missing_name_from_memory() {
    let missing = Inline::Passes;
    check(mount::tmpfs(), "tmpfs", Cache { missing, ..ALL });
}

#[test]
fn overlay_follows_no_link_from_memory() {
    let lower = or_skip!(mount::ext4());
    rows::make_files(lower.path()).unwrap();
    let mount = or_skip!(mount::overlay(lower.path()));
    let links = Inline::Passes;
    check_tree(mount.path(), "overlay", Cache { links, ..ALL });
    copy_up(mount.path());
    check_tree(mount.path(), "overlay, copied up", Cache { links, ..ALL });
}

/// Changes every file a little, so that it comes to lie on the upper layer.
fn copy_up(root: &Path) {
    let files = walks::std_paths(root);
    let mut touch = Command::new("touch");
    touch.args(["--no-dereference", "--no-create", "--date=2001-02-03"]);
    let touched = touch.args(&files).status().unwrap();
    assert!(touched.success());
    for path in files {
        let changed = path.symlink_metadata().unwrap().mtime();
        assert_eq!(changed / 86_400, 981_158_400 / 86_400, "{}", path.display());
    }
}

#[test]
fn overlay_can_be_left_out() {
    let lower = or_skip!(mount::ext4());
    rows::make_files(lower.path()).unwrap();
    let mount = or_skip!(mount::overlay(lower.path()));
    let driver = Driver::builder().inline_on_overlay(false).build();
    let ask = |row: &Row| block_on(row.ask(&driver, Some(Route::Inline)));
    let overlay = block_on(driver.statx(mount.path()).into_future()).unwrap();
    let overlay = Metadata::from(overlay).mnt_id().unwrap();
    let missing = ["missing", "dir/missing", "missing/x", "dangling"];
    let missing = missing.map(|name| mount.path().join(name));
    for row in rows::rows(mount.path(), ALL).unwrap() {
        let expected = row.plain();
        match ask(&row) {
            // An old answer will do for who says so.
            Ok(_) if row.has(StatxFlags::DONT_SYNC) => {}
            // About another file system: the root's, the working directory's.
            Ok(answer) => assert_ne!(Metadata::from(answer).mnt_id(), Some(overlay), "{row:?}"),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // A name that is known to be missing is on no mount.
            Err(error) => assert_eq!(error.raw_os_error(), expected.errno(), "{row:?}"),
        }
        assert_eq!(Plain::from(block_on(row.ask(&driver, None))), expected);
    }
    let row = Row::new(mount.path().join("file"), Inline::Passes);
    check_inline(&driver, &row, "overlay");
    for path in missing {
        let row = Row::new(path, Inline::Either);
        check_inline(&driver, &row, "overlay");
    }
}

#[test]
fn squashfs_answers_from_memory() {
    let source = tempfile::tempdir().unwrap();
    rows::make_files(source.path()).unwrap();
    let mount = or_skip!(mount::squashfs(source.path()));
    let missing = Inline::Either;
    check_tree(mount.path(), "squashfs", Cache { missing, ..ALL });
}

#[test]
fn a_bind_mount_answers_with_its_own_mount_id() {
    let source = or_skip!(mount::ext4());
    rows::make_files(source.path()).unwrap();
    let mount = or_skip!(mount::bind(source.path()));
    check_tree(mount.path(), "bind", ALL);
}

#[test]
fn a_btrfs_subvolume_answers_as_its_file_system() {
    let mount = or_skip!(mount::btrfs());
    let subvolume = mount.path().join("subvolume");
    let mut create = Command::new("btrfs");
    create.args(["subvolume", "create"]).arg(&subvolume);
    match create.output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => testkit::skip!("btrfs subvolume", "{error}"),
    }
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    assert_ne!(device(&subvolume), device(mount.path()));
    rows::make_files(&subvolume).unwrap();
    check_tree(&subvolume, "btrfs subvolume", ALL);
}

#[test]
fn a_mount_over_a_mount_answers_for_the_upper() {
    let below = or_skip!(mount::ext4());
    rows::make_files(below.path()).unwrap();
    let drivers = drivers();
    let file = Row::new(below.path().join("file"), Inline::Answers);
    let root = Row::new(below.path(), Inline::Answers);
    // A second time, what was learnt about the first must not be believed of the second.
    for round in 0..2 {
        let lower = root.plain();
        for row in [&file, &root] {
            check_inline(&drivers[0], row, "below");
        }
        let above = or_skip!(mount::tmpfs_over(below.path()));
        assert_ne!(root.plain(), lower, "round {round}");
        let missing = Row::new(below.path().join("file"), Inline::Passes);
        assert_eq!(missing.plain().errno(), Some(libc::ENOENT));
        check_inline(&drivers[0], &missing, "above");
        check_all_routes(&drivers, &missing, "above");
        rows::make_files(below.path()).unwrap();
        let missing = Inline::Passes;
        check_tree(below.path(), "above", Cache { missing, ..ALL });
        drop(above);
    }
    check_tree(below.path(), "below again", ALL);
}

#[test]
fn where_no_link_may_be_followed_none_is() {
    let source = or_skip!(mount::ext4());
    rows::make_files(source.path()).unwrap();
    let mount = or_skip!(mount::nosymfollow(source.path()));
    let link = Row::new(mount.path().join("link"), Inline::Passes);
    assert_eq!(link.plain().errno(), Some(libc::ELOOP));
    let links = Inline::Passes;
    check_tree(mount.path(), "nosymfollow", Cache { links, ..ALL });
}

#[test]
fn an_automount_trigger_is_not_triggered() {
    check_triggers_nothing("an_automount_trigger_is_not_triggered", look_at_trigger);
}

/// Does something with a trigger in a process of its own: who waits for a mount that never comes
/// can only be killed.
fn check_triggers_nothing(name: &str, act: impl FnOnce(&Path)) {
    if child::is_child(name) {
        let trigger: PathBuf = std::env::var_os("TRIGGER").unwrap().into();
        return act(&trigger);
    }
    for kind in [Trigger::Direct, Trigger::Indirect] {
        let mut autofs = or_skip!(Autofs::new(kind));
        let rerun = Rerun::new(name).env("TRIGGER", autofs.trigger());
        let finished = rerun.limit(Duration::from_secs(20)).run();
        assert!(
            !autofs.was_triggered(),
            "{kind:?}: {}",
            finished.stderr_text()
        );
        finished.assert_passed();
    }
}

fn look_at_trigger(trigger: &Path) {
    let drivers = drivers();
    let parent = trigger.parent().unwrap();
    let through = Row::new(trigger, Inline::Passes);
    let rows = [
        Row::new(trigger, Inline::Passes).nofollow(),
        Row::new(trigger.file_name().unwrap(), Inline::Passes)
            .relative_to(fs::File::open(parent).unwrap()),
        through,
    ];
    for row in &rows {
        assert_eq!(row.plain().errno(), None);
        check_inline(&drivers[0], row, "autofs");
        check_all_routes(&drivers, row, "autofs");
    }
    for driver in &drivers {
        let name = trigger.file_name().unwrap();
        let listed = block_on(async {
            let mut entries = driver.read_dir(parent).await.unwrap();
            let mut listed = 0;
            while let Some(entry) = entries.next_entry().await.unwrap() {
                if entry.file_name() == name {
                    assert!(entry.file_type().await.unwrap().is_dir());
                    assert!(entry.metadata().await.unwrap().is_dir());
                    listed += 1;
                }
            }
            listed
        });
        assert_eq!(listed, 1);
        let names = block_on(driver.statx_paths([trigger]).into_future());
        assert!(names.iter().all(Result::is_ok), "{names:?}");
    }
}
