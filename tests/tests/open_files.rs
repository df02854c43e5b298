//! How files are opened: what can be asked for, what is done at once, and that nothing stays open.

use std::fs::{self, File};
use std::future::IntoFuture;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use ringfs::{Backend, Dir, OperationKind, Route};
use testkit::child::{self};
use testkit::{mount, or_skip};
use tests::{alone, block_on, driver, drivers, process, rows};

fn flags(fd: &OwnedFd, which: i32) -> i32 {
    // SAFETY: reads flags of an open descriptor.
    unsafe { libc::fcntl(fd.as_raw_fd(), which) }
}

#[test]
fn files_are_opened_as_asked() {
    let temp = tempfile::tempdir().unwrap();
    rows::make_files(temp.path()).unwrap();
    for driver in drivers() {
        let dir = block_on(driver.open_dir(temp.path())).unwrap();
        let open = |path| block_on(dir.open_at(path).into_future());
        let mut text = String::new();
        File::from(open("link1").unwrap())
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "x".repeat(123));
        assert!(open("/etc/passwd").is_ok());
        let fd = block_on(dir.open_at("file").noatime(true).into_future()).unwrap();
        assert_eq!(flags(&fd, libc::F_GETFD), libc::FD_CLOEXEC);
        assert_ne!(flags(&fd, libc::F_GETFL) & libc::O_NOATIME, 0);
        let fifo = block_on(dir.open_at("fifo").nonblock(true).into_future()).unwrap();
        assert_ne!(flags(&fifo, libc::F_GETFL) & libc::O_NONBLOCK, 0);
        let link = block_on(dir.open_at("link").follow_symlinks(false).into_future());
        assert_eq!(link.unwrap_err().raw_os_error(), Some(libc::ELOOP));
        assert_eq!(open("none").unwrap_err().raw_os_error(), Some(libc::ENOENT));
        assert_eq!(
            open("a\0b").unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        let beneath = dir
            .open_beneath("file")
            .noatime(true)
            .follow_symlinks(false);
        let (fd, _) = block_on(beneath.into_future()).unwrap();
        assert_ne!(flags(&fd, libc::F_GETFL) & libc::O_NOATIME, 0);
        let link = block_on(
            dir.open_beneath("link")
                .follow_symlinks(false)
                .into_future(),
        );
        assert_eq!(link.unwrap_err().raw_os_error(), Some(libc::ELOOP));
    }
}

#[test]
fn access_times_are_their_owners() {
    const NAME: &str = "access_times_are_their_owners";
    if child::is_child(NAME) {
        let root = process::place();
        for driver in drivers() {
            let dir = block_on(driver.open_dir(&root)).unwrap();
            let refusal = block_on(dir.open_at("file").noatime(true).into_future());
            assert_eq!(refusal.unwrap_err().raw_os_error(), Some(libc::EPERM));
            // It is the file that is refused here, and not the call: links are still followed.
            let paths: &[&str] = match driver.backend() {
                Backend::Threads => &["file"],
                _ => &["file", "link"],
            };
            for path in paths {
                let refusal = block_on(dir.open_beneath(path).noatime(true).into_future());
                assert_eq!(refusal.unwrap_err().raw_os_error(), Some(libc::EPERM));
                assert!(block_on(dir.open_beneath(path).into_future()).is_ok());
            }
            let denied = block_on(dir.open_beneath("mode000").into_future());
            assert_eq!(denied.unwrap_err().raw_os_error(), Some(libc::EACCES));
        }
        return;
    }
    or_skip!(testkit::skip::needs_root(
        "open_files::access_times_are_their_owners"
    ));
    let temp = tempfile::tempdir().unwrap();
    rows::make_files(temp.path()).unwrap();
    let child = process::rerun(NAME, temp.path());
    child
        .before_exec(process::become_nobody)
        .run()
        .assert_passed();
}

#[test]
fn at_once_only_where_it_cannot_sleep() {
    let mount = or_skip!(mount::ext4());
    rows::make_files(mount.path()).unwrap();
    let driver = driver(Backend::Auto);
    let dir = block_on(driver.open_dir(mount.path())).unwrap();
    let inline = |path: &str| block_on(dir.open_beneath(path).route(Route::Inline).into_future());
    let would_block = |path: &str| inline(path).unwrap_err().kind() == io::ErrorKind::WouldBlock;
    let calls = || {
        driver
            .metrics()
            .calls(OperationKind::OpenBeneath, Route::Inline)
    };
    for path in ["file", "dir/sub", "dir", ".", "link", "dir/../file"] {
        block_on(dir.statx_at(path).into_future()).unwrap();
        let (before, (fd, metadata)) = (calls(), inline(path).unwrap());
        assert_eq!(calls(), before + 1);
        // Reads of it wait as they would have by another route.
        let expected = block_on(dir.open_beneath(path).route(Route::Worker).into_future()).unwrap();
        assert_eq!(flags(&fd, libc::F_GETFL), flags(&expected.0, libc::F_GETFL));
        assert_eq!(metadata.ino(), expected.1.ino());
    }
    let mut text = String::new();
    File::from(inline("file").unwrap().0)
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "x".repeat(123));
    // A pipe is not even touched: nobody who wants to write to it sees a reader.
    assert!(would_block("fifo") && would_block("..") && would_block("loop"));
    let missing = inline("none").map(drop).unwrap_err();
    assert!(matches!(
        missing.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::WouldBlock
    ));
    // Nobody knows of another mount, nor of what an overlay is made of.
    let tmpfs = or_skip!(mount::tmpfs());
    fs::write(tmpfs.path().join("file"), "x").unwrap();
    let above = block_on(driver.open_dir(tmpfs.path().parent().unwrap())).unwrap();
    let below = Path::new(tmpfs.path().file_name().unwrap()).join("file");
    let crossing = above.open_beneath(&below).route(Route::Inline);
    let error = block_on(crossing.into_future()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    assert!(block_on(above.open_beneath(&below).into_future()).is_ok());
    let overlay = or_skip!(mount::overlay(mount.path()));
    let over = block_on(driver.open_dir(overlay.path())).unwrap();
    let error = block_on(over.open_beneath("file").route(Route::Inline).into_future());
    assert_eq!(error.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(block_on(over.open_beneath("file").into_future()).is_ok());
}

#[test]
fn a_lease_is_not_waited_for_at_once() {
    let mount = or_skip!(mount::ext4());
    let path = mount.path().join("leased");
    fs::write(&path, "x").unwrap();
    let holder = OwnedFd::from(File::options().write(true).open(&path).unwrap());
    // SAFETY: the signal that says that somebody waits is of no interest here.
    unsafe { libc::signal(libc::SIGIO, libc::SIG_IGN) };
    // SAFETY: no memory is involved.
    let leased = unsafe { libc::fcntl(holder.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };
    assert_eq!(leased, 0, "{}", io::Error::last_os_error());
    let dir = block_on(Dir::open(mount.path())).unwrap();
    let start = Instant::now();
    let at_once = dir.open_beneath("leased").route(Route::Inline);
    let error = block_on(at_once.into_future()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    assert!(start.elapsed() < Duration::from_secs(1));
    // A worker waits until the holder gives it up.
    let mut open = pin!(dir.open_beneath("leased").into_future());
    assert!(
        open.as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    drop(holder);
    assert_eq!(block_on(open).unwrap().1.len(), 1);
}

#[test]
fn dropped_opens_leave_nothing_open() {
    alone("dropped_opens_leave_nothing_open", || {
        let drivers = drivers();
        for driver in &drivers {
            block_on(driver.capabilities());
            let dir = block_on(driver.open_dir("/proc/self")).unwrap();
            block_on(dir.open_beneath("status").into_future()).unwrap();
            let before = process::descriptors();
            for round in 0..3_000 {
                let mut open = pin!(dir.open_at("status").into_future());
                let mut beneath = pin!(dir.open_beneath("status").into_future());
                for _ in 0..round % 4 {
                    let cx = &mut Context::from_waker(Waker::noop());
                    if open.as_mut().poll(cx).is_ready() | beneath.as_mut().poll(cx).is_ready() {
                        break;
                    }
                    std::thread::yield_now();
                }
            }
            let idle = process::settles(|| driver.metrics().in_flight(), |&count| count == 0);
            let after = process::settles(process::descriptors, |&count| count <= before);
            assert_eq!((idle, after), (0, before), "{driver:?}");
        }
    });
}

/// The futures can go wherever the program's go.
#[test]
fn futures_can_be_sent() {
    fn is_send<T: Send>(_: T) {}
    fn is_sync<T: Sync>(_: &T) {}
    let dir = block_on(Dir::open("/")).unwrap();
    is_send(dir.open_at("etc"));
    is_sync(&dir.open_at("etc").into_future());
    is_send(dir.open_at("etc").into_future());
    is_send(dir.open_beneath("etc"));
    is_sync(&dir.open_beneath("etc").into_future());
    is_send(dir.open_beneath("etc").into_future());
    is_send(dir.read_link_at("etc"));
    is_send(dir.statfs());
    is_send(ringfs::open_beneath(&dir, "etc").into_future());
    is_send(ringfs::open_dir("/"));
    is_send(ringfs::try_exists("/"));
    is_send(ringfs::read_link("/"));
    is_send(ringfs::canonicalize("/"));
    is_send(ringfs::statfs("/"));
    is_send(ringfs::close(File::open("/").unwrap().into()));
}
