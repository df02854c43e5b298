//! In sandboxes that refuse a system call, or kill for it.

use std::io;
use std::os::unix::process::ExitStatusExt;

use ringfs::{Backend, Driver, OperationKind, Route};
use ringwalk::Walk;
use testkit::child::{self, Rerun};
use testkit::seccomp::Filter;
use tests::everything::{check_everything, tree};
use tests::process::{place, rerun};
use tests::{block_on, driver, drivers, walks};

/// The same on all processors.
const SYS_STATMOUNT: libc::c_long = 457;

#[test]
fn a_refused_ring_is_replaced_and_its_reason_told() {
    const NAME: &str = "a_refused_ring_is_replaced_and_its_reason_told";
    if child::is_child(NAME) {
        let reason = std::env::var("REASON").unwrap();
        for driver in [driver(Backend::Auto), driver(Backend::Ring)] {
            check_everything(&driver, &place());
            let capabilities = block_on(driver.capabilities());
            assert!(!capabilities.has_ring());
            let told = capabilities.ring_unavailable().unwrap();
            assert!(told.starts_with(&reason), "{told}");
            assert!(
                capabilities
                    .to_string()
                    .contains(&format!("ring: none ({reason}"))
            );
            for support in capabilities.operations() {
                assert!(!support.routes.contains(&Route::Ring));
            }
            let insists = block_on(driver.statx("/").route(Route::Ring).into_future());
            let text = insists.unwrap_err().to_string();
            assert!(told.ends_with(&text), "{told}: {text}");
            assert_eq!(
                driver
                    .metrics()
                    .calls(OperationKind::StatxPath, Route::Ring),
                0
            );
        }
        return;
    }
    let tree = tree();
    let errors = [
        (libc::EPERM, "Operation not permitted"),
        (libc::ENOSYS, "Function not implemented"),
        (libc::ENOMEM, "Cannot allocate memory"),
        (libc::EACCES, "Permission denied"),
        (libc::EMFILE, "Too many open files"),
    ];
    for (errno, text) in errors {
        rerun(NAME, tree.path())
            .filter(&Filter::new().io_uring_errno(errno))
            .env("REASON", format!("io_uring_setup: {text}"))
            .run()
            .assert_passed();
    }
    rerun(NAME, tree.path())
        .filter(&Filter::new().errno(libc::SYS_io_uring_register, libc::EPERM))
        .env("REASON", "io_uring_register: Operation not permitted")
        .run()
        .assert_passed();
}

#[test]
fn a_ring_that_may_not_be_entered_is_replaced() {
    const NAME: &str = "a_ring_that_may_not_be_entered_is_replaced";
    if child::is_child(NAME) {
        for driver in [driver(Backend::Auto), driver(Backend::Ring)] {
            check_everything(&driver, &place());
            assert!(!block_on(driver.capabilities()).has_ring());
        }
        return;
    }
    let tree = tree();
    let filter = Filter::new().errno(libc::SYS_io_uring_enter, libc::EPERM);
    rerun(NAME, tree.path())
        .filter(&filter)
        .run()
        .assert_passed();
}

#[test]
fn a_refused_openat2_ends_the_inline_route_for_paths() {
    const NAME: &str = "a_refused_openat2_ends_the_inline_route_for_paths";
    if child::is_child(NAME) {
        for driver in drivers() {
            check_everything(&driver, &place());
        }
        let driver = driver(Backend::Auto);
        let capabilities = block_on(driver.capabilities());
        let paths = capabilities.operation(OperationKind::StatxPath);
        assert!(!paths.routes.contains(&Route::Inline));
        assert!(
            paths
                .reason
                .contains("openat2 with RESOLVE_CACHED is refused")
        );
        let inline = block_on(driver.statx("/").route(Route::Inline).into_future());
        assert_eq!(inline.unwrap_err().kind(), io::ErrorKind::WouldBlock);
        return;
    }
    let tree = tree();
    for errno in [libc::EPERM, libc::ENOSYS] {
        let filter = Filter::new().errno(libc::SYS_openat2, errno);
        rerun(NAME, tree.path())
            .filter(&filter)
            .run()
            .assert_passed();
    }
}

#[test]
fn refusals_of_all_kinds_change_no_answer() {
    const NAME: &str = "refusals_of_all_kinds_change_no_answer";
    if child::is_child(NAME) {
        for driver in drivers() {
            check_everything(&driver, &place());
        }
        return;
    }
    let tree = tree();
    let statmount = Filter::new().errno(SYS_STATMOUNT, libc::EPERM);
    let all = statmount.clone().io_uring_errno(libc::ENOSYS);
    let all = all.errno(libc::SYS_openat2, libc::ENOSYS);
    for filter in [statmount, all] {
        rerun(NAME, tree.path())
            .filter(&filter)
            .run()
            .assert_passed();
    }
}

#[test]
fn threads_make_no_deadly_call() {
    const NAME: &str = "threads_make_no_deadly_call";
    if child::is_child(NAME) {
        let backend = match std::env::var_os("RINGFS_BACKEND") {
            Some(_) => Driver::global().clone(),
            None => driver(Backend::Threads),
        };
        check_everything(&backend, &place());
        block_on(backend.capabilities());
        let sorted = Walk::new(place()).driver(backend).sort_large_by_inode(true);
        walks::in_order(sorted);
        if std::env::var_os("DO_IT").is_some() {
            block_on(driver(Backend::Auto).statx("/").into_future()).unwrap();
        }
        return;
    }
    let tree = tree();
    let filter = Filter::new()
        .io_uring_kill()
        .kill(libc::SYS_openat2)
        .kill(SYS_STATMOUNT);
    let run = || rerun(NAME, tree.path()).filter(&filter);
    run().run().assert_passed();
    run().env("RINGFS_BACKEND", "threads").run().assert_passed();
    // The filter is at work.
    let killed = run().env("DO_IT", "1").run();
    assert_eq!(killed.status.signal(), Some(libc::SIGSYS));
}

#[test]
fn a_wrong_backend_variable_is_an_error_of_each_call() {
    const NAME: &str = "a_wrong_backend_variable_is_an_error_of_each_call";
    if child::is_child(NAME) {
        let errors = [
            block_on(ringfs::metadata("/")).unwrap_err(),
            block_on(ringfs::read_dir("/")).unwrap_err(),
            block_on(ringfs::Dir::open("/")).unwrap_err(),
        ];
        for error in errors {
            let text = error.to_string();
            assert_eq!(
                text,
                "RINGFS_BACKEND=\"uring\": not one of auto, ring, threads, this-thread"
            );
        }
        return;
    }
    let rerun = Rerun::new(NAME).env("RINGFS_BACKEND", "uring");
    rerun.run().assert_passed();
}
