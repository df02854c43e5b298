//! Very many calls at a time: all complete, and nobody else is held up.

use std::fs::{self, Permissions};
use std::future::IntoFuture;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ringfs::{Backend, Driver, OperationKind, Route};
use testkit::child::{self};
use testkit::fuse::Fuse;
use testkit::or_skip;
use tests::{LIMIT, block_on, driver, process};

#[test]
fn a_hundred_thousand_calls_share_a_ring_of_eight() {
    const CALLS: usize = 100_000;
    let _deadline = testkit::deadline(LIMIT);
    for backend in [Backend::Ring, Backend::Auto] {
        let driver = Driver::builder().backend(backend).ring_entries(8).build();
        // The first is never answered inline.
        let paths = ["/proc/version", "/", "/no/such"];
        let calls = (0..CALLS).map(|call| driver.statx(paths[call % 3]).into_future());
        // All of them are asked before the first is looked at.
        let answers = block_on(futures::future::join_all(calls));
        assert_eq!(answers.len(), CALLS);
        for (call, answer) in answers.into_iter().enumerate() {
            match answer {
                Ok(_) => assert_ne!(call % 3, 2),
                Err(error) => {
                    assert_eq!(call % 3, 2, "{backend}: {error}");
                    assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
                }
            }
        }
        let metrics = driver.metrics();
        assert_eq!(metrics.in_flight(), 0);
        if block_on(driver.capabilities()).has_ring() {
            let on_ring = metrics.calls(OperationKind::StatxPath, Route::Ring);
            match backend {
                Backend::Ring => assert_eq!(on_ring, CALLS as u64),
                _ => assert!(on_ring > 0, "{metrics:?}"),
            }
        }
    }
}

/// An ordinary user's limit, of which a quarter may be used.
const PROCESSES: u64 = 120;

#[test]
fn a_thousand_stuck_calls_leave_the_host_its_threads() {
    const NAME: &str = "a_thousand_stuck_calls_leave_the_host_its_threads";
    if child::is_child(NAME) {
        let place = process::place();
        let backend = std::env::var("BACKEND").unwrap().parse().unwrap();
        // Whatever happens: only then is this process let go.
        let _done = Done(place.join("done"));
        return get_stuck(&driver(backend), &place.join("mnt"));
    }
    for backend in ["auto", "ring", "threads"] {
        let fuse = or_skip!(Fuse::new(1_000));
        let place = fuse.path().parent().unwrap();
        fs::set_permissions(place, Permissions::from_mode(0o777)).unwrap();
        fuse.hang();
        let (ended, end) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let (fuse, place) = (&fuse, &place);
            scope.spawn(move || {
                // A process in such a call cannot even be killed.
                let given_up = Instant::now() + LIMIT;
                while !place.join("done").exists() && Instant::now() < given_up {
                    if end.recv_timeout(Duration::from_millis(5)) == Ok(()) {
                        break;
                    }
                }
                fuse.release();
            });
            let rerun = process::rerun(NAME, place).env("BACKEND", backend);
            let finished = rerun
                .before_exec(process::become_nobody)
                .before_exec(|| process::limit(libc::RLIMIT_NPROC, PROCESSES))
                .run();
            let _ = ended.send(());
            finished.assert_passed();
        });
    }
}

/// Tells by a file that its process has done what it was to do, or failed.
struct Done(PathBuf);

impl Drop for Done {
    fn drop(&mut self) {
        let _ = fs::write(&self.0, "");
    }
}

fn get_stuck(driver: &Driver, mount: &Path) {
    let before = process::threads().len();
    futures::executor::block_on(driver.capabilities());
    let paths: Vec<_> = (0..1_000)
        .map(|file| mount.join(format!("f{file}")))
        .collect();
    let stuck = paths.iter().map(|path| driver.statx(path).into_future());
    let mut stuck: FuturesUnordered<_> = stuck.collect();
    futures::executor::block_on(async {
        // Now and then a future yields before it asks.
        while driver.metrics().in_flight() < 1_000 {
            assert!(futures::poll!(stuck.next()).is_pending());
        }
    });
    // Kernel threads of the ring are among them.
    let ours = || process::threads().len().saturating_sub(before);
    let most = usize::try_from(PROCESSES / 4).unwrap();
    let end = Instant::now() + Duration::from_millis(300);
    while Instant::now() < end {
        assert!(ours() <= most, "{:?}", process::threads());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(ours() > 0, "nobody waits");
    if driver.backend() == Backend::Auto {
        for _ in 0..1_000 {
            futures::executor::block_on(driver.statx("/").into_future()).unwrap();
        }
    }
    // Half of the limit is there for the host's own threads and processes.
    let (stop, stopped) = mpsc::channel::<()>();
    let stopped = std::sync::Arc::new(std::sync::Mutex::new(stopped));
    let threads: Vec<_> = (0..PROCESSES / 2)
        .map(|_| {
            let stopped = std::sync::Arc::clone(&stopped);
            let wait = move || stopped.lock().unwrap().recv().is_err();
            std::thread::Builder::new().spawn(wait).unwrap()
        })
        .collect();
    assert!(Command::new("true").status().unwrap().success());
    drop(stop);
    for thread in threads {
        thread.join().unwrap();
    }
}

/// How late a ticker is at its worst but for one tick of a thousand, while `work` is done by
/// another task of the same thread.
///
/// Counted is the time that the thread computes, whoever else the processors are busy with.
fn lateness(work: impl Future<Output = ()> + Send + 'static) -> Duration {
    const TICK: Duration = Duration::from_millis(1);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().build().unwrap();
    let mut late = runtime.block_on(async {
        let work = tokio::spawn(work);
        let ticker = tokio::spawn(async move {
            let mut late = Vec::new();
            while !work.is_finished() {
                let start = process::thread_cpu_time();
                tokio::time::sleep(TICK).await;
                let computed = process::thread_cpu_time().saturating_sub(start);
                late.push(computed.saturating_sub(TICK));
            }
            work.await.unwrap();
            late
        });
        ticker.await.unwrap()
    });
    late.sort_unstable();
    late[late.len() - 1 - late.len() / 1_000]
}

#[test]
fn a_million_calls_at_once_starve_nobody() {
    const CALLS: u64 = 1_000_000;
    const TOLERANCE: Duration = Duration::from_millis(2);
    let driver = driver(Backend::Auto);
    let place = tempfile::tempdir().unwrap();
    let calls = |count| {
        let (driver, path) = (driver.clone(), place.path().to_owned());
        async move {
            for _ in 0..count {
                driver.statx(&path).await.unwrap();
            }
        }
    };
    block_on(calls(100));
    if driver.metrics().inline_hits() < 90 {
        let name = "a_million_calls_at_once_starve_nobody";
        let reason = "temporary files are not answered inline";
        return testkit::Skip::not_possible_here(name, reason).report();
    }
    let mut late = lateness(calls(CALLS));
    if late > TOLERANCE {
        // Processors that others wear out compute more slowly.
        late = lateness(calls(CALLS));
    }
    assert!(driver.metrics().inline_hits() >= CALLS);
    assert!(late <= TOLERANCE, "{late:?}");
}
