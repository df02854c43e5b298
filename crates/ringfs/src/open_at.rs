//! Opening a file relative to a directory.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::driver::Driver;
use crate::op::{Open, Pending};

mod opening;

pub(crate) use opening::Opening;

/// How a file is to be opened for reading, made by [`Dir::open_at`]; `.await` opens it.
///
/// # Errors
///
/// Those of `openat(2)`; `InvalidInput` for a path with a NUL byte.
///
/// # Cancel safety
///
/// A descriptor that arrives after the future was dropped is closed.
///
/// ```
/// use std::io::Read;
///
/// # futures::executor::block_on(async {
/// let etc = ringfs::Dir::open("/etc").await?;
/// let fd = etc.open_at("passwd").follow_symlinks(false).await?;
/// let mut text = String::new();
/// std::fs::File::from(fd).read_to_string(&mut text)?;
/// assert!(text.contains("root"));
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
///
/// [`Dir::open_at`]: crate::Dir::open_at
#[derive(Clone, Debug)]
#[must_use = "nothing is opened until it is awaited"]
pub struct OpenAt<'a> {
    opening: Opening<'a>,
}

impl<'a> OpenAt<'a> {
    pub(crate) fn new(driver: &'a Driver, dir: &'a Arc<OwnedFd>, path: &'a Path) -> Self {
        Self {
            opening: Opening::new(driver, dir, path),
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
}

impl<'a> IntoFuture for OpenAt<'a> {
    type Output = io::Result<OwnedFd>;
    type IntoFuture = OpenAtFuture<'a>;

    fn into_future(self) -> OpenAtFuture<'a> {
        OpenAtFuture {
            state: State::New(self),
        }
    }
}

/// The future of an [`OpenAt`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct OpenAtFuture<'a> {
    state: State<'a>,
}

#[derive(Debug)]
enum State<'a> {
    New(OpenAt<'a>),
    Waiting(Pending<OwnedFd>),
    Done,
}

impl Future for OpenAtFuture<'_> {
    type Output = io::Result<OwnedFd>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let answer = match &mut self.state {
                State::New(open) => match open.start() {
                    Ok(pending) => {
                        self.state = State::Waiting(pending);
                        continue;
                    }
                    Err(error) => Err(error),
                },
                State::Waiting(pending) => ready!(Pin::new(pending).poll(cx)),
                State::Done => panic!("a future was polled after it was ready"),
            };
            self.state = State::Done;
            return Poll::Ready(answer);
        }
    }
}

impl OpenAt<'_> {
    fn start(&self) -> io::Result<Pending<OwnedFd>> {
        let opening = &self.opening;
        let path = fscall::to_c_path(opening.path.as_os_str().as_bytes())?;
        let op = Open::new(Some(Arc::clone(opening.dir)), path, opening.flags);
        opening.driver.submit(op)
    }
}
