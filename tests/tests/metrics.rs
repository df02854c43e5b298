//! What a driver tells of its work, compared with what it was asked.

use std::fs;
use std::future::IntoFuture;
use std::path::Path;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ringfs::{Backend, Driver, FileSystemHits, OperationKind, Route};
use testkit::fuse::Fuse;
use testkit::or_skip;
use tests::{alone, block_on, driver, process};

/// The type of the file system that a directory is on, as the table of mounts has it.
fn file_system_of(dir: &Path) -> String {
    let dir = dir.canonicalize().unwrap();
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts = table.lines().filter_map(|line| {
        let (mount, super_block) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?;
        dir.starts_with(point)
            .then(|| (point.len(), super_block.split(' ').next()))
    });
    // Of mounts at the same place the last is on top.
    let (_, kind) = mounts.max_by_key(|(length, _)| *length).unwrap();
    kind.unwrap().to_owned()
}

/// The hits and misses of one file system.
fn counts(driver: &Driver, file_system: &str) -> (u64, u64) {
    let metrics = driver.metrics();
    let mut all = metrics.inline_by_file_system().iter();
    all.find(|counts| counts.file_system == file_system)
        .map_or((0, 0), |counts| (counts.hits, counts.misses))
}

/// All of them together are what was counted at all.
fn check_sums(driver: &Driver) {
    let metrics = driver.metrics();
    let sum = |of: fn(&FileSystemHits) -> u64| -> u64 {
        metrics.inline_by_file_system().iter().map(of).sum()
    };
    assert_eq!(sum(|counts| counts.hits), metrics.inline_hits());
    assert_eq!(sum(|counts| counts.misses), metrics.inline_misses());
}

#[test]
fn hits_and_misses_are_told_by_file_system() {
    const FILES: u64 = 30;
    const MISSES: u64 = 7;
    let place = tempfile::tempdir().unwrap();
    let here = file_system_of(place.path());
    let driver = driver(Backend::Auto);
    assert!(driver.metrics().inline_by_file_system().is_empty());
    let dir = driver.dir_from_fd(fs::File::open(place.path()).unwrap().into());
    for number in 0..FILES {
        let path = place.path().join(format!("f{number}"));
        fs::write(&path, "x").unwrap();
        let by_path = driver.statx(&path).route(Route::Inline);
        if block_on(by_path.into_future()).is_err() {
            testkit::skip!("answer inline", "{here} does not");
        }
        block_on(dir.statx().into_future()).unwrap();
    }
    for _ in 0..MISSES {
        block_on(driver.statx("/proc/version").into_future()).unwrap();
    }
    assert_eq!(counts(&driver, &here), (FILES * 2, 0));
    assert_eq!(counts(&driver, "proc"), (0, MISSES));
    check_sums(&driver);
    let metrics = driver.metrics();
    let inline = |operation| metrics.calls(operation, Route::Inline);
    assert_eq!(inline(OperationKind::StatxPath), FILES);
    assert_eq!(inline(OperationKind::StatxFd), FILES);
    let names: Vec<_> = metrics
        .inline_by_file_system()
        .iter()
        .map(|counts| &counts.file_system)
        .collect();
    assert!(names.is_sorted());

    // What failed was on no file system.
    let missing = place.path().join("missing");
    block_on(driver.statx(&missing).into_future()).unwrap_err();
    assert_eq!(counts(&driver, &here), (FILES * 2, 0));
    // A batch is not tried inline.
    block_on(driver.statx_paths(["/proc/version"]).into_future());
    assert_eq!(counts(&driver, "proc"), (0, MISSES));
}

#[test]
fn other_back_ends_try_nothing_inline() {
    for backend in [Backend::Ring, Backend::ThisThread] {
        let driver = driver(backend);
        for path in ["/", "/proc/version"] {
            block_on(driver.statx(path).into_future()).unwrap();
        }
        assert!(driver.metrics().inline_by_file_system().is_empty());
        assert_eq!(driver.metrics().inline_misses(), 0);
    }
}

#[test]
fn a_full_ring_overflows_not() {
    const CALLS: usize = 5_000;
    let driver = Driver::builder()
        .backend(Backend::Ring)
        .ring_entries(1)
        .build();
    let calls: FuturesUnordered<_> = (0..CALLS)
        .map(|_| driver.statx("/proc/version").into_future())
        .collect();
    let answered = block_on(
        calls
            .filter(|answer| std::future::ready(answer.is_ok()))
            .count(),
    );
    assert_eq!(answered, CALLS);
    let metrics = driver.metrics();
    assert_eq!(metrics.overflows(), 0);
    // Nothing leads to a server, and nothing was dropped.
    assert_eq!((metrics.held_back(), metrics.cancelled()), (0, 0));
}

#[test]
fn all_that_is_in_flight_is_somewhere() {
    alone("all_that_is_in_flight_is_somewhere", || {
        const CALLS: u64 = 1_000;
        let fuse = or_skip!(Fuse::new(4 * CALLS));
        let backends = [Backend::Auto, Backend::Ring, Backend::Threads];
        for (round, backend) in (0..).zip(backends) {
            let driver = driver(backend);
            let has_ring = block_on(driver.capabilities()).has_ring();
            fuse.hang();
            let files = round * CALLS..(round + 1) * CALLS;
            let paths: Vec<_> = files.map(|number| fuse.file(number)).collect();
            let calls = paths.iter().map(|path| driver.statx(path).into_future());
            let mut calls: FuturesUnordered<_> = calls.collect();
            block_on(async {
                while driver.metrics().in_flight() < paths.len() {
                    assert!(futures::poll!(calls.next()).is_pending());
                }
            });
            let metrics = driver.metrics();
            let begun = [Route::Inline, Route::Worker, Route::Ring]
                .map(|route| metrics.in_flight_on(route));
            assert_eq!(begun[0], 0);
            assert_eq!(
                begun.iter().sum::<usize>() + metrics.held_back(),
                paths.len(),
                "{backend}: {metrics:?}"
            );
            assert!(metrics.held_back() > 0, "{backend}: {metrics:?}");
            assert_eq!((metrics.cancelled(), metrics.overflows()), (0, 0));
            // Once nobody wants them those that wait are gone, and those on the ring are
            // cancelled, each once at most.
            let uses_ring = has_ring && metrics.in_flight_on(Route::Ring) > 0;
            drop(calls);
            let waiting = process::settles(|| driver.metrics().held_back(), |&left| left == 0);
            assert_eq!(waiting, 0, "{backend}");
            let cancelled = || driver.metrics().cancelled();
            if uses_ring {
                let cancelled = process::settles(cancelled, |&count| count > 0);
                assert!((1..=CALLS).contains(&cancelled), "{backend}: {cancelled}");
            } else {
                assert_eq!(cancelled(), 0, "{backend}");
            }
            fuse.release();
            let left = process::settles(|| driver.metrics().in_flight(), |&left| left == 0);
            assert_eq!(left, 0, "{backend}");
            assert_eq!(driver.metrics().overflows(), 0, "{backend}");
        }
    });
}
