//! Verdicts on the mounts that this machine has, and on some that are made here.

use std::ffi::CString;
use std::fs;
use std::path::Path;

use fscall::mounts::{DontSync, Locality, Mounts};
use fscall::{CWD, Statx, StatxFlags, StatxMask, statmount, statx, with_c_path};

fn stat(path: &str, mask: StatxMask) -> Option<Statx> {
    with_c_path(path.as_bytes(), |path| {
        statx(CWD, Some(path), StatxFlags::NO_AUTOMOUNT, mask)
    })
    .ok()
}

struct Mount {
    id: u64,
    dev: (u32, u32),
    point: String,
    fs_type: String,
}

/// The mounts that are not hidden by others, by a reading of the table of this test's own.
fn visible_mounts() -> Vec<Mount> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts = table.lines().filter_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let fields: Vec<_> = mount.split(' ').collect();
        let (major, minor) = fields[2].split_once(':')?;
        Some(Mount {
            id: fields[0].parse().ok()?,
            dev: (major.parse().ok()?, minor.parse().ok()?),
            point: fields[4].to_owned(),
            fs_type: file_system.split(' ').next()?.to_owned(),
        })
    });
    let is_visible = |mount: &Mount| {
        stat(&mount.point, StatxMask::MNT_ID).and_then(|stat| stat.mnt_id()) == Some(mount.id)
    };
    mounts.filter(is_visible).collect()
}

fn expected(fs_type: &str) -> Locality {
    match fs_type {
        "ext2" | "ext3" | "ext4" | "xfs" | "btrfs" | "f2fs" | "erofs" | "squashfs" | "tmpfs" => {
            Locality::Local
        }
        "overlay" => Locality::Overlay,
        _ => Locality::MaySleep,
    }
}

#[test]
fn statmount_and_the_mount_table_agree_on_every_mount() {
    let by_statmount = Mounts::new();
    let by_mountinfo = Mounts::new();
    let mounts = visible_mounts();
    for mount in &mounts {
        let name = format!("{} ({})", mount.point, mount.fs_type);
        // The unique id, or the plain one on older kernels; then the plain one everywhere.
        for mask in [Mounts::mask(), StatxMask::MNT_ID] {
            let stat = stat(&mount.point, mask).unwrap();
            let expected = expected(&mount.fs_type);
            assert_eq!(by_statmount.locality(&stat), expected, "{name}");
            assert_eq!(by_statmount.locality(&stat), expected, "{name}, known");
            if mount.fs_type != "btrfs" || stat.mnt_id().is_some() {
                assert_eq!(
                    by_mountinfo.locality_by_mountinfo(&stat),
                    expected,
                    "{name}"
                );
            }
            let in_memory = matches!(
                mount.fs_type.as_str(),
                "tmpfs" | "devtmpfs" | "nfs" | "nfs4"
            );
            assert_eq!(
                by_statmount.inode_order_helps(&stat, true),
                !in_memory,
                "{name}"
            );
            assert_eq!(
                by_mountinfo.inode_order_helps(&stat, false),
                !in_memory,
                "{name}"
            );
        }
    }
    println!("{} mounts", mounts.len());
    assert!(mounts.iter().any(|mount| mount.fs_type == "proc"));
}

#[test]
fn statmount_says_what_the_mount_table_says() {
    for mount in visible_mounts() {
        let unique = stat(&mount.point, StatxMask::MNT_ID_UNIQUE).and_then(|s| s.mnt_id_unique());
        let Some(id) = unique else {
            return println!("skipped: no unique mount ids before 6.8");
        };
        match statmount(id) {
            Ok(found) => {
                assert_eq!((found.id, found.dev), (id, mount.dev));
                let base = mount.fs_type.split('.').next().unwrap();
                assert_eq!(found.fs_type.as_deref(), Some(base.as_bytes()));
                assert!(found.sb_magic.is_some_and(|magic| magic != 0));
                if base == "tmpfs" {
                    assert_eq!(found.sb_magic, Some(0x0102_1994));
                }
            }
            Err(error) => println!("skipped: statmount of {}: {error}", mount.point),
        }
    }
    let error = statmount(u64::MAX >> 1).unwrap_err();
    println!("a mount that never was: {error}");
}

#[test]
fn what_is_in_memory_here() {
    let mounts = Mounts::new();
    for (path, fs_type) in [("/proc", "proc"), ("/sys", "sysfs"), ("/dev/shm", "tmpfs")] {
        if visible_mounts()
            .iter()
            .any(|mount| mount.point == path && mount.fs_type == fs_type)
        {
            let stat = stat(path, Mounts::mask()).unwrap();
            assert_eq!(mounts.locality(&stat), expected(fs_type), "{path}");
            assert_eq!(
                mounts.locality_by_mountinfo(&stat),
                expected(fs_type),
                "{path}"
            );
        } else {
            println!("skipped: no {fs_type} on {path}");
        }
    }
}

#[test]
fn the_question_of_every_mount_is_answered_alike_each_time() {
    let mounts = Mounts::new();
    let first = mounts.dont_sync();
    assert!((0..1000).all(|_| mounts.dont_sync() == first));
}

/// In a mount namespace of its own, so that nobody else sees the mount.
fn in_namespace(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: from here on this thread alone has its own mounts.
            if unsafe { libc::unshare(libc::CLONE_NEWNS | libc::CLONE_FS) } != 0 {
                return println!("skipped: {}", std::io::Error::last_os_error());
            }
            let private = libc::MS_REC | libc::MS_PRIVATE;
            mount("none", Path::new("/"), "", private);
            test();
        });
    });
}

fn mount(source: &str, target: &Path, fs_type: &str, flags: libc::c_ulong) {
    let c = |text: &str| CString::new(text).unwrap();
    let (source, c_target, fs_type) = (c(source), c(target.to_str().unwrap()), c(fs_type));
    // SAFETY: C strings, and no data.
    let ret = unsafe {
        let none = std::ptr::null();
        libc::mount(
            source.as_ptr(),
            c_target.as_ptr(),
            fs_type.as_ptr(),
            flags,
            none,
        )
    };
    assert_eq!(
        ret,
        0,
        "{}: {}",
        target.display(),
        std::io::Error::last_os_error()
    );
}

fn unmount(target: &Path) {
    let c_target = CString::new(target.to_str().unwrap()).unwrap();
    // SAFETY: a C string.
    let ret = unsafe { libc::umount2(c_target.as_ptr(), libc::MNT_DETACH) };
    assert_eq!(
        ret,
        0,
        "{}: {}",
        target.display(),
        std::io::Error::last_os_error()
    );
}

/// A new mount on top of a known one must not be taken for it.
#[test]
fn a_mount_that_is_made_later_is_learnt() {
    let temp = tempfile::tempdir().unwrap();
    let mounts = Mounts::new();
    let path = temp.path().to_str().unwrap();
    in_namespace(|| {
        for mask in [Mounts::mask(), StatxMask::MNT_ID] {
            let before = mounts.locality(&stat(path, mask).unwrap());
            mount("none", temp.path(), "proc", 0);
            assert_eq!(
                mounts.locality(&stat(path, mask).unwrap()),
                Locality::MaySleep
            );
            mount("none", temp.path(), "ramfs", 0);
            assert_eq!(
                mounts.locality(&stat(path, mask).unwrap()),
                Locality::MaySleep
            );
            unmount(temp.path());
            unmount(temp.path());
            // The namespace is this thread's; the process's table has not got its mounts.
            let after = mounts.locality(&stat(path, mask).unwrap());
            assert!(after == before || mask == StatxMask::MNT_ID);
        }
    });
}

/// Ends a child that could not have mounts of its own.
const SKIPPED: i32 = 77;

/// Runs in a forked child, whose only thread has its own mounts: there the mount table that is
/// read is the one that changes.
///
/// A child prints nothing unless it fails: another thread may have held the lock of the output.
fn in_namespace_of_a_child(test: impl FnOnce()) {
    // SAFETY: the child runs the test and ends.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1, "{}", std::io::Error::last_os_error());
    if pid == 0 {
        // SAFETY: no memory is involved. It ends a child that hangs.
        unsafe { libc::alarm(30) };
        let run = std::panic::AssertUnwindSafe(|| {
            // SAFETY: no memory is involved.
            if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
                return SKIPPED;
            }
            mount("none", Path::new("/"), "", libc::MS_REC | libc::MS_PRIVATE);
            test();
            0
        });
        let status = std::panic::catch_unwind(run).unwrap_or(1);
        // SAFETY: ends the child without running what the parent has registered.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: waits for this test's own child.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == SKIPPED {
        return println!("skipped: no permission for a mount namespace");
    }
    assert_eq!(status, 0, "failed in the child");
}

#[test]
fn a_change_of_the_mount_table_is_noticed() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().to_str().unwrap();
    in_namespace_of_a_child(|| {
        let mounts = Mounts::new();
        let look = || stat(path, StatxMask::MNT_ID).map(|stat| mounts.locality(&stat));
        let before = look();
        // The ids of these mounts are often the same: the kernel gives the lowest that is free.
        for (fs_type, expected) in [
            ("tmpfs", Locality::Local),
            ("proc", Locality::MaySleep),
            ("tmpfs", Locality::Local),
            ("ramfs", Locality::MaySleep),
        ] {
            mount("none", temp.path(), fs_type, 0);
            assert_eq!(look(), Some(expected), "{fs_type}");
            assert_eq!(look(), Some(expected), "{fs_type}, known");
            unmount(temp.path());
            assert_eq!(look(), before);
        }
    });
}

#[test]
fn without_proc_every_mount_may_sleep() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().to_str().unwrap();
    in_namespace_of_a_child(|| {
        mount("none", temp.path(), "tmpfs", 0);
        mount("none", Path::new("/proc"), "tmpfs", 0);
        let mounts = Mounts::new();
        let stat = stat(path, StatxMask::MNT_ID).unwrap();
        assert_eq!(mounts.locality_by_mountinfo(&stat), Locality::MaySleep);
        assert_eq!(mounts.dont_sync(), DontSync::Unknown);
        assert!(mounts.inode_order_helps(&stat, false));
        unmount(Path::new("/proc"));
        // The table is tried again after a while.
        let first = (0..300).map(|_| mounts.dont_sync()).last().unwrap();
        assert_eq!(first, Mounts::new().dont_sync());
        assert_eq!(mounts.locality_by_mountinfo(&stat), Locality::Local);
    });
}
