//! Very many calls to servers that do not answer, and everybody else's beside them.

use std::future::IntoFuture;
use std::ops::Range;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ringfs::{Backend, Dir, Driver, Route};
use testkit::child;
use testkit::fuse::Fuse;
use testkit::or_skip;
use tests::{LIMIT, block_on, driver, process};

/// What "at once" may take on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(2);

/// How a mount is asked.
#[derive(Clone, Copy, Debug)]
enum By {
    Path,
    /// Relative to an open directory of the mount.
    Name,
    /// Relative to the directory that it is mounted in.
    Mount,
    Batch,
    ReadDir,
}

/// Calls to a mount, about files that the kernel does not know.
fn get_stuck(driver: &Driver, fuse: &Fuse, dirs: &(Dir, Dir), by: By, files: Range<u64>) -> Stuck {
    let (inside, outside) = dirs;
    let calls: FuturesUnordered<Stuck> = files
        .map(|number| -> Stuck {
            let driver = driver.clone();
            let name = format!("f{number}");
            match by {
                By::Path => {
                    let path = fuse.file(number);
                    Box::pin(async move { drop(driver.statx(&path).await) })
                }
                By::Name => {
                    let dir = driver.dir_from_fd(clone(inside));
                    Box::pin(async move { drop(dir.statx_at(&name).await) })
                }
                By::Mount => {
                    let dir = driver.dir_from_fd(clone(outside));
                    Box::pin(async move { drop(dir.statx_at(&format!("mnt/{name}")).await) })
                }
                By::Batch => {
                    let dir = driver.dir_from_fd(clone(inside));
                    Box::pin(async move { drop(dir.statx_many([name]).await) })
                }
                By::ReadDir => {
                    let path = fuse.path().to_owned();
                    Box::pin(async move { drop(driver.read_dir(path).await) })
                }
            }
        })
        .collect();
    Box::pin(async { calls.collect::<()>().await })
}

type Stuck = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

fn clone(dir: &Dir) -> std::os::fd::OwnedFd {
    std::os::fd::AsFd::as_fd(dir).try_clone_to_owned().unwrap()
}

/// Calls of all kinds that need a thread, to file systems that answer.
fn check_others(driver: &Driver, what: &str) {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("file"), "text").unwrap();
    let start = Instant::now();
    block_on(async {
        for _ in 0..20 {
            driver.statx("/proc/version").await.unwrap();
            let mut entries = driver.read_dir(place.path()).await.unwrap();
            assert!(entries.next_entry().await.unwrap().is_some());
            let dir = driver.open_dir(place.path()).await.unwrap();
            dir.open_beneath("file").route(Route::Worker).await.unwrap();
            dir.close().await.unwrap();
            for answer in driver.statx_paths(["/proc/version"; 100]).await {
                answer.unwrap();
            }
        }
    });
    let took = start.elapsed();
    assert!(took < AT_ONCE, "{what}: {took:?}");
}

/// Those that a round asks about.
fn files(round: u64) -> Range<u64> {
    round * 1_000..(round + 1) * 1_000
}

fn check(backend: Backend, by: By, dead: &[Fuse], round: u64) {
    let driver = driver(backend);
    block_on(driver.capabilities());
    let dirs: Vec<_> = dead
        .iter()
        .map(|fuse| {
            let inside = block_on(driver.open_dir(fuse.path())).unwrap();
            let outside = fuse.path().parent().unwrap();
            (inside, block_on(driver.open_dir(outside)).unwrap())
        })
        .collect();
    dead.iter().for_each(Fuse::hang);
    let stuck = dead
        .iter()
        .zip(&dirs)
        .map(|(fuse, dirs)| get_stuck(&driver, fuse, dirs, by, files(round)));
    let mut stuck = futures::future::join_all(stuck);
    block_on(async {
        // Now and then a future yields before it asks.
        while driver.metrics().in_flight() < 1_000 * dead.len() {
            let metrics = driver.metrics();
            assert!(
                futures::poll!(&mut stuck).is_pending(),
                "{backend}, {by:?}: {metrics:?}"
            );
        }
    });
    // Those that get a thread have it.
    std::thread::sleep(Duration::from_millis(100));
    let what = format!("{backend}, {by:?}, {} mounts", dead.len());
    let metrics = driver.metrics();
    assert!(metrics.held_back() > 0, "{what}: {metrics:?}");
    check_others(&driver, &what);
    dead.iter().for_each(Fuse::release);
    block_on(stuck);
    let idle = process::settles(|| driver.metrics().in_flight(), |&left| left == 0);
    assert_eq!(idle, 0, "{what}");
}

#[test]
fn calls_that_need_a_thread_get_one_beside_a_thousand_stuck_ones() {
    const NAME: &str = "calls_that_need_a_thread_get_one_beside_a_thousand_stuck_ones";
    if !child::is_child(NAME) {
        // Budgets are per process.
        return child::Rerun::new(NAME)
            .limit(LIMIT * 3)
            .run()
            .assert_passed();
    }
    let _deadline = testkit::deadline(LIMIT * 2);
    let dead = [or_skip!(Fuse::new(20_000)), or_skip!(Fuse::new(20_000))];
    let mut rounds = 0..;
    let mut check = |backend, by, dead| check(backend, by, dead, rounds.next().unwrap());
    for backend in [Backend::Auto, Backend::Ring, Backend::Threads] {
        for by in [By::Path, By::Name, By::Mount, By::Batch, By::ReadDir] {
            check(backend, by, &dead[..1]);
        }
        check(backend, By::Path, &dead[..]);
    }
}

#[test]
fn dropped_calls_make_room_for_others() {
    const NAME: &str = "dropped_calls_make_room_for_others";
    if !child::is_child(NAME) {
        return child::Rerun::new(NAME).run().assert_passed();
    }
    let fuse = or_skip!(Fuse::new(4_000));
    let _deadline = testkit::deadline(LIMIT);
    for (round, backend) in (0..).zip([Backend::Auto, Backend::Ring, Backend::Threads]) {
        let driver = driver(backend);
        let has_ring = block_on(driver.capabilities()).has_ring();
        fuse.hang();
        let paths: Vec<_> = files(round).map(|number| fuse.file(number)).collect();
        let calls = paths.iter().map(|path| driver.statx(path).into_future());
        let mut calls = calls.collect::<FuturesUnordered<_>>();
        block_on(async {
            while driver.metrics().in_flight() < 1_000 {
                assert!(futures::poll!(calls.next()).is_pending());
            }
        });
        std::thread::sleep(Duration::from_millis(100));
        drop(calls);
        // What a thread has begun stays there; all else is let go of.
        let settled = process::settles(
            || driver.metrics().in_flight(),
            |&left| left <= driver.metrics().pool_threads() + driver.metrics().ring_workers(),
        );
        let metrics = driver.metrics();
        assert!(
            settled <= metrics.pool_threads() + metrics.ring_workers(),
            "{backend}: {metrics:?}"
        );
        assert_eq!(metrics.held_back(), 0);
        if has_ring {
            let cancelled = process::settles(|| driver.metrics().cancelled(), |&count| count > 0);
            assert!(cancelled > 0, "{backend}: {metrics:?}");
        }
        fuse.release();
        let idle = process::settles(|| driver.metrics().in_flight(), |&left| left == 0);
        assert_eq!(idle, 0, "{backend}");
        block_on(driver.statx(&fuse.file(3_999)).into_future()).unwrap();
    }
}

#[test]
fn a_shut_down_driver_waits_as_long_as_it_is_told() {
    const SHORT: Duration = Duration::from_millis(100);
    let fuse = or_skip!(Fuse::new(100));
    let _deadline = testkit::deadline(LIMIT);
    for backend in [Backend::Auto, Backend::Ring, Backend::Threads] {
        let driver = driver(backend);
        let before = Instant::now();
        driver.shutdown_timeout(LIMIT).unwrap();
        assert!(before.elapsed() < AT_ONCE, "{backend}: nothing to wait for");

        let driver = tests::driver(backend);
        fuse.hang();
        let path = fuse.file(backend as u64);
        let mut stuck = Box::pin(driver.statx(&path).into_future());
        assert!(block_on(async { futures::poll!(&mut stuck) }).is_pending());
        let before = Instant::now();
        let error = driver.shutdown_timeout(SHORT).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut, "{backend}");
        let took = before.elapsed();
        assert!(
            took >= SHORT && took < SHORT + AT_ONCE,
            "{backend}: {took:?}"
        );
        for error in [
            block_on(driver.statx("/").into_future()).map(drop),
            block_on(driver.read_dir("/")).map(drop),
            block_on(driver.statx_paths(["/"]).into_future())[0]
                .as_ref()
                .map(drop)
                .map_err(|error| error.kind().into()),
        ] {
            let kind = error.unwrap_err().kind();
            assert_eq!(kind, std::io::ErrorKind::BrokenPipe, "{backend}");
        }
        // It was left to itself, and is answered when the server comes back.
        let later = driver.clone();
        let thread = std::thread::spawn(move || later.shutdown_timeout(LIMIT));
        std::thread::sleep(SHORT);
        fuse.release();
        thread.join().unwrap().unwrap();
        block_on(stuck).unwrap();
    }
}
