//! A process that was forked without exec, as prefork servers are: it has the
//! memory of its parent's driver and pool, but none of their threads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use ringfs::{Backend, Driver};
use ringwalk::{Order, Walk};
use tests::{alone, block_on, driver};

/// All kinds of calls on the global driver, and on a new one for each back end.
async fn program() -> io::Result<()> {
    ringfs::metadata("/").await?;
    ringfs::metadata("/proc/version").await?;
    let mut entries = ringfs::read_dir("/proc/self").await?;
    while entries.next_entry().await?.is_some() {}
    let many = (0..100).map(|_| ringfs::metadata("/proc/version"));
    for answer in futures::future::join_all(many).await {
        answer?;
    }
    for backend in [Backend::Auto, Backend::Ring, Backend::Threads] {
        let driver = driver(backend);
        driver.statx("/proc/version").await?;
        for order in [Order::Any, Order::PreOrder] {
            let walk = Walk::new("/proc/self/task").order(order);
            let mut entries = walk.driver(driver.clone()).into_stream();
            while let Some(entry) = entries.next().await {
                // Threads come and go.
                drop(entry);
            }
        }
    }
    let mut entries = Walk::new("/proc/self/task").into_stream();
    while let Some(entry) = entries.next().await {
        drop(entry);
    }
    Ok(())
}

/// What a forked process is to end with.
const DONE: i32 = 7;

/// Runs `work` in a forked process; true if it came to its end within the time limit.
#[allow(unsafe_code)]
fn forked(work: impl FnOnce() -> io::Result<()>) -> bool {
    // SAFETY: glibc keeps its allocator usable in the child, and no other lock that the child
    // takes is one that a thread of the parent can hold: that is what is tested.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "{}", io::Error::last_os_error());
    if pid == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        let code = if matches!(done, Ok(Ok(()))) { DONE } else { 1 };
        // SAFETY: ends the process without running what its parent registered.
        unsafe { libc::_exit(code) }
    }
    wait(pid)
}

#[allow(unsafe_code)]
fn wait(pid: libc::pid_t) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let mut status = 0;
        // SAFETY: writes one number.
        let ended = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
        if ended == pid {
            return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == DONE;
        }
        if Instant::now() > end {
            // SAFETY: touches no memory; the child has not been waited for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            // SAFETY: as above.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            eprintln!("the forked process hangs");
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn run() -> io::Result<()> {
    futures::executor::block_on(program())
}

#[test]
fn a_forked_child_has_a_driver_of_its_own() {
    alone("a_forked_child_has_a_driver_of_its_own", || {
        run().unwrap();
        block_on(Driver::global().capabilities());
        for _ in 0..20 {
            assert!(forked(run));
        }
        run().unwrap();
    });
}

#[test]
fn children_of_children_work_too() {
    alone("children_of_children_work_too", || {
        run().unwrap();
        assert!(forked(|| {
            run()?;
            let inner = forked(|| {
                run()?;
                let innermost = forked(run);
                innermost
                    .then_some(())
                    .ok_or_else(|| io::Error::other("innermost"))
            });
            run()?;
            inner.then_some(()).ok_or_else(|| io::Error::other("inner"))
        }));
    });
}

#[test]
fn a_parent_that_never_called_us_may_fork() {
    alone("a_parent_that_never_called_us_may_fork", || {
        assert!(forked(run));
        run().unwrap();
        assert!(forked(run));
    });
}

#[test]
fn a_fork_in_the_midst_of_calls_works() {
    alone("a_fork_in_the_midst_of_calls_works", || {
        run().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let busy: Vec<_> = (0..3)
            .map(|_| {
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        run().unwrap();
                    }
                })
            })
            .collect();
        let survived = (0..30).filter(|_| forked(run)).count();
        stop.store(true, Ordering::Relaxed);
        for thread in busy {
            thread.join().unwrap();
        }
        assert_eq!(survived, 30);
    });
}

#[test]
fn a_walk_begun_before_the_fork_goes_on_in_the_parent() {
    alone("a_walk_begun_before_the_fork_goes_on_in_the_parent", || {
        let tree = testkit::tree::Builder::new(3)
            .entries(2_000)
            .build()
            .unwrap();
        let mut entries = Walk::new(tree.path()).into_stream();
        assert!(futures::executor::block_on(entries.next()).is_some());
        assert!(forked(run));
        let rest = futures::executor::block_on(entries.count());
        assert_eq!(rest, 2_000);
    });
}
