//! A server that is slow, or dead: whoever asks it waits, and nobody else.

use std::future::IntoFuture;
use std::io;
use std::pin::pin;
use std::process::Command;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use futures::StreamExt;
use ringfs::{Backend, Metadata, Route, StatxFlags};
use ringwalk::{Order, StatxMask, Walk};
use testkit::fuse::Fuse;
use testkit::or_skip;
use tests::{LIMIT, block_on, driver, drivers, walks};
use tokio::time::timeout;

const SHORT: Duration = Duration::from_millis(100);
/// What "at once" may take on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(1);

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
}

/// The future is not ready, its runtime is not held up by it, and both can be dropped.
fn check_times_out<F: Future>(what: &str, future: F) {
    let runtime = runtime();
    let start = Instant::now();
    let answer = runtime.block_on(async { timeout(SHORT, future).await });
    assert!(answer.is_err(), "{what}: answered");
    let late = start.elapsed().saturating_sub(SHORT);
    assert!(late < AT_ONCE, "{what}: {late:?} late");
    let start = Instant::now();
    drop(runtime);
    assert!(start.elapsed() < AT_ONCE, "{what}: the runtime was held up");
}

#[test]
fn a_dead_server_costs_only_the_time_limit() {
    let fuse = or_skip!(Fuse::new(100));
    let _deadline = testkit::deadline(LIMIT);
    let mut file = 0..;
    let mut next = || fuse.file(file.next().unwrap());
    let opened: Vec<_> = drivers()
        .into_iter()
        .map(|driver| (block_on(driver.open_dir(fuse.path())).unwrap(), driver))
        .collect();
    fuse.hang();
    for (mut dir, driver) in opened {
        check_times_out("statx", driver.statx(&next()).into_future());
        for route in [Route::Worker, Route::Ring] {
            if route == Route::Worker || driver.backend() != Backend::Threads {
                check_times_out(
                    "statx by route",
                    driver.statx(&next()).route(route).into_future(),
                );
            }
        }
        check_times_out("root", driver.statx(fuse.path()).into_future());
        check_times_out("statx of descriptor", dir.statx().into_future());
        check_times_out("statx_at", dir.statx_at(&next()).into_future());
        check_times_out("read", dir.read());
        check_times_out("open", driver.open_dir(fuse.path()));
        check_times_out("read_dir", driver.read_dir(fuse.path()));
        for order in [Order::Any, Order::PreOrder] {
            let walk = Walk::new(fuse.path()).driver(driver.clone()).order(order);
            check_times_out("walk", walk.metadata(StatxMask::SIZE).into_stream().next());
        }
    }
    check_times_out("metadata", ringfs::metadata(next()));
    fuse.release();
    assert_eq!(block_on(ringfs::metadata(fuse.file(99))).unwrap().len(), 99);
}

#[test]
fn the_first_poll_never_waits_for_a_server() {
    let fuse = or_skip!(Fuse::new(100));
    let _deadline = testkit::deadline(LIMIT);
    // Known by name, and no longer by attributes: opening them needs no server.
    for number in 0..50 {
        std::fs::metadata(fuse.file(number)).unwrap();
        fuse.expire(number);
    }
    fuse.hang();
    for driver in drivers() {
        for number in [0, 1, 2, 98, 99] {
            for route in [None, Some(Route::Inline)] {
                let path = fuse.file(number);
                let stat = driver.statx(&path);
                let stat = match route {
                    Some(route) => stat.route(route),
                    None => stat,
                };
                let mut stat = pin!(stat.into_future());
                let start = Instant::now();
                let polled = stat.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert!(
                    start.elapsed() < AT_ONCE,
                    "{driver:?}: {:?}",
                    start.elapsed()
                );
                match polled {
                    std::task::Poll::Pending => assert_eq!(route, None),
                    std::task::Poll::Ready(answer) => {
                        assert_eq!(route, Some(Route::Inline));
                        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::WouldBlock);
                    }
                }
            }
        }
    }
}

#[test]
fn who_does_not_mind_an_old_answer_gets_it_at_once() {
    let fuse = or_skip!(Fuse::new(100));
    let _deadline = testkit::deadline(LIMIT);
    let path = fuse.file(42);
    std::fs::metadata(&path).unwrap();
    fuse.expire(42);
    fuse.hang();
    let driver = driver(Backend::Auto);
    let stat = || driver.statx(&path).flags(StatxFlags::DONT_SYNC);
    let answer = block_on(stat().route(Route::Inline).into_future()).unwrap();
    assert_eq!(answer.size(), Some(42));
    assert_eq!(block_on(stat().into_future()).unwrap().size(), Some(42));
    check_times_out(
        "FORCE_SYNC",
        driver
            .statx(&path)
            .flags(StatxFlags::FORCE_SYNC)
            .into_future(),
    );
    check_times_out("neither", driver.statx(&path).into_future());
}

#[test]
fn a_server_is_asked_as_often_as_by_plain_statx() {
    let fuse = or_skip!(Fuse::new(100));
    let asked = |stat: &dyn Fn()| {
        std::fs::metadata(fuse.file(7)).unwrap();
        fuse.expire(7);
        let before = fuse.requests();
        stat();
        fuse.requests() - before
    };
    let plain = asked(&|| assert!(fuse.file(7).is_file()));
    for driver in drivers() {
        let ours = asked(&|| {
            block_on(driver.statx(&fuse.file(7)).into_future()).unwrap();
        });
        assert_eq!(ours, plain, "{driver:?}");
    }
}

#[test]
fn many_calls_to_a_dead_server_leave_the_process_working() {
    const NAME: &str = "many_calls_to_a_dead_server_leave_the_process_working";
    if !testkit::child::is_child(NAME) {
        // Budgets are per process.
        return testkit::child::Rerun::new(NAME).run().assert_passed();
    }
    let fuse = or_skip!(Fuse::new(2_000));
    let _deadline = testkit::deadline(LIMIT);
    let place = tempfile::tempdir().unwrap();
    for (round, backend) in (0..).zip([Backend::Auto, Backend::Ring]) {
        let driver = driver(backend);
        block_on(driver.capabilities());
        fuse.hang();
        // Files that the kernel does not know yet.
        let files = round * 1_000..(round + 1) * 1_000;
        let paths: Vec<_> = files.map(|number| fuse.file(number)).collect();
        let stuck = paths.iter().map(|path| driver.statx(path).into_future());
        let mut stuck: futures::stream::FuturesUnordered<_> = stuck.collect();
        block_on(async {
            // Now and then a future yields before it asks.
            while driver.metrics().in_flight() < 1_000 {
                assert!(futures::poll!(stuck.next()).is_pending());
            }
        });
        std::thread::sleep(SHORT);
        let budget = blockpool::budget();
        assert!(budget.in_use() <= budget.limit());
        assert!(Command::new("true").status().unwrap().success());
        std::thread::spawn(|| ()).join().unwrap();
        if driver.backend() == Backend::Auto {
            // What is in memory does not queue behind them.
            let start = Instant::now();
            block_on(driver.statx(place.path()).into_future()).unwrap();
            assert!(start.elapsed() < AT_ONCE);
        }
        fuse.release();
        let answers: Vec<_> = block_on(stuck.collect());
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(answers.len(), 1_000);
    }
}

#[test]
fn slow_answers_overlap() {
    const FILES: u64 = 400;
    const DELAY: Duration = Duration::from_millis(5);
    let fuse = or_skip!(Fuse::new(3 * FILES));
    fuse.set_delay(DELAY);
    for (round, driver) in (0..).zip(drivers()) {
        let paths: Vec<_> = (0..FILES)
            .map(|file| fuse.file(round * FILES + file))
            .collect();
        let start = Instant::now();
        let stats = paths.iter().map(|path| driver.statx(path).into_future());
        let answers = block_on(futures::future::join_all(stats));
        for (answer, file) in answers.into_iter().zip(round * FILES..) {
            assert_eq!(Metadata::from(answer.unwrap()).len(), file);
        }
        let alone = DELAY * u32::try_from(FILES).unwrap();
        let took = start.elapsed();
        assert!(took < alone / 2, "{}: {took:?}", driver.backend());
    }
}

#[test]
fn a_walk_goes_on_beside_dead_servers() {
    let dead = [
        or_skip!(Fuse::new(10)),
        or_skip!(Fuse::new(10)),
        or_skip!(Fuse::new(10)),
    ];
    let _deadline = testkit::deadline(LIMIT);
    let tree = testkit::tree::Builder::new(60)
        .entries(3_000)
        .build()
        .unwrap();
    let expected = walks::std_paths(tree.path()).len();
    dead.iter().for_each(Fuse::hang);
    for driver in drivers() {
        let [a, b, c] = &dead;
        let walk = Walk::new(a.path())
            .root(b.path())
            .root(c.path())
            .root(tree.path());
        let mut entries = walk.driver(driver.clone()).into_stream();
        let came = block_on(async {
            let mut came = 0;
            while came < expected {
                let entry = entries.next().await.unwrap().unwrap();
                assert!(entry.path().starts_with(tree.path()));
                came += 1;
            }
            came
        });
        assert_eq!(came, expected, "{driver:?}");
        let start = Instant::now();
        drop(entries);
        assert!(start.elapsed() < AT_ONCE, "{driver:?}");
    }
}

#[test]
fn a_walk_of_a_slow_server_gives_all() {
    let fuse = or_skip!(Fuse::new(300));
    fuse.set_delay(Duration::from_micros(200));
    for walk in walks::every_way(&Walk::new(fuse.path()).metadata(StatxMask::SIZE)) {
        let (paths, errors) = walks::streamed(walk);
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(paths.len(), 301);
    }
}

#[test]
fn a_dead_server_stops_nobody_else_on_the_ring() {
    let fuse = or_skip!(Fuse::new(10));
    let _deadline = testkit::deadline(LIMIT);
    let driver = driver(Backend::Ring);
    if let Some(reason) = block_on(driver.capabilities()).ring_unavailable() {
        let name = "a_dead_server_stops_nobody_else_on_the_ring";
        return testkit::Skip::not_possible_here(name, reason).report();
    }
    // Its root is in memory, so looking it up needs no server; opening it does.
    std::fs::metadata(fuse.path()).unwrap();
    let opened = block_on(driver.open_dir(fuse.path())).unwrap();
    fuse.hang();
    let runtime = runtime();
    runtime.block_on(async {
        let stuck = driver.open_dir(fuse.path());
        assert!(
            timeout(SHORT, stuck).await.is_err(),
            "it opened all the same"
        );
        let closed = opened.close();
        let start = Instant::now();
        let other = driver.statx("/").route(Route::Ring).into_future();
        timeout(AT_ONCE, other).await.expect("held up").unwrap();
        assert!(start.elapsed() < AT_ONCE);
        let _ = timeout(SHORT, closed).await;
    });
    fuse.release();
}
