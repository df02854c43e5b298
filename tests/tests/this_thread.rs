//! A driver that makes every call on the thread that asks.

use std::future::IntoFuture;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures::StreamExt;
use ringfs::{Backend, Driver, OperationKind, Route};
use ringwalk::{EntryRef, Error, Visit, Walk};
use testkit::or_skip;
use testkit::skip::needs_root;
use tests::everything::{check_calls, tree};
use tests::{alone, driver, process, walks};

/// The answer of the first poll.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("not ready at once"),
    }
}

#[test]
fn no_thread_and_no_ring_is_started() {
    alone("no_thread_and_no_ring_is_started", || {
        let tree = tree();
        let driver = driver(Backend::ThisThread);
        let threads = process::threads().len();
        at_once(driver.statx("/proc/version").into_future()).unwrap();
        let mut entries = at_once(driver.read_dir(tree.path())).unwrap();
        while at_once(entries.next_entry()).unwrap().is_some() {}
        let names = ["/proc/version"; 1_000];
        let answers = at_once(driver.statx_paths(names).into_future());
        assert!(answers.iter().all(Result::is_ok) && answers.len() == names.len());
        let dir = at_once(driver.open_dir("/etc")).unwrap();
        let (_file, metadata) = at_once(dir.open_beneath("passwd").into_future()).unwrap();
        assert!(metadata.is_file());
        at_once(dir.close()).unwrap();
        let capabilities = at_once(driver.capabilities());
        assert!(!capabilities.has_ring());
        for support in capabilities.operations() {
            assert_eq!(support.routes, [Route::Inline]);
        }
        let insists = at_once(driver.statx("/").route(Route::Ring).into_future());
        assert_eq!(insists.unwrap_err().kind(), io::ErrorKind::Unsupported);
        assert_eq!(process::threads().len(), threads);
        let metrics = driver.metrics();
        assert_eq!(
            metrics.calls(OperationKind::StatxPath, Route::Inline),
            1_001
        );
        assert_eq!((metrics.pool_threads(), metrics.in_flight()), (0, 0));
    });
}

#[test]
fn it_answers_as_the_others_do() {
    let tree = tree();
    check_calls(&driver(Backend::ThisThread), tree.path());
}

#[test]
fn a_walk_is_the_callers_alone() {
    alone("a_walk_is_the_callers_alone", || {
        let tree = tree();
        let threads = process::threads().len();
        let walk = Walk::new(tree.path()).backend(Backend::ThisThread);
        let me = std::thread::current().id();
        let found = std::sync::Arc::new(std::sync::Mutex::new(0));
        let theirs = std::sync::Arc::clone(&found);
        walk.clone().visit_parallel(move || {
            let found = std::sync::Arc::clone(&theirs);
            move |entry: Result<&EntryRef<'_>, &Error>| {
                entry.unwrap();
                assert_eq!(std::thread::current().id(), me);
                *found.lock().unwrap() += 1;
                Visit::Continue
            }
        });
        assert_eq!(*found.lock().unwrap(), walks::std_paths(tree.path()).len());
        assert_eq!(process::threads().len(), threads);
        // Others would have to walk ahead of a stream.
        let first = at_once(walk.into_stream().next()).unwrap();
        let error = io::Error::from(first.unwrap_err());
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    });
}

/// Makes this thread another user to the file systems, and only this one.
#[allow(unsafe_code)]
fn set_fs_user(user: libc::uid_t) {
    // SAFETY: touches no memory.
    unsafe { libc::setfsuid(user) };
}

#[test]
fn the_thread_s_own_rights_count() {
    or_skip!(needs_root("become another user"));
    alone("the_thread_s_own_rights_count", || {
        let place = tempfile::tempdir().unwrap();
        let private = place.path().join("private");
        std::fs::create_dir(&private).unwrap();
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(private.join("file"), "").unwrap();
        let file = private.join("file");
        set_fs_user(process::NOBODY);
        let here = driver(Backend::ThisThread);
        let denied = at_once(here.statx(&file).into_future()).unwrap_err();
        assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
        let denied = at_once(here.read_dir(&private)).unwrap_err();
        assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
        set_fs_user(0);
        // Threads have the rights that they were made with.
        let elsewhere: Driver = driver(Backend::Auto);
        let stat = |route| elsewhere.statx(&file).route(route).into_future();
        futures::executor::block_on(stat(Route::Worker)).unwrap();
        set_fs_user(process::NOBODY);
        futures::executor::block_on(stat(Route::Worker)).unwrap();
        set_fs_user(0);
    });
}
