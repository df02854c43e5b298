//! Random trees, and what has become of them.

use std::ffi::OsString;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use testkit::oracle::{NOBODY, Place};
use testkit::process;
use testkit::tree::fill as fill_large;

use crate::common::draw::{one_in, pick};
use crate::common::{bytes, contents};

/// The tree, in the directory that the programs run in.
pub(crate) const ROOT: &str = "r";

/// Where the programs' own files go, seen from there: outside of all that is searched.
pub(crate) const OUTPUT: &str = "../out";

/// A list of starting points, each ended by a NUL, beside the tree.
pub(crate) const LIST: &str = "list";

const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"ab",
    b"a.c",
    b"B.C",
    b"x",
    b".h",
    b"long name",
    b"\xff",
    b"\xc3\xa9",
    b"\xc3\x89",
    b"new\nline",
    b"-d",
    b"*",
    b"\xe2\x80\x99",
    b"it's",
    b"{}",
    b"tab\there",
    b"back\\slash",
];

/// Where links lead besides: never out of the directory that the programs run in, as commands
/// change what links lead to.
const TARGETS: &[&[u8]] = &[b"..", b".", b"../r", b"a/b", b"\xff\n", b"it's"];

const SIZES: &[u64] = &[
    0,
    1,
    2,
    511,
    512,
    513,
    1024,
    1025,
    20_480,
    1 << 20,
    (1 << 20) + 1,
    1 << 30,
];

/// Modes of directories: as owner, root sees everything and anybody else sees his part.
const DIRECTORY_MODES: &[u32] = &[
    0o700, 0o744, 0o711, 0o755, 0o444, 0o555, 0o000, 0o1777, 0o2755,
];

const FILE_MODES: &[u32] = &[0o644, 0o600, 0o755, 0o000, 0o4711, 0o2640, 0o666, 0o222];

/// Enough for a directory to be read in many pieces.
const LARGE: usize = 12_000;

const DAY: i64 = 86_400;

/// All that a tree is made from: equal ones give equal trees, with equal times.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) now: SystemTime,
    /// How deep, at most.
    pub(crate) depth: usize,
    /// With a large directory.
    pub(crate) large: bool,
    /// Some of it cannot be read by others than root.
    pub(crate) locked: bool,
    /// It all belongs to [`NOBODY`].
    pub(crate) owned: bool,
}

impl Plan {
    /// Makes the tree, in place of what may be there, and gives the paths in it.
    pub(crate) fn build(&self, place: &Place) -> Vec<Vec<u8>> {
        clear(place);
        let mut random = Rng::with_seed(self.seed);
        place.directory(ROOT);
        place.directory(OUTPUT);
        let mut making = Making {
            place,
            now: self.now,
            paths: vec![ROOT.into()],
            fifos: Vec::new(),
            others: Vec::new(),
        };
        making.fill(&mut random, ROOT.as_bytes(), self.depth);
        if self.large {
            making.fill_large(&mut random);
        }
        making.make_fifos();
        making.date_others(&mut random);
        making.list(&mut random);
        if self.owned {
            let chown = format!("chown -Rh {NOBODY}:{NOBODY} . {OUTPUT}");
            shell(place, &chown);
        }
        making.finish_directories(&mut random, self.locked);
        making.look();
        making.paths
    }
}

/// A tree that is being made.
struct Making<'a> {
    place: &'a Place,
    now: SystemTime,
    paths: Vec<Vec<u8>>,
    fifos: Vec<OsString>,
    /// What cannot be opened, so that a command has to set its times.
    others: Vec<OsString>,
}

impl Making<'_> {
    fn full(&self, path: &[u8]) -> PathBuf {
        self.place.path().join(bytes(path))
    }

    fn fill(&mut self, random: &mut Rng, directory: &[u8], depth: usize) {
        for _ in 0..=random.usize(..6) {
            let path = [directory, b"/", pick(random, NAMES)].concat();
            let full = self.full(&path);
            if full.symlink_metadata().is_ok() || self.fifos.contains(&bytes(&path)) {
                continue;
            }
            match random.usize(..14) {
                0..=4 if depth > 0 => {
                    fs::create_dir(&full).unwrap();
                    self.paths.push(path.clone());
                    self.fill(random, &path, depth - 1);
                    continue;
                }
                5 => symlink(bytes(pick(random, NAMES)), &full).unwrap(),
                6 => symlink(target(random), &full).unwrap(),
                7 if full.as_os_str().len() < 100 => drop(UnixListener::bind(&full).unwrap()),
                8 if one_in(random, 3) => {
                    self.fifos.push(bytes(&path));
                    continue;
                }
                9 if self.link(random, &full) => {}
                _ => self.file(random, &full),
            }
            if !full.symlink_metadata().unwrap().is_file() {
                self.others.push(bytes(&path));
            }
            self.paths.push(path);
        }
    }

    fn file(&self, random: &mut Rng, full: &Path) {
        let file = File::create(full).unwrap();
        let size = SIZES[random.usize(..SIZES.len())];
        file.set_len(size).unwrap();
        self.date(random, &file);
        // As a program, a file of zeros is a script for the shell.
        let executable = if size < 4096 { 0o7777 } else { 0o7666 };
        chmod(
            full,
            FILE_MODES[random.usize(..FILE_MODES.len())] & executable,
        );
    }

    /// One more name for a file, if there is one.
    fn link(&self, random: &mut Rng, full: &Path) -> bool {
        let other = self.full(&self.paths[random.usize(..self.paths.len())]);
        other.symlink_metadata().unwrap().is_file() && fs::hard_link(other, full).is_ok()
    }

    fn fill_large(&mut self, random: &mut Rng) {
        let path = [ROOT.as_bytes(), b"/large"].concat();
        let full = self.full(&path);
        fs::create_dir(&full).unwrap();
        fill_large(&full, LARGE).unwrap();
        self.paths.push([path.as_slice(), b"/f000777"].concat());
        self.paths.push(path);
        let first = File::open(full.join("f000000")).unwrap();
        self.date(random, &first);
    }

    fn date(&self, random: &mut Rng, file: &File) {
        let times = FileTimes::new()
            .set_modified(time(random, self.now))
            .set_accessed(time(random, self.now));
        file.set_times(times).unwrap();
    }

    fn make_fifos(&mut self) {
        if self.fifos.is_empty() {
            return;
        }
        self.command("mkfifo", &["--"], &self.fifos);
        self.paths
            .extend(self.fifos.iter().map(|it| it.as_bytes().to_vec()));
        self.others.append(&mut self.fifos);
    }

    fn date_others(&self, random: &mut Rng) {
        if self.others.is_empty() {
            return;
        }
        let age = time(random, self.now)
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let date = format!("--date=@{}.{:09}", age.as_secs(), age.subsec_nanos());
        self.command("touch", &["-h", &date, "--"], &self.others);
    }

    fn command(&self, program: &str, options: &[&str], paths: &[OsString]) {
        let mut command = Command::new(program);
        command.args(options).args(paths);
        command.current_dir(self.place.path());
        process::run(&mut command, b"", process::LIMIT)
            .unwrap()
            .assert_passed();
    }

    /// Starting points for `-files0-from`, some of them wrong.
    fn list(&self, random: &mut Rng) {
        let mut list = Vec::new();
        // No empty name: after a message about another file GNU find names that one in place of the list.
        for _ in 0..random.usize(..5) {
            let path: &[u8] = match random.usize(..8) {
                0 => b"missing",
                _ => &self.paths[random.usize(..self.paths.len())],
            };
            list.extend_from_slice(path);
            list.push(0);
        }
        if one_in(random, 4) {
            list.pop();
        }
        fs::write(self.place.path().join(LIST), list).unwrap();
    }

    /// Modes and times of directories, which filling them would have changed; deepest first.
    fn finish_directories(&self, random: &mut Rng, locked: bool) {
        for path in self.paths.iter().rev() {
            let full = self.full(path);
            if !full.symlink_metadata().unwrap().is_dir() {
                continue;
            }
            self.date(random, &File::open(&full).unwrap());
            if locked && one_in(random, 4) {
                let mode = DIRECTORY_MODES[random.usize(..DIRECTORY_MODES.len())];
                chmod(&full, mode);
            }
        }
    }

    /// Reads all directories and links: their times of access change at the first reading after a
    /// change, and whichever program came first would see others.
    fn look(&self) {
        for path in &self.paths {
            let full = self.full(path);
            let _ = fs::read_dir(&full).map(Iterator::count);
            let _ = fs::read_link(full);
        }
    }
}

fn target(random: &mut Rng) -> OsString {
    let target = bytes(pick(random, TARGETS));
    let up = |part: &Component<'_>| *part == Component::ParentDir;
    let path = Path::new(&target);
    assert!(path.is_relative() && path.components().filter(up).count() < 2);
    target
}

/// A time on, or next to, where tests of time round; or any other.
fn time(random: &mut Rng, now: SystemTime) -> SystemTime {
    let seconds = i64::try_from(
        now.duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs(),
    )
    .unwrap();
    let midnight = seconds - seconds % DAY;
    let days = random.i64(0..4) * DAY;
    let near = [-1, 0, 1][random.usize(..3)];
    let seconds = match random.usize(..12) {
        0..=2 => seconds - days + near * random.i64(..20),
        3 => seconds - random.i64(0..5) * 60 + near * random.i64(..20),
        4..=5 => midnight - days + near,
        6 => midnight - days,
        7 => seconds + 3600,
        8 => [0, 1, 4_000_000_000, 1 << 31][random.usize(..4)],
        _ => seconds - random.i64(..300 * DAY),
    };
    let nanoseconds = [0, 1, 500_000_000, 999_999_999][random.usize(..4)];
    SystemTime::UNIX_EPOCH + Duration::new(seconds.unsigned_abs(), nanoseconds)
}

fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn shell(place: &Place, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(place.path());
    process::run(&mut command, b"", process::LIMIT)
        .unwrap()
        .assert_passed();
}

fn clear(place: &Place) {
    shell(
        place,
        &format!("chmod -R u+rwX . && chmod 755 . && rm -rf {ROOT} {LIST} {OUTPUT}"),
    );
}

/// What a search may have changed: all that is in the tree and what was written beside it.
pub(crate) fn remains(place: &Place) -> Vec<u8> {
    let output = place.path().join(OUTPUT);
    [contents(&place.path()), contents(&output)].concat()
}
