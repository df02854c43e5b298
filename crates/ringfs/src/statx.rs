//! One file's metadata: what is asked, and the future that answers.
#![allow(
    clippy::inline_always,
    reason = "a return that comes after a system call is mispredicted"
)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fscall::{Prepared, Statx, StatxFlags, StatxMask};

use crate::capabilities::Route;
use crate::coop;
use crate::dispatch::AtOnce;
use crate::driver::Driver;
use crate::metadata::Metadata;
use crate::op::{Pending, StatxOp};

/// What `statx(2)` is to be asked, made by [`statx`](crate::statx()), [`Dir::statx_at`] and
/// [`Dir::statx`]; `.await` asks.
///
/// Unless told otherwise symbolic links are followed, automounts are not triggered, the fields are
/// [`Metadata::MASK`], and the route is chosen by what is known: at once if the answer is in
/// memory, else a worker, else the ring.
///
/// # Errors
///
/// Those of `statx(2)`, the same on every route; `InvalidInput` for a path with a NUL byte, for
/// contradicting flags and for the reserved mask bit. With [`route`](Self::route) also
/// `WouldBlock` (not answerable inline) and what stands against the ring.
///
/// # Cancel safety
///
/// Dropping the future abandons the call; nothing is lost but the answer.
///
/// ```
/// use ringfs::StatxMask;
///
/// # futures::executor::block_on(async {
/// let answer = ringfs::statx("/proc/self/exe").follow_symlinks(false).mask(StatxMask::TYPE).await?;
/// assert!(answer.file_type().unwrap().is_symlink());
/// assert_eq!(answer.btime(), None);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
///
/// [`Dir::statx_at`]: crate::Dir::statx_at
/// [`Dir::statx`]: crate::Dir::statx
#[derive(Clone, Debug)]
#[must_use = "nothing is asked until it is awaited"]
pub struct Stat<'a> {
    driver: &'a Driver,
    dir: Option<&'a Arc<OwnedFd>>,
    /// `None` in the descriptor form.
    path: Option<&'a Path>,
    flags: StatxFlags,
    mask: StatxMask,
    route: Option<Route>,
}

impl<'a> Stat<'a> {
    pub(crate) fn of_path(driver: &'a Driver, path: &'a Path) -> Self {
        Self {
            driver,
            dir: None,
            path: Some(path),
            flags: StatxFlags::NO_AUTOMOUNT,
            mask: Metadata::MASK,
            route: None,
        }
    }

    pub(crate) fn at(driver: &'a Driver, dir: &'a Arc<OwnedFd>, path: &'a Path) -> Self {
        Self {
            dir: Some(dir),
            ..Self::of_path(driver, path)
        }
    }

    pub(crate) fn of_fd(driver: &'a Driver, fd: &'a Arc<OwnedFd>) -> Self {
        Self {
            driver,
            dir: Some(fd),
            path: None,
            flags: StatxFlags::EMPTY_PATH,
            mask: Metadata::MASK,
            route: None,
        }
    }

    /// Whether a symbolic link at the end of the path is followed.
    #[doc(alias = "AT_SYMLINK_NOFOLLOW")]
    pub fn follow_symlinks(mut self, follow: bool) -> Self {
        self.flags.set(StatxFlags::SYMLINK_NOFOLLOW, !follow);
        self
    }

    /// Whether an automount point at the end of the path is mounted; it is not unless asked, as
    /// that can take as long as its server likes.
    #[doc(alias = "AT_NO_AUTOMOUNT")]
    pub fn automount(mut self, automount: bool) -> Self {
        self.flags.set(StatxFlags::NO_AUTOMOUNT, !automount);
        self
    }

    /// The fields wanted. The answer has no others, and lacks those that the file system lacks.
    pub fn mask(mut self, mask: StatxMask) -> Self {
        self.mask = mask;
        self
    }

    /// Further flags, such as [`StatxFlags::DONT_SYNC`] or [`StatxFlags::FORCE_SYNC`]. Where a
    /// kernel refuses the first for a file, the question is asked again without it.
    pub fn flags(mut self, flags: StatxFlags) -> Self {
        self.flags |= flags;
        self
    }

    /// Insists on one route, where the driver would choose.
    pub fn route(mut self, route: Route) -> Self {
        self.route = Some(route);
        self
    }
}

impl<'a> IntoFuture for Stat<'a> {
    type Output = io::Result<Statx>;
    type IntoFuture = StatFuture<'a>;

    fn into_future(self) -> StatFuture<'a> {
        StatFuture {
            state: State::New(self),
            again: None,
            missed: None,
        }
    }
}

/// The future of a [`Stat`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct StatFuture<'a> {
    state: State<'a>,
    /// The same without `DONT_SYNC`, which some files of some kernels refuse.
    again: Option<Stat<'a>>,
    /// It was tried inline in vain: where the file is will be counted there.
    missed: Option<&'a Driver>,
}

#[derive(Debug)]
enum State<'a> {
    New(Stat<'a>),
    Waiting(Pending<Statx>),
    OnRing(OnRing),
    Done,
}

/// A call that insists on the ring, and may have to wait for it to be set up first.
struct OnRing(Pin<Box<dyn Future<Output = io::Result<Statx>> + Send + Sync>>);

impl std::fmt::Debug for OnRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OnRing").finish()
    }
}

impl Future for StatFuture<'_> {
    type Output = io::Result<Statx>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let answer = match &mut self.state {
                State::New(stat) => {
                    if stat.may_be_inline() {
                        ready!(coop::poll_proceed(cx));
                    }
                    let mut answer = Statx::default();
                    match stat.start(&mut answer) {
                        Ok(Started::Answered) => {
                            self.state = State::Done;
                            return Poll::Ready(Ok(answer));
                        }
                        Ok(Started::Waiting(state)) => {
                            let again = stat.without_dont_sync();
                            let missed = stat.may_be_inline().then_some(stat.driver);
                            *self = StatFuture {
                                state,
                                again,
                                missed,
                            };
                            continue;
                        }
                        Err(error) => Err(error),
                    }
                }
                State::Waiting(pending) => ready!(Pin::new(pending).poll(cx)),
                State::OnRing(future) => ready!(future.0.as_mut().poll(cx)),
                State::Done => panic!("a future was polled after it was ready"),
            };
            if let Err(error) = &answer
                && error.raw_os_error() == Some(libc::EINVAL)
                && let Some(stat) = self.again.take()
            {
                self.state = State::New(stat);
                continue;
            }
            if let (Some(driver), Ok(answer)) = (self.missed, &answer) {
                driver.count_miss_on(answer);
            }
            self.state = State::Done;
            return Poll::Ready(answer);
        }
    }
}

enum Started {
    Answered,
    Waiting(State<'static>),
}

impl Stat<'_> {
    fn may_be_inline(&self) -> bool {
        self.route
            .map_or_else(|| self.driver.is_inline(), |route| route == Route::Inline)
    }

    /// The same question without `DONT_SYNC`, if it has that.
    fn without_dont_sync(&self) -> Option<Self> {
        let mut stat = self.clone();
        stat.flags.remove(StatxFlags::DONT_SYNC);
        (stat.flags != self.flags).then_some(stat)
    }

    /// Splits, prepares, and answers at once if possible: all before anything is allocated.
    #[inline(always)]
    fn start(&self, answer: &mut Statx) -> io::Result<Started> {
        self.driver.check()?;
        match self.path {
            Some(path) => fscall::with_c_path(path.as_os_str().as_bytes(), |path| {
                self.start_with(Some(path), answer)
            }),
            None => self.start_with(None, answer),
        }
    }

    #[inline(always)]
    fn start_with(&self, path: Option<&CStr>, answer: &mut Statx) -> io::Result<Started> {
        let dir = self.dir.map_or(fscall::CWD, |dir| dir.as_fd());
        let prepared = Prepared::new(dir, path, self.flags, self.mask)?;
        if self.may_be_inline()
            && let AtOnce::Answered(result) = self.driver.try_inline(dir, path, &prepared, answer)
        {
            return result.map(|()| Started::Answered);
        }
        self.hand_over(path, prepared).map(Started::Waiting)
    }

    #[cold]
    fn hand_over(&self, path: Option<&CStr>, prepared: Prepared) -> io::Result<State<'static>> {
        let op = StatxOp::new(self.dir.cloned(), path.map(CString::from), prepared);
        Ok(match self.route {
            None => State::Waiting(self.driver.submit(op)?),
            Some(Route::Worker) => State::Waiting(self.driver.submit_to_worker(op)?),
            Some(Route::Inline) => return Err(io::ErrorKind::WouldBlock.into()),
            Some(Route::Ring) => {
                let driver = self.driver.clone();
                State::OnRing(OnRing(Box::pin(
                    async move { driver.submit_to_ring(op).await },
                )))
            }
        })
    }
}
