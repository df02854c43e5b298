//! A file opened beneath a directory does not lie outside of it, whoever opens it, and is what
//! openat2(2) would have opened.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ringfs::{Backend, Dir, Driver, Metadata, Route};
use testkit::child::{self};
use testkit::seccomp::Filter;
use tests::{block_on, driver, drivers, process};

const RESOLVE_BENEATH: u64 = 0x08;

/// Paths whose answer does not depend on how `..` and links are treated.
const PLAIN: [&str; 12] = [
    "file",
    "dir",
    "dir/",
    "dir/file",
    "./dir//file",
    ".",
    "dir/.",
    "file/",
    "file/x",
    "none",
    "dir/none",
    "",
];

/// Paths that stay inside, by links or by `..`.
const INSIDE: [&str; 7] = [
    "link",
    "to-dir/file",
    "to-dir",
    "to-dir/",
    "dir/../file",
    "dir/up/file",
    "dangling",
];

/// Paths that lead outside, or may.
const OUTSIDE: [&str; 8] = [
    "..",
    "../x",
    "/",
    "/etc/passwd",
    "dir/../../x",
    "out",
    "out/passwd",
    "dir/far",
];

fn make_files(root: &Path) {
    fs::create_dir(root.join("dir")).unwrap();
    fs::write(root.join("file"), "text").unwrap();
    fs::write(root.join("dir/file"), "deep text").unwrap();
    for (target, name) in [
        ("file", "link"),
        ("dir", "to-dir"),
        ("..", "dir/up"),
        ("none", "dangling"),
        ("/etc", "out"),
        ("../../etc", "dir/far"),
        ("loop", "loop"),
        ("/proc/self/exe", "magic"),
    ] {
        symlink(target, root.join(name)).unwrap();
    }
    make_fifo(&root.join("fifo"));
}

fn make_fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o644) }, 0);
}

/// What the file is, or the errno.
type Told = Result<(u64, u64, u64), i32>;

/// openat2(2), made without any of the crates under test.
fn plain(dir: RawFd, path: &str) -> Told {
    let path = CString::new(path).unwrap();
    // SAFETY: it is made of integers.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (libc::O_CLOEXEC | libc::O_NONBLOCK) as u64;
    how.resolve = RESOLVE_BENEATH;
    let fd = loop {
        // SAFETY: the path is a C string, and the structure has the size that is told.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_openat2,
                dir,
                path.as_ptr(),
                &raw const how,
                size_of::<libc::open_how>(),
            )
        };
        match io::Error::last_os_error().raw_os_error() {
            _ if fd >= 0 => break fd,
            // A rename elsewhere, and nobody can tell where `..` leads.
            Some(libc::EAGAIN) => {}
            errno => return Err(errno.unwrap()),
        }
    };
    // SAFETY: the kernel has just made it.
    let file = unsafe { File::from_raw_fd(RawFd::try_from(fd).unwrap()) };
    let metadata = file.metadata().unwrap();
    Ok((metadata.dev(), metadata.ino(), metadata.size()))
}

/// The file that was opened is the one that was described.
fn told(answer: io::Result<(OwnedFd, Metadata)>) -> Told {
    let (fd, ours) = answer.map_err(|error| error.raw_os_error().unwrap_or(-1))?;
    assert_eq!(
        flags(&fd, libc::F_GETFD) & libc::FD_CLOEXEC,
        libc::FD_CLOEXEC
    );
    let std = File::from(fd).metadata().unwrap();
    assert_eq!(
        (
            ours.dev(),
            ours.ino(),
            ours.size(),
            ours.mode(),
            ours.nlink()
        ),
        (std.dev(), std.ino(), std.size(), std.mode(), std.nlink()),
    );
    assert_eq!(ours.modified().unwrap(), std.modified().unwrap());
    Ok((std.dev(), std.ino(), std.size()))
}

fn flags(fd: &OwnedFd, which: i32) -> i32 {
    // SAFETY: reads flags of an open descriptor.
    unsafe { libc::fcntl(fd.as_raw_fd(), which) }
}

fn ask(dir: &Dir, path: &str, route: Option<Route>) -> Told {
    let open = dir.open_beneath(path).nonblock(true);
    told(block_on(match route {
        Some(route) => open.route(route).into_future(),
        None => open.into_future(),
    }))
}

fn check_all(driver: &Driver, root: &Path) {
    let dir = block_on(driver.open_dir(root)).unwrap();
    let raw = File::open(root).unwrap();
    let others = ["loop", "magic", "fifo"];
    let paths = PLAIN.iter().chain(&INSIDE).chain(&OUTSIDE).chain(&others);
    for path in paths {
        let expected = plain(raw.as_raw_fd(), path);
        for route in [None, Some(Route::Worker), Some(Route::Ring)] {
            assert_eq!(
                ask(&dir, path, route),
                expected,
                "{path}, {route:?}, {driver:?}"
            );
        }
        let inline = dir.open_beneath(path).nonblock(true).route(Route::Inline);
        match block_on(inline.into_future()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            answer => assert_eq!(told(answer), expected, "{path}, inline"),
        }
    }
}

/// The walk component by component, which knows less.
fn check_steps(driver: &Driver, root: &Path) {
    let dir = block_on(driver.open_dir(root)).unwrap();
    let expected = |path: &str| match fs::metadata(root.join(path)) {
        Ok(metadata) => Ok((metadata.dev(), metadata.ino(), metadata.size())),
        Err(error) => Err(error.raw_os_error().unwrap()),
    };
    for path in PLAIN.iter().filter(|path| !path.is_empty()) {
        assert_eq!(ask(&dir, path, None), expected(path), "{path}");
    }
    assert_eq!(ask(&dir, "", None), Err(libc::ENOENT));
    assert_eq!(ask(&dir, "fifo", None), expected("fifo"));
    for path in INSIDE.iter().chain(&OUTSIDE).chain(&["loop", "magic"]) {
        let error = ask(&dir, path, None).unwrap_err();
        let refusal = if path.split('/').any(|part| part == "..") || path.starts_with('/') {
            libc::EXDEV
        } else {
            libc::ELOOP
        };
        assert_eq!(error, refusal, "{path}");
    }
}

#[test]
fn every_route_answers_as_openat2() {
    let temp = tempfile::tempdir().unwrap();
    make_files(temp.path());
    for backend in [Backend::Auto, Backend::Ring] {
        check_all(&driver(backend), temp.path());
    }
    check_steps(&driver(Backend::Threads), temp.path());
}

#[test]
fn without_openat2_it_is_as_safe() {
    const NAME: &str = "without_openat2_it_is_as_safe";
    if child::is_child(NAME) {
        let root = process::place();
        let backends = if std::env::var_os("DEADLY").is_some() {
            vec![Backend::Threads]
        } else {
            vec![Backend::Auto, Backend::Ring, Backend::Threads]
        };
        for backend in backends {
            check_steps(&driver(backend), &root);
        }
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    make_files(temp.path());
    let run = |filter: &Filter| process::rerun(NAME, temp.path()).filter(filter);
    for errno in [libc::EPERM, libc::ENOSYS] {
        let filter = Filter::new().io_uring_errno(libc::EPERM);
        run(&filter.errno(libc::SYS_openat2, errno))
            .run()
            .assert_passed();
    }
    let deadly = Filter::new().io_uring_kill().kill(libc::SYS_openat2);
    run(&deadly).env("DEADLY", "1").run().assert_passed();
}

#[test]
fn nothing_outside_is_ever_opened() {
    let temp = tempfile::tempdir().unwrap();
    let (inside, outside) = (temp.path().join("in"), temp.path().join("out"));
    for (dir, text) in [(&inside, "inside"), (&outside, "out")] {
        fs::create_dir_all(dir.join("dir/sub")).unwrap();
        fs::write(dir.join("dir/sub/file"), text).unwrap();
    }
    symlink(outside.join("dir"), inside.join("swap")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let old = CString::new(inside.join("dir").as_os_str().as_bytes()).unwrap();
            let new = CString::new(inside.join("swap").as_os_str().as_bytes()).unwrap();
            while !stop.load(Ordering::Relaxed) {
                let (old, new) = (old.as_ptr(), new.as_ptr());
                let (cwd, exchange) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
                // SAFETY: both are C strings.
                unsafe { libc::renameat2(cwd, old, cwd, new, exchange) };
            }
        });
        for driver in drivers() {
            let dir = block_on(driver.open_dir(&inside)).unwrap();
            let (mut opened, end) = (0, Instant::now() + Duration::from_millis(700));
            while Instant::now() < end {
                for path in [
                    "dir/sub/file",
                    "swap/sub/file",
                    "dir/sub/../../dir/sub/file",
                ] {
                    if let Ok((fd, metadata)) = block_on(dir.open_beneath(path).into_future()) {
                        opened += 1;
                        let mut text = String::new();
                        File::from(fd).read_to_string(&mut text).unwrap();
                        assert_eq!((&*text, metadata.len()), ("inside", 6));
                    }
                }
            }
            assert!(opened > 0);
        }
        stop.store(true, Ordering::Relaxed);
    });
}
