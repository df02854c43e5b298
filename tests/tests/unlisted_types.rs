//! Directories that do not list the types of their entries (`DT_UNKNOWN`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use ringfs::{Driver, OperationKind, Route};
use testkit::fuse::hostile::{DIRECTORIES, Hostile, Lies};
use testkit::{mount, or_skip, tree};
use tests::{block_on, drivers, rows};

/// How many files have been asked about, by whatever route.
fn asked(driver: &Driver) -> usize {
    let metrics = driver.metrics();
    [Route::Inline, Route::Worker, Route::Ring]
        .into_iter()
        .map(|route| metrics.calls(OperationKind::StatxPath, route))
        .map(|calls| usize::try_from(calls).unwrap())
        .sum()
}

/// Names with the type in their mode.
type Types = BTreeMap<OsString, u32>;

fn types_of(directory: &Path) -> Types {
    let entries = fs::read_dir(directory).unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let mode = entry.path().symlink_metadata().unwrap().mode();
            (entry.file_name(), mode & libc::S_IFMT)
        })
        .collect()
}

/// Entries one by one, with their types.
async fn list(driver: &Driver, directory: &Path) -> Types {
    let mut entries = driver.read_dir(directory).await.unwrap();
    let mut types = Types::new();
    while let Some(entry) = entries.next_entry().await.unwrap() {
        let mode = entry.file_type().await.unwrap().mode_bits();
        assert_eq!(types.insert(entry.file_name(), mode), None, "came twice");
    }
    types
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The future's output, and how often it had to wait for another thread: a future that yields has
/// woken its task by then.
fn count_waits<F: Future>(future: F) -> (F::Output, usize) {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut future = pin!(future);
    let mut waits = 0;
    let _deadline = testkit::deadline(tests::LIMIT);
    loop {
        let before = wakes.0.load(Ordering::SeqCst);
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return (output, waits);
        }
        if wakes.0.load(Ordering::SeqCst) == before {
            waits += 1;
            while wakes.0.load(Ordering::SeqCst) == before {
                std::thread::yield_now();
            }
        }
    }
}

/// Every entry comes with its type, for one call and few waits.
fn check(directory: &Path) {
    let expected = types_of(directory);
    let unlisted = expected.len();
    // Each read brings 64 KiB at least, and each batch a thousand types.
    let most_waits = 3 + unlisted / 500;
    for driver in drivers() {
        let (types, waits) = count_waits(list(&driver, directory));
        assert!(types == expected, "{driver:?}");
        assert_eq!(asked(&driver), unlisted, "{driver:?}");
        assert!(waits <= most_waits, "{driver:?}: {waits} waits");

        let all = block_on(read_in_batches(&driver, directory, 0));
        assert_eq!(all, unlisted);
        assert_eq!(asked(&driver), unlisted, "batches are as they are listed");
        // From one to the other, before, within and after a batch of types.
        for one_by_one in [1, 2, 1_023, 1_024, 1_025, 2_000] {
            let all = block_on(read_in_batches(&driver, directory, one_by_one));
            assert_eq!(all, unlisted);
        }
    }
    check_dropped(directory, &expected);
}

/// How many entries there are, read one by one first and in batches then.
async fn read_in_batches(driver: &Driver, directory: &Path, one_by_one: usize) -> usize {
    let mut entries = driver.read_dir(directory).await.unwrap();
    let mut names = std::collections::BTreeSet::new();
    while names.len() < one_by_one
        && let Some(entry) = entries.next_entry().await.unwrap()
    {
        names.insert(entry.file_name());
    }
    while let Some(batch) = entries.next_batch().await.unwrap() {
        assert!(!batch.is_empty());
        for entry in batch.iter().map(Result::unwrap) {
            if !entry.is_dot() {
                assert_eq!(entry.file_type(), None);
                assert!(names.insert(OsString::from_vec(entry.name().to_vec())));
            }
        }
    }
    assert!(entries.next_entry().await.unwrap().is_none());
    names.len()
}

/// However often the future is dropped, nothing is lost and nothing is asked twice.
fn check_dropped(directory: &Path, expected: &Types) {
    for driver in drivers() {
        for polls in 1..4 {
            let before = asked(&driver);
            let mut entries = block_on(driver.read_dir(directory)).unwrap();
            let mut types = Types::new();
            let _deadline = testkit::deadline(tests::LIMIT);
            loop {
                let mut cx = Context::from_waker(Waker::noop());
                let mut next = Box::pin(entries.next_entry());
                let polled = (0..polls).find_map(|_| match next.as_mut().poll(&mut cx) {
                    Poll::Ready(entry) => Some(entry.unwrap()),
                    Poll::Pending => None,
                });
                drop(next);
                let Some(entry) = polled else {
                    std::thread::yield_now();
                    continue;
                };
                let Some(entry) = entry else { break };
                let mode = block_on(entry.file_type()).unwrap().mode_bits();
                assert_eq!(types.insert(entry.file_name(), mode), None, "came twice");
            }
            assert!(types == *expected, "{driver:?}");
            assert_eq!(asked(&driver) - before, expected.len(), "{driver:?}");
        }
    }
}

/// Files of all types, and so many more.
fn fill(directory: &Path, files: usize) {
    rows::make_files(directory).unwrap();
    tree::fill(directory, files).unwrap();
}

#[test]
fn fuse_without_types_is_asked_once() {
    let hostile = or_skip!(Hostile::new(Lies {
        unknown_types: true,
        ..Lies::default()
    }));
    check(hostile.path());
    check(&hostile.path().join("dir0"));
}

#[test]
fn ext4_without_types_is_asked_once() {
    let ext4 = or_skip!(mount::ext4_without_types());
    for (name, files) in [("few", 0), ("many", 5_000)] {
        let directory = ext4.path().join(name);
        fs::create_dir(&directory).unwrap();
        fill(&directory, files);
        check(&directory);
    }
    let empty = ext4.path().join("empty");
    fs::create_dir(&empty).unwrap();
    check(&empty);
}

#[test]
fn xfs_without_types_is_asked_once() {
    let xfs = or_skip!(mount::xfs_without_types());
    let directory = xfs.path().join("many");
    fs::create_dir(&directory).unwrap();
    fill(&directory, 3_000);
    check(&directory);
}

#[test]
fn a_type_that_cannot_be_had_is_asked_for_again() {
    let lies = Lies {
        unknown_types: true,
        no_getattr: true,
        ..Lies::default()
    };
    let hostile = or_skip!(Hostile::new(lies.clone()));
    for driver in drivers() {
        let mut failed = 0;
        block_on(async {
            let mut entries = driver.read_dir(hostile.path()).await.unwrap();
            while let Some(entry) = entries.next_entry().await.unwrap() {
                if let Err(error) = entry.file_type().await {
                    assert_eq!(error.raw_os_error(), Some(libc::ENOSYS));
                    failed += 1;
                }
            }
        });
        assert_eq!(failed, lies.names.len());
        assert_eq!(asked(&driver), DIRECTORIES + 2 * failed, "{driver:?}");
    }
}

#[test]
fn an_entry_that_is_gone_is_given_and_its_type_is_an_error() {
    let ext4 = or_skip!(mount::ext4_without_types());
    for name in ["kept", "gone"] {
        fs::create_dir(ext4.path().join(name)).unwrap();
    }
    for driver in drivers() {
        block_on(async {
            let mut entries = driver.read_dir(ext4.path()).await.unwrap();
            // The names have been read, their types have not been asked for.
            fs::remove_dir(ext4.path().join("gone")).unwrap();
            let mut came = Vec::new();
            while let Some(entry) = entries.next_entry().await.unwrap() {
                match entry.file_type().await {
                    Ok(file_type) => assert!(file_type.is_dir()),
                    Err(error) => {
                        assert_eq!(entry.file_name(), "gone");
                        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
                    }
                }
                came.push(entry.file_name());
            }
            came.sort();
            assert_eq!(came, ["gone", "kept", "lost+found"]);
        });
        fs::create_dir(ext4.path().join("gone")).unwrap();
    }
}

#[test]
fn types_that_are_listed_cost_no_call() {
    let place = or_skip!(mount::tmpfs());
    fill(place.path(), 3_000);
    let expected = types_of(place.path());
    for driver in drivers() {
        let types = block_on(list(&driver, place.path()));
        assert!(types == expected, "{driver:?}");
        assert_eq!(asked(&driver), 0, "{driver:?}");
    }
}
