//! A program under test and a directory to run it in, beside GNU find.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{Answer, Case};
use crate::process;

/// Locales that differ in what messages quote and how.
pub const LOCALES: [&str; 2] = ["C", "C.UTF-8"];

/// An account that owns nothing.
pub const NOBODY: u32 = 65534;

/// A program where every user can run it, and a directory that every user may enter. Both are
/// removed on drop, whatever their modes have become.
#[derive(Debug)]
pub struct Place {
    root: TempDir,
    /// The locale of the cases that follow, at first `C.UTF-8`.
    pub locale: &'static str,
    /// The user of the cases that follow, at first this process's.
    pub user: Option<u32>,
}

impl Place {
    /// A place for this program, which is copied.
    ///
    /// # Panics
    /// The place cannot be made.
    pub fn new(program: impl AsRef<Path>) -> Self {
        let root = tempfile::Builder::new()
            .prefix("place-")
            .tempdir()
            .expect("a directory for temporary files");
        let place = Self {
            root,
            locale: LOCALES[1],
            user: None,
        };
        set_mode(place.root.path(), 0o755);
        // Not by this process: a child forked by another test meanwhile would hold the copy open
        // for writing, and then it cannot be run.
        let mut copy = Command::new("cp");
        copy.arg(program.as_ref()).arg(place.program());
        process::run(&mut copy, b"", process::LIMIT)
            .expect("cp")
            .assert_passed();
        set_mode(&place.program(), 0o755);
        place.directory("");
        place
    }

    /// The directory that cases are run in, called `w`, empty at first.
    pub fn path(&self) -> PathBuf {
        self.root.path().join("w")
    }

    /// The copy of the program.
    pub fn program(&self) -> PathBuf {
        self.root.path().join("program")
    }

    /// Creates a file (and its directories) of `size` bytes.
    ///
    /// # Panics
    /// It cannot be made.
    pub fn file(&self, name: impl AsRef<Path>, size: u64) -> File {
        let name = name.as_ref();
        if let Some(parent) = name.parent() {
            self.directory(parent);
        }
        File::create(self.path().join(name))
            .and_then(|file| file.set_len(size).map(|()| file))
            .unwrap_or_else(|error| panic!("{}: {error}", name.display()))
    }

    /// Creates a directory and those above it.
    ///
    /// # Panics
    /// It cannot be made.
    pub fn directory(&self, name: impl AsRef<Path>) {
        let name = name.as_ref();
        fs::create_dir_all(self.path().join(name))
            .unwrap_or_else(|error| panic!("{}: {error}", name.display()));
    }

    /// Changes the permission bits of something in [`Place::path`].
    ///
    /// # Panics
    /// They cannot be changed.
    pub fn mode(&self, name: impl AsRef<Path>, mode: u32) {
        set_mode(&self.path().join(name), mode);
    }

    /// A case of this place, with its locale and user.
    pub fn case<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Case {
        let case = Case::new(self.path(), args).locale(self.locale);
        match self.user {
            Some(user) => case.user(user),
            None => case,
        }
    }

    /// What the program itself answers.
    ///
    /// # Panics
    /// It cannot be run.
    #[track_caller]
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Answer {
        self.answer(&self.case(args))
    }

    /// What the program answers to a case.
    ///
    /// # Panics
    /// It cannot be run.
    #[track_caller]
    pub fn answer(&self, case: &Case) -> Answer {
        case.run(self.program())
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The program answers as GNU find does.
    ///
    /// # Panics
    /// It does not.
    #[track_caller]
    pub fn compare<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) {
        self.case(args).assert_like_find(self.program());
    }

    /// [`Place::compare`] in each of the [`LOCALES`].
    ///
    /// # Panics
    /// The answers differ.
    #[track_caller]
    pub fn compare_in_all_locales<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) {
        let case = self.case(args);
        for locale in LOCALES {
            case.clone().locale(locale).assert_like_find(self.program());
        }
    }

    /// [`Place::compare`] with both outputs in one pipe, so that their order counts.
    ///
    /// # Panics
    /// The answers differ.
    #[track_caller]
    pub fn compare_merged<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) {
        self.case(args).merged().assert_like_find(self.program());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut chmod = Command::new("chmod");
        chmod.args(["-R", "u+rwX"]).arg(self.root.path());
        let _ = process::run(&mut chmod, b"", process::LIMIT);
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .unwrap_or_else(|error: io::Error| panic!("{}: {error}", path.display()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::or_skip;
    use crate::skip::needs_root;

    fn place() -> Place {
        Place::new("/bin/sh")
    }

    #[test]
    fn the_program_runs_in_the_place() {
        let place = place();
        place.file("a/b", 3);
        let answer = place.run(["-c", "pwd; echo a/*; wc -c < a/b; echo $LC_ALL; exit 2"]);
        let directory = place.path().canonicalize().unwrap();
        let expected = format!("{}\na/b\n3\nC.UTF-8\n", directory.display());
        assert_eq!(String::from_utf8_lossy(&answer.stdout), expected);
        assert_eq!(answer.status.code(), Some(2));
    }

    #[test]
    fn an_ordinary_user_can_run_the_program() {
        or_skip!(needs_root("another user"));
        let mut place = place();
        place.user = Some(NOBODY);
        assert_eq!(place.run(["-c", "id -u"]).stdout, b"65534\n");
    }

    #[test]
    #[should_panic(expected = "the answers differ")]
    fn a_program_that_is_not_find_is_noticed() {
        place().compare(["-print"]);
    }

    #[test]
    fn a_place_is_removed_whatever_its_modes() {
        let place = place();
        place.file("a/b", 0);
        place.mode("a", 0);
        let root = place.path();
        drop(place);
        assert!(!root.exists());
    }
}
