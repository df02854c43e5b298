//! Runs uringfind and the installed GNU find side by side.

#![allow(dead_code)] // Each test program uses a part.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{Read, pipe};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The locales that messages differ in.
pub(crate) const LOCALES: [&str; 2] = ["C", "C.UTF-8"];

/// An account that owns nothing.
pub(crate) const NOBODY: u32 = 65534;

/// The oracle.
const GNU: &str = "/usr/bin/find";

/// Whether the oracle is there; prints why `test` is skipped if not.
pub(crate) fn oracle(test: &str) -> bool {
    let version = Command::new(GNU).arg("--version").output();
    let known = version.is_ok_and(|it| it.stdout.starts_with(b"find (GNU findutils) 4.9"));
    if !known {
        println!("skipped: {test}: {GNU} is not GNU find 4.9");
    }
    known
}

/// Whether this process may become another user; prints why `test` is skipped if not.
pub(crate) fn can_drop_privileges(test: &str) -> bool {
    let root =
        fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
    if !root {
        println!("skipped: {test}: only root can become an ordinary user");
    }
    root
}

/// A directory to work in, with both programs where an ordinary user can run them.
pub(crate) struct Place {
    root: TempDir,
    program: PathBuf,
    /// Run as this user.
    pub(crate) user: Option<u32>,
    pub(crate) locale: &'static str,
}

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Gnu,
    Ours,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
        let program = root.path().join("uringfind");
        // Not by this process: a child forked by another test meanwhile would hold the file open
        // for writing, and then it cannot be run.
        let copied = Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_uringfind"))
            .arg(&program)
            .status()
            .unwrap();
        assert!(copied.success());
        fs::create_dir(root.path().join("w")).unwrap();
        Self {
            root,
            program,
            user: None,
            locale: "C.UTF-8",
        }
    }

    /// The directory that commands run in, empty at first.
    pub(crate) fn path(&self) -> PathBuf {
        self.root.path().join("w")
    }

    /// Creates a file (and its directories) of `size` bytes.
    pub(crate) fn file(&self, name: impl AsRef<OsStr>, size: u64) -> File {
        let path = self.path().join(name.as_ref());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = File::create(path).unwrap();
        file.set_len(size).unwrap();
        file
    }

    /// Creates a directory.
    pub(crate) fn directory(&self, name: impl AsRef<OsStr>) {
        fs::create_dir_all(self.path().join(name.as_ref())).unwrap();
    }

    pub(crate) fn mode(&self, name: impl AsRef<Path>, mode: u32) {
        fs::set_permissions(self.path().join(name), Permissions::from_mode(mode)).unwrap();
    }

    /// A command that runs one of the programs as `find`.
    pub(crate) fn command(&self, program: Program, arguments: &[OsString]) -> Command {
        let mut command = Command::new(match program {
            Program::Gnu => Path::new(GNU),
            Program::Ours => &self.program,
        });
        command
            .arg0("find")
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
            .env_clear()
            .env("LC_ALL", self.locale)
            .env("PATH", "/usr/bin:/bin");
        if let Ok(backend) = std::env::var("RINGFS_BACKEND") {
            command.env("RINGFS_BACKEND", backend);
        }
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Runs both and compares what they write, and their status. Gives GNU's result.
    pub(crate) fn compare(&self, arguments: &[impl AsRef<OsStr>]) -> Output {
        let arguments: Vec<OsString> = arguments.iter().map(|it| it.as_ref().to_owned()).collect();
        let gnu = self.command(Program::Gnu, &arguments).output().unwrap();
        let ours = self.command(Program::Ours, &arguments).output().unwrap();
        assert_same(
            &format!("{arguments:?} (LC_ALL={})", self.locale),
            &gnu,
            &ours,
        );
        gnu
    }

    /// The same in all locales.
    pub(crate) fn compare_in_all_locales(&mut self, arguments: &[impl AsRef<OsStr>]) {
        for locale in LOCALES {
            self.locale = locale;
            self.compare(arguments);
        }
    }

    /// The same with standard output and standard error in one pipe, so that their order counts.
    pub(crate) fn compare_merged(&self, arguments: &[impl AsRef<OsStr>]) {
        let arguments: Vec<OsString> = arguments.iter().map(|it| it.as_ref().to_owned()).collect();
        let run = |program| {
            let (mut reader, writer) = pipe().unwrap();
            let mut command = self.command(program, &arguments);
            command.stdout(writer.try_clone().unwrap()).stderr(writer);
            let mut child = command.spawn().unwrap();
            drop(command);
            let mut stdout = Vec::new();
            reader.read_to_end(&mut stdout).unwrap();
            Output {
                status: child.wait().unwrap(),
                stdout,
                stderr: Vec::new(),
            }
        };
        let (gnu, ours) = (run(Program::Gnu), run(Program::Ours));
        assert_same(
            &format!("{arguments:?} (LC_ALL={}) 2>&1", self.locale),
            &gnu,
            &ours,
        );
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What a test made unreadable has to become removable again.
        let _ = Command::new("chmod")
            .arg("-R")
            .arg("u+rwX")
            .arg(self.root.path())
            .output();
    }
}

/// Fails with both results if they differ.
pub(crate) fn assert_same(what: &str, gnu: &Output, ours: &Output) {
    let show = |output: &Output| {
        format!(
            "status {:?} signal {:?}\n--- stdout\n{}\n--- stderr\n{}",
            output.status.code(),
            output.status.signal(),
            output
                .stdout
                .escape_ascii()
                .to_string()
                .replace("\\n", "\n"),
            output
                .stderr
                .escape_ascii()
                .to_string()
                .replace("\\n", "\n"),
        )
    };
    let same = gnu.status == ours.status && gnu.stdout == ours.stdout && gnu.stderr == ours.stderr;
    assert!(
        same,
        "{what}\n=== GNU: {}\n=== ours: {}",
        show(gnu),
        show(ours)
    );
}

/// An argument of these bytes.
pub(crate) fn bytes(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// The arguments in `line`, separated by spaces.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    line.split(' ')
        .filter(|it| !it.is_empty())
        .map(|it| OsStr::from_bytes(it.as_bytes()).to_owned())
        .collect()
}
