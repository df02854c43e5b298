//! Opening a file that must not lie outside of a directory.

use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fscall::{OFlags, Prepared, Statx, StatxFlags};
use libc::{EAGAIN, ENOSYS, EPERM};

use crate::backend::Backend;
use crate::beneath;
use crate::capabilities::Route;
use crate::coop;
use crate::driver::Driver;
use crate::metadata::Metadata;
use crate::op::{self, Opened, StatxOp};
use crate::open_at::Opening;

/// How a file beneath a directory is to be opened for reading, made by [`open_beneath`] and
/// [`Dir::open_beneath`]; `.await` opens it, and gives its metadata with it.
///
/// However the path is made, and whatever others rename meanwhile, the file lies beneath the
/// directory or the open fails: with `EXDEV` for `..`, an absolute path or a symbolic link that
/// would lead outside, with `ELOOP` for links such as `/proc/PID/exe`. So it can open paths that
/// come from a stranger. Mounts beneath the directory count as beneath it. The metadata is that of
/// the file that has been opened, as [`metadata`](crate::metadata()) would ask for it.
///
/// `openat2(2)` with `RESOLVE_BENEATH`, Linux 5.6. Where it is missing or refused, and with
/// [`Backend::Threads`], the path is walked component by component: as safe, but any `..` is
/// `EXDEV` then, and any symbolic link `ELOOP`, also if it would have stayed inside.
///
/// A regular file or directory of a local file system whose path is in memory is opened at once,
/// if no mount lies between; else it takes one hop to a worker, or two on the ring. Should an open
/// sleep all the same, as when a `fanotify(7)` listener has to permit it, the driver opens nothing
/// at once any more.
///
/// # Errors
///
/// Those of `openat2(2)` and `statx(2)`; `InvalidInput` for a path with a NUL byte. `EAGAIN` if
/// renames go on for so long that nobody can tell where `..` leads. With [`route`](Self::route)
/// also `WouldBlock` (not possible at once) and what stands against the ring.
///
/// # Cancel safety
///
/// A descriptor that arrives after the future was dropped is closed.
///
/// ```
/// # futures::executor::block_on(async {
/// let etc = ringfs::Dir::open("/etc").await?;
/// let (_fd, metadata) = etc.open_beneath("passwd").await?;
/// assert!(metadata.is_file());
/// let outside = etc.open_beneath("../bin/sh").await.unwrap_err();
/// assert_eq!(outside.kind(), std::io::ErrorKind::CrossesDevices);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
///
/// [`open_beneath`]: crate::open_beneath()
/// [`Dir::open_beneath`]: crate::Dir::open_beneath
#[derive(Clone, Debug)]
#[must_use = "nothing is opened until it is awaited"]
pub struct OpenBeneath<'a> {
    opening: Opening<'a>,
    route: Option<Route>,
}

impl<'a> OpenBeneath<'a> {
    pub(crate) fn new(driver: &'a Driver, dir: &'a Arc<OwnedFd>, path: &'a Path) -> Self {
        Self {
            opening: Opening::new(driver, dir, path),
            route: None,
        }
    }

    /// Whether a symbolic link at the end of the path is followed; it is unless told otherwise. If
    /// not, a link is `ELOOP`.
    #[doc(alias = "O_NOFOLLOW")]
    pub fn follow_symlinks(mut self, follow: bool) -> Self {
        self.opening = self.opening.follow_symlinks(follow);
        self
    }

    /// Whether reading it leaves its access time alone. Only its owner may ask for that; others
    /// get `EPERM`.
    #[doc(alias = "O_NOATIME")]
    pub fn noatime(mut self, noatime: bool) -> Self {
        self.opening = self.opening.noatime(noatime);
        self
    }

    /// Whether a pipe is opened without waiting for somebody to open its other end, which may be
    /// never. Files and directories do not care.
    #[doc(alias = "O_NONBLOCK")]
    pub fn nonblock(mut self, nonblock: bool) -> Self {
        self.opening = self.opening.nonblock(nonblock);
        self
    }

    /// Insists on one route, where the driver would choose.
    pub fn route(mut self, route: Route) -> Self {
        self.route = Some(route);
        self
    }
}

impl<'a> IntoFuture for OpenBeneath<'a> {
    type Output = io::Result<(OwnedFd, Metadata)>;
    type IntoFuture = OpenBeneathFuture<'a>;

    fn into_future(self) -> OpenBeneathFuture<'a> {
        OpenBeneathFuture {
            state: State::New(self),
        }
    }
}

/// The future of an [`OpenBeneath`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct OpenBeneathFuture<'a> {
    state: State<'a>,
}

#[derive(Debug)]
enum State<'a> {
    New(OpenBeneath<'a>),
    Waiting(Hops),
    Done,
}

/// One hop to a worker, or several through the ring.
struct Hops(Pin<Box<dyn Future<Output = Answer> + Send + Sync>>);

type Answer = io::Result<(OwnedFd, Statx)>;

impl fmt::Debug for Hops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hops").finish()
    }
}

impl Future for OpenBeneathFuture<'_> {
    type Output = io::Result<(OwnedFd, Metadata)>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let answer = match &mut self.state {
                State::New(open) => {
                    if open.may_be_inline() {
                        ready!(coop::poll_proceed(cx));
                    }
                    match open.start() {
                        Ok(Started::Answer(answer)) => answer,
                        Ok(Started::Waiting(hops)) => {
                            self.state = State::Waiting(hops);
                            continue;
                        }
                        Err(error) => Err(error),
                    }
                }
                State::Waiting(hops) => ready!(hops.0.as_mut().poll(cx)),
                State::Done => panic!("a future was polled after it was ready"),
            };
            self.state = State::Done;
            return Poll::Ready(answer.map(|(fd, stat)| (fd, stat.into())));
        }
    }
}

#[allow(
    clippy::large_enum_variant,
    reason = "on the stack, for the length of one poll"
)]
enum Started {
    Answer(Answer),
    Waiting(Hops),
}

impl OpenBeneath<'_> {
    fn may_be_inline(&self) -> bool {
        self.route.map_or_else(
            || self.opening.driver.is_inline(),
            |route| route == Route::Inline,
        )
    }

    fn start(&self) -> io::Result<Started> {
        let Opening {
            driver,
            dir,
            path,
            flags,
        } = self.opening;
        driver.check()?;
        fscall::with_c_path(path.as_os_str().as_bytes(), |path| {
            if self.may_be_inline()
                && let Some(answer) = driver.try_open_beneath(dir.as_fd(), path, flags)
            {
                return Ok(Started::Answer(answer));
            }
            if self.route == Some(Route::Inline) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let (driver, dir) = (driver.clone(), Arc::clone(dir));
            let hops = hop(driver, dir, path.to_owned(), flags, self.route);
            Ok(Started::Waiting(Hops(Box::pin(hops))))
        })
    }
}

async fn hop(
    driver: Driver,
    dir: Arc<OwnedFd>,
    path: CString,
    flags: OFlags,
    route: Option<Route>,
) -> Answer {
    let sandboxed = driver.backend() == Backend::Threads;
    let open = |path| op::OpenBeneath::new(Arc::clone(&dir), path, flags, sandboxed);
    let opened = match route {
        Some(Route::Ring) => {
            let mut attempts = beneath::ATTEMPTS;
            loop {
                attempts -= 1;
                match driver.submit_to_ring(open(path.clone())).await {
                    Err(error) if error.raw_os_error() == Some(EAGAIN) && attempts > 0 => {}
                    opened => break opened?,
                }
            }
        }
        Some(_) => driver.submit_to_worker(open(path))?.await?,
        None => match driver.submit(open(path.clone()))?.await {
            // The ring's answer, which a worker may better: it asks again, and by other calls.
            Err(error) if matches!(error.raw_os_error(), Some(EAGAIN | EPERM | ENOSYS)) => {
                driver.submit_to_worker(open(path))?.await?
            }
            opened => opened?,
        },
    };
    match opened {
        Opened::ByCall(answer) => answer,
        Opened::ByRing(fd) => {
            let fd = Arc::new(fd);
            let prepared = Prepared::new(fd.as_fd(), None, StatxFlags::EMPTY_PATH, Metadata::MASK)?;
            let stat = StatxOp::new(Some(Arc::clone(&fd)), None, prepared);
            let stat = match route {
                Some(Route::Ring) => driver.submit_to_ring(stat).await?,
                _ => driver.submit(stat)?.await?,
            };
            // An operation is gone before its future is told.
            let fd = Arc::into_inner(fd).ok_or(io::ErrorKind::InvalidData)?;
            Ok((fd, stat))
        }
    }
}
