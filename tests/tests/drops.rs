//! Futures and runtimes dropped at any time, and more calls than a ring holds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::future::IntoFuture;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt};
use ringfs::{Backend, Driver, OperationKind, Route};
use tests::{LIMIT, alone, block_on, driver, drivers, process};

/// Polls a future so many times, unless it is ready before, and drops it.
fn poll_and_drop<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..polls {
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        std::thread::yield_now();
    }
    None
}

/// The descriptors are as many as before, once all that is in flight has come back.
fn check_descriptors(drivers: &[Driver], before: usize) {
    let idle = || {
        drivers
            .iter()
            .map(|driver| driver.metrics().in_flight())
            .sum::<usize>()
    };
    assert_eq!(process::settles(idle, |&count| count == 0), 0);
    let after = process::settles(process::descriptors, |&count| count <= before);
    assert!(after <= before, "{after} descriptors, {before} before");
}

/// Drivers whose threads and rings are there already.
fn warm_drivers() -> [Driver; 3] {
    let drivers = drivers();
    for driver in drivers.iter().chain([Driver::global()]) {
        block_on(driver.capabilities());
        drop(block_on(driver.read_dir("/")).unwrap());
        block_on(driver.statx("/").into_future()).unwrap();
    }
    drivers
}

#[test]
fn stats_can_be_dropped_at_any_poll() {
    alone("stats_can_be_dropped_at_any_poll", || {
        let drivers = warm_drivers();
        let before = process::descriptors();
        for round in 0..5_000 {
            let polls = round % 5;
            for driver in &drivers {
                for path in ["/", "/proc/version", "/no/such"] {
                    poll_and_drop(driver.statx(path).into_future(), polls);
                    for route in [Route::Inline, Route::Worker, Route::Ring] {
                        poll_and_drop(driver.statx(path).route(route).into_future(), polls);
                    }
                }
            }
            poll_and_drop(ringfs::metadata("/proc/version"), polls);
        }
        check_descriptors(&drivers, before);
        for driver in &drivers {
            assert!(block_on(driver.statx("/").into_future()).is_ok());
        }
    });
}

/// Polls a future so many times and forgets it: it is never dropped, and never polled again.
fn poll_and_forget<F: Future>(future: F, polls: usize) {
    let mut future = Box::pin(future);
    for _ in 0..polls {
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_ready() {
            return;
        }
        std::thread::yield_now();
    }
    std::mem::forget(future);
}

/// The threads are those that were there before, once they have found nothing to do for a while.
fn check_threads(before: usize) {
    let settle = || process::settles(|| process::threads().len(), |&count| count <= before);
    // A spare thread waits for work as long as this waits at most, so it may take two.
    let after = settle().min(settle());
    assert!(after <= before, "{before}: {:?}", process::threads());
}

#[test]
fn forgotten_futures_hold_up_nobody() {
    alone("forgotten_futures_hold_up_nobody", || {
        let drivers = warm_drivers();
        let dirs = [0, 1, 2].map(|driver| block_on(drivers[driver].open_dir("/proc")).unwrap());
        let (before, threads) = (process::descriptors(), process::threads().len());
        for round in 0..2_000 {
            let polls = round % 5;
            for (driver, dir) in drivers.iter().zip(&dirs) {
                poll_and_forget(driver.statx("/proc/version").into_future(), polls);
                for route in [Route::Inline, Route::Worker, Route::Ring] {
                    poll_and_forget(driver.statx("/no/such").route(route).into_future(), polls);
                }
                poll_and_forget(
                    driver.statx_paths(["/proc/version", "/"]).into_future(),
                    polls,
                );
                poll_and_forget(dir.statx().into_future(), polls);
                poll_and_forget(dir.statx_at("version").into_future(), polls);
                poll_and_forget(dir.statx_many(["version", "self"]).into_future(), polls);
                poll_and_forget(driver.read_link("/proc/self"), polls);
                poll_and_forget(driver.canonicalize("/proc/self"), polls);
                poll_and_forget(driver.statfs("/proc"), polls);
            }
            poll_and_forget(ringfs::metadata("/proc/version"), polls);
        }
        check_descriptors(&drivers, before);
        check_threads(threads);
        for (driver, dir) in drivers.iter().zip(&dirs) {
            assert!(block_on(driver.statx("/proc/version").into_future()).is_ok());
            assert!(block_on(dir.statx_at("version").into_future()).is_ok());
        }
    });
}

#[test]
fn forgotten_opens_keep_only_their_own_descriptor() {
    alone("forgotten_opens_keep_only_their_own_descriptor", || {
        const ROUNDS: usize = 2_000;
        // A future that nobody can reach keeps what it was answered, as a forgotten file does.
        let wanted = 4 * ROUNDS as u64;
        if process::limit(libc::RLIMIT_NOFILE, wanted).is_err() {
            testkit::skip!("forget opens", "so many descriptors may not be open");
        }
        let drivers = warm_drivers();
        let before = process::descriptors();
        for round in 0..ROUNDS {
            let driver = &drivers[round % 3];
            let polls = round / 3 % 5;
            poll_and_forget(driver.open_dir("/proc"), polls);
            let mut dir = block_on_bare(driver.open_dir("/proc/self")).unwrap();
            // This one is closed when the directory and the read have ended.
            poll_and_forget(dir.read(), polls);
            drop(dir);
            let dir = block_on_bare(driver.open_dir("/proc/self")).unwrap();
            poll_and_forget(dir.close(), polls);
        }
        let idle = || {
            let in_flight = drivers.iter().map(|driver| driver.metrics().in_flight());
            in_flight.sum::<usize>()
        };
        assert_eq!(process::settles(idle, |&count| count == 0), 0);
        let most = before + 3 * ROUNDS;
        let after = process::settles(process::descriptors, |&count| count <= most);
        assert!(after <= most, "{after} descriptors");
        let at_work = || {
            let threads = drivers.iter().map(|driver| driver.metrics().pool_threads());
            threads.sum::<usize>()
        };
        assert_eq!(process::settles(at_work, |&count| count == 0), 0);
    });
}

#[test]
fn a_dropped_open_leaks_no_descriptor() {
    alone("a_dropped_open_leaks_no_descriptor", || {
        let drivers = warm_drivers();
        let before = process::descriptors();
        for driver in &drivers {
            for round in 0..10_000 {
                // Now and then what is in flight may come back: there are only so many numbers.
                drop(poll_and_drop(driver.open_dir("/proc"), round % 5));
                drop(poll_and_drop(driver.read_dir("/proc/self"), round % 5));
                if round % 100 == 0 {
                    process::settles(|| driver.metrics().in_flight(), |&count| count == 0);
                }
            }
        }
        check_descriptors(&drivers, before);
    });
}

#[test]
fn a_dropped_close_still_closes() {
    alone("a_dropped_close_still_closes", || {
        let drivers = warm_drivers();
        let before = process::descriptors();
        for driver in &drivers {
            for round in 0..1_000 {
                let dir = block_on_bare(driver.open_dir("/proc")).unwrap();
                poll_and_drop(dir.close(), round % 3);
            }
        }
        check_descriptors(&drivers, before);
    });
}

/// Without a thread for a time limit, which would be in the way of counting.
fn block_on_bare<F: Future>(future: F) -> F::Output {
    futures::executor::block_on(future)
}

type Names = BTreeMap<OsString, usize>;

fn names_of(path: &Path) -> Names {
    let entries = std::fs::read_dir(path).unwrap();
    entries
        .map(|entry| (entry.unwrap().file_name(), 1))
        .collect()
}

#[test]
fn a_read_can_be_dropped_and_read_on() {
    let place = testkit::tree::flat(30_000).unwrap();
    let expected = names_of(place.path());
    for driver in drivers() {
        for polls in 1..5 {
            let mut dir = block_on(driver.open_dir(place.path())).unwrap();
            let mut names = Names::new();
            loop {
                let batch = match poll_and_drop(dir.read(), polls) {
                    Some(batch) => batch.unwrap(),
                    // Dropped without an answer; every other time the next call waits for it.
                    None if polls % 2 == 0 => continue,
                    None => block_on(dir.read()).unwrap(),
                };
                if batch.is_empty() {
                    break;
                }
                for entry in batch.iter() {
                    let entry = entry.unwrap();
                    if !entry.is_dot() {
                        let name = OsString::from_vec(entry.name().to_vec());
                        *names.entry(name).or_default() += 1;
                    }
                }
            }
            assert_eq!(names.len(), expected.len());
            assert!(
                names == expected,
                "{driver:?}: an entry was lost or came twice"
            );
        }
    }
}

#[test]
fn a_next_entry_can_be_dropped_and_read_on() {
    let place = testkit::tree::flat(10_000).unwrap();
    let expected = names_of(place.path());
    for driver in drivers() {
        for polls in 0..4 {
            let mut entries = block_on(driver.read_dir(place.path())).unwrap();
            let mut names = Names::new();
            loop {
                let entry = match poll_and_drop(entries.next_entry(), polls) {
                    Some(entry) => entry.unwrap(),
                    None => block_on_bare(entries.next_entry()).unwrap(),
                };
                let Some(entry) = entry else { break };
                *names.entry(entry.file_name()).or_default() += 1;
                // Batches and entries can be mixed.
                if names.len() == 5_000 {
                    let batch = block_on_bare(entries.next_batch()).unwrap();
                    let batch = batch.into_iter().flat_map(|batch| {
                        let names = batch.iter().map(|entry| entry.unwrap().name().to_vec());
                        names.collect::<Vec<_>>()
                    });
                    for name in batch.filter(|name| !matches!(&name[..], b"." | b"..")) {
                        *names.entry(OsString::from_vec(name)).or_default() += 1;
                    }
                }
            }
            assert!(
                names == expected,
                "{driver:?}: an entry was lost or came twice"
            );
        }
    }
}

#[test]
fn a_runtime_with_calls_in_flight_is_dropped_at_once() {
    let _deadline = testkit::deadline(LIMIT);
    for driver in drivers() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        for _ in 0..1_000 {
            let driver = driver.clone();
            runtime.spawn(async move {
                loop {
                    driver.statx("/proc/version").await.unwrap();
                    driver
                        .read_dir("/proc/self")
                        .await
                        .unwrap()
                        .next_entry()
                        .await
                        .unwrap();
                }
            });
        }
        std::thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        drop(runtime);
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{:?}",
            start.elapsed()
        );
        // The driver works on.
        block_on(driver.statx("/proc/version").into_future()).unwrap();
    }
}

#[test]
fn a_driver_dropped_with_calls_in_flight_answers_them() {
    for backend in [Backend::Auto, Backend::Ring, Backend::Threads] {
        let driver = driver(backend);
        let calls: FuturesUnordered<_> = (0..500)
            .map(|_| {
                let driver = driver.clone();
                async move { driver.statx("/proc/version").await }
            })
            .collect();
        let mut calls = pin!(calls);
        let polled = calls
            .as_mut()
            .poll_next(&mut Context::from_waker(Waker::noop()));
        drop(driver);
        let mut answered = usize::from(matches!(polled, Poll::Ready(Some(Ok(_)))));
        answered += block_on(
            calls
                .filter(|answer| std::future::ready(answer.is_ok()))
                .count(),
        );
        assert_eq!(answered, 500);
    }
}

#[test]
fn twenty_thousand_calls_share_a_ring_of_eight() {
    const CALLS: usize = 20_000;
    let driver = Driver::builder().ring_entries(8).build();
    let paths = ["/proc/version", "/", "/etc"];
    let calls: FuturesUnordered<_> = (0..CALLS)
        .map(|i| driver.statx(paths[i % 3]).route(Route::Ring).into_future())
        .collect();
    let answered = block_on(
        calls
            .filter(|answer| std::future::ready(answer.is_ok()))
            .count(),
    );
    assert_eq!(answered, CALLS);
    let on_ring = driver
        .metrics()
        .calls(OperationKind::StatxPath, Route::Ring);
    assert_eq!(on_ring, CALLS as u64);
}

#[test]
fn calls_of_all_routes_at_once_complete() {
    let driver = Driver::builder().ring_entries(1).build();
    let calls: FuturesUnordered<_> = (0..20_000)
        .map(|i| {
            let stat = driver.statx("/proc/version");
            match i % 3 {
                0 => stat,
                1 => stat.route(Route::Ring),
                _ => stat.route(Route::Worker),
            }
            .into_future()
        })
        .collect();
    let answered = block_on(
        calls
            .filter(|answer| std::future::ready(answer.is_ok()))
            .count(),
    );
    assert_eq!(answered, 20_000);
}
