//! Many stats at a time: the answers are those of single calls, whatever happens to the batch.

use std::ffi::OsString;
use std::future::IntoFuture;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use ringfs::{Backend, Dir, Driver, OperationKind, Route, StatMany, Statx, StatxFlags, StatxMask};
use testkit::fuse::Fuse;
use testkit::or_skip;
use tests::plain::Plain;
use tests::{LIMIT, alone, block_on, driver, drivers, process};

type Answers = Vec<io::Result<Statx>>;

/// Lengths on both sides of every change of route.
const LENGTHS: [usize; 9] = [0, 1, 2, 15, 16, 17, 100, 128, 129];

fn ask(batch: StatMany) -> Answers {
    block_on(batch.into_future())
}

/// A directory, and names in it that are answered in all kinds of ways.
fn place() -> (tempfile::TempDir, Vec<OsString>) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    std::fs::create_dir_all(root.join("dir/sub")).unwrap();
    for i in 0..10 {
        std::fs::write(root.join(format!("f{i}")), vec![b'x'; i]).unwrap();
    }
    symlink("f3", root.join("link")).unwrap();
    symlink("nothing", root.join("dangling")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let mut names: Vec<OsString> = (0..10).map(|i| format!("f{i}").into()).collect();
    let others = [
        "missing",
        "",
        "dir",
        "dir/sub/..",
        "f1/x",
        "link",
        "dangling",
        "loop",
        "f\0",
        "\0",
        ".",
        "dir/..",
        "/",
        "/proc/version",
        "/no such",
    ];
    names.extend(others.map(OsString::from));
    names.push("n".repeat(256).into());
    names.push("d/".repeat(2500).into());
    (place, names)
}

/// One that is the errno, or without one the kind, apart from the fields.
fn same(ours: io::Result<Statx>, single: io::Result<Statx>) -> bool {
    let kinds = (
        ours.as_ref().err().map(io::Error::kind),
        single.as_ref().err().map(io::Error::kind),
    );
    Plain::from(ours) == Plain::from(single) && kinds.0 == kinds.1
}

fn check_same(what: &str, dir: &Dir, names: &[OsString], answers: Answers, flags: StatxFlags) {
    assert_eq!(answers.len(), names.len(), "{what}");
    for (name, answer) in names.iter().zip(answers) {
        let text = format!("{what}: {}: {answer:?}", name.display());
        let single = block_on(dir.statx_at(name).flags(flags).into_future());
        assert!(same(answer, single), "{text}");
    }
}

#[test]
fn a_batch_answers_like_single_calls() {
    let (place, names) = place();
    for driver in drivers() {
        let dir = block_on(driver.open_dir(place.path())).unwrap();
        for flags in [
            StatxFlags::empty(),
            StatxFlags::SYMLINK_NOFOLLOW,
            StatxFlags::EMPTY_PATH,
        ] {
            for length in LENGTHS {
                let names: Vec<_> = names.iter().cycle().take(length).cloned().collect();
                let answers = ask(dir.statx_many(&names).flags(flags));
                let what = format!("{}, {length} names, {flags:?}", driver.backend());
                check_same(&what, &dir, &names, answers, flags);
            }
            // Errors first and last, and nothing but errors.
            let names = vec![OsString::from("missing"); 40];
            let answers = ask(dir.statx_many(&names).flags(flags));
            check_same("missing", &dir, &names, answers, flags);
        }
    }
}

#[test]
fn paths_are_relative_to_the_current_directory() {
    let (place, names) = place();
    for driver in drivers() {
        let dir = block_on(driver.open_dir(place.path())).unwrap();
        for length in LENGTHS {
            let names: Vec<_> = names.iter().cycle().take(length).cloned().collect();
            let paths = names.iter().map(|name| place.path().join(name));
            let answers = ask(driver.statx_paths(paths).follow_symlinks(false));
            for (name, answer) in names.iter().zip(answers) {
                let path = place.path().join(name);
                let stat = driver.statx(&path).follow_symlinks(false);
                assert!(same(answer, block_on(stat.into_future())), "{path:?}");
            }
        }
        let here = ask(driver.statx_paths(["."]));
        let single = block_on(driver.statx(".").into_future());
        assert!(same(here.into_iter().next().unwrap(), single));
        drop(dir);
    }
    assert_eq!(ask(ringfs::statx_paths(["/", "/proc"])).len(), 2);
}

#[test]
fn ten_thousand_names_keep_their_order() {
    const FILES: u64 = 100;
    let place = tempfile::tempdir().unwrap();
    for i in 0..FILES {
        let file = std::fs::File::create(place.path().join(format!("f{i}"))).unwrap();
        file.set_len(i).unwrap();
    }
    for driver in drivers() {
        let dir = block_on(driver.open_dir(place.path())).unwrap();
        let sizes = (0..10_000).map(|i| i * 7 % (FILES + 1));
        let names = sizes.clone().map(|size| format!("f{size}"));
        let answers = ask(dir.statx_many(names).mask(StatxMask::SIZE));
        assert_eq!(answers.len(), 10_000);
        for (size, answer) in sizes.zip(answers) {
            match answer {
                Ok(answer) => assert_eq!(
                    (answer.size(), answer.mask()),
                    (Some(size), StatxMask::SIZE)
                ),
                Err(error) => {
                    assert_eq!((size, error.kind()), (FILES, io::ErrorKind::NotFound));
                }
            }
        }
    }
}

#[test]
fn what_is_wrong_with_the_batch_is_wrong_with_each_file() {
    for driver in drivers() {
        for length in LENGTHS {
            let batch = driver.statx_paths(vec!["/"; length]);
            let answers = ask(batch.flags(StatxFlags::from_bits_retain(0x1)));
            assert_eq!(answers.len(), length);
            for answer in answers {
                assert_eq!(answer.unwrap_err().raw_os_error(), Some(libc::EINVAL));
            }
        }
    }
}

fn poll_and_drop(batch: StatMany, polls: usize) {
    let mut batch = pin!(batch.into_future());
    for _ in 0..polls {
        let mut cx = Context::from_waker(Waker::noop());
        if batch.as_mut().poll(&mut cx).is_ready() {
            return;
        }
        std::thread::yield_now();
    }
}

fn idle(driver: &Driver) {
    let left = || {
        let metrics = driver.metrics();
        metrics.in_flight() + metrics.pool_threads()
    };
    let left = process::settles(left, |&count| count == 0);
    assert_eq!(left, 0, "{}", driver.backend());
}

#[test]
fn a_batch_can_be_dropped_at_any_poll() {
    alone("a_batch_can_be_dropped_at_any_poll", || {
        let place = testkit::tree::flat(300).unwrap();
        let names: Vec<_> = std::fs::read_dir(place.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        for driver in drivers() {
            let dir = block_on(driver.open_dir(place.path())).unwrap();
            // What stays open is open now: the ring, and a look at the mounts.
            block_on(driver.capabilities());
            ask(dir.statx_many(&names[..10]));
            ask(dir.statx_many(&names));
            idle(&driver);
            let before = process::descriptors();
            for round in 0..400 {
                let names = &names[..LENGTHS[round % LENGTHS.len()]];
                poll_and_drop(dir.statx_many(names), round % 6);
                // The directory may go before the batch.
                let other = futures::executor::block_on(driver.open_dir(place.path())).unwrap();
                let batch = other.statx_many(names);
                drop(other);
                poll_and_drop(batch, round % 6);
            }
            idle(&driver);
            let after = process::settles(process::descriptors, |&count| count <= before);
            // The ring of the driver before may have been on its way out.
            assert!(after <= before, "{after} descriptors, {before} before");
            assert!(ask(dir.statx_many(&names)).iter().all(Result::is_ok));
        }
    });
}

/// Files of a slow file system that the kernel does not know yet.
fn unknown(fuse: &Fuse, round: u64, files: u64) -> (Vec<String>, Vec<std::path::PathBuf>) {
    let numbers = round * files..(round + 1) * files;
    let names = numbers.clone().map(|number| format!("f{number}"));
    (
        names.collect(),
        numbers.map(|number| fuse.file(number)).collect(),
    )
}

#[test]
fn calls_that_sleep_overlap() {
    const FILES: u64 = 200;
    const TRIES: usize = 5;
    let fuse = or_skip!(Fuse::new(40 * FILES));
    fuse.set_delay(Duration::from_millis(1));
    let mut rounds = 0..40;
    let mut next = || {
        let round = rounds.next().unwrap();
        (round * FILES, unknown(&fuse, round, FILES))
    };
    let (_, (_, paths)) = next();
    let start = Instant::now();
    for path in paths {
        std::fs::metadata(path).unwrap();
    }
    let one_by_one = start.elapsed();
    for driver in drivers() {
        let dir = block_on(driver.open_dir(fuse.path())).unwrap();
        for by_path in [false, true] {
            // A busy machine may spoil a try, but not all of them.
            let best = (0..TRIES).map(|_| {
                let (first, (names, paths)) = next();
                let batch = if by_path {
                    driver.statx_paths(&paths)
                } else {
                    dir.statx_many(&names)
                };
                let start = Instant::now();
                let answers = ask(batch);
                let took = start.elapsed();
                for (size, answer) in (first..).zip(answers) {
                    assert_eq!(answer.unwrap().size(), Some(size));
                }
                took
            });
            let best = best.min().unwrap();
            let what = driver.backend();
            assert!(best < one_by_one / 4, "{what}: {best:?} of {one_by_one:?}");
        }
    }
}

#[test]
fn a_dropped_batch_asks_no_further() {
    const FILES: u64 = 5_000;
    let fuse = or_skip!(Fuse::new(3 * FILES));
    fuse.set_delay(Duration::from_millis(2));
    for (round, driver) in (0..).zip(drivers()) {
        let (_, paths) = unknown(&fuse, round, FILES);
        let before = fuse.requests();
        let mut batch = pin!(driver.statx_paths(&paths).into_future());
        block_on(async {
            assert!(futures::poll!(batch.as_mut()).is_pending());
        });
        process::settles(|| fuse.requests(), |&requests| requests > before + 10);
        batch.set(driver.statx_paths([""; 0]).into_future());
        idle(&driver);
        let asked = fuse.requests() - before;
        assert!(asked < 2_500, "{}: {asked} requests", driver.backend());
    }
}

#[test]
fn a_dead_server_holds_nobody_up() {
    let fuse = or_skip!(Fuse::new(1_000));
    let _deadline = testkit::deadline(LIMIT);
    let opened = drivers().map(|driver| (block_on(driver.open_dir(fuse.path())).unwrap(), driver));
    fuse.hang();
    for (round, (dir, driver)) in (0..).zip(opened) {
        for (part, count) in (0..).zip([5, 100]) {
            let (names, paths) = unknown(&fuse, 2 * round + part, 100);
            for batch in [
                dir.statx_many(&names[..count]),
                driver.statx_paths(&paths[..count]),
            ] {
                let mut batch = pin!(batch.into_future());
                let mut cx = Context::from_waker(Waker::noop());
                let start = Instant::now();
                let polled = batch.as_mut().poll(&mut cx);
                assert!(matches!(polled, Poll::Pending), "{}", driver.backend());
                let took = start.elapsed();
                assert!(took < Duration::from_secs(1), "{took:?}");
            }
        }
        // What needs no server is answered beside them.
        let local = vec![Path::new("/"); 100];
        assert!(ask(driver.statx_paths(local)).iter().all(Result::is_ok));
    }
    fuse.release();
}

#[test]
fn every_call_is_counted_where_it_was_made() {
    let place = testkit::tree::flat(300).unwrap();
    let names: Vec<_> = std::fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    for (backend, route) in [
        (Backend::Auto, Route::Worker),
        (Backend::Threads, Route::Worker),
        (Backend::Ring, Route::Ring),
    ] {
        let driver = driver(backend);
        let has_ring = block_on(driver.capabilities()).has_ring();
        let dir = block_on(driver.open_dir(place.path())).unwrap();
        ask(dir.statx_many(&names));
        ask(dir.statx_many(&names[..100]));
        idle(&driver);
        let metrics = driver.metrics();
        if route == Route::Worker || has_ring {
            assert_eq!(metrics.calls(OperationKind::StatxPath, route), 400);
            assert_eq!(metrics.fallbacks(), 0);
        }
        assert_eq!(metrics.inline_hits(), 0);
        assert_eq!(metrics.ring_workers() > 0, has_ring);
        assert_eq!(
            (
                metrics.in_flight_on(Route::Inline),
                metrics.in_flight_on(Route::Worker),
                metrics.in_flight_on(Route::Ring),
                metrics.pool_threads(),
            ),
            (0, 0, 0, 0)
        );
    }
    let driver = driver(Backend::Auto);
    let dir = block_on(driver.open_dir(place.path())).unwrap();
    ask(dir.statx_many(&names[..10]));
    assert_eq!(
        driver.metrics().inline_hits() + driver.metrics().inline_misses(),
        10
    );
}

#[test]
fn a_batch_for_a_ring_that_is_refused_goes_to_workers() {
    const NAME: &str = "a_batch_for_a_ring_that_is_refused_goes_to_workers";
    if testkit::child::is_child(NAME) {
        for length in [100, 600] {
            let driver = driver(Backend::Ring);
            let answers = ask(driver.statx_paths(vec!["/"; length]));
            assert!(answers.iter().all(Result::is_ok));
            assert_eq!(answers.len(), length);
            assert_eq!(driver.metrics().fallbacks(), length as u64);
        }
        return;
    }
    let filter = testkit::seccomp::Filter::new().io_uring_errno(libc::EPERM);
    let rerun = testkit::child::Rerun::new(NAME).filter(&filter);
    rerun.run().assert_passed();
}
