//! A tree on a file system that is slow to answer, served by a process of its own.
//!
//! The program is its own server, started once more: see [`serve_if_child`].

mod pace;
mod server;

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use testkit::Skip;
use testkit::fuse::process::{self, ServerProcess};

use self::server::Mounted;
pub use self::server::Shape;
use crate::slow::Scenario;

/// The [`Shape`] that a child is to serve; no other process has it.
const VARIABLE: &str = "WALK_BENCH_TREE";

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

fn serve(tree: &Mounted, orders: impl BufRead, answers: impl Write) -> io::Result<()> {
    process::serve(tree.path(), orders, answers, |order| obey(tree, order))
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
pub struct SlowTree(ServerProcess);

impl SlowTree {
    /// Starts this program once more, which has to call [`serve_if_child`].
    ///
    /// # Errors
    /// No root, or no FUSE.
    pub fn new(shape: Shape) -> Result<Self, Skip> {
        let name = "mount a slow tree";
        testkit::skip::needs_root(name)?;
        ServerProcess::start(name, (VARIABLE, shape.to_string())).map(Self)
    }

    /// Its root.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// From now on it is as slow as that, without jitter.
    ///
    /// # Errors
    /// The server is gone.
    pub fn set(&mut self, scenario: Scenario) -> io::Result<()> {
        let (micros, width) = (scenario.delay.as_micros(), scenario.width);
        self.0
            .order(format_args!("pace {micros} {width}"))
            .map(drop)
    }

    /// The kernel does not know anything of the tree any more.
    ///
    /// # Errors
    /// The server is gone.
    pub fn forget(&mut self) -> io::Result<()> {
        self.0.order("forget").map(drop)
    }

    /// How much the kernel has asked so far.
    ///
    /// # Errors
    /// The server is gone.
    pub fn requests(&mut self) -> io::Result<usize> {
        self.0.order("requests")
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
