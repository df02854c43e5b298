//! The slow file system with its server in a process of its own, so that the
//! server's work is not that of the program which is measured.
//!
//! The program is its own server, started once more:
//!
//! ```no_run
//! use testkit::fuse::remote::{self, Remote};
//!
//! fn main() -> std::process::ExitCode {
//!     if let Some(exit) = remote::serve_if_child() {
//!         return exit;
//!     }
//!     let mut fuse = Remote::new(8_000).unwrap();
//!     fuse.set_delay(std::time::Duration::from_millis(1)).unwrap();
//!     std::fs::metadata(fuse.path().join("f7")).unwrap();
//!     std::process::ExitCode::SUCCESS
//! }
//! ```

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::Fuse;
use super::process::{self, ServerProcess};
use crate::Skip;

/// How many files a child is to serve; no other process has it.
const VARIABLE: &str = "TESTKIT_FUSE_FILES";

/// Serves until standard input ends if this process was started by [`Remote::new`]; `None` if not.
///
/// To be called first of all in `main`.
pub fn serve_if_child() -> Option<ExitCode> {
    let files = std::env::var(VARIABLE).ok()?.parse().ok()?;
    let served = match Fuse::new(files) {
        Ok(fuse) => serve(&fuse, io::stdin().lock(), io::stdout()),
        Err(skip) => writeln!(io::stdout(), "{}", skip.reason),
    };
    Some(served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

fn serve(fuse: &Fuse, orders: impl BufRead, answers: impl Write) -> io::Result<()> {
    process::serve(fuse.path(), orders, answers, |order| obey(fuse, order))
}

fn obey(fuse: &Fuse, order: &str) -> io::Result<usize> {
    let (order, number) = order.split_once(' ').unwrap_or((order, "0"));
    let number: usize = number.parse().map_err(io::Error::other)?;
    let micros = Duration::from_micros(number as u64);
    match order {
        "delay" => fuse.set_delay(micros),
        "jitter" => fuse.set_jitter(micros),
        "width" => fuse.set_width(number),
        "forget" => fuse.forget_names()?,
        "requests" => return Ok(fuse.requests()),
        "parallel" => return Ok(usize::from(fuse.parallel_lookups())),
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    }
    Ok(0)
}

/// A [`Fuse`] that another process serves, until this is dropped.
#[derive(Debug)]
pub struct Remote(ServerProcess);

impl Remote {
    /// Starts this program once more, which has to call [`serve_if_child`], and has it mount so
    /// many files.
    ///
    /// # Errors
    /// No root, or no FUSE.
    pub fn new(files: u64) -> Result<Self, Skip> {
        ServerProcess::start("mount fuse", (VARIABLE, files.to_string())).map(Self)
    }

    /// The root of the file system.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// As [`Fuse::set_delay`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn set_delay(&mut self, delay: Duration) -> io::Result<()> {
        self.0
            .order(format_args!("delay {}", delay.as_micros()))
            .map(drop)
    }

    /// As [`Fuse::set_jitter`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn set_jitter(&mut self, jitter: Duration) -> io::Result<()> {
        self.0
            .order(format_args!("jitter {}", jitter.as_micros()))
            .map(drop)
    }

    /// As [`Fuse::set_width`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn set_width(&mut self, width: usize) -> io::Result<()> {
        self.0.order(format_args!("width {width}")).map(drop)
    }

    /// As [`Fuse::forget_names`].
    ///
    /// # Errors
    /// The kernel refuses, and the server is gone.
    pub fn forget_names(&mut self) -> io::Result<()> {
        self.0.order("forget").map(drop)
    }

    /// As [`Fuse::requests`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn requests(&mut self) -> io::Result<usize> {
        self.0.order("requests")
    }

    /// As [`Fuse::parallel_lookups`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn parallel_lookups(&mut self) -> io::Result<bool> {
        self.0.order("parallel").map(|granted| granted == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::or_skip;

    #[test]
    fn orders_are_obeyed() {
        let fuse = or_skip!(Fuse::new(3));
        let orders = "delay 2000\njitter 0\nwidth 3\nforget\nparallel\nrequests\n";
        let mut answers = Vec::new();
        serve(&fuse, orders.as_bytes(), &mut answers).unwrap();
        let answers = String::from_utf8(answers).unwrap();
        let point = fuse.path().display();
        assert_eq!(answers, format!("mounted {point}\n0\n0\n0\n0\n1\n0\n"));
        let start = std::time::Instant::now();
        std::fs::metadata(fuse.file(1)).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(2));
        for wrong in ["dance\n", "delay soon\n"] {
            assert!(serve(&fuse, wrong.as_bytes(), io::sink()).is_err());
        }
    }

    #[test]
    fn this_process_is_no_child() {
        assert!(serve_if_child().is_none());
    }
}
