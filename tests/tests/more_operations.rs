//! What there is beside metadata and directories: links, whole paths, file systems, closing; and
//! reading a directory once more.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use ringfs::{Backend, Dir, Driver, OperationKind, Route, StatFs};
use testkit::fuse::Fuse;
use testkit::{mount, or_skip};
use tests::{LIMIT, alone, block_on, driver, drivers, process};

/// A result for comparison: the error by its number, or by its kind where std makes it up.
fn told<T>(result: io::Result<T>) -> Result<T, (Option<i32>, io::ErrorKind)> {
    result.map_err(|error| (error.raw_os_error(), error.kind()))
}

fn place() -> (tempfile::TempDir, Vec<PathBuf>) {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    fs::create_dir_all(root.join("dir/sub")).unwrap();
    fs::write(root.join("dir/file"), "x").unwrap();
    let bytes = OsStr::from_bytes(b"not \xff utf-8");
    fs::write(root.join(bytes), "x").unwrap();
    let long = "y".repeat(4000);
    for (target, name) in [
        (Path::new("dir/file"), "link"),
        (Path::new("link"), "chain"),
        (Path::new("dir"), "to-dir"),
        (Path::new("none"), "dangling"),
        (Path::new("loop"), "loop"),
        (Path::new(bytes), "bytes"),
        (Path::new(&long), "long"),
        (Path::new("/proc/self/exe"), "magic"),
    ] {
        symlink(target, root.join(name)).unwrap();
    }
    let mut paths: Vec<PathBuf> = [
        "",
        ".",
        "dir",
        "dir/",
        "dir/file",
        "dir/file/",
        "dir/file/x",
        "dir/../dir/./sub",
        "link",
        "link/",
        "chain",
        "to-dir/file",
        "to-dir/",
        "dangling",
        "dangling/",
        "loop",
        "bytes",
        "long",
        "magic",
        "none",
        "none/x",
    ]
    .iter()
    .map(|name| root.join(name))
    .collect();
    paths.push(root.join(bytes));
    paths.push(root.join("n".repeat(256)));
    paths.push(PathBuf::from("/".to_owned() + &"x/".repeat(3000)));
    paths.push(PathBuf::from(OsStr::from_bytes(b"nul \0 byte")));
    paths.extend(["", ".", "..", "/", "/proc/self/cwd", "/proc/self/fd/0"].map(PathBuf::from));
    (temp, paths)
}

#[test]
fn answers_are_those_of_std() {
    let (_temp, paths) = place();
    for driver in drivers().iter().chain([Driver::global()]) {
        for path in &paths {
            let exists = block_on(driver.try_exists(path));
            assert_eq!(told(exists), told(path.try_exists()), "{path:?}");
            let link = block_on(driver.read_link(path));
            assert_eq!(told(link), told(path.read_link()), "{path:?}");
            let real = block_on(driver.canonicalize(path));
            assert_eq!(told(real), told(path.canonicalize()), "{path:?}");
        }
    }
}

#[test]
fn links_are_read_relative_to_a_directory() {
    let (temp, paths) = place();
    for driver in drivers() {
        let dir = block_on(driver.open_dir(temp.path())).unwrap();
        let root = temp.path().as_os_str().as_bytes();
        for path in &paths {
            let Some([b'/', name @ ..]) = path.as_os_str().as_bytes().strip_prefix(root) else {
                continue;
            };
            // The directory itself is no link, and by no name no file.
            let name = if name.is_empty() { b"." } else { name };
            let name = OsStr::from_bytes(name);
            let link = block_on(dir.read_link_at(name));
            assert_eq!(told(link), told(path.read_link()), "{path:?}");
        }
    }
}

/// The call itself, made without any of the crates under test.
fn plain_statfs(path: &Path) -> libc::statfs64 {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let mut answer = std::mem::MaybeUninit::uninit();
    // SAFETY: the path is a C string, and the call writes a `struct statfs64`.
    let result = unsafe { libc::statfs64(path.as_ptr(), answer.as_mut_ptr()) };
    assert_eq!(result, 0);
    // SAFETY: the call has succeeded.
    unsafe { answer.assume_init() }
}

/// All that others do not change meanwhile.
#[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
fn check_statfs(answer: &StatFs, path: &Path) {
    let plain = plain_statfs(path);
    assert_eq!(answer.fs_type(), plain.f_type as u32);
    assert_eq!(answer.io_size(), plain.f_bsize as u64);
    assert_eq!(answer.block_size(), plain.f_frsize as u64);
    assert_eq!(
        (answer.blocks(), answer.files()),
        (plain.f_blocks, plain.f_files)
    );
    assert_eq!(answer.bytes(), plain.f_blocks * plain.f_frsize as u64);
    assert_eq!(answer.name_max(), plain.f_namelen as u64);
    assert_eq!(answer.flags().bits() | 0x20, plain.f_flags as u64 | 0x20);
    assert!(answer.bytes_available() <= answer.bytes_free());
    assert!(answer.files_free() <= answer.files());
}

#[test]
fn file_systems_are_described() {
    let temp = tempfile::tempdir().unwrap();
    for driver in drivers() {
        for path in [Path::new("/"), Path::new("/proc"), temp.path()] {
            check_statfs(&block_on(driver.statfs(path)).unwrap(), path);
            let dir = block_on(driver.open_dir(path)).unwrap();
            check_statfs(&block_on(dir.statfs()).unwrap(), path);
        }
        let missing = block_on(driver.statfs(temp.path().join("none"))).unwrap_err();
        assert_eq!(missing.raw_os_error(), Some(libc::ENOENT));
        let nul = block_on(driver.statfs("a\0b")).unwrap_err();
        assert_eq!(nul.kind(), io::ErrorKind::InvalidInput);
    }
    let tmpfs = or_skip!(mount::tmpfs());
    let answer = block_on(ringfs::statfs(tmpfs.path())).unwrap();
    assert_eq!(answer.fs_type(), 0x0102_1994);
}

#[test]
fn closing_closes() {
    alone("closing_closes", || {
        for driver in drivers() {
            block_on(driver.capabilities());
            let fd = OwnedFd::from(File::open("/").unwrap());
            let number = fd.as_raw_fd();
            let link = format!("/proc/self/fd/{number}");
            assert_eq!(fs::read_link(&link).unwrap(), Path::new("/"));
            block_on(driver.close(fd)).unwrap();
            assert!(fs::read_link(&link).is_err());
            // Whether polled or not, it is closed in the end.
            let before = process::descriptors();
            for polls in 0..2 {
                let mut close = Box::pin(driver.close(File::open("/").unwrap().into()));
                for _ in 0..polls {
                    let _ = close.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                }
            }
            let after = process::settles(process::descriptors, |&count| count <= before);
            assert!(after <= before, "{after} after {before}");
        }
        block_on(ringfs::close(File::open("/").unwrap().into())).unwrap();
    });
}

/// The names in a directory from where it stands.
async fn names(dir: &mut Dir) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    loop {
        let batch = dir.read().await?;
        if batch.is_empty() {
            names.sort();
            return Ok(names);
        }
        for entry in batch.iter() {
            names.push(entry?.name().to_vec());
        }
    }
}

#[test]
fn a_directory_is_read_again() {
    let temp = tempfile::tempdir().unwrap();
    for i in 0..4_000 {
        File::create(temp.path().join(format!("a name of some length {i}"))).unwrap();
    }
    for driver in drivers() {
        let mut dir = block_on(driver.open_dir(temp.path())).unwrap();
        let all = block_on(names(&mut dir)).unwrap();
        assert_eq!(all.len(), 4_002);
        dir.rewind();
        assert_eq!(block_on(names(&mut dir)).unwrap(), all);
        // In the middle, and with a read on its way whose future is gone.
        for round in 0..24 {
            dir.rewind();
            for _ in 0..round % 3 {
                block_on(dir.read()).unwrap();
            }
            for _ in 0..round % 4 {
                let mut read = pin!(dir.read());
                let _ = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                if round % 2 == 0 {
                    std::thread::yield_now();
                }
            }
            dir.rewind();
            if round % 5 == 0 {
                let mut read = pin!(dir.read());
                let _ = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
            dir.rewind();
            assert!(block_on(names(&mut dir)).unwrap() == all, "round {round}");
        }
        // What has come since is seen, also by the stream.
        let new = temp.path().join("new");
        File::create(&new).unwrap();
        dir.rewind();
        assert_eq!(block_on(names(&mut dir)).unwrap().len(), 4_003);
        fs::remove_file(new).unwrap();
        dir.rewind();
        let mut entries = dir.into_read_dir(temp.path());
        let mut count = 0;
        while block_on(entries.next_entry()).unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 4_000);
    }
}

#[test]
fn each_is_counted_once() {
    use OperationKind::{Canonicalize, Close, ReadLink, StatFs};
    for backend in [Backend::Auto, Backend::Ring, Backend::Threads] {
        let driver = driver(backend);
        block_on(driver.read_link("/proc/self/exe")).unwrap();
        block_on(driver.canonicalize("/proc/self")).unwrap();
        block_on(driver.statfs("/")).unwrap();
        block_on(driver.close(File::open("/").unwrap().into())).unwrap();
        let capabilities = block_on(driver.capabilities());
        let metrics = driver.metrics();
        for operation in [ReadLink, Canonicalize, StatFs] {
            assert_eq!(metrics.calls(operation, Route::Worker), 1, "{operation}");
            let support = capabilities.operation(operation);
            assert_eq!(
                (support.operation, &*support.routes),
                (operation, &[Route::Worker][..])
            );
        }
        let closes = |route| metrics.calls(Close, route);
        assert_eq!(closes(Route::Worker) + closes(Route::Ring), 1);
    }
}

#[test]
fn a_dead_mount_holds_up_nobody_else() {
    let fuse = or_skip!(Fuse::new(3));
    let _deadline = testkit::deadline(LIMIT);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().build().unwrap();
    for driver in drivers() {
        let dir = block_on(driver.open_dir(fuse.path())).unwrap();
        fuse.hang();
        runtime.block_on(async {
            let time = Duration::from_millis(100);
            let path = fuse.file(7777);
            assert!(
                tokio::time::timeout(time, driver.statfs(&path))
                    .await
                    .is_err()
            );
            assert!(
                tokio::time::timeout(time, driver.read_link(&path))
                    .await
                    .is_err()
            );
            assert!(
                tokio::time::timeout(time, driver.canonicalize(&path))
                    .await
                    .is_err()
            );
            assert!(
                tokio::time::timeout(time, dir.open_beneath("f9"))
                    .await
                    .is_err()
            );
            assert!(tokio::time::timeout(time, dir.open_at("f8")).await.is_err());
        });
        fuse.release();
    }
}
