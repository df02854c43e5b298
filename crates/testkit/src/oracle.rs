//! GNU find as the oracle: it and a second program get the same arguments,
//! and everything that can be seen of both is compared.

mod difference;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

pub use self::difference::Difference;

use crate::process::{self, Finished};

/// Arguments and surroundings that two programs are given alike.
#[derive(Debug, Clone)]
pub struct Case {
    args: Vec<OsString>,
    directory: PathBuf,
    env: Vec<(OsString, Option<OsString>)>,
    arg0: OsString,
    stdin: Vec<u8>,
    merged: bool,
    unordered: bool,
    limit: Duration,
    seed: Option<u64>,
}

/// What can be seen of a program from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Standard output; with [`Case::merged`] standard error as well, in the order written.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Exit code or signal.
    pub status: ExitStatus,
}

impl From<Finished> for Answer {
    fn from(finished: Finished) -> Self {
        let Finished {
            status,
            stdout,
            stderr,
        } = finished;
        Self {
            stdout,
            stderr,
            status,
        }
    }
}

impl Case {
    /// These arguments, run in `directory`. Both programs are called `find` and
    /// speak the C locale, unless told otherwise.
    pub fn new<S: AsRef<OsStr>>(
        directory: impl AsRef<Path>,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            args: args
                .into_iter()
                .map(|arg| arg.as_ref().to_owned())
                .collect(),
            directory: directory.as_ref().to_owned(),
            env: vec![
                ("LC_ALL".into(), Some("C".into())),
                ("POSIXLY_CORRECT".into(), None),
            ],
            arg0: "find".into(),
            stdin: Vec::new(),
            merged: false,
            unordered: false,
            limit: process::LIMIT,
            seed: None,
        }
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((key.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.env.push((key.as_ref().to_owned(), None));
        self
    }

    /// The name that both find in `argv[0]`; messages begin with it.
    #[must_use]
    pub fn arg0(mut self, arg0: impl AsRef<OsStr>) -> Self {
        arg0.as_ref().clone_into(&mut self.arg0);
        self
    }

    /// What both read from standard input; nothing otherwise.
    #[must_use]
    pub fn stdin(mut self, stdin: impl Into<Vec<u8>>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// One pipe for both outputs: whether messages stand in the right place between lines.
    #[must_use]
    pub fn merged(mut self) -> Self {
        self.merged = true;
        self
    }

    /// Lines are compared as a multiset.
    #[must_use]
    pub fn unordered(mut self) -> Self {
        self.unordered = true;
        self
    }

    /// How long each may take, instead of [`process::LIMIT`].
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Seed of whatever random thing this case looks at; reports name it.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// A program about to be run for this case.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .arg0(&self.arg0)
            .args(&self.args)
            .current_dir(&self.directory);
        for (key, value) in &self.env {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command
    }

    /// Runs one program.
    ///
    /// # Errors
    /// It cannot be started or does not end in time.
    pub fn run(&self, program: impl AsRef<OsStr>) -> io::Result<Answer> {
        let mut command = self.command(program);
        let run = if self.merged {
            process::run_merged
        } else {
            process::run
        };
        run(&mut command, &self.stdin, self.limit).map(Answer::from)
    }

    /// What GNU find answers: `find` of PATH.
    ///
    /// # Errors
    /// As [`Case::run`].
    pub fn run_find(&self) -> io::Result<Answer> {
        self.run("find")
    }

    /// Compares two answers to this case.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, expected: &Answer, actual: &Answer) -> Result<(), Box<Difference>> {
        difference::between(self, expected, actual)
    }

    /// `program` answers as GNU find does.
    ///
    /// # Panics
    /// It does not, or one of the two cannot be run.
    #[track_caller]
    pub fn assert_like_find(&self, program: impl AsRef<OsStr>) {
        let expected = self.run_find().unwrap_or_else(|error| panic!("{error}"));
        let actual = self.run(program).unwrap_or_else(|error| panic!("{error}"));
        if let Err(difference) = self.compare(&expected, &actual) {
            panic!("{difference}");
        }
    }

    /// For a person, to be pasted into a shell. Bytes that are not UTF-8 do not survive it.
    fn command_line(&self) -> String {
        let words = std::iter::once(&self.arg0).chain(&self.args);
        let quoted: Vec<String> = words.map(|word| quote(&word.to_string_lossy())).collect();
        format!(
            "cd {} && {}",
            quote(&self.directory.to_string_lossy()),
            quoted.join(" ")
        )
    }
}

fn quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+=%,:@".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn find_is_like_find() {
        let tree = tree::Builder::new(5).build().unwrap();
        let case = Case::new(tree.path(), [".", "no-such-root", "-ls"]).seed(tree.seed());
        case.assert_like_find("find");
        case.clone().merged().assert_like_find("find");
        case.unordered().assert_like_find("find");
    }

    #[test]
    fn the_case_reaches_the_program() {
        let script = r#"echo "$0 $X $LC_ALL ${HOME-none} $(pwd)"; cat; echo err >&2"#;
        let case = Case::new("/", ["-c", script])
            .arg0("me")
            .env("X", "1")
            .env_remove("HOME");
        let answer = case.clone().stdin("in\n").run("sh").unwrap();
        assert_eq!(
            String::from_utf8_lossy(&answer.stdout),
            "me 1 C none /\nin\n"
        );
        assert_eq!(answer.stderr, b"err\n");
        let answer = case.merged().run("sh").unwrap();
        assert_eq!(
            String::from_utf8_lossy(&answer.stdout),
            "me 1 C none /\nerr\n"
        );
    }

    #[test]
    fn command_lines_can_be_pasted() {
        let case = Case::new("/a b", ["-name", "*'x", ""]);
        assert_eq!(case.command_line(), r"cd '/a b' && find -name '*'\''x' ''");
    }
}
