//! The running test once more, in a process of its own.
//!
//! What cannot be undone in a process (a seccomp filter, a resource limit, a
//! lost privilege) or what ends it is tried in a child. The child is the same
//! test binary, told to run the same test alone:
//!
//! ```no_run
//! use testkit::child;
//!
//! const NAME: &str = "works_without_a_home";
//!
//! // #[test]
//! fn works_without_a_home() {
//!     if child::is_child(NAME) {
//!         assert!(std::env::var_os("HOME").is_none());
//!         return;
//!     }
//!     child::Rerun::new(NAME).env_remove("HOME").run().assert_passed();
//! }
//! ```

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;
use std::time::Duration;

use crate::process::{self, Finished};
use crate::seccomp::Filter;
use crate::start::before_exec;

/// Names the test that a child is to run as the child.
const VARIABLE: &str = "TESTKIT_CHILD";

/// Whether this process was started by a [`Rerun`] of the test with this full name.
pub fn is_child(test: &str) -> bool {
    std::env::var_os(VARIABLE).is_some_and(|name| name == test)
}

/// [`Rerun`] as one call: environment variables, and what to do between fork and exec.
///
/// # Panics
/// As [`Rerun::run`].
#[track_caller]
pub fn rerun(
    test: &str,
    env: &[(&str, &str)],
    before_exec: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> Finished {
    let rerun = env.iter().fold(Rerun::new(test), |rerun, (key, value)| {
        rerun.env(key, value)
    });
    rerun.before_exec(before_exec).run()
}

type BeforeExec = Box<dyn FnMut() -> io::Result<()> + Send + Sync>;

/// A child about to be started.
pub struct Rerun {
    test: String,
    env: Vec<(OsString, Option<OsString>)>,
    before_exec: Vec<BeforeExec>,
    limit: Duration,
}

impl Rerun {
    /// Of the test with this full name, such as `module::tests::name`.
    pub fn new(test: &str) -> Self {
        Self {
            test: test.to_owned(),
            env: Vec::new(),
            before_exec: Vec::new(),
            limit: process::LIMIT,
        }
    }

    /// Sets a variable in the child's environment.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((key.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes a variable from the child's environment.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.env.push((key.as_ref().to_owned(), None));
        self
    }

    /// What the child does between fork and exec, after those given before. It
    /// must do with system calls alone: no allocation, no locks.
    #[must_use]
    pub fn before_exec(
        mut self,
        action: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.before_exec.push(Box::new(action));
        self
    }

    /// The child runs under this filter from its first instruction on.
    #[must_use]
    pub fn filter(self, filter: &Filter) -> Self {
        let programs = filter.compile();
        self.before_exec(move || programs.apply())
    }

    /// The child is killed after this time, instead of [`process::LIMIT`].
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the child to its end.
    ///
    /// # Panics
    /// It cannot be started, runs out of time, or there is no test of that
    /// name (which would otherwise count as passed).
    #[track_caller]
    pub fn run(self) -> Finished {
        let test = self.test.clone();
        let finished = match self.start() {
            Ok(finished) => finished,
            Err(error) => panic!("child of test {test}: {error}"),
        };
        assert!(
            finished.stdout_text().contains("running 1 test\n"),
            "child of test {test}: no test has that full name: {finished:?}"
        );
        finished
    }

    fn start(self) -> io::Result<Finished> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--exact", &self.test, "--nocapture", "--include-ignored"]);
        command
            .env(VARIABLE, &self.test)
            .env_remove("RUST_TEST_THREADS");
        for (key, value) in &self.env {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        for action in self.before_exec {
            before_exec(&mut command, action);
        }
        process::run(&mut command, b"", self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: &str = "child::tests::a_child_has_its_environment";

    #[test]
    fn a_child_has_its_environment() {
        if is_child(PASSES) {
            assert_eq!(std::env::var("COLOUR").unwrap(), "blue");
            assert!(std::env::var_os("HOME").is_none());
            assert!(!is_child("another"));
            return;
        }
        assert!(!is_child(PASSES));
        Rerun::new(PASSES)
            .env("COLOUR", "blue")
            .env_remove("HOME")
            .run()
            .assert_passed();
        rerun(PASSES, &[("COLOUR", "blue")], || Ok(()))
            .status
            .code()
            .unwrap();
        let failed = Rerun::new(PASSES).env("COLOUR", "red").run();
        assert_eq!(failed.status.code(), Some(101));
    }

    #[test]
    #[should_panic(expected = "no test has that full name")]
    fn a_wrong_name_does_not_pass() {
        Rerun::new("child::tests::no_such_test").run();
    }

    #[test]
    #[should_panic(expected = "child of test x: ")]
    fn what_fails_before_exec_is_reported() {
        rerun("x", &[], || Err(io::Error::from_raw_os_error(libc::EPERM)));
    }
}
