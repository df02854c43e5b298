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
use testkit::seccomp::Filter;
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
    /// All names in one batch.
    Batches,
    ReadDir,
    /// Directories first, which no ring reads, and then files.
    Mixed,
}

/// Calls to a mount, about files that the kernel does not know.
fn get_stuck(driver: &Driver, fuse: &Fuse, dirs: &(Dir, Dir), by: By, files: Range<u64>) -> Stuck {
    let (inside, outside) = dirs;
    if matches!(by, By::Batches) {
        let names: Vec<_> = files.map(|number| format!("f{number}")).collect();
        let dir = driver.dir_from_fd(clone(inside));
        return Box::pin(async move { drop(dir.statx_many(names).await) });
    }
    let middle = files.start + (files.end - files.start) / 2;
    let calls: FuturesUnordered<Stuck> = files
        .map(|number| -> Stuck {
            let driver = driver.clone();
            let name = format!("f{number}");
            match by {
                By::Mixed if number >= middle => {
                    let path = fuse.file(number);
                    Box::pin(async move { drop(driver.statx(&path).await) })
                }
                By::Path | By::Batches => {
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
                By::ReadDir | By::Mixed => {
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

fn check(driver: &Driver, by: By, dead: &[Fuse], round: u64) {
    let backend = driver.backend();
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
        .map(|(fuse, dirs)| get_stuck(driver, fuse, dirs, by, files(round)));
    let mut stuck = futures::future::join_all(stuck);
    block_on(async {
        // Now and then a future yields before it asks.
        let asked = match by {
            // What has not been spread yet is one.
            By::Batches if backend == Backend::Threads => 100,
            By::Batches => 900,
            _ => 1_000 * dead.len(),
        };
        while driver.metrics().in_flight() < asked {
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
    check_others(driver, &what);
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
    let dead: Vec<_> = (0..5).map(|_| Fuse::new(30_000)).collect();
    let dead: Vec<Fuse> = match dead.into_iter().collect() {
        Ok(dead) => dead,
        Err(skip) => return skip.report(),
    };
    let mut rounds = 0..;
    let mut check = |driver: Driver, by, dead| check(&driver, by, dead, rounds.next().unwrap());
    for backend in [Backend::Auto, Backend::Ring, Backend::Threads] {
        use By::{Batch, Batches, Mixed, Mount, Name, Path, ReadDir};
        for by in [Path, Name, Mount, Batch, Batches, ReadDir, Mixed] {
            let driver = driver(backend);
            block_on(driver.capabilities());
            check(driver, by, &dead[..1]);
        }
        // No single one of them has all there is, and neither have they together.
        check(driver(backend), Path, &dead[..]);
        // The ring is on its way when the first are asked.
        check(driver(backend), Path, &dead[..1]);
        let tiny = Driver::builder().backend(backend).ring_entries(8).build();
        check(tiny, Path, &dead[..1]);
    }
}

#[test]
fn a_refused_ring_gives_dead_mounts_no_more() {
    const NAME: &str = "a_refused_ring_gives_dead_mounts_no_more";
    if !child::is_child(NAME) {
        let filter = Filter::new().io_uring_errno(libc::EPERM);
        let rerun = child::Rerun::new(NAME).filter(&filter);
        return rerun.run().assert_passed();
    }
    let fuse = [or_skip!(Fuse::new(4_000))];
    let _deadline = testkit::deadline(LIMIT);
    for (round, backend) in (0..).zip([Backend::Auto, Backend::Ring]) {
        check(&driver(backend), By::Path, &fuse, round);
    }
}

#[test]
fn a_dropped_batch_is_let_go_of() {
    const NAME: &str = "a_dropped_batch_is_let_go_of";
    if !child::is_child(NAME) {
        return child::Rerun::new(NAME).run().assert_passed();
    }
    let fuse = or_skip!(Fuse::new(30_000));
    let _deadline = testkit::deadline(LIMIT);
    for (round, backend) in (0..).zip([Backend::Auto, Backend::Ring, Backend::Threads]) {
        let driver = driver(backend);
        let has_ring = block_on(driver.capabilities()).has_ring();
        let dir = block_on(driver.open_dir(fuse.path())).unwrap();
        fuse.hang();
        let names = (round * 8_000..(round + 1) * 8_000).map(|number| format!("f{number}"));
        let mut batch = Box::pin(dir.statx_many(names).into_future());
        // Beside it there is a batch for each of a few files.
        let few: Vec<_> = (0..1_000).map(|_| format!("f{}", 24_000 + round)).collect();
        let singles = few.iter().map(|name| dir.statx_many([name]).into_future());
        let mut singles: FuturesUnordered<_> = singles.collect();
        block_on(async {
            assert!(futures::poll!(&mut batch).is_pending());
            while driver.metrics().held_back() < 900 {
                assert!(futures::poll!(singles.next()).is_pending());
            }
        });
        std::thread::sleep(Duration::from_millis(100));
        drop(batch);
        drop(singles);
        let held_back = process::settles(|| driver.metrics().held_back(), |&count| count == 0);
        assert_eq!(held_back, 0, "{backend}: {:?}", driver.metrics());
        if has_ring && backend == Backend::Ring {
            let cancelled = process::settles(|| driver.metrics().cancelled(), |&count| count > 0);
            assert!(cancelled > 0, "{backend}: {:?}", driver.metrics());
        }
        fuse.release();
        let idle = process::settles(|| driver.metrics().in_flight(), |&left| left == 0);
        assert_eq!(idle, 0, "{backend}");
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
