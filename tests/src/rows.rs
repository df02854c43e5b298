//! Every kind of question that a stat can be, and whether it can be answered
//! from memory.

use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use ringfs::{Backend, Driver, Metadata, Route, StatxFlags};

use crate::plain::Plain;

/// What the inline route does about a question whose answer is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inline {
    /// It answers.
    Answers,
    /// It leaves the question to the next route.
    Passes,
    /// The kernel's version decides.
    Either,
}

/// What a file system's cache can answer.
#[derive(Clone, Copy, Debug)]
pub struct Cache {
    /// Symbolic links are followed from memory.
    pub links: Inline,
    /// That a name is missing is known from memory.
    pub missing: Inline,
}

/// A question.
#[derive(Debug)]
pub struct Row {
    dir: Option<OwnedFd>,
    path: PathBuf,
    flags: StatxFlags,
    /// What the inline route does about it.
    pub inline: Inline,
}

impl Row {
    /// About a path.
    pub fn new(path: impl Into<PathBuf>, inline: Inline) -> Self {
        Self {
            dir: None,
            path: path.into(),
            flags: StatxFlags::empty(),
            inline,
        }
    }

    /// With these flags.
    #[must_use]
    pub fn flags(mut self, flags: StatxFlags) -> Self {
        self.flags |= flags;
        self
    }

    /// Symbolic links are not followed.
    #[must_use]
    pub fn nofollow(self) -> Self {
        self.flags(StatxFlags::SYMLINK_NOFOLLOW)
    }

    /// Relative to an open file.
    #[must_use]
    pub fn relative_to(mut self, dir: impl Into<OwnedFd>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Whether it has all of these flags.
    pub fn has(&self, flags: StatxFlags) -> bool {
        self.flags.contains(flags)
    }

    /// The kernel's answer.
    ///
    /// # Panics
    /// The path has a NUL byte.
    pub fn plain(&self) -> Plain {
        let path = CString::new(self.path.as_os_str().as_bytes()).expect("no NUL in it");
        let dir = self.dir.as_ref().map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
        let flags = self.flags | StatxFlags::NO_AUTOMOUNT;
        Plain::statx(dir, &path, flags, Metadata::MASK)
    }

    /// A driver's answer by a route of its own choice, or by this one.
    ///
    /// # Errors
    /// What was answered.
    pub async fn ask(&self, driver: &Driver, route: Option<Route>) -> io::Result<ringfs::Statx> {
        let dir = match &self.dir {
            Some(dir) => Some(driver.dir_from_fd(dir.try_clone()?)),
            None => None,
        };
        let stat = match &dir {
            Some(dir) => dir.statx_at(&self.path),
            None => driver.statx(&self.path),
        };
        let stat = stat.flags(self.flags);
        match route {
            Some(route) => stat.route(route).await,
            None => stat.await,
        }
    }
}

/// Makes a file of every kind in a directory.
///
/// # Errors
/// What making one answered.
pub fn make_files(root: &Path) -> io::Result<()> {
    fs::set_permissions(root, fs::Permissions::from_mode(0o755))?;
    fs::write(root.join("file"), [b'x'; 123])?;
    fs::hard_link(root.join("file"), root.join("hard"))?;
    File::create(root.join("n".repeat(255)))?;
    fs::create_dir_all(root.join("dir/sub"))?;
    UnixListener::bind(root.join("socket"))?;
    let nodes = [
        ("fifo", "p", ""),
        ("char", "c", "1 3"),
        ("block", "b", "7 200"),
    ];
    for (name, kind, numbers) in nodes {
        let mut mknod = Command::new("mknod");
        mknod
            .arg(root.join(name))
            .arg(kind)
            .args(numbers.split_whitespace());
        // Devices are root's to make; without one its row is about a missing name.
        mknod.output()?;
    }
    File::create(root.join("mode000"))?;
    fs::create_dir(root.join("dir000"))?;
    for name in ["mode000", "dir000"] {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o000))?;
    }
    symlink("file", root.join("link"))?;
    symlink("link", root.join("link1"))?;
    for i in 2..=5 {
        symlink(format!("link{}", i - 1), root.join(format!("link{i}")))?;
    }
    symlink("dir", root.join("link-dir"))?;
    symlink(root.join("file"), root.join("link-absolute"))?;
    symlink("nothing", root.join("dangling"))?;
    symlink("loop", root.join("loop"))
}

/// The questions about what [`make_files`] has made.
///
/// # Errors
/// Opening a directory failed.
pub fn rows(root: &Path, cache: Cache) -> io::Result<Vec<Row>> {
    use Inline::{Answers, Passes};
    let Cache { links, missing } = cache;
    let at = |name: &str, inline| Row::new(root.join(name), inline);
    let suffixed = |name: &str, suffix: &str, inline| {
        let mut path = root.join(name).into_os_string();
        path.push(suffix);
        Row::new(path, inline)
    };
    let mut rows = vec![
        at("file", Answers),
        at("hard", Answers),
        at(&"n".repeat(255), Answers),
        at("dir", Answers),
        at("dir/sub", Answers),
        at("socket", Answers),
        at("fifo", Answers),
        at("char", Inline::Either),
        at("block", Inline::Either),
        at("mode000", Answers),
        at("dir000", Answers),
        at("dir/..", Answers),
        at("dir/../dir/sub/../../file", Answers),
        Row::new("/", Inline::Either),
        Row::new("/..", Inline::Either),
        Row::new(root, Answers),
        suffixed("dir", "/", Answers),
        suffixed("dir", "/.", Answers),
        suffixed("file", "/", Passes),
        suffixed("file", "/.", Passes),
        at("file/x", Passes),
        // File systems differ in who refuses it.
        at(&"n".repeat(256), Inline::Either),
        at("link", links),
        at("link5", links),
        at("link-absolute", links),
        at("link-dir/sub", links),
        suffixed("link-dir", "/", links),
        suffixed("link", "/", Passes),
        at("loop", Passes),
        at("dangling", if links == Passes { Passes } else { missing }),
        at("missing", missing),
        at("dir/missing", missing),
        at("missing/x", missing),
        Row::new("", Answers),
        long(root, "file", 4095, Answers),
        long(root, "file", 4096, Answers),
        at("file", Answers).flags(StatxFlags::DONT_SYNC),
        at("file", Answers).flags(StatxFlags::FORCE_SYNC),
        at("file", Answers).flags(StatxFlags::EMPTY_PATH),
    ];
    for name in [
        "link", "link5", "link-dir", "dangling", "loop", "file", "dir",
    ] {
        rows.push(at(name, Answers).nofollow());
    }
    rows.push(at("missing", missing).nofollow());
    rows.extend(relative_rows(root, missing)?);
    Ok(rows)
}

fn relative_rows(root: &Path, missing: Inline) -> io::Result<Vec<Row>> {
    use Inline::{Answers, Passes};
    let dir = || File::open(root);
    let file = || File::open(root.join("file"));
    Ok(vec![
        Row::new("file", Answers).relative_to(dir()?),
        Row::new("dir/../file", Answers).relative_to(dir()?),
        Row::new("..", Answers).relative_to(File::open(root.join("dir"))?),
        Row::new("missing", missing).relative_to(dir()?),
        Row::new(root.join("file"), Answers).relative_to(dir()?),
        // The descriptor is not a directory.
        Row::new("x", Passes).relative_to(file()?),
        Row::new(root.join("file"), Answers).relative_to(file()?),
        // The descriptor itself.
        Row::new("", Answers).relative_to(dir()?),
        Row::new("", Answers)
            .relative_to(dir()?)
            .flags(StatxFlags::EMPTY_PATH),
        Row::new("", Answers)
            .relative_to(file()?)
            .flags(StatxFlags::EMPTY_PATH),
        Row::new("", Answers)
            .relative_to(file()?)
            .flags(StatxFlags::EMPTY_PATH | StatxFlags::SYMLINK_NOFOLLOW),
        Row::new("file", Answers)
            .relative_to(dir()?)
            .flags(StatxFlags::EMPTY_PATH),
    ])
}

/// The file by a path of exactly so many bytes.
fn long(root: &Path, name: &str, length: usize, inline: Inline) -> Row {
    let mut path = root.as_os_str().as_bytes().to_vec();
    while path.len() + 2 + 1 + name.len() <= length {
        path.extend_from_slice(b"/.");
    }
    path.resize(length - name.len(), b'/');
    path.extend_from_slice(name.as_bytes());
    Row::new(OsString::from_vec(path), inline)
}

/// Asks a question inline, where its answer is in memory if it can be.
///
/// # Panics
/// It answers otherwise than plain statx, or passes or answers where it should not.
#[track_caller]
pub fn check_inline(driver: &Driver, row: &Row, kind: &str) {
    // The first may have to read; the second shows that nothing else changes.
    let expected = row.plain();
    assert_eq!(row.plain(), expected);
    let passed = |answer: &io::Result<_>| {
        let error = answer.as_ref().err().map(io::Error::kind);
        error == Some(io::ErrorKind::WouldBlock)
    };
    let mut answer = crate::block_on(row.ask(driver, Some(Route::Inline)));
    // A mount or rename anywhere at that moment makes the kernel give up a lookup from memory.
    let mut tries = 20;
    while row.inline == Inline::Answers && passed(&answer) && tries > 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        answer = crate::block_on(row.ask(driver, Some(Route::Inline)));
        tries -= 1;
    }
    let passes = passed(&answer);
    match row.inline {
        Inline::Answers => assert!(!passes, "{kind}: not answered: {row:?}"),
        Inline::Passes => assert!(passes, "{kind}: answered: {row:?}"),
        Inline::Either => {}
    }
    if !passes {
        assert_eq!(Plain::from(answer), expected, "{kind}: {row:?}");
    }
}

/// Asks a question in every way that a driver has.
///
/// # Panics
/// One answers otherwise than plain statx.
#[track_caller]
pub fn check_all_routes(drivers: &[Driver], row: &Row, kind: &str) {
    let expected = row.plain();
    for driver in drivers {
        for route in [None, Some(Route::Worker), Some(Route::Ring)] {
            if route == Some(Route::Ring) && driver.backend() == Backend::Threads {
                continue;
            }
            let answer = Plain::from(crate::block_on(row.ask(driver, route)));
            assert_eq!(answer, expected, "{kind}, {driver:?}, {route:?}: {row:?}");
        }
    }
}

/// Asks all questions about what [`make_files`] has made, in every way.
///
/// # Panics
/// An answer is wrong, or another route's.
#[track_caller]
pub fn check_tree(root: &Path, kind: &str, cache: Cache) {
    let drivers = crate::drivers();
    for row in rows(root, cache).unwrap() {
        check_inline(&drivers[0], &row, kind);
        check_all_routes(&drivers, &row, kind);
    }
}
