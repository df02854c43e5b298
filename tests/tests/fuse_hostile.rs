//! A server that lies: every entry comes, every failure is told once, nothing panics.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use ringfs::{Driver, Metadata, StatxFlags};
use ringwalk::{Action, EntryRef, Error, Order, StatxMask, Visit, Walk};
use testkit::child::{self};
use testkit::fuse::Fuse;
use testkit::fuse::hostile::{DIRECTORIES, Hostile, Lies};
use testkit::or_skip;
use testkit::seccomp::Filter;
use tests::everything::check_everything;
use tests::{block_on, drivers, process, walks};

/// The paths that there are, the root's among them.
fn paths(hostile: &Hostile, lies: &Lies) -> BTreeSet<PathBuf> {
    let root = hostile.path();
    let directories = (0..DIRECTORIES).map(|number| root.join(format!("dir{number}")));
    let directories: Vec<_> = directories.chain([root.to_owned()]).collect();
    let files = directories.iter().flat_map(|directory| {
        let names = lies.names.iter().cloned().map(OsString::from_vec);
        names.map(|name| directory.join(name))
    });
    files.chain(directories.clone()).collect()
}

/// Entries one by one, with type and metadata; the directories among them.
async fn list(driver: &Driver, directory: &Path) -> Vec<PathBuf> {
    let mut entries = driver.read_dir(directory).await.unwrap();
    let mut paths = Vec::new();
    while let Some(entry) = entries.next_entry().await.unwrap() {
        let file_type = entry.file_type().await.unwrap();
        assert_eq!(file_type, entry.metadata().await.unwrap().file_type());
        let is_dir = entry.file_name().as_encoded_bytes().starts_with(b"dir");
        assert_eq!(file_type.is_dir(), is_dir);
        paths.push(entry.path());
    }
    paths
}

fn walks_of(root: &Path) -> impl Iterator<Item = Walk> {
    [StatxMask::empty(), StatxMask::SIZE | StatxMask::MTIME]
        .into_iter()
        .flat_map(move |mask| {
            let walk = Walk::new(root).metadata(mask);
            let ordered = walk.clone().order(Order::PreOrder);
            let sorted = walk.clone().sort_by_file_name().contents_first(true);
            [walk, ordered, sorted]
        })
        .flat_map(|walk| walks::every_way(&walk).collect::<Vec<_>>())
}

/// Everything in the tree is found, by every way there is.
fn check_all_is_found(lies: &Lies) {
    let hostile = or_skip!(Hostile::new(lies.clone()));
    let expected = paths(&hostile, lies);
    for driver in drivers() {
        let mut listed = BTreeSet::from([hostile.path().to_owned()]);
        let mut all = 1;
        for directory in expected.iter().filter(|path| path.is_dir()) {
            let paths = block_on(list(&driver, directory));
            all += paths.len();
            listed.extend(paths);
        }
        assert_eq!(listed, expected, "{driver:?}");
        assert_eq!(all, expected.len(), "{driver:?}");
    }
    for walk in walks_of(hostile.path()) {
        let (paths, errors) = walks::streamed(walk.clone());
        assert!(errors.is_empty(), "{walk:?}: {errors:?}");
        assert_eq!(paths.len(), expected.len(), "{walk:?}");
        assert_eq!(paths.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn an_honest_server_is_walked() {
    check_all_is_found(&Lies::default());
}

#[test]
fn types_that_are_not_told_are_looked_up() {
    check_all_is_found(&Lies {
        unknown_types: true,
        ..Lies::default()
    });
}

#[test]
fn names_of_all_lengths_and_bytes_come_through() {
    let long = (1..=255).map(|length| vec![b'n'; length]);
    // All but NUL, `/`, and those that are of that length above.
    let bytes = (1..=255).filter(|byte| !matches!(byte, b'/' | b'.' | b'n'));
    let names = long.chain(bytes.map(|byte| vec![byte])).collect();
    check_all_is_found(&Lies {
        names,
        ..Lies::default()
    });
}

#[test]
fn inode_numbers_decide_nothing() {
    let lies = Lies {
        zero_ino: true,
        ..Lies::default()
    };
    check_all_is_found(&lies);
    check_all_is_found(&Lies {
        unknown_types: true,
        ..lies
    });
}

#[test]
fn a_narrow_and_fitful_server_gives_all() {
    let fuse = or_skip!(Fuse::new(100));
    fuse.set_width(3);
    fuse.set_jitter(Duration::from_micros(300));
    for order in [Order::Any, Order::PreOrder] {
        let walk = Walk::new(fuse.path())
            .metadata(StatxMask::SIZE)
            .order(order);
        for walk in walks::every_way(&walk) {
            let (paths, errors) = walks::streamed(walk);
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), 101);
            assert_eq!(paths.len(), 101);
        }
    }
    for driver in drivers() {
        let stats = (0..100).map(|number| fuse.file(number));
        let answers = block_on(driver.statx_paths(stats).into_future());
        for (answer, size) in answers.into_iter().zip(0..) {
            assert_eq!(answer.unwrap().size(), Some(size));
        }
    }
}

#[test]
fn a_directory_that_cannot_be_read_on_says_so_once() {
    for unknown_types in [false, true] {
        for (read, came) in [(0, 0), (1, 10), (2, 20)] {
            let lies = Lies {
                unreadable_from: Some(read),
                unknown_types,
                ..Lies::default()
            };
            let hostile = or_skip!(Hostile::new(lies));
            check_unreadable(hostile.path(), came);
        }
    }
}

/// Each directory gives so many entries and then EIO.
fn check_unreadable(root: &Path, came: usize) {
    for driver in drivers() {
        let (names, error) = block_on(async {
            let mut names = BTreeSet::new();
            // The first read may have been made with the open.
            let mut entries = match driver.read_dir(root).await {
                Ok(entries) => entries,
                Err(error) => return (names, error),
            };
            loop {
                match entries.next_entry().await {
                    Ok(Some(entry)) => assert!(names.insert(entry.file_name())),
                    Ok(None) => panic!("{driver:?}: the error was lost"),
                    Err(error) => {
                        assert!(entries.next_entry().await.unwrap().is_none());
                        return (names, error);
                    }
                }
            }
        });
        assert_eq!(error.raw_os_error(), Some(libc::EIO), "{driver:?}");
        assert_eq!(names.len(), came, "{driver:?}");
    }
    // The root's directories are among its first entries.
    let directories = if came == 0 { 1 } else { 1 + DIRECTORIES };
    for walk in walks_of(root) {
        let (paths, errors) = walks::streamed(walk.clone());
        assert_eq!(paths.len(), 1 + directories * came, "{walk:?}");
        let told: BTreeSet<_> = errors.iter().map(Error::path).collect();
        assert_eq!(told.len(), errors.len(), "{walk:?}: told twice: {errors:?}");
        assert_eq!(told.len(), directories, "{walk:?}: {errors:?}");
        for error in &errors {
            assert_eq!(error.action(), Action::Read);
            assert_eq!(error.raw_os_error(), Some(libc::EIO));
            assert_eq!(error.depth(), usize::from(error.path() != root));
        }
    }
}

#[test]
fn attributes_that_cannot_be_had_are_an_error_of_each_file() {
    for unknown_types in [false, true] {
        let lies = Lies {
            no_getattr: true,
            unknown_types,
            ..Lies::default()
        };
        let hostile = or_skip!(Hostile::new(lies.clone()));
        let expected = paths(&hostile, &lies);
        for driver in drivers() {
            block_on(check_without_attributes(
                &driver,
                hostile.path(),
                !unknown_types,
            ));
        }
        for asks in [false, true] {
            check_walks_without_attributes(hostile.path(), &expected, asks, !unknown_types);
        }
    }
}

/// Whether this is a file, going by its name.
fn is_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b"f")
}

async fn check_without_attributes(driver: &Driver, root: &Path, has_types: bool) {
    let enosys = |error: io::Error| assert_eq!(error.raw_os_error(), Some(libc::ENOSYS));
    let mut entries = driver.read_dir(root).await.unwrap();
    let mut came = 0;
    while let Some(entry) = entries.next_entry().await.unwrap() {
        came += 1;
        let by_path = driver.statx(&entry.path()).await;
        if !is_file(&entry.path()) {
            assert!(by_path.unwrap().file_type().unwrap().is_dir());
            assert!(entry.file_type().await.unwrap().is_dir());
            continue;
        }
        enosys(by_path.unwrap_err());
        enosys(entry.metadata().await.unwrap_err());
        match entry.file_type().await {
            Ok(file_type) => assert!(has_types && file_type.is_file()),
            Err(error) => {
                assert!(!has_types);
                enosys(error);
            }
        }
    }
    assert_eq!(came, 25 + DIRECTORIES);
}

fn check_walks_without_attributes(
    root: &Path,
    expected: &BTreeSet<PathBuf>,
    asks: bool,
    has_types: bool,
) {
    let mask = if asks {
        StatxMask::SIZE
    } else {
        StatxMask::empty()
    };
    for walk in walks::every_way(&Walk::new(root).metadata(mask)) {
        let came = Arc::new(Mutex::new(BTreeSet::new()));
        let shared = Arc::clone(&came);
        walk.clone().visit_parallel(move || {
            let came = Arc::clone(&shared);
            move |entry: Result<&EntryRef<'_>, &Error>| {
                let entry = entry.unwrap();
                let path = entry.path();
                let is_file = is_file(&path);
                assert_eq!(entry.file_type().is_none(), is_file && !has_types);
                let error = entry.stat().and_then(Result::err);
                let errno = error.and_then(io::Error::raw_os_error);
                let told = (is_file && asks).then_some(libc::ENOSYS);
                if has_types {
                    assert_eq!(errno, told, "{}", path.display());
                }
                assert!(came.lock().unwrap().insert(path), "came twice");
                Visit::Continue
            }
        });
        assert_eq!(*came.lock().unwrap(), *expected, "{walk:?}");
        for order in [Order::Any, Order::PreOrder] {
            let items: Vec<_> = block_on(walk.clone().order(order).into_stream().collect());
            let told = items.iter().flatten().filter(|entry| {
                let error = entry.stat().and_then(Result::err);
                error.and_then(|error| error.raw_os_error()) == Some(libc::ENOSYS)
            });
            if has_types && asks {
                assert_eq!(
                    told.count(),
                    expected.iter().filter(|path| is_file(path)).count()
                );
            }
            let (paths, _) = walks::streamed(walk.clone().order(order));
            assert_eq!(paths.len(), expected.len(), "{walk:?}");
            assert_eq!(paths.into_iter().collect::<BTreeSet<_>>(), *expected);
        }
    }
}

#[test]
fn times_of_all_ages_are_told() {
    let times = vec![
        (0, 0),
        (-1, 999_999_999),
        (-2_208_988_800, 1),
        // The years 1, 2038, 2500 and far beyond.
        (-62_135_596_800, 0),
        (i64::from(i32::MAX) + 1, 5),
        (16_725_225_600, 123_456_789),
        (253_402_300_800, 0),
        (i64::MAX, 999_999_999),
        (i64::MIN, 0),
    ];
    let lies = Lies {
        names: (0..times.len())
            .map(|number| number.to_string().into_bytes())
            .collect(),
        times: times.clone(),
        ..Lies::default()
    };
    check_all_is_found(&lies);
    let hostile = or_skip!(Hostile::new(lies));
    for driver in drivers() {
        for (number, &(seconds, nanos)) in times.iter().enumerate() {
            let path = hostile.path().join(number.to_string());
            let answer = block_on(driver.statx(&path).into_future()).unwrap();
            let metadata = Metadata::from(answer);
            let told = (metadata.mtime(), metadata.mtime_nsec());
            assert_eq!(told, (seconds, i64::from(nanos)));
            let whole = Duration::from_secs(seconds.unsigned_abs());
            let system = if seconds < 0 {
                SystemTime::UNIX_EPOCH.checked_sub(whole)
            } else {
                SystemTime::UNIX_EPOCH.checked_add(whole)
            };
            let system = system.and_then(|time| time.checked_add(Duration::new(0, nanos)));
            assert_eq!(metadata.modified().ok(), system, "{seconds}");
        }
    }
}

#[test]
fn a_kernel_that_refuses_dont_sync_changes_no_answer() {
    const NAME: &str = "a_kernel_that_refuses_dont_sync_changes_no_answer";
    if child::is_child(NAME) {
        let place = process::place();
        for driver in drivers() {
            check_everything(&driver, &place);
            // Who asks for it himself is answered without it. Not on the ring, whose calls the
            // filter does not see.
            let asked = driver.statx(&place).flags(StatxFlags::DONT_SYNC);
            assert!(block_on(asked.into_future()).is_ok(), "{driver:?}");
        }
        return;
    }
    let tree = testkit::tree::Builder::new(77).entries(60).build().unwrap();
    let flag = u64::from(StatxFlags::DONT_SYNC.bits());
    let filter = Filter::new().errno_if_flagged(libc::SYS_statx, 2, flag, libc::EINVAL);
    let rerun = process::rerun(NAME, tree.path()).filter(&filter);
    rerun.run().assert_passed();
}
