//! Tests that need more than one crate of this workspace, or a machine of a
//! special kind. They use public interfaces alone and lie in `tests/tests/`;
//! here is what they share.

#![deny(unsafe_code)]

pub mod deep;
pub mod everything;
pub mod model;
pub mod plain;
pub mod process;
pub mod rows;
pub mod walks;

/// The code in it is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

use std::time::Duration;

use ringfs::{Backend, Driver};

/// Nothing that is waited for takes longer, even on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(40);

/// Whether tests may take minutes: `RINGFS_LONG_TESTS=1`.
pub fn is_long() -> bool {
    std::env::var_os("RINGFS_LONG_TESTS").is_some_and(|value| value == "1")
}

/// The output of `future`, within [`LIMIT`], whether it waits or blocks.
///
/// # Panics
/// It takes longer.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let _deadline = testkit::deadline(LIMIT + LIMIT);
    futures::executor::block_on(testkit::within(LIMIT, future))
}

/// A new driver for each back end.
pub fn drivers() -> [Driver; 3] {
    [Backend::Auto, Backend::Ring, Backend::Threads].map(driver)
}

/// A new driver.
pub fn driver(backend: Backend) -> Driver {
    Driver::builder().backend(backend).build()
}

/// Runs a test in a process of its own: it looks at what the process holds, or changes it.
///
/// # Panics
/// The test fails there, or takes longer than twice [`LIMIT`].
#[track_caller]
pub fn alone(name: &str, test: impl FnOnce()) {
    alone_within(LIMIT + LIMIT, name, test);
}

/// As [`alone`], with another limit.
///
/// # Panics
/// The test fails there, or takes longer than that.
#[track_caller]
pub fn alone_within(limit: Duration, name: &str, test: impl FnOnce()) {
    if testkit::child::is_child(name) {
        let _deadline = testkit::deadline(limit);
        return test();
    }
    let rerun = testkit::child::Rerun::new(name).limit(limit + LIMIT);
    rerun.run().assert_passed();
}
