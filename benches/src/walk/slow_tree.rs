//! A tree on a file system that is slow to answer, served by a process of its own.
//!
//! The program is its own server, started once more: see [`serve_if_child`].

mod pace;
mod server;

use std::fmt::Display;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use testkit::Skip;

use self::server::Mounted;
pub use self::server::Shape;
use crate::slow::Scenario;

/// The [`Shape`] that a child is to serve; no other process has it.
const VARIABLE: &str = "WALK_BENCH_TREE";

/// What stands before the path of the mount point.
const MOUNTED: &str = "mounted ";

/// Serves until standard input ends if this process was started by [`SlowTree::new`]; `None` if not.
///
/// To be called in `main`, before there are other threads.
pub fn serve_if_child() -> Option<ExitCode> {
    let shape = std::env::var(VARIABLE).ok()?.parse().ok()?;
    // Threads started later inherit it; else the kernel adds up to 50 µs to each delay. Where it
    // is refused, answers are later by that.
    let _ = fs::write("/proc/self/timerslack_ns", "1");
    let served = match Mounted::new(shape) {
        Ok(tree) => serve(&tree, io::stdin().lock(), io::stdout()),
        Err(error) => writeln!(io::stdout(), "{error}"),
    };
    Some(served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// Says where the mount is, then obeys one line after the other, and answers each with one.
fn serve(tree: &Mounted, orders: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    writeln!(answers, "{MOUNTED}{}", tree.path().display())?;
    for order in orders.lines() {
        writeln!(answers, "{}", obey(tree, &order?)?)?;
    }
    Ok(())
}

fn obey(tree: &Mounted, order: &str) -> io::Result<usize> {
    let number = |text: &str| text.parse::<usize>().map_err(io::Error::other);
    let words: Vec<_> = order.split(' ').collect();
    match words[..] {
        ["pace", micros, width] => {
            let delay = Duration::from_micros(number(micros)? as u64);
            tree.set_pace(delay, number(width)?);
        }
        ["forget"] => tree.forget()?,
        ["requests"] => return Ok(tree.requests()),
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    }
    Ok(0)
}

/// The tree, mounted until this is dropped. At first it is not slow.
#[derive(Debug)]
pub struct SlowTree {
    child: Child,
    /// `None` once the server is to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    point: PathBuf,
}

impl SlowTree {
    /// Starts this program once more, which has to call [`serve_if_child`].
    ///
    /// # Errors
    /// No root, or no FUSE.
    pub fn new(shape: Shape) -> Result<Self, Skip> {
        let name = "mount a slow tree";
        testkit::skip::needs_root(name)?;
        let skip = |reason: &dyn Display| Skip::missing(name, reason.to_string());
        let mut child = std::env::current_exe()
            .and_then(|program| {
                Command::new(program)
                    .env(VARIABLE, shape.to_string())
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
        let mut tree = Self {
            child,
            orders: Some(orders),
            answers: BufReader::new(answers),
            point: PathBuf::new(),
        };
        let line = tree.line().map_err(|error| skip(&error))?;
        tree.point = match line.strip_prefix(MOUNTED) {
            Some(point) => point.into(),
            None => return Err(skip(&line)),
        };
        Ok(tree)
    }

    /// Its root.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// From now on it is as slow as that, without jitter.
    ///
    /// # Errors
    /// The server is gone.
    pub fn set(&mut self, scenario: Scenario) -> io::Result<()> {
        let (micros, width) = (scenario.delay.as_micros(), scenario.width);
        self.order(format_args!("pace {micros} {width}")).map(drop)
    }

    /// The kernel does not know anything of the tree any more.
    ///
    /// # Errors
    /// The server is gone.
    pub fn forget(&mut self) -> io::Result<()> {
        self.order("forget").map(drop)
    }

    /// How much the kernel has asked so far.
    ///
    /// # Errors
    /// The server is gone.
    pub fn requests(&mut self) -> io::Result<usize> {
        self.order("requests")
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

impl Drop for SlowTree {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::walk::Truth;

    const SHAPE: Shape = Shape {
        directories: 23,
        files: 4,
    };

    /// A mounted one, or why there is none.
    fn mounted() -> Option<Mounted> {
        if let Err(skip) = testkit::skip::needs_root("mount a slow tree") {
            skip.report();
            return None;
        }
        Some(Mounted::new(SHAPE).unwrap())
    }

    #[test]
    fn all_of_it_is_there_each_time() {
        let Some(tree) = mounted() else { return };
        let expected = Truth::of(tree.path()).unwrap();
        assert_eq!(expected.tally.entries, SHAPE.entries());
        assert!(expected.large > 0 && expected.large < SHAPE.directories * SHAPE.files);
        let pass = || {
            tree.forget().unwrap();
            let before = tree.requests();
            assert_eq!(Truth::of(tree.path()).unwrap(), expected);
            tree.requests() - before
        };
        let first = pass();
        // Each file and directory is looked up, and each directory opened and read.
        assert!(first as u64 > SHAPE.entries() + 2 * SHAPE.directories);
        assert_eq!(pass(), first);
    }

    #[test]
    fn orders_are_obeyed() {
        let Some(tree) = mounted() else { return };
        let mut answers = Vec::new();
        let orders = "pace 2000 3\nforget\nrequests\n";
        serve(&tree, orders.as_bytes(), &mut answers).unwrap();
        let answers = String::from_utf8(answers).unwrap();
        let point = tree.path().display();
        assert_eq!(answers, format!("mounted {point}\n0\n0\n0\n"));
        let start = Instant::now();
        fs::read_dir(tree.path()).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(2));
        for wrong in ["dance\n", "pace soon 1\n", "pace 1\n"] {
            assert!(serve(&tree, wrong.as_bytes(), io::sink()).is_err());
        }
    }

    #[test]
    fn this_process_is_no_child() {
        assert!(serve_if_child().is_none());
    }
}
