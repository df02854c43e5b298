//! Which back end a driver may use.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::str::FromStr;

/// What may execute the operations of a [`Driver`](crate::Driver).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// At once where the answer is in memory, a worker thread for a single call that may sleep,
    /// the ring when more are in flight than there are workers.
    #[default]
    Auto,
    /// Everything through the ring, nothing inline; worker threads for what this kernel's ring
    /// cannot do.
    Ring,
    /// Worker threads only. No `io_uring_*`, `openat2` or `statmount` call is ever made, as some
    /// sandboxes kill for them.
    Threads,
    /// No other thread: every call is made by the thread that polls, which sleeps if the call does.
    ///
    /// For programs in which the kernel gives that thread other rights or another view than the
    /// rest (`setfsuid(2)`, `unshare(2)`, Landlock, `/proc/thread-self`), and for those that may
    /// have one thread only. Futures are ready at once, and cancel nothing.
    ThisThread,
}

impl Backend {
    /// The environment variable that [`from_env`](Self::from_env) reads.
    pub const ENV: &str = "RINGFS_BACKEND";

    /// Reads `RINGFS_BACKEND`: `auto`, `ring`, `threads` or `this-thread`; unset or empty means [`Auto`](Self::Auto).
    ///
    /// # Errors
    ///
    /// The variable has another value.
    ///
    /// ```
    /// assert!(ringfs::Backend::from_env().is_ok());
    /// ```
    pub fn from_env() -> Result<Self, InvalidBackend> {
        let value = std::env::var_os(Self::ENV).unwrap_or_default();
        match value.to_str() {
            Some("") => Ok(Self::default()),
            Some(text) => text.parse(),
            None => Err(InvalidBackend(value)),
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Auto => "auto",
            Self::Ring => "ring",
            Self::Threads => "threads",
            Self::ThisThread => "this-thread",
        })
    }
}

impl FromStr for Backend {
    type Err = InvalidBackend;

    fn from_str(text: &str) -> Result<Self, InvalidBackend> {
        [Self::Auto, Self::Ring, Self::Threads, Self::ThisThread]
            .into_iter()
            .find(|backend| backend.to_string() == text)
            .ok_or_else(|| InvalidBackend(text.into()))
    }
}

/// A value of `RINGFS_BACKEND` that names no back end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidBackend(OsString);

impl fmt::Display for InvalidBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}=\"{}\": not one of auto, ring, threads, this-thread",
            Backend::ENV,
            self.0.display()
        )
    }
}

impl std::error::Error for InvalidBackend {}

impl From<InvalidBackend> for io::Error {
    fn from(error: InvalidBackend) -> Self {
        io::Error::new(io::ErrorKind::InvalidInput, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        use Backend::{Auto, Ring, ThisThread, Threads};
        for backend in [Auto, Ring, Threads, ThisThread] {
            assert_eq!(backend.to_string().parse(), Ok(backend));
        }
        let error = "uring".parse::<Backend>().expect_err("no such back end");
        assert_eq!(
            error.to_string(),
            "RINGFS_BACKEND=\"uring\": not one of auto, ring, threads, this-thread"
        );
    }
}
