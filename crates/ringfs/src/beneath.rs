//! Opening a path that must not lead out of a directory, by plain calls.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use libc::{EAGAIN, ELOOP, ENAMETOOLONG, ENOENT, ENOSYS, ENOTDIR, EPERM, EXDEV};

use fscall::{CWD, FileType, OFlags, OpenHow, ResolveFlags, StatxFlags, StatxMask};

/// How often the kernel is asked again when a rename somewhere kept it from saying whether `..`
/// stays inside.
pub(crate) const ATTEMPTS: usize = 64;

/// Opens it by openat2(2), or [by steps](open_by_steps) if there is no such call or a sandbox
/// refuses it.
pub(crate) fn open(dir: BorrowedFd<'_>, path: &CStr, how: &OpenHow) -> io::Result<OwnedFd> {
    for _ in 0..ATTEMPTS {
        match fscall::openat2(dir, path, how) {
            Err(error) => match error.raw_os_error() {
                Some(EAGAIN) => {}
                Some(ENOSYS) => return open_by_steps(dir, path, how.flags()),
                // It may also be the file that is refused: its access time is its owner's.
                Some(EPERM) if is_refused() => return open_by_steps(dir, path, how.flags()),
                _ => return Err(error),
            },
            opened => return opened,
        }
    }
    Err(errno(EAGAIN))
}

/// Whether it is the call that is refused, rather than the file.
fn is_refused() -> bool {
    let how = OpenHow::new(OFlags::PATH, ResolveFlags::empty());
    fscall::openat2(CWD, c"/", &how)
        .is_err_and(|error| matches!(error.raw_os_error(), Some(ENOSYS | EPERM)))
}

/// Opens it component by component. It is as safe and knows less: `..` is `EXDEV` and a symbolic
/// link `ELOOP`, wherever they lead.
pub(crate) fn open_by_steps(
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: OFlags,
) -> io::Result<OwnedFd> {
    let path = path.to_bytes();
    if path.is_empty() {
        return Err(errno(ENOENT));
    }
    // As the kernel has it, for a path as a whole.
    if path.len() >= libc::PATH_MAX.cast_unsigned() as usize {
        return Err(errno(ENAMETOOLONG));
    }
    if path.starts_with(b"/") {
        return Err(errno(EXDEV));
    }
    let mut parts = path
        .split(|&byte| byte == b'/')
        .filter(|part| !part.is_empty())
        .peekable();
    let mut at: Option<OwnedFd> = None;
    while let Some(part) = parts.next() {
        if part == b".." {
            return Err(errno(EXDEV));
        }
        let is_last = parts.peek().is_none();
        let flags = match (is_last, path.ends_with(b"/")) {
            (false, _) => OFlags::PATH | OFlags::DIRECTORY,
            (true, true) => flags | OFlags::DIRECTORY,
            (true, false) => flags,
        };
        let from = at.as_ref().map_or(dir, AsFd::as_fd);
        at = Some(step(from, &CString::new(part)?, flags)?);
    }
    at.ok_or_else(|| errno(ENOENT))
}

/// Opens one component, unless it is a symbolic link.
fn step(dir: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> io::Result<OwnedFd> {
    fscall::openat(dir, name, flags | OFlags::NOFOLLOW).map_err(|error| {
        // A link is no directory either, and that is the error that the kernel prefers.
        if error.raw_os_error() == Some(ENOTDIR) && is_symlink(dir, name) {
            errno(ELOOP)
        } else {
            error
        }
    })
}

fn is_symlink(dir: BorrowedFd<'_>, name: &CStr) -> bool {
    let flags = StatxFlags::SYMLINK_NOFOLLOW | StatxFlags::NO_AUTOMOUNT | StatxFlags::DONT_SYNC;
    fscall::statx(dir, Some(name), flags, StatxMask::TYPE)
        .is_ok_and(|stat| stat.file_type() == Some(FileType::SYMLINK))
}

fn errno(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use super::*;

    const OUTSIDE: [&CStr; 4] = [c"..", c"/", c"d/../../x", c"/etc/passwd"];

    fn place() -> (tempfile::TempDir, File) {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("d")).unwrap();
        fs::write(temp.path().join("d/file"), "x").unwrap();
        symlink("d", temp.path().join("link")).unwrap();
        symlink("/etc", temp.path().join("out")).unwrap();
        symlink("file", temp.path().join("d/to-file")).unwrap();
        let dir = File::open(temp.path()).unwrap();
        (temp, dir)
    }

    fn by_call(dir: &File, path: &CStr) -> Result<(), i32> {
        let how = OpenHow::new(OFlags::RDONLY, ResolveFlags::BENEATH);
        told(open(dir.as_fd(), path, &how))
    }

    fn by_steps(dir: &File, path: &CStr) -> Result<(), i32> {
        told(open_by_steps(dir.as_fd(), path, OFlags::RDONLY))
    }

    fn told(result: io::Result<OwnedFd>) -> Result<(), i32> {
        result
            .map(drop)
            .map_err(|error| error.raw_os_error().unwrap())
    }

    #[test]
    fn both_agree_on_plain_paths() {
        let (_temp, dir) = place();
        let long = CString::new(vec![b'x'; 256]).unwrap();
        let longest = CString::new("d/../".repeat(900) + "d").unwrap();
        let mut paths = vec![
            c"d",
            c"d/",
            c"d//file",
            c"./d/./file",
            c".",
            c"d/.",
            c"d/file/",
            c"d/file/x",
            c"no",
            c"no/x",
            c"",
            c"d/no",
        ];
        paths.extend([long.as_c_str(), &longest]);
        for path in paths {
            assert_eq!(by_steps(&dir, path), by_call(&dir, path), "{path:?}");
        }
    }

    #[test]
    fn nothing_leads_outside() {
        let (_temp, dir) = place();
        for path in OUTSIDE {
            assert_eq!(by_steps(&dir, path), Err(EXDEV), "{path:?}");
            assert_eq!(by_call(&dir, path), Err(EXDEV), "{path:?}");
        }
        for path in [c"out", c"out/passwd"] {
            assert_eq!(by_steps(&dir, path), Err(ELOOP), "{path:?}");
            assert_eq!(by_call(&dir, path), Err(EXDEV), "{path:?}");
        }
    }

    #[test]
    fn steps_refuse_what_might() {
        let (_temp, dir) = place();
        for path in [c"link", c"link/", c"link/file", c"d/to-file"] {
            assert_eq!(by_steps(&dir, path), Err(ELOOP), "{path:?}");
        }
        assert_eq!(by_steps(&dir, c"d/../d"), Err(EXDEV));
        assert_eq!(by_call(&dir, c"d/../d"), Ok(()));
        assert_eq!(by_call(&dir, c"link/file"), Ok(()));
        // Only what ends as a directory is wanted.
        let flags = OFlags::DIRECTORY;
        assert_eq!(
            told(open_by_steps(dir.as_fd(), c"d/file", flags)),
            Err(ENOTDIR)
        );
        assert_eq!(told(open_by_steps(dir.as_fd(), c"link", flags)), Err(ELOOP));
    }
}
