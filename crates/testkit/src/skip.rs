//! Tests that cannot run on this machine.
//!
//! A skip is printed past the test harness's capture, so that it is seen even
//! if the test passes. With `RINGFS_NO_SKIP=1` (CI) it is a failure, unless
//! the kernel itself lacks what the test needs.

use std::fmt;
use std::io::Write;

/// Why a test was skipped; decides whether CI accepts that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A tool or a privilege is missing that CI can have.
    Missing,
    /// No machine with this kernel or hardware can run it.
    NotPossibleHere,
}

/// A test that cannot run; the error type of helpers that need something special.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// What could not be had, such as `mount xfs`.
    pub name: String,
    /// Why, for a person.
    pub reason: String,
    /// Whether it could be had elsewhere.
    pub kind: Reason,
}

impl Skip {
    /// Something that CI can have is missing.
    pub fn missing(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            reason: reason.into(),
            kind: Reason::Missing,
        }
    }

    /// This kernel or hardware cannot do it.
    pub fn not_possible_here(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            reason: reason.into(),
            kind: Reason::NotPossibleHere,
        }
    }

    /// Prints the skip, or fails the test if skips are forbidden.
    ///
    /// # Panics
    /// `RINGFS_NO_SKIP=1` is set and the reason is [`Reason::Missing`].
    #[track_caller]
    pub fn report(&self) {
        let forbidden = std::env::var_os("RINGFS_NO_SKIP").is_some_and(|value| value == "1");
        assert!(
            !forbidden || self.kind == Reason::NotPossibleHere,
            "{self} (RINGFS_NO_SKIP=1)"
        );
        // Not eprintln: the test harness would keep that to itself.
        let _ = writeln!(std::io::stderr(), "{self}");
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped: {}: {}", self.name, self.reason)
    }
}

impl std::error::Error for Skip {}

/// The tests run as root, who may mount and become another user.
///
/// # Errors
/// They do not; `name` says what was to be done.
pub fn needs_root(name: impl Into<String>) -> Result<(), Skip> {
    if is_root() {
        Ok(())
    } else {
        Err(Skip::missing(name, "needs root"))
    }
}

#[allow(unsafe_code)]
fn is_root() -> bool {
    // SAFETY: geteuid reads one number of this process and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// The value of a `Result<T, Skip>`, or the end of the test.
///
/// ```
/// fn needs_a_mount() {
///     let mount = testkit::or_skip!(testkit::mount::tmpfs());
///     assert!(mount.path().is_dir());
/// }
/// # needs_a_mount();
/// ```
#[macro_export]
macro_rules! or_skip {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(skip) => {
                let skip: $crate::Skip = skip;
                skip.report();
                return;
            }
        }
    };
}

/// Ends the test as skipped: `skip!("name", "reason")`.
///
/// ```
/// fn needs_a_reason() {
///     testkit::skip!("moon phase", "it is not full");
/// }
/// # if std::env::var_os("RINGFS_NO_SKIP").is_none() { needs_a_reason(); }
/// ```
#[macro_export]
macro_rules! skip {
    ($name:expr, $($reason:tt)+) => {{
        $crate::Skip::missing($name, format!($($reason)+)).report();
        return;
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child;

    const LOUD: &str = "skip::tests::a_skip_is_loud_and_ci_refuses_it";

    #[test]
    fn a_skip_is_loud_and_ci_refuses_it() {
        if child::is_child(LOUD) {
            let kind = std::env::var("KIND").unwrap();
            let skip = match kind.as_str() {
                "missing" => Skip::missing("a tool", "not installed"),
                _ => Skip::not_possible_here("a kernel", "too old"),
            };
            or_skip!(Err::<(), _>(skip));
            unreachable!("the macro returns");
        }
        let run = |no_skip, kind| {
            child::Rerun::new(LOUD)
                .env("RINGFS_NO_SKIP", no_skip)
                .env("KIND", kind)
                .run()
        };
        let output = run("0", "missing");
        assert!(output.status.success());
        assert_eq!(output.stderr_text(), "skipped: a tool: not installed\n");
        assert!(!run("1", "missing").status.success());
        assert!(run("1", "impossible").status.success());
    }
}
