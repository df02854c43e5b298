//! The inline route answers what plain statx answers, byte for byte, or leaves
//! it to the next; and by whatever route, the answer is the same.

use std::fs::{self, File};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ringfs::{Backend, OperationKind, Route, StatxFlags};
use testkit::child::{self, Rerun};
use testkit::{mount, or_skip, tree};
use tests::rows::{Inline, Row, check_all_routes, check_inline};
use tests::{block_on, drivers, process};

#[test]
fn a_random_tree_is_the_same_by_every_route() {
    let mount = or_skip!(mount::ext4());
    let tree = tree::Builder::new(11).build_in(mount.path()).unwrap();
    let drivers = drivers();
    for entry in tree.entries() {
        for follows in [true, false] {
            let row = Row::new(tree.path().join(&entry.path), Inline::Either);
            let row = if follows { row } else { row.nofollow() };
            check_inline(&drivers[0], &row, "ext4");
            check_all_routes(&drivers, &row, "ext4");
        }
    }
}

#[test]
fn procfs_and_sysfs_are_left_to_the_next_route() {
    let drivers = drivers();
    let paths = [
        "/proc/version",
        "/proc/sys/kernel/ostype",
        "/proc/self",
        "/proc/self/fd/0",
        "/proc/nothing",
        "/sys/kernel",
        "/sys/kernel/nothing",
        "/sys/class/block",
    ];
    for path in paths {
        for row in [
            Row::new(path, Inline::Either),
            Row::new(path, Inline::Either).nofollow(),
        ] {
            if row.plain().errno().is_none() {
                let inline = block_on(row.ask(&drivers[0], Some(Route::Inline)));
                assert_eq!(
                    inline.unwrap_err().kind(),
                    io::ErrorKind::WouldBlock,
                    "{path}"
                );
            }
            check_all_routes(&drivers, &row, path);
        }
    }
}

#[test]
#[allow(unsafe_code)]
fn a_descriptor_that_is_none_is_an_error_by_every_route() {
    const NONE: i32 = 1_000_000;
    let drivers = drivers();
    for driver in &drivers {
        // SAFETY: nothing is read, written or closed through it: it is never dropped, and a
        // number beyond the limit of descriptors can't become anybody's.
        let dir = driver.dir_from_fd(unsafe { OwnedFd::from_raw_fd(NONE) });
        let dir = ManuallyDrop::new(dir);
        for route in [Route::Inline, Route::Worker, Route::Ring] {
            if driver.backend() == Backend::Threads && route != Route::Worker {
                continue;
            }
            let relative = block_on(dir.statx_at("x").route(route).into_future());
            assert_eq!(
                relative.unwrap_err().raw_os_error(),
                Some(libc::EBADF),
                "{route}"
            );
            let absolute = block_on(dir.statx_at("/").route(route).into_future());
            match absolute {
                Ok(root) => assert!(root.file_type().unwrap().is_dir()),
                // The root may lie on anything.
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{route}"),
            }
        }
        let itself = block_on(dir.statx().into_future());
        assert_eq!(itself.unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}

#[test]
fn an_exhausted_descriptor_table_is_no_answer() {
    const NAME: &str = "an_exhausted_descriptor_table_is_no_answer";
    if !child::is_child(NAME) {
        return Rerun::new(NAME).run().assert_passed();
    }
    let tree = tempfile::tempdir().unwrap();
    let [file, missing] = ["file", "missing"].map(|name| tree.path().join(name));
    File::create(&file).unwrap();
    let drivers = drivers();
    let rows = [file, missing].map(|path| Row::new(path, Inline::Either));
    for row in &rows {
        // Threads and ring are there before the descriptors go.
        check_all_routes(&drivers, row, "before");
    }
    process::limit(libc::RLIMIT_NOFILE, 64).unwrap();
    let mut held = Vec::new();
    while let Ok(file) = File::open("/") {
        held.push(file);
    }
    for row in &rows {
        check_all_routes(&drivers, row, "no descriptor left");
    }
}

#[test]
fn an_ordinary_user_needs_search_permission_only() {
    const NAME: &str = "an_ordinary_user_needs_search_permission_only";
    if child::is_child(NAME) {
        return ask_as_nobody(&process::place());
    }
    let mount = or_skip!(mount::ext4());
    let parent = mount.path().parent().unwrap();
    for (name, mode) in [("open", 0o711), ("closed", 0o700), ("sticky", 0o1777)] {
        let dir = mount.path().join(name);
        fs::create_dir(&dir).unwrap();
        File::create(dir.join("file")).unwrap();
        std::os::unix::fs::symlink("file", dir.join("link")).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(parent, fs::Permissions::from_mode(0o711)).unwrap();
    let rerun = process::rerun(NAME, mount.path());
    rerun
        .before_exec(process::become_nobody)
        .run()
        .assert_passed();
}

fn ask_as_nobody(place: &Path) {
    let drivers = drivers();
    let rows = [
        ("open", Inline::Answers, None),
        ("open/file", Inline::Answers, None),
        ("open/link", Inline::Answers, None),
        ("open/missing", Inline::Answers, Some(libc::ENOENT)),
        ("closed", Inline::Answers, None),
        ("closed/file", Inline::Passes, Some(libc::EACCES)),
        ("closed/missing", Inline::Passes, Some(libc::EACCES)),
        ("sticky/file", Inline::Answers, None),
        ("sticky/link", Inline::Either, None),
    ];
    for (name, inline, errno) in rows {
        let row = Row::new(place.join(name), inline);
        if name != "sticky/link" {
            assert_eq!(row.plain().errno(), errno, "{name}");
        }
        check_inline(&drivers[0], &row, "ext4");
        check_all_routes(&drivers, &row, "ext4");
    }
}

#[test]
fn a_removed_directory_still_answers_for_itself() {
    let mount = or_skip!(mount::ext4());
    let gone = mount.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let open = File::open(&gone).unwrap();
    fs::remove_dir(&gone).unwrap();
    let drivers = drivers();
    let again = || OwnedFd::from(open.try_clone().unwrap());
    let itself = Row::new("", Inline::Answers).relative_to(again());
    let itself = itself.flags(StatxFlags::EMPTY_PATH);
    let inside = Row::new("x", Inline::Either).relative_to(again());
    for row in [&itself, &inside] {
        check_inline(&drivers[0], row, "ext4");
        check_all_routes(&drivers, row, "ext4");
    }
    assert!(open.as_raw_fd() >= 0);
    let by_fd = drivers[0]
        .metrics()
        .calls(OperationKind::StatxFd, Route::Inline);
    assert!(by_fd > 0);
}
