//! A file system whose server is a process of its own: the program, started once more.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Skip;

/// What stands before the path of the mount point.
const MOUNTED: &str = "mounted ";

/// In the server: says where the mount is, then has one line after the other obeyed until they
/// end, and answers each with one.
///
/// # Errors
/// An order that is not obeyed, or a pipe that is closed.
pub fn serve(
    point: &Path,
    orders: impl BufRead,
    mut answers: impl Write,
    obey: impl Fn(&str) -> io::Result<usize>,
) -> io::Result<()> {
    writeln!(answers, "{MOUNTED}{}", point.display())?;
    for order in orders.lines() {
        writeln!(answers, "{}", obey(&order?)?)?;
    }
    Ok(())
}

/// The server, until this is dropped.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    /// `None` once the server is to end.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    point: PathBuf,
}

impl ServerProcess {
    /// Starts this program once more with an environment variable that no other process has, by
    /// which it knows that it has to [`serve`]. `name` is what cannot be done without it.
    ///
    /// # Errors
    /// It does not start, or has nothing mounted: then its first line is the reason.
    pub fn start(name: &str, (variable, value): (&str, String)) -> Result<Self, Skip> {
        let skip = |reason: &dyn Display| Skip::missing(name, reason.to_string());
        let mut child = std::env::current_exe()
            .and_then(|program| {
                Command::new(program)
                    .env(variable, value)
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
        let mut server = Self {
            child,
            orders: Some(orders),
            answers: BufReader::new(answers),
            point: PathBuf::new(),
        };
        let line = server.line().map_err(|error| skip(&error))?;
        server.point = match line.strip_prefix(MOUNTED) {
            Some(point) => point.into(),
            None => return Err(skip(&line)),
        };
        Ok(server)
    }

    /// The root of the file system.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// Has an order obeyed, and gives the answer.
    ///
    /// # Errors
    /// The server is gone.
    pub fn order(&mut self, order: impl Display) -> io::Result<usize> {
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

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}
