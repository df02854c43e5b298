//! Where somebody has to permit every open, and takes his time, nothing is opened on the caller's
//! thread after the first.

use std::ffi::CString;
use std::fs::{self, File};
use std::future::IntoFuture;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use ringfs::{Backend, OperationKind, Route};
use testkit::{Skip, mount, or_skip};
use tests::{LIMIT, block_on, driver};

/// A `fanotify(7)` listener that permits the opens of one file.
struct Listener(File);

impl Listener {
    fn new(path: &Path) -> Result<Self, Skip> {
        let skip = || Skip::missing("fanotify", io::Error::last_os_error().to_string());
        let class = libc::FAN_CLASS_CONTENT | libc::FAN_CLOEXEC;
        // SAFETY: no memory is involved.
        let group = unsafe { libc::fanotify_init(class, libc::O_RDONLY.cast_unsigned()) };
        if group < 0 {
            return Err(skip());
        }
        // SAFETY: the kernel has just made it.
        let group = unsafe { File::from_raw_fd(group) };
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        let (add, opens, cwd) = (libc::FAN_MARK_ADD, libc::FAN_OPEN_PERM, libc::AT_FDCWD);
        // SAFETY: the path is a C string.
        let marked =
            unsafe { libc::fanotify_mark(group.as_raw_fd(), add, opens, cwd, path.as_ptr()) };
        if marked < 0 {
            return Err(skip());
        }
        Ok(Self(group))
    }

    /// Permits so many opens, each after a while.
    fn permit(&mut self, opens: usize, delay: Duration) {
        for _ in 0..opens {
            // Room for one event: its descriptor is at offset 16.
            let mut event = [0; size_of::<libc::fanotify_event_metadata>()];
            self.0.read_exact(&mut event).unwrap();
            let number = RawFd::from_ne_bytes(event[16..20].try_into().unwrap());
            // SAFETY: the kernel has just made it, for this event.
            let file = unsafe { OwnedFd::from_raw_fd(number) };
            std::thread::sleep(delay);
            let mut answer = number.to_ne_bytes().to_vec();
            answer.extend(libc::FAN_ALLOW.to_ne_bytes());
            self.0.write_all(&answer).unwrap();
            drop(file);
        }
    }
}

#[test]
fn an_open_that_slept_is_the_last_at_once() {
    let _deadline = testkit::deadline(LIMIT);
    let mount = or_skip!(mount::ext4());
    let path = mount.path().join("file");
    fs::write(&path, "x").unwrap();
    let mut listener = or_skip!(Listener::new(&path));
    let permits = std::thread::spawn(move || listener.permit(3, Duration::from_millis(20)));
    let driver = driver(Backend::Auto);
    let dir = block_on(driver.open_dir(mount.path())).unwrap();
    let at_once = || block_on(dir.open_beneath("file").route(Route::Inline).into_future());
    let routes = || {
        let capabilities = block_on(driver.capabilities());
        let support = capabilities.operation(OperationKind::OpenBeneath);
        (support.routes.clone(), support.reason.clone())
    };
    assert!(routes().0.contains(&Route::Inline));
    assert!(at_once().is_ok());
    assert!(!routes().0.contains(&Route::Inline), "{}", routes().1);
    assert!(routes().1.contains("slept"), "{}", routes().1);
    assert_eq!(at_once().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    for _ in 0..2 {
        let (_, metadata) = block_on(dir.open_beneath("file").into_future()).unwrap();
        assert_eq!(metadata.len(), 1);
    }
    permits.join().unwrap();
    let calls = |route| driver.metrics().calls(OperationKind::OpenBeneath, route);
    assert_eq!((calls(Route::Inline), calls(Route::Worker)), (1, 2));
    // What is asked of files stays where it was.
    let stat = driver.statx(&path).route(Route::Inline);
    assert!(block_on(stat.into_future()).is_ok());
}
