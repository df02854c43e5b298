//! Real and large trees: find's bytes in find's order, its messages and its status, by every back
//! end at every degree of parallelism.

mod common;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use common::{place, words};
use testkit::oracle::{Answer, Case, Difference, FIND, NOBODY, Place, gnu_find};
use testkit::skip::needs_root;
use testkit::tree;
use testkit::{Skip, mount, or_skip};

const BACKENDS: [&str; 3] = ["auto", "ring", "threads"];

/// Every degree of parallelism; the last is the program's own choice.
const JOBS: [&str; 4] = ["-j1", "-j2", "-j8", ""];

/// How often a tree that changes is looked at before a difference counts.
const ATTEMPTS: usize = 3;

/// A way to search.
#[derive(Clone, Copy)]
struct Way {
    backend: &'static str,
    jobs: &'static str,
}

fn ways(jobs: &[&'static str]) -> Vec<Way> {
    let of = |backend| jobs.iter().map(move |&jobs| Way { backend, jobs });
    BACKENDS.into_iter().flat_map(of).collect()
}

impl Way {
    /// What our program is asked, and answers.
    fn search(self, place: &Place, args: &[OsString]) -> (Case, Answer) {
        let jobs = (!self.jobs.is_empty()).then_some(OsStr::new(self.jobs));
        let args = jobs.into_iter().chain(args.iter().map(OsString::as_os_str));
        let case = place.case(args).env("RINGFS_BACKEND", self.backend);
        let answer = place.answer(&case);
        (case, answer)
    }
}

fn find(place: &Place, args: &[OsString]) -> Answer {
    place.case(args).run_find().unwrap()
}

/// A search of all of `root`, and one that has to look at files: those that are large, and newer
/// than half of the large ones.
fn searches(place: &Place, root: &Path) -> [Vec<OsString>; 2] {
    let root = root.as_os_str().to_owned();
    let mut times = vec![root.clone()];
    times.extend(words("-type f -size +10k -printf %T@\\n"));
    let times = find(place, &times).stdout;
    let mut times: Vec<f64> = String::from_utf8_lossy(&times)
        .lines()
        .filter_map(|line| line.parse().ok())
        .filter(|&time| time >= 0.0)
        .collect();
    times.sort_by(f64::total_cmp);
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    let middle = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(middle.floor());
    place.file("x", 0).set_modified(middle).unwrap();
    let mut large = vec![root.clone()];
    large.extend(words("-type f -size +10k -newer x"));
    [vec![root], large]
}

/// A tree that nobody changes.
fn compare(place: &Place, args: &[OsString], ways: &[Way]) -> Answer {
    let expected = find(place, args);
    for way in ways {
        let (case, answer) = way.search(place, args);
        case.assert_same(&expected, &answer);
    }
    expected
}

/// A tree that others may change now and then.
fn compare_restless(place: &Place, args: &[OsString], ways: &[Way]) {
    let mut expected = find(place, args);
    for way in ways {
        until_same(|| {
            let (case, answer) = way.search(place, args);
            let same = case.compare(&expected, &answer);
            if same.is_err() {
                expected = find(place, args);
            }
            same
        });
    }
}

/// A tree that never stands still: only what find says both before and after has to be there, in
/// that order.
fn compare_lasting(place: &Place, args: &[OsString], ways: &[Way]) {
    for way in ways {
        until_same(|| {
            let before = find(place, args);
            let (case, answer) = way.search(place, args);
            let after = find(place, args);
            let says = |answer: &Answer| i32::from(!answer.stderr.is_empty());
            assert_eq!(answer.status.code(), Some(says(&answer)));
            case.compare(&lasting(&before, &after), &lasting(&after, &before))?;
            let expected = lasting(&before, &after);
            case.compare(&expected, &lasting(&answer, &expected))
        });
    }
}

#[track_caller]
fn until_same(mut attempt: impl FnMut() -> Result<(), Box<Difference>>) {
    for _ in 1..ATTEMPTS {
        if attempt().is_ok() {
            return;
        }
    }
    if let Err(difference) = attempt() {
        panic!("{ATTEMPTS} times, at last: {difference}");
    }
}

/// Whether a line of /proc is about a descriptor or a mapping: a busy process opens and closes them
/// under the same numbers, so that one may be there before and after, and not in between.
fn is_fleeting(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    ["/fd/", "/fdinfo/", "/map_files/"]
        .iter()
        .any(|directory| line.contains(directory))
}

/// The lines of `answer` that are in `other` as well.
fn lasting(answer: &Answer, other: &Answer) -> Answer {
    fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        bytes.split_inclusive(|&byte| byte == b'\n')
    }
    let common = |bytes, other| -> Vec<u8> {
        let other: HashSet<&[u8]> = lines(other).collect();
        let lasts = |line: &&[u8]| other.contains(line) && !is_fleeting(line);
        lines(bytes).filter(lasts).collect::<Vec<_>>().concat()
    };
    Answer {
        stdout: common(&answer.stdout, &other.stdout),
        stderr: common(&answer.stderr, &other.stderr),
        status: ExitStatus::from_raw(0),
    }
}

#[test]
fn usr() {
    or_skip!(gnu_find());
    let place = place();
    for args in searches(&place, Path::new("/usr")) {
        let expected = compare(&place, &args, &ways(&JOBS));
        assert!(!expected.stdout.is_empty(), "{args:?}");
    }
}

/// Sources of packages, which another cargo may be unpacking.
#[test]
fn cargo_registry() {
    or_skip!(gnu_find());
    let registry = or_skip!(registry());
    let place = place();
    for args in searches(&place, &registry) {
        compare_restless(&place, &args, &ways(&JOBS));
    }
}

fn registry() -> Result<PathBuf, Skip> {
    let home = |variable| std::env::var_os(variable).map(PathBuf::from);
    home("CARGO_HOME")
        .or_else(|| Some(home("HOME")?.join(".cargo")))
        .map(|cargo| cargo.join("registry"))
        .filter(|registry| registry.is_dir())
        .ok_or_else(|| Skip::not_possible_here("cargo registry", "nothing was ever downloaded"))
}

#[test]
fn sys() {
    or_skip!(gnu_find());
    let place = place();
    for args in searches(&place, Path::new("/sys")) {
        compare_restless(&place, &args, &ways(&JOBS));
    }
}

#[test]
fn proc() {
    or_skip!(gnu_find());
    let place = place();
    for args in searches(&place, Path::new("/proc")) {
        compare_lasting(&place, &args, &ways(&["-j8", ""]));
    }
}

/// Names, types and modes of every kind; an ordinary user may not enter all of it.
#[test]
fn a_generated_tree() {
    or_skip!(gnu_find());
    let mut place = place();
    let tree = tree::Builder::new(11).entries(4_000).build().unwrap();
    for args in searches(&place, tree.path()) {
        compare(&place, &args, &ways(&JOBS));
    }
    or_skip!(needs_root("another user"));
    fs::set_permissions(tree.path(), Permissions::from_mode(0o755)).unwrap();
    place.user = Some(NOBODY);
    for args in searches(&place, tree.path()) {
        let expected = compare(&place, &args, &ways(&JOBS));
        assert!(!expected.stderr.is_empty(), "{args:?}");
    }
}

/// The order in which the kernel gives a directory.
fn as_read(directory: &Path) -> Vec<u8> {
    let mut lines = directory.as_os_str().as_encoded_bytes().to_vec();
    lines.push(b'\n');
    for entry in fs::read_dir(directory).unwrap() {
        lines.extend(entry.unwrap().path().as_os_str().as_encoded_bytes());
        lines.push(b'\n');
    }
    lines
}

/// A directory of `count` files of 0, 1 or 2 bytes; whether find sorts it must be as told.
fn large_directory(parent: &Path, count: usize, sorted: bool, jobs: &[&'static str]) {
    let directory = parent.join(count.to_string());
    fs::create_dir(&directory).unwrap();
    tree::scatter(&directory, count, 5, |path, number| {
        File::create_new(path)?.set_len(number as u64 % 3)
    })
    .unwrap();
    let place = place();
    let all = [OsString::from(&directory)];
    let expected = compare(&place, &all, &ways(jobs));
    assert_eq!(expected.stdout != as_read(&directory), sorted);
    let not_empty = [&all[..], &words("-size +0")].concat();
    compare(&place, &not_empty, &ways(jobs));
}

/// A directory of many directories, some of which hold a file.
fn many_directories(parent: &Path) {
    let directory = parent.join("directories");
    fs::create_dir(&directory).unwrap();
    tree::scatter(&directory, 12_000, 6, |path, number| {
        fs::create_dir(path)?;
        if number % 100 == 0 {
            fs::write(path.join("file"), "x")?;
        }
        Ok(())
    })
    .unwrap();
    let place = place();
    for args in ["", "-size +0", "-type f"] {
        let args = [&[OsString::from(&directory)], &words(args)[..]].concat();
        compare(&place, &args, &ways(&JOBS));
    }
}

/// A directory in memory. No root is needed for that one.
fn shm() -> Result<tempfile::TempDir, Skip> {
    let skip = |reason: String| Skip::missing("tmpfs at /dev/shm", reason);
    let kind = Case::new("/", ["/dev/shm", "-maxdepth", "0", "-printf", "%F"])
        .run(FIND)
        .map_err(|error| skip(error.to_string()))?;
    if kind.stdout != b"tmpfs" {
        return Err(skip("another file system".to_owned()));
    }
    tempfile::tempdir_in("/dev/shm").map_err(|error: io::Error| skip(error.to_string()))
}

#[test]
fn large_directories_on_ext4() {
    or_skip!(gnu_find());
    let mount = or_skip!(mount::ext4_for(12_000 + 105_000));
    large_directory(mount.path(), 12_000, true, &JOBS);
    large_directory(mount.path(), 105_000, true, &[""]);
}

#[test]
fn large_directories_on_tmpfs() {
    or_skip!(gnu_find());
    let shm = or_skip!(shm());
    large_directory(shm.path(), 12_000, false, &JOBS);
    large_directory(shm.path(), 105_000, false, &[""]);
}

#[test]
fn many_directories_on_ext4() {
    or_skip!(gnu_find());
    let mount = or_skip!(mount::ext4_for(13_000));
    many_directories(mount.path());
}

#[test]
fn many_directories_on_tmpfs() {
    or_skip!(gnu_find());
    let shm = or_skip!(shm());
    many_directories(shm.path());
}
