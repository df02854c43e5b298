//! A program run to its end, or to the end of one's patience.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may run if nothing else is said.
pub const LIMIT: Duration = Duration::from_mins(1);

/// A program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// All that it wrote to standard output.
    pub stdout: Vec<u8>,
    /// All that it wrote to standard error.
    pub stderr: Vec<u8>,
}

impl Finished {
    /// Standard output for a person.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error for a person.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// It ended with status 0.
    ///
    /// # Panics
    /// It did not; the message holds all that it wrote.
    #[track_caller]
    pub fn assert_passed(&self) {
        let (stdout, stderr) = (self.stdout_text(), self.stderr_text());
        assert!(
            self.status.success(),
            "{}\n--- stdout\n{stdout}--- stderr\n{stderr}",
            self.status
        );
    }
}

/// Runs `command` with `stdin` as its input and both outputs captured.
/// After `limit` it is killed, with all of its process group.
///
/// # Errors
/// It cannot be started, or [`io::ErrorKind::TimedOut`].
pub fn run(command: &mut Command, stdin: &[u8], limit: Duration) -> io::Result<Finished> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, writer) = start(command, stdin)?;
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let status = wait(&mut child, limit);
    // Joined before the status is looked at: a thread must not outlive the call.
    let stdout = join(stdout);
    let stderr = join(stderr);
    let _ = writer.join();
    Ok(Finished {
        status: named(status, command)?,
        stdout: stdout?,
        stderr: stderr?,
    })
}

/// [`run`] with standard error going where standard output goes, so that their order is kept; all is in `stdout`.
///
/// # Errors
/// As [`run`].
pub fn run_merged(command: &mut Command, stdin: &[u8], limit: Duration) -> io::Result<Finished> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let started = start(command, stdin);
    // The command holds the pipe's writing end, and the reader waits until all are closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (mut child, writer) = started?;
    let stdout = Some(drain(reader));
    let status = wait(&mut child, limit);
    let stdout = join(stdout);
    let _ = writer.join();
    Ok(Finished {
        status: named(status, command)?,
        stdout: stdout?,
        stderr: Vec::new(),
    })
}

fn start(command: &mut Command, stdin: &[u8]) -> io::Result<(Child, thread::JoinHandle<()>)> {
    command.process_group(0).stdin(Stdio::piped());
    let mut child = named(command.spawn(), command)?;
    let pipe = child.stdin.take();
    let input = stdin.to_vec();
    let writer = thread::spawn(move || {
        if let Some(mut pipe) = pipe {
            // A program need not read its input.
            let _ = pipe.write_all(&input);
        }
    });
    Ok((child, writer))
}

type Drain = thread::JoinHandle<io::Result<Vec<u8>>>;

fn drain(mut pipe: impl Read + Send + 'static) -> Drain {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

fn join(drain: Option<Drain>) -> io::Result<Vec<u8>> {
    drain.map_or(Ok(Vec::new()), |drain| {
        drain
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the reader of a pipe panicked")))
    })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= end {
            kill_group(child);
            child.wait()?;
            let text = format!("still running after {} s; killed", limit.as_secs_f32());
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

#[allow(unsafe_code)]
fn kill_group(child: &Child) {
    // SAFETY: kill touches no memory. The child leads this group and has not been waited for, so the number is still its own.
    unsafe { libc::kill(-child.id().cast_signed(), libc::SIGKILL) };
}

fn named<T>(result: io::Result<T>, command: &Command) -> io::Result<T> {
    result.map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("{}: {error}", command.get_program().display()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn outputs_are_captured_apart_and_merged() {
        let script = "cat; echo err >&2; echo out; exit 3";
        let finished = run(&mut shell(script), b"in\n", LIMIT).unwrap();
        assert_eq!(finished.stdout_text(), "in\nout\n");
        assert_eq!(finished.stderr_text(), "err\n");
        assert_eq!(finished.status.code(), Some(3));
        let finished = run_merged(&mut shell(script), b"in\n", LIMIT).unwrap();
        assert_eq!(finished.stdout_text(), "in\nerr\nout\n");
        assert_eq!(finished.status.code(), Some(3));
    }

    #[test]
    fn large_input_that_nobody_reads_is_no_problem() {
        let finished = run(&mut shell("echo done"), &vec![b'x'; 1 << 20], LIMIT).unwrap();
        assert_eq!(finished.stdout_text(), "done\n");
    }

    #[test]
    fn a_program_that_hangs_is_killed_with_its_children() {
        let start = Instant::now();
        let error = run(
            &mut shell("sleep 60 & wait"),
            b"",
            Duration::from_millis(50),
        )
        .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(
            error.to_string().starts_with("sh: still running"),
            "{error}"
        );
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let error = run(&mut Command::new("/no/such"), b"", LIMIT).unwrap_err();
        assert!(error.to_string().starts_with("/no/such: "), "{error}");
    }
}
