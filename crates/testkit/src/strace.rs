//! Which system calls a program makes, seen from outside by strace(1).

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, ExitStatus};

use crate::Skip;
use crate::process::{self, Finished};

/// One system call of any thread or child, as strace prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The thread that made it.
    pub thread: u32,
    /// Its name.
    pub name: String,
    /// All between the name and the line's end: arguments and result.
    pub rest: String,
}

/// What was seen of a program.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The program's own outcome.
    pub finished: Finished,
    /// The calls asked for, in the order in which they began.
    pub calls: Vec<Call>,
}

impl Trace {
    /// How often a call was made, 0 if never.
    pub fn count(&self, name: &str) -> usize {
        self.calls.iter().filter(|call| call.name == name).count()
    }

    /// How often each call was made that was made at all.
    pub fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for call in &self.calls {
            *counts.entry(call.name.as_str()).or_default() += 1;
        }
        counts
    }

    /// How the program ended.
    pub fn status(&self) -> ExitStatus {
        self.finished.status
    }
}

/// Runs `command` under strace and follows its threads and children. `calls`
/// are names or classes of strace's `-e trace=`; none of them means all.
///
/// # Errors
/// strace is missing or may not trace.
///
/// # Panics
/// The program does not end in time.
#[track_caller]
pub fn trace(command: &Command, calls: &[&str]) -> Result<Trace, Skip> {
    let skip = |reason: String| Skip::missing("strace", reason);
    let log = tempfile::NamedTempFile::new().map_err(|error| skip(error.to_string()))?;
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-e", "signal=none", "-o"])
        .arg(log.path());
    if !calls.is_empty() {
        strace.arg("-e").arg(format!("trace={}", calls.join(",")));
    }
    strace
        .arg("--")
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        strace.current_dir(directory);
    }
    for (key, value) in command.get_envs() {
        match value {
            Some(value) => strace.env(key, value),
            None => strace.env_remove(key),
        };
    }
    let finished = match process::run(&mut strace, b"", process::LIMIT) {
        Ok(finished) => finished,
        Err(error) if error.kind() == std::io::ErrorKind::TimedOut => panic!("{error}"),
        Err(error) => return Err(skip(error.to_string())),
    };
    if finished.stderr_text().starts_with("strace: ") {
        return Err(skip(finished.stderr_text().trim_end().to_owned()));
    }
    let text = fs::read(log.path()).map_err(|error| skip(error.to_string()))?;
    let calls = String::from_utf8_lossy(&text)
        .lines()
        .filter_map(parse)
        .collect();
    Ok(Trace { finished, calls })
}

/// `123 openat(AT_FDCWD, "x", …) = 3`, also `… <unfinished ...>`. A call that
/// is resumed was counted when it began, and `+++ exited` is none.
fn parse(line: &str) -> Option<Call> {
    let (thread, call) = line.split_once(' ')?;
    let (name, rest) = call.trim_start().split_once('(')?;
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| Call {
        thread: thread.parse().unwrap_or(0),
        name: name.to_owned(),
        rest: rest.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::or_skip;

    #[test]
    fn calls_of_a_program_and_its_children_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "mkdir a; mkdir \"$NAME\"; echo out; exit 4"]);
        command.current_dir(directory.path()).env("NAME", "b");
        let trace = or_skip!(trace(&command, &["mkdir", "mkdirat"]));
        assert_eq!(
            trace.count("mkdir") + trace.count("mkdirat"),
            2,
            "{:?}",
            trace.calls
        );
        assert_eq!(trace.counts().values().sum::<usize>(), 2);
        assert!(trace.calls[1].rest.contains("\"b\""));
        assert_eq!(trace.status().code(), Some(4));
        assert_eq!(trace.finished.stdout_text(), "out\n");
        assert!(directory.path().join("b").is_dir());
    }

    #[test]
    fn lines_that_are_no_calls_are_passed_over() {
        let call = parse("17 read(3 <unfinished ...>").unwrap();
        assert_eq!((call.thread, call.name.as_str()), (17, "read"));
        assert_eq!(parse("17 <... read resumed>, \"(\", 5) = 1"), None);
        assert_eq!(parse("17 +++ exited with 0 +++"), None);
        assert_eq!(parse("17  close(3) = 0").unwrap().name, "close");
    }
}
