//! Every combination of directory, path and flags, against what this kernel answers itself.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use fscall::{CWD, Form, Prepared, Statx, StatxFlags, StatxMask};

const EMPTY_PATH: u32 = StatxFlags::EMPTY_PATH.bits();
const NOFOLLOW: u32 = StatxFlags::SYMLINK_NOFOLLOW.bits();
const NO_AUTOMOUNT: u32 = StatxFlags::NO_AUTOMOUNT.bits();
const SYNC: u32 = StatxFlags::SYNC_TYPE.bits();
const UNKNOWN: u32 = 0x10_0000;
const RESERVED: u32 = StatxMask::RESERVED.bits();

struct Case<'a> {
    dir_name: &'static str,
    dir: BorrowedFd<'a>,
    path_name: &'static str,
    path: Option<&'a CStr>,
    flags: u32,
    mask: u32,
}

/// What tells one answer from another: errno, or which file it is.
type Outcome = Result<(u64, Option<u64>, Option<u16>), i32>;

fn outcome(result: io::Result<Statx>) -> Outcome {
    result
        .map(|stat| (stat.dev(), stat.ino(), stat.mode()))
        .map_err(|error| error.raw_os_error().expect("an errno"))
}

fn kernel(case: &Case<'_>) -> Outcome {
    let mut stat = Statx::default();
    let path = case.path.map_or(std::ptr::null(), CStr::as_ptr);
    let (fd, flags, mask) = (case.dir.as_raw_fd(), case.flags, case.mask);
    // SAFETY: the path is NULL or a C string, and the answer fits.
    let ret = unsafe { libc::syscall(libc::SYS_statx, fd, path, flags, mask, stat.as_mut_ptr()) };
    outcome(if ret == 0 {
        Ok(stat)
    } else {
        Err(io::Error::last_os_error())
    })
}

fn ours(case: &Case<'_>) -> Outcome {
    outcome(
        Prepared::from_raw_flags(case.dir, case.path, case.flags, case.mask)
            .and_then(|prepared| prepared.call(case.dir, case.path)),
    )
}

/// Where we differ from some kernel on purpose: the name of the rule, and what we answer.
fn rule(case: &Case<'_>) -> Option<(&'static str, Outcome)> {
    let empty = case.flags & EMPTY_PATH != 0;
    if case.flags & UNKNOWN != 0 {
        // Accepted for a descriptor without a path by kernels that take NULL, refused by others.
        return Some(("unknown flags are refused", Err(libc::EINVAL)));
    }
    if case.flags & SYNC == SYNC || case.mask & RESERVED != 0 {
        // Some kernels read the path first, and answer EFAULT for NULL.
        return Some(("what makes no sense is refused first", Err(libc::EINVAL)));
    }
    if case.path.is_none() && empty {
        // EFAULT before 6.11 always; with NOFOLLOW or NO_AUTOMOUNT, or for AT_FDCWD, until later.
        let flags = EMPTY_PATH | case.flags & SYNC;
        let by_empty_path = Case {
            path: Some(c""),
            flags,
            ..*case
        };
        return Some((
            "NULL with EMPTY_PATH is the empty path",
            kernel(&by_empty_path),
        ));
    }
    None
}

fn check_all(cases: &[Case<'_>]) {
    let mut used = BTreeMap::new();
    for case in cases {
        let (here, ours) = (kernel(case), ours(case));
        if here == ours {
            continue;
        }
        let (dir, path) = (case.dir_name, case.path_name);
        let call = format!("({dir}, {path}, {:#x}, {:#x})", case.flags, case.mask);
        match rule(case) {
            Some((name, expected)) => {
                assert_eq!(ours, expected, "{call}: {name}; kernel {here:?}");
                *used.entry(name).or_insert(0) += 1;
            }
            None => panic!("{call}: kernel {here:?}, ours {ours:?}"),
        }
    }
    println!(
        "{} calls, of which differ on purpose: {used:?}",
        cases.len()
    );
}

#[test]
fn every_combination() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("file"), b"contents").unwrap();
    std::os::unix::fs::symlink("file", temp.path().join("link")).unwrap();
    let dir = File::open(temp.path()).unwrap();
    let file = File::open(temp.path().join("file")).unwrap();
    let link = fscall::openat(
        dir.as_fd(),
        c"link",
        fscall::OFlags::PATH | fscall::OFlags::NOFOLLOW,
    )
    .unwrap();
    // SAFETY: it is not -1; that nothing is open by this number is the point.
    let closed = unsafe { BorrowedFd::borrow_raw(1_000_000) };
    // SAFETY: as above.
    let negative = unsafe { BorrowedFd::borrow_raw(-5) };
    let dirs = [
        ("directory", dir.as_fd()),
        ("file", file.as_fd()),
        ("link", link.as_fd()),
        ("AT_FDCWD", CWD),
        ("closed", closed),
        ("negative", negative),
    ];
    let paths = [
        ("NULL", None),
        ("empty", Some(c"")),
        ("relative", Some(c"link")),
        ("dangling", Some(c"nothing")),
        ("absolute", Some(c"/proc/self")),
        ("below a file", Some(c"file/x")),
    ];
    let flag_bits = [
        EMPTY_PATH,
        NOFOLLOW,
        NO_AUTOMOUNT,
        StatxFlags::FORCE_SYNC.bits(),
        StatxFlags::DONT_SYNC.bits(),
        UNKNOWN,
    ];
    let basic = StatxMask::BASIC_STATS.bits();
    let mut cases = Vec::new();
    for (dir_name, dir) in dirs {
        for (path_name, path) in paths {
            for chosen in 0..1 << flag_bits.len() {
                let is_chosen = |&(bit, _): &(usize, u32)| chosen >> bit & 1 != 0;
                let flags = flag_bits.into_iter().enumerate().filter(is_chosen);
                let flags = flags.fold(0, |all, (_, flag)| all | flag);
                for mask in [basic, basic | 1 << 30, basic | RESERVED] {
                    cases.push(Case {
                        dir_name,
                        dir,
                        path_name,
                        path,
                        flags,
                        mask,
                    });
                }
            }
        }
    }
    check_all(&cases);
}

#[test]
fn the_form_is_the_kernels() {
    let dir = File::open("/").unwrap();
    let form = |dir, path, flags| {
        Prepared::new(dir, path, flags, StatxMask::TYPE)
            .unwrap()
            .form()
    };
    let empty = StatxFlags::EMPTY_PATH;
    assert_eq!(form(dir.as_fd(), None, empty), Form::Fd);
    assert_eq!(form(dir.as_fd(), Some(c""), empty), Form::Fd);
    assert_eq!(form(dir.as_fd(), Some(c"."), empty), Form::Path);
    assert_eq!(
        form(dir.as_fd(), Some(c""), StatxFlags::empty()),
        Form::Path
    );
    assert_eq!(form(CWD, None, empty), Form::Path);
    assert_eq!(form(CWD, Some(c""), empty), Form::Path);
}

#[test]
fn flags_of_the_descriptor_form_are_normalised() {
    let dir = File::open("/").unwrap();
    let all = StatxFlags::EMPTY_PATH | StatxFlags::SYMLINK_NOFOLLOW | StatxFlags::NO_AUTOMOUNT;
    let by_fd = Prepared::new(dir.as_fd(), None, all, StatxMask::TYPE).unwrap();
    assert_eq!(by_fd.flags(), StatxFlags::EMPTY_PATH);
    let by_path = Prepared::new(dir.as_fd(), Some(c"x"), all, StatxMask::TYPE).unwrap();
    assert_eq!(by_path.flags(), all);
}

#[test]
fn flags_and_fields_can_be_added_but_not_made_invalid() {
    let dir = File::open("/").unwrap();
    let flags = StatxFlags::EMPTY_PATH | StatxFlags::FORCE_SYNC;
    let prepared = Prepared::new(dir.as_fd(), None, flags, StatxMask::TYPE).unwrap();
    let more = prepared.with_flags(StatxFlags::DONT_SYNC | StatxFlags::NO_AUTOMOUNT);
    assert_eq!(more.flags(), StatxFlags::EMPTY_PATH | StatxFlags::DONT_SYNC);
    assert_eq!(prepared.with_flags(StatxFlags::SYNC_TYPE).flags(), flags);
    let wider = prepared.with_mask(StatxMask::INO | StatxMask::RESERVED);
    assert_eq!(wider.mask(), StatxMask::TYPE | StatxMask::INO);
    let path = Prepared::new(CWD, Some(c"x"), StatxFlags::empty(), StatxMask::TYPE).unwrap();
    let path = path.with_flags(StatxFlags::all() - StatxFlags::FORCE_SYNC);
    let lookup = StatxFlags::SYMLINK_NOFOLLOW | StatxFlags::NO_AUTOMOUNT;
    assert_eq!(path.flags(), lookup | StatxFlags::DONT_SYNC);
}
