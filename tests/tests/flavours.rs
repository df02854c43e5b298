//! The same program on every flavour of executor.

use std::future::IntoFuture;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use futures::StreamExt;
use ringfs::{Backend, Dir, DirBatch, DirEntry, Driver, Metadata, ReadDir, Stat, StatFuture};
use ringwalk::{Entries, Walk};
use tests::{LIMIT, block_on, driver, walks};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

/// Asks about `/proc`, which sleeps, and a temporary directory, which does not.
async fn program(driver: Driver) -> io::Result<usize> {
    let place = tempfile::tempdir()?;
    for i in 0..20 {
        std::fs::write(place.path().join(format!("f{i}")), "x")?;
    }
    let mut count = 0;
    let mut entries = driver.read_dir(place.path()).await?;
    while let Some(entry) = entries.next_entry().await? {
        count += usize::try_from(entry.metadata().await?.len()).unwrap_or(0);
    }
    driver.statx("/proc/version").await?;
    let mut dir = driver.open_dir("/proc/self").await?;
    dir.statx_at("status").await?;
    while !dir.read().await?.is_empty() {}
    dir.close().await?;
    let paths = vec!["/proc/version"; 50];
    let many = futures::future::join_all(paths.iter().map(|path| driver.statx(path).into_future()));
    for answer in many.await {
        answer?;
    }
    let walk = Walk::new(place.path()).driver(driver.clone());
    if driver.backend() == Backend::ThisThread {
        // Nobody else walks ahead of a stream.
        let (paths, errors) = walks::in_parallel(walk);
        assert!(errors.is_empty(), "{errors:?}");
        return Ok(count + paths.len());
    }
    let entries: Vec<_> = walk.into_stream().collect().await;
    for entry in entries {
        entry?;
        count += 1;
    }
    Ok(count)
}

const BACKENDS: [Backend; 4] = [
    Backend::Auto,
    Backend::Ring,
    Backend::Threads,
    Backend::ThisThread,
];

/// What [`program`] counts: 20 bytes, 20 files and a directory.
const COUNT: usize = 41;

fn on_every_backend(mut run: impl FnMut(Driver) -> io::Result<usize>) {
    let _deadline = testkit::deadline(LIMIT);
    for backend in BACKENDS {
        let driver = driver(backend);
        for _ in 0..3 {
            assert_eq!(run(driver.clone()).unwrap(), COUNT, "{backend}");
        }
    }
    assert_eq!(run(Driver::global().clone()).unwrap(), COUNT);
}

fn multi_thread(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(workers)
        .max_blocking_threads(1)
        .enable_time();
    builder.build().unwrap()
}

#[test]
fn tokio_current_thread() {
    let runtime = Builder::new_current_thread().build().unwrap();
    on_every_backend(|driver| runtime.block_on(program(driver)));
}

#[test]
fn tokio_multi_thread() {
    for workers in [1, 2, 8] {
        let runtime = multi_thread(workers);
        on_every_backend(|driver| runtime.block_on(program(driver)));
        on_every_backend(|driver| {
            let tasks: Vec<_> = (0..8)
                .map(|_| runtime.spawn(program(driver.clone())))
                .collect();
            for task in tasks {
                assert_eq!(runtime.block_on(task).unwrap()?, COUNT);
            }
            Ok(COUNT)
        });
    }
}

#[test]
fn tokio_local_set() {
    let runtime = Builder::new_current_thread().build().unwrap();
    on_every_backend(|driver| {
        let local = LocalSet::new();
        let task = local.spawn_local(program(driver));
        runtime.block_on(local);
        runtime.block_on(task).unwrap()
    });
}

#[test]
fn futures_executor() {
    on_every_backend(|driver| futures::executor::block_on(program(driver)));
}

/// The least that an executor can be.
fn park_until_ready<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn bare_executor() {
    on_every_backend(|driver| park_until_ready(program(driver)));
}

#[test]
fn nested_calls_on_one_worker_and_one_blocking_thread() {
    let _deadline = testkit::deadline(LIMIT);
    let runtime = multi_thread(1);
    for backend in BACKENDS {
        let driver = driver(backend);
        let count = runtime.block_on(async {
            // The one blocking thread is taken, and waits for a task that asks as well.
            let (inner, handle) = (driver.clone(), runtime.handle().clone());
            let blocking = tokio::task::spawn_blocking(move || {
                let task = handle.spawn(program(inner.clone()));
                let here = futures::executor::block_on(program(inner.clone())).unwrap();
                let there = handle.block_on(task).unwrap().unwrap();
                here + there + handle.block_on(program(inner)).unwrap()
            });
            let beside = tokio::spawn(program(driver.clone()));
            blocking.await.unwrap() + beside.await.unwrap().unwrap()
        });
        assert_eq!(count, 4 * COUNT, "{backend}");
    }
}

#[test]
fn a_waker_may_ask_at_once() {
    // This executor asks its next question inside the waker, on whatever thread that runs.
    struct AskAgain(Driver, std::sync::mpsc::Sender<()>);
    impl Wake for AskAgain {
        fn wake(self: Arc<Self>) {
            let mut future = self.0.statx("/proc/version").into_future();
            let waker = Waker::noop();
            let _ = pin!(&mut future).poll(&mut Context::from_waker(waker));
            self.1.send(()).unwrap();
        }
    }
    let _deadline = testkit::deadline(LIMIT);
    for backend in BACKENDS {
        let (sender, woken) = std::sync::mpsc::channel();
        let waker = Waker::from(Arc::new(AskAgain(driver(backend), sender)));
        let driver = driver(backend);
        for _ in 0..100 {
            let mut future = driver.statx("/proc/version").into_future();
            while pin!(&mut future)
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
            {
                woken.recv().unwrap();
            }
        }
    }
}

#[test]
fn inline_answers_let_other_tasks_run() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().to_owned();
    let ticks = runtime.block_on(async {
        let ticker = tokio::spawn(async {
            for tick in 0_u32.. {
                tokio::task::yield_now().await;
                TICKS.store(tick, std::sync::atomic::Ordering::Relaxed);
            }
        });
        for _ in 0..10_000 {
            ringfs::metadata(&path).await.unwrap();
        }
        ticker.abort();
        TICKS.load(std::sync::atomic::Ordering::Relaxed)
    });
    assert!(ticks >= 50, "the other task had {ticks} turns");
}

static TICKS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

#[test]
fn inline_answers_yield_on_other_executors() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().to_owned();
    let answers = async {
        for _ in 0..10_000 {
            ringfs::metadata(&path).await.unwrap();
        }
    };
    let mut turns = 0;
    let mut answers = pin!(answers);
    block_on(std::future::poll_fn(|cx| {
        turns += 1;
        answers.as_mut().poll(cx)
    }));
    assert!(turns >= 50, "{turns} turns");
}

fn is_send<T: Send>(_: &T) {}
fn is_sync<T: Sync>(_: &T) {}

/// Compiles, and that is the test.
#[allow(dead_code)]
fn everything_can_be_sent(driver: &Driver, mut dir: Dir, mut entries: ReadDir, entry: &DirEntry) {
    fn both<T: Send + Sync>() {}
    both::<(Driver, Dir, ReadDir, DirEntry, DirBatch, Metadata)>();
    both::<(
        Stat<'static>,
        StatFuture<'static>,
        ringfs::Capabilities,
        ringfs::Metrics,
    )>();
    both::<(
        Walk,
        ringwalk::Entry,
        ringwalk::Error,
        ringfs::InvalidBackend,
    )>();
    is_send(&Walk::new("/").into_stream());
    is_sync(&Walk::new("/").into_stream());
    let _: fn(&Entries) = is_send::<Entries>;
    is_send(&ringfs::metadata("/"));
    is_sync(&ringfs::metadata("/"));
    is_send(&ringfs::symlink_metadata("/"));
    is_send(&ringfs::read_dir("/"));
    is_sync(&ringfs::read_dir("/"));
    is_send(&Dir::open("/"));
    is_send(&driver.open_dir("/"));
    is_send(&driver.read_dir("/"));
    is_send(&driver.capabilities());
    is_sync(&driver.capabilities());
    is_send(&dir.open_dir_at("x"));
    is_send(&dir.read());
    is_sync(&dir.read());
    is_send(&dir.close());
    is_send(&entries.next_entry());
    is_send(&entries.next_batch());
    is_sync(&entries.next_batch());
    is_send(&entry.metadata());
    is_send(&entry.file_type());
    is_sync(&entry.file_type());
}
