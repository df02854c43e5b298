//! Whole programs: run once and measured, or run once and looked at.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::sys;

/// A program with its arguments.
#[derive(Debug, Clone)]
pub struct Contender {
    /// What reports call it.
    pub name: String,
    /// Path, or a name to be found in PATH.
    pub program: PathBuf,
    /// Everything after the program's name.
    pub args: Vec<OsString>,
}

/// Where a measured program's output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    /// `/dev/null`.
    Null,
    /// A pipe that this process reads as fast as it can.
    Pipe,
}

/// One run.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// From before the start to after the end.
    pub wall: Duration,
    /// User and system time.
    pub cpu: Duration,
    /// Largest resident set in KiB, or this process's if that is larger.
    pub peak_kib: u64,
    /// Bytes read from the pipe; zero for [`Sink::Null`].
    pub bytes: u64,
}

impl Contender {
    fn start(&self, stdout: Stdio) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdin(Stdio::null()).stdout(stdout);
        command.spawn().map_err(|error| self.error(&error))
    }

    fn error(&self, error: &dyn std::fmt::Display) -> io::Error {
        io::Error::other(format!(
            "{}: {}: {error}",
            self.name,
            self.program.display()
        ))
    }

    fn end(&self, child: &Child) -> io::Result<sys::Ended> {
        let ended = sys::wait(child).map_err(|error| self.error(&error))?;
        if ended.status.success() {
            Ok(ended)
        } else {
            Err(self.error(&ended.status))
        }
    }

    /// Runs it once.
    ///
    /// # Errors
    /// It cannot be started, or ends with another status than 0.
    pub fn measure(&self, sink: Sink) -> io::Result<Run> {
        // A new process starts with the peak of the one that started it; this sets ours back
        // to what is resident now. Where it fails, the reported peak is merely too high.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let stdout = match sink {
            Sink::Null => Stdio::null(),
            Sink::Pipe => Stdio::piped(),
        };
        let start = Instant::now();
        let mut child = self.start(stdout)?;
        let bytes = child.stdout.take().map_or(Ok(0), count)?;
        let ended = self.end(&child)?;
        let wall = start.elapsed();
        Ok(Run {
            wall,
            cpu: ended.cpu,
            peak_kib: ended.peak_kib,
            bytes,
        })
    }

    /// Runs it once and takes the fingerprint of its output.
    ///
    /// # Errors
    /// It cannot be started, or ends with another status than 0.
    pub fn fingerprint(&self) -> io::Result<Fingerprint> {
        let mut child = self.start(Stdio::piped())?;
        let fingerprint = child
            .stdout
            .take()
            .map_or(Ok(Fingerprint::default()), Fingerprint::of)?;
        self.end(&child)?;
        Ok(fingerprint)
    }
}

/// This process's resident set in KiB: no smaller peak of another can be measured.
pub fn resident_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn count(mut pipe: impl Read) -> io::Result<u64> {
    let mut buf = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        match pipe.read(&mut buf) {
            Ok(0) => return Ok(total),
            Ok(n) => total += n as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Equal for outputs that are equal once sorted. Sorting half a million lines
/// here would make this process larger than those it measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Number of lines.
    pub lines: u64,
    /// Sum of the lines' hashes.
    pub sum: u64,
}

impl Fingerprint {
    fn of(output: impl Read) -> io::Result<Self> {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        let mut fingerprint = Self::default();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let mut hasher = DefaultHasher::new();
            hasher.write(&line);
            fingerprint.sum = fingerprint.sum.wrapping_add(hasher.finish());
            fingerprint.lines += 1;
            line.clear();
        }
        Ok(fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Contender {
        let args = vec!["-c".into(), script.into()];
        Contender {
            name: "shell".to_owned(),
            program: "sh".into(),
            args,
        }
    }

    #[test]
    fn runs_are_measured() {
        let run = shell("echo 12345; sleep 0.05").measure(Sink::Pipe).unwrap();
        assert_eq!(run.bytes, 6);
        assert!(run.wall >= Duration::from_millis(50));
        assert!(run.cpu < run.wall);
        assert!(run.peak_kib > 100);
        assert_eq!(shell("echo").measure(Sink::Null).unwrap().bytes, 0);
    }

    #[test]
    fn failures_name_the_program() {
        let error = shell("exit 3").measure(Sink::Null).unwrap_err();
        assert_eq!(error.to_string(), "shell: sh: exit status: 3");
        let missing = Contender {
            name: "x".to_owned(),
            program: "/no/such".into(),
            args: vec![],
        };
        assert!(
            missing
                .measure(Sink::Null)
                .unwrap_err()
                .to_string()
                .starts_with("x: /no/such: ")
        );
    }

    #[test]
    fn fingerprints_ignore_the_order_alone() {
        let of = |script: &str| shell(script).fingerprint().unwrap();
        assert_eq!(of("printf 'a\\nb\\nb\\n'"), of("printf 'b\\na\\nb\\n'"));
        assert_ne!(of("printf 'a\\nb\\nb\\n'"), of("printf 'a\\na\\nb\\n'"));
        assert_ne!(of("printf 'a\\n'"), of("printf 'a\\n\\n'"));
        assert_eq!(of("true").lines, 0);
    }
}
