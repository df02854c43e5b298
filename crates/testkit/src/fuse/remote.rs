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

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use super::Fuse;
use crate::Skip;

/// How many files a child is to serve; no other process has it.
const VARIABLE: &str = "TESTKIT_FUSE_FILES";

/// What stands before the path of the mount point.
const MOUNTED: &str = "mounted ";

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

/// Says where the mount is, then obeys one line after the other, and answers each with one.
fn serve(fuse: &Fuse, orders: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    writeln!(answers, "{MOUNTED}{}", fuse.path().display())?;
    for order in orders.lines() {
        writeln!(answers, "{}", obey(fuse, &order?)?)?;
    }
    Ok(())
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
pub struct Remote {
    child: Child,
    /// `None` once the server is to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    point: PathBuf,
}

impl Remote {
    /// Starts this program once more, which has to call [`serve_if_child`], and has it mount so
    /// many files.
    ///
    /// # Errors
    /// No root, or no FUSE.
    pub fn new(files: u64) -> Result<Self, Skip> {
        let name = "mount fuse";
        let skip = |reason: &dyn Display| Skip::missing(name, reason.to_string());
        let mut child = std::env::current_exe()
            .and_then(|program| {
                Command::new(program)
                    .env(VARIABLE, files.to_string())
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    // Control-C ends the program alone, and the server unmounts after it.
                    .process_group(0)
                    .spawn()
            })
            .map_err(|error| skip(&error))?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(skip(&"the server has no pipes"));
        };
        let mut fuse = Self {
            child,
            orders: Some(orders),
            answers: BufReader::new(answers),
            point: PathBuf::new(),
        };
        let line = fuse.line().map_err(|error| skip(&error))?;
        fuse.point = match line.strip_prefix(MOUNTED) {
            Some(point) => point.into(),
            None => return Err(skip(&line)),
        };
        Ok(fuse)
    }

    /// The root of the file system.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// As [`Fuse::set_delay`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn set_delay(&mut self, delay: Duration) -> io::Result<()> {
        self.order(format_args!("delay {}", delay.as_micros()))
            .map(drop)
    }

    /// As [`Fuse::set_jitter`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn set_jitter(&mut self, jitter: Duration) -> io::Result<()> {
        self.order(format_args!("jitter {}", jitter.as_micros()))
            .map(drop)
    }

    /// As [`Fuse::set_width`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn set_width(&mut self, width: usize) -> io::Result<()> {
        self.order(format_args!("width {width}")).map(drop)
    }

    /// As [`Fuse::forget_names`].
    ///
    /// # Errors
    /// The kernel refuses, and the server is gone.
    pub fn forget_names(&mut self) -> io::Result<()> {
        self.order("forget").map(drop)
    }

    /// As [`Fuse::requests`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn requests(&mut self) -> io::Result<usize> {
        self.order("requests")
    }

    /// As [`Fuse::parallel_lookups`].
    ///
    /// # Errors
    /// The server is gone.
    pub fn parallel_lookups(&mut self) -> io::Result<bool> {
        self.order("parallel").map(|granted| granted == 1)
    }

    fn order(&mut self, order: impl Display) -> io::Result<usize> {
        if let Some(orders) = &mut self.orders {
            // In one piece: it is not buffered.
            orders.write_all(format!("{order}\n").as_bytes())?;
        }
        self.line()?.parse().map_err(io::Error::other)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        match line.strip_suffix('\n') {
            Some(line) => Ok(line.to_owned()),
            None => Err(io::Error::other("the server has ended")),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
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
