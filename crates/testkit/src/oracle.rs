//! GNU find as the oracle: it and a second program get the same arguments,
//! and everything that can be seen of both is compared.

mod difference;
mod place;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

pub use self::difference::Difference;
pub use self::place::{LOCALES, NOBODY, Place};

use crate::Skip;
use crate::process::{self, Finished};

/// The oracle, looked for in PATH.
pub const FIND: &str = "find";

/// The oracle's release: others print and sort differently.
const RELEASE: &[u8] = b"find (GNU findutils) 4.9";

/// The oracle is there: [`FIND`] is GNU find 4.9.
///
/// # Errors
/// It is another find, or none.
pub fn gnu_find() -> Result<(), Skip> {
    let skip = |reason: String| Skip::missing("GNU find 4.9", reason);
    let finished = process::run(Command::new(FIND).arg("--version"), b"", process::LIMIT)
        .map_err(|error| skip(error.to_string()))?;
    if finished.stdout.starts_with(RELEASE) {
        return Ok(());
    }
    let text = finished.stdout_text();
    let first = text.lines().next().unwrap_or("of unknown release");
    Err(skip(format!("{FIND} is {first}")))
}

/// Arguments and surroundings that two programs are given alike.
#[derive(Debug, Clone)]
pub struct Case {
    args: Vec<OsString>,
    directory: PathBuf,
    env: Vec<(OsString, Option<OsString>)>,
    locale: OsString,
    arg0: OsString,
    user: Option<u32>,
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

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = output;
        Self {
            stdout,
            stderr,
            status,
        }
    }
}

/// What both programs are not to know of the surroundings of the tests: it changes messages.
const HIDDEN: [&str; 3] = ["FIND_BLOCK_SIZE", "LANGUAGE", "POSIXLY_CORRECT"];

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
            env: HIDDEN.map(|key| (key.into(), None)).into(),
            locale: LOCALES[0].into(),
            arg0: "find".into(),
            user: None,
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

    /// The locale (`LC_ALL`) instead of C.
    #[must_use]
    pub fn locale(mut self, locale: impl AsRef<OsStr>) -> Self {
        locale.as_ref().clone_into(&mut self.locale);
        self
    }

    /// The user, by number, that both run as, with no group but the one of that number. Takes
    /// root: see [`needs_root`](crate::skip::needs_root).
    #[must_use]
    pub fn user(mut self, user: u32) -> Self {
        self.user = Some(user);
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

    /// A program about to be run for this case, with nothing to read. For what [`Case::run`] does
    /// not offer, such as a full device for standard output; the [`Output`] makes an [`Answer`].
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .arg0(&self.arg0)
            .args(&self.args)
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .env("LC_ALL", &self.locale);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
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

    /// What GNU find answers: [`FIND`].
    ///
    /// # Errors
    /// As [`Case::run`].
    pub fn run_find(&self) -> io::Result<Answer> {
        self.run(FIND)
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
        self.assert_same(&expected, &actual);
    }

    /// [`Case::compare`] for tests.
    ///
    /// # Panics
    /// The answers differ.
    #[track_caller]
    pub fn assert_same(&self, expected: &Answer, actual: &Answer) {
        if let Err(difference) = self.compare(expected, actual) {
            panic!("{difference}");
        }
    }

    /// For a person, to be pasted into a shell. Bytes that are not UTF-8 do not survive it.
    fn command_line(&self) -> String {
        let quoted = |word: &OsString| quote(&word.to_string_lossy());
        let mut words = vec![
            "cd".into(),
            quoted(&self.directory.clone().into()),
            "&&".into(),
        ];
        if self.locale != LOCALES[0] {
            words.push(format!("LC_ALL={}", quoted(&self.locale)));
        }
        for (key, value) in &self.env {
            if let Some(value) = value {
                words.push(format!("{}={}", key.display(), quoted(value)));
            }
        }
        words.extend(std::iter::once(&self.arg0).chain(&self.args).map(quoted));
        if self.merged {
            words.push("2>&1".into());
        }
        if let Some(user) = self.user {
            words.push(format!("# as user {user}"));
        }
        words.join(" ")
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
    use crate::skip::needs_root;
    use crate::{or_skip, tree};

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
        let case = Case::new("/", ["."]).locale("C.UTF-8").env("X", "a b");
        assert_eq!(
            case.merged().user(7).command_line(),
            "cd / && LC_ALL=C.UTF-8 X='a b' find . 2>&1 # as user 7"
        );
    }

    #[test]
    fn the_locale_is_heard() {
        let case = Case::new("/", ["no-such-root"]);
        let message = |case: &Case| case.run_find().unwrap().stderr;
        assert!(message(&case).starts_with(b"find: 'no-such-root': "));
        let quoted = "find: \u{2018}no-such-root\u{2019}: ";
        assert!(message(&case.locale(LOCALES[1])).starts_with(quoted.as_bytes()));
    }

    #[test]
    fn a_case_can_be_another_users() {
        or_skip!(needs_root("another user"));
        let case = Case::new("/", ["-c", "id -u; id -G"]).user(NOBODY);
        let answer = case.run("sh").unwrap();
        assert_eq!(String::from_utf8_lossy(&answer.stdout), "65534\n65534\n");
    }
}
