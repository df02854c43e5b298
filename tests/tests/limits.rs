//! With hardly any descriptors, and without threads.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ringfs::Backend;
use ringwalk::{EntryRef, Error, Visit, Walk};
use testkit::child::{self};
use testkit::or_skip;
use testkit::skip::needs_root;
use tests::everything::{check_everything, tree};
use tests::process::{place, rerun};
use tests::{driver, drivers, process, walks};

#[test]
fn a_dozen_descriptors_are_enough() {
    const NAME: &str = "a_dozen_descriptors_are_enough";
    if child::is_child(NAME) {
        let backend = std::env::var("BACKEND").unwrap().parse().unwrap();
        // More than once: how many are open at a time is a matter of luck.
        let driver = driver(backend);
        for _ in 0..5 {
            check_everything(&driver, &place());
        }
        return;
    }
    let tree = tree();
    for (backend, descriptors) in [("threads", 13), ("auto", 13), ("ring", 16)] {
        rerun(NAME, tree.path())
            .env("BACKEND", backend)
            .before_exec(process::inherit_nothing)
            .before_exec(move || process::limit(libc::RLIMIT_NOFILE, descriptors))
            .run()
            .assert_passed();
    }
}

#[test]
fn without_threads_there_is_an_answer_or_an_error() {
    const NAME: &str = "without_threads_there_is_an_answer_or_an_error";
    if child::is_child(NAME) {
        let _deadline = testkit::deadline(Duration::from_secs(30));
        process::become_nobody().unwrap();
        process::limit(libc::RLIMIT_NPROC, 1).unwrap();
        assert!(
            std::thread::Builder::new().spawn(|| ()).is_err(),
            "no thread can be had"
        );
        return check_without_threads(&place());
    }
    or_skip!(needs_root("become another user"));
    let tree = tree();
    rerun(NAME, tree.path()).run().assert_passed();
}

fn check_without_threads(place: &Path) {
    use futures::{StreamExt, executor::block_on};
    let expected = walks::std_paths(place);
    for driver in drivers() {
        let no_thread = |error: io::Error| {
            assert_eq!(
                error.raw_os_error(),
                Some(libc::EAGAIN),
                "{driver:?}: {error}"
            );
        };
        for path in [place, Path::new("/proc/version")] {
            if let Err(error) = block_on(driver.statx(path).into_future()) {
                no_thread(error);
            }
        }
        block_on(driver.read_dir(place)).map_or_else(no_thread, drop);
        block_on(driver.open_dir(place)).map_or_else(no_thread, drop);
        // The caller's own thread walks.
        let walk = Walk::new(place).driver(driver.clone());
        if driver.backend() != Backend::Ring {
            let count = Arc::new(AtomicUsize::new(0));
            let shared = Arc::clone(&count);
            walk.clone().visit_parallel(move || {
                let count = Arc::clone(&shared);
                move |entry: Result<&EntryRef<'_>, &Error>| {
                    entry.unwrap();
                    count.fetch_add(1, Ordering::Relaxed);
                    Visit::Continue
                }
            });
            assert_eq!(count.load(Ordering::Relaxed), expected.len());
        }
        // A stream has nobody.
        let items: Vec<_> = block_on(walk.into_stream().collect());
        assert!(items.iter().any(Result::is_err), "{driver:?}");
    }
}
