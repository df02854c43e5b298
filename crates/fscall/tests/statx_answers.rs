//! What an answer says, against std's.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fscall::{CWD, FileType, Statx, StatxFlags, StatxMask, Timestamp, statx, with_c_path};

fn lstat(path: &Path, mask: StatxMask) -> Statx {
    with_c_path(path.as_os_str().as_bytes(), |path| {
        statx(CWD, Some(path), StatxFlags::SYMLINK_NOFOLLOW, mask)
    })
    .unwrap()
}

/// One file of every type, and which that is.
fn every_type(dir: &Path) -> Vec<(PathBuf, FileType)> {
    let at = |name: &str| dir.join(name);
    fs::write(at("file"), [7; 12345]).unwrap();
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o4751)).unwrap();
    fs::hard_link(at("file"), at("hard link")).unwrap();
    fs::create_dir(at("dir")).unwrap();
    symlink("somewhere", at("symlink")).unwrap();
    with_c_path(at("fifo").as_os_str().as_bytes(), |path| {
        // SAFETY: the path is a C string.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        Ok(())
    })
    .unwrap();
    let mut files = vec![
        (at("file"), FileType::REGULAR),
        (at("dir"), FileType::DIRECTORY),
        (at("symlink"), FileType::SYMLINK),
        (at("fifo"), FileType::FIFO),
        ("/dev/null".into(), FileType::CHAR_DEVICE),
    ];
    match UnixListener::bind(at("socket")) {
        Ok(_) => files.push((at("socket"), FileType::SOCKET)),
        Err(error) => println!("skipped: a socket: {error}"),
    }
    for (name, kind) in [("block", libc::S_IFBLK), ("char", libc::S_IFCHR)] {
        let made = with_c_path(at(name).as_os_str().as_bytes(), |path| {
            // SAFETY: the path is a C string.
            Ok(unsafe { libc::mknod(path.as_ptr(), kind | 0o600, libc::makedev(300, 70_000)) })
        });
        match made {
            Ok(0) => files.push((at(name), FileType::from_mode(kind).unwrap())),
            _ => println!("skipped: no permission to make a {name} device"),
        }
    }
    files
}

#[test]
fn every_type_of_file_is_as_std_sees_it() {
    let temp = tempfile::tempdir().unwrap();
    for (path, file_type) in every_type(temp.path()) {
        let std = fs::symlink_metadata(&path).unwrap();
        let ours = lstat(&path, StatxMask::BASIC_STATS | StatxMask::BTIME);
        let time = |sec, nsec: i64| {
            Some(Timestamp {
                sec,
                nsec: u32::try_from(nsec).unwrap(),
            })
        };
        assert_eq!(ours.file_type(), Some(file_type), "{path:?}");
        assert_eq!(ours.mode().map(u32::from), Some(std.mode()), "{path:?}");
        assert_eq!(
            ours.permission_bits().map(u32::from),
            Some(std.mode() & 0o7777)
        );
        assert_eq!(ours.nlink().map(u64::from), Some(std.nlink()));
        assert_eq!((ours.uid(), ours.gid()), (Some(std.uid()), Some(std.gid())));
        assert_eq!((ours.ino(), ours.dev()), (Some(std.ino()), std.dev()));
        assert_eq!(ours.rdev(), std.rdev(), "{path:?}");
        assert_eq!(
            (ours.size(), ours.blocks()),
            (Some(std.size()), Some(std.blocks()))
        );
        assert_eq!(u64::from(ours.blksize()), std.blksize());
        assert_eq!(ours.atime(), time(std.atime(), std.atime_nsec()));
        assert_eq!(ours.mtime(), time(std.mtime(), std.mtime_nsec()));
        assert_eq!(ours.ctime(), time(std.ctime(), std.ctime_nsec()));
        assert_eq!(
            ours.btime().and_then(Timestamp::system_time),
            std.created().ok()
        );
    }
}

#[test]
fn a_field_that_is_not_valid_is_none() {
    let none = Statx::default();
    assert_eq!(none.mask(), StatxMask::empty());
    assert!(none.file_type().is_none() && none.mode().is_none() && none.nlink().is_none());
    assert!(none.uid().is_none() && none.gid().is_none() && none.ino().is_none());
    assert!(none.size().is_none() && none.blocks().is_none() && none.atime().is_none());
    assert!(none.mtime().is_none() && none.ctime().is_none() && none.btime().is_none());
    assert!(none.mnt_id().is_none() && none.mnt_id_unique().is_none());
    assert!(none.subvol().is_none() && none.dio_mem_align().is_none());
    assert!(none.dio_read_offset_align().is_none() && none.atomic_write_unit_max().is_none());
    // No birth times on procfs.
    let proc = lstat(
        Path::new("/proc/self"),
        StatxMask::BASIC_STATS | StatxMask::BTIME,
    );
    assert!(proc.size().is_some() && proc.btime().is_none());
}

#[test]
fn cleared_fields_are_gone_and_the_others_stay() {
    let all = StatxMask::all();
    for field in all {
        let full = lstat(Path::new("/proc/self/exe"), all);
        let mut stat = full;
        stat.clear_fields(field);
        assert_eq!(stat.mask(), full.mask() - field);
        let (kept, before) = (stat.mask() & StatxMask::BASIC_STATS, full);
        let mut twice = before;
        twice.clear_fields(field);
        assert_eq!(format!("{stat:?}"), format!("{twice:?}"));
        assert_eq!(stat.ino().is_some(), kept.contains(StatxMask::INO));
        assert_eq!((stat.dev(), stat.blksize()), (full.dev(), full.blksize()));
    }
    let mut stat = lstat(Path::new("/"), StatxMask::BASIC_STATS | StatxMask::MNT_ID);
    let (size, mnt_id) = (stat.size(), stat.mnt_id());
    stat.clear_fields(StatxMask::MNT_ID_UNIQUE | StatxMask::INO);
    assert_eq!(
        (stat.size(), stat.mnt_id(), stat.ino()),
        (size, mnt_id, None)
    );
    stat.clear_fields(StatxMask::TYPE);
    assert!(stat.file_type().is_none() && stat.mode().is_none());
    assert!(stat.permission_bits().is_some());
}

#[test]
fn the_plain_mount_id_is_in_the_mount_table() {
    let root = lstat(Path::new("/"), StatxMask::MNT_ID);
    let Some(id) = root.mnt_id() else {
        return println!("skipped: no mount ids before 5.8");
    };
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(
        table
            .lines()
            .any(|line| line.split(' ').next() == Some(&id.to_string())),
        "{id}"
    );
    assert!(
        root.attributes_mask()
            .contains(fscall::StatxAttributes::MOUNT_ROOT)
    );
    assert!(
        root.attributes()
            .contains(fscall::StatxAttributes::MOUNT_ROOT)
    );
}

/// Seconds that a file system stores, or brings into its range.
fn set_mtime(file: &File, sec: i64, nsec: i64) {
    let time = |sec, nsec| libc::timespec {
        tv_sec: sec,
        tv_nsec: nsec,
    };
    let times = [time(0, 0), time(sec, nsec)];
    let fd = std::os::fd::AsRawFd::as_raw_fd(file);
    // SAFETY: two times are read.
    assert_eq!(unsafe { libc::futimens(fd, times.as_ptr()) }, 0);
}

#[test]
fn times_before_1970_and_far_ahead() {
    let places = [std::env::temp_dir(), "/dev/shm".into()];
    for place in places.iter().filter(|place| place.is_dir()) {
        let file = tempfile::tempfile_in(place).unwrap();
        // 1901, just before 1970, 2262-04-12 (64 bits of nanoseconds end), 2400.
        for (sec, nsec) in [
            (-2_147_483_648, 1),
            (-1, 999_999_999),
            (9_223_372_037, 5),
            (13_569_465_600, 7),
        ] {
            set_mtime(&file, sec, nsec);
            let stat =
                fscall::statx_fd(file.as_fd(), StatxFlags::empty(), StatxMask::MTIME).unwrap();
            let ours = stat.mtime().unwrap();
            let std = file.metadata().unwrap();
            assert_eq!(
                (ours.sec, i64::from(ours.nsec)),
                (std.mtime(), std.mtime_nsec())
            );
            assert_eq!(ours.system_time(), std.modified().ok());
            assert_eq!(ours.system_time(), Some(system_time(ours)));
            if ours.sec != sec {
                println!("{place:?} keeps {} for {sec}", ours.sec);
            }
        }
    }
}

fn system_time(time: Timestamp) -> SystemTime {
    let distance = Duration::from_secs(time.sec.unsigned_abs());
    let epoch = SystemTime::UNIX_EPOCH;
    let whole = if time.sec < 0 {
        epoch - distance
    } else {
        epoch + distance
    };
    whole + Duration::from_nanos(time.nsec.into())
}
