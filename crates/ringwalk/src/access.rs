//! How a walk reaches files: by plain calls on its own threads, or through the ring.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};

use blockpool::{Member, PerFork};
use fscall::mounts::{Locality, Mounts};
use fscall::{OpenHow, ResolveFlags, Statx, StatxFlags, StatxMask};
use ringfs::{Backend, Dir, Driver};

use crate::entry::lstat;
use crate::node::{Node, OPEN};
use crate::visitor::OrderedVisitor;
use crate::walker::Turn;

type Answer<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// A directory as it was opened: closed by whoever drops it, or by the ring.
pub(crate) enum OpenDir {
    Plain(OwnedFd),
    Ring(Dir),
}

impl AsFd for OpenDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(fd) => fd.as_fd(),
            Self::Ring(dir) => dir.as_fd(),
        }
    }
}

/// A directory that has been opened, and what that told.
pub(crate) struct Opened {
    pub(crate) dir: OpenDir,
    /// It did not come from memory, so reading it can sleep.
    pub(crate) cold: bool,
    /// Its mount is known to be local.
    pub(crate) local: bool,
}

/// The way to the files.
pub(crate) struct Access {
    driver: Driver,
    /// openat2 may be called, and knows `RESOLVE_CACHED`.
    cached_open: AtomicBool,
}

static MOUNTS: PerFork<Mounts> = PerFork::new(Mounts::new);

impl Access {
    pub(crate) fn new(driver: Driver) -> Self {
        let cached_open = AtomicBool::new(driver.backend() == Backend::Auto);
        Self {
            driver,
            cached_open,
        }
    }

    pub(crate) fn is_ring(&self) -> bool {
        self.driver.backend() == Backend::Ring
    }

    /// Whether what is in memory can be had without sleeping where this answer came from.
    pub(crate) fn is_local(&self, stat: &Statx) -> bool {
        let locality = if self.driver.backend() == Backend::Threads {
            MOUNTS.get().locality_by_mountinfo(stat)
        } else {
            MOUNTS.get().locality(stat)
        };
        locality != Locality::MaySleep
    }

    /// A directory that was opened by a plain call.
    pub(crate) fn adopt(&self, fd: OwnedFd) -> OpenDir {
        if self.is_ring() {
            OpenDir::Ring(self.driver.dir_from_fd(fd))
        } else {
            OpenDir::Plain(fd)
        }
    }

    /// Looks at a root, relative to the current directory.
    pub(crate) fn poll_look(
        &self,
        asked: &mut Asked,
        cx: &mut Context<'_>,
        member: &Member<'_>,
        path: &[u8],
        mask: StatxMask,
    ) -> Poll<io::Result<Statx>> {
        if !self.is_ring() {
            return Poll::Ready(
                member
                    .may_sleep(|| fscall::with_c_path(path, |path| lstat(fscall::CWD, path, mask))),
            );
        }
        let look = asked.look.get_or_insert_with(|| {
            let driver = self.driver.clone();
            let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
            Box::pin(async move { driver.statx(&path).follow_symlinks(false).mask(mask).await })
        });
        let answer = ready!(look.as_mut().poll(cx));
        asked.look = None;
        Poll::Ready(answer)
    }

    /// Opens a directory relative to its parent.
    pub(crate) fn poll_open<V: OrderedVisitor>(
        &self,
        asked: &mut Asked,
        cx: &mut Context<'_>,
        turn: &Turn<'_, V>,
        node: &Node<V>,
    ) -> Poll<io::Result<Opened>> {
        if let Some(open) = &mut asked.open {
            let dir = ready!(open.as_mut().poll(cx));
            asked.open = None;
            return Poll::Ready(dir.map(|dir| Opened {
                dir: OpenDir::Ring(dir),
                cold: false,
                local: false,
            }));
        }
        let parent = match node.parent() {
            Some(parent) => {
                let at_hand = parent.dir().map(Ok);
                let reopen = || turn.member.may_sleep(|| parent.reopen(self));
                match at_hand.unwrap_or_else(reopen) {
                    Ok(dir) => Some(dir),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            None => None,
        };
        if !self.is_ring() {
            let at = parent.as_ref().map_or(fscall::CWD, |dir| dir.as_fd());
            let local = node.parent().is_some_and(|parent| parent.is_local());
            let opened = fscall::with_c_path(node.name(), |name| match node.parent() {
                Some(_) if local => self.open_below_local(at, name, turn.member),
                Some(_) => open_announced(at, name, turn.member, false),
                None => open_announced(at, name, turn.member, node.is_local()),
            });
            return Poll::Ready(opened);
        }
        let driver = self.driver.clone();
        let name = PathBuf::from(std::ffi::OsString::from_vec(node.name().to_vec()));
        asked.open = Some(Box::pin(async move {
            match parent.as_deref() {
                Some(OpenDir::Ring(parent)) => parent.open_dir_at(&name).await,
                _ => driver.open_dir(&name).await,
            }
        }));
        self.poll_open(asked, cx, turn, node)
    }

    /// Opens a directory whose parent is on a local mount: from memory, if it is there and on the
    /// same mount. Only then is it certain that the open cannot sleep, whatever the lookup does.
    fn open_below_local(
        &self,
        dir: BorrowedFd<'_>,
        name: &CStr,
        member: &Member<'_>,
    ) -> io::Result<Opened> {
        if !self.cached_open.load(Ordering::Relaxed) {
            // Nothing tells whether it is in memory or elsewhere. That it is local like its parent
            // is likely, and announcing every call would cost too much.
            let dir = OpenDir::Plain(fscall::openat(dir, name, OPEN)?);
            return Ok(Opened {
                dir,
                cold: false,
                local: true,
            });
        }
        let how = OpenHow::new(OPEN, ResolveFlags::CACHED | ResolveFlags::NO_XDEV);
        let error = match fscall::openat2(dir, name, &how) {
            Ok(fd) => {
                return Ok(Opened {
                    dir: OpenDir::Plain(fd),
                    cold: false,
                    local: true,
                });
            }
            Err(error) => error.raw_os_error(),
        };
        if error == Some(libc::EAGAIN) {
            let how = OpenHow::new(OPEN, ResolveFlags::NO_XDEV);
            let opened = member.may_sleep(|| fscall::openat2(dir, name, &how));
            if let Ok(fd) = opened {
                return Ok(Opened {
                    dir: OpenDir::Plain(fd),
                    cold: true,
                    local: true,
                });
            }
        }
        // Another mount, or an error, which only the plain call is to be believed.
        let opened = open_announced(dir, name, member, false)?;
        if matches!(error, Some(libc::ENOSYS | libc::EPERM | libc::EINVAL)) {
            self.cached_open.store(false, Ordering::Relaxed);
        }
        let flags = StatxFlags::DONT_SYNC;
        let stat = member.may_sleep(|| fscall::statx_fd(opened.dir.as_fd(), flags, Mounts::mask()));
        let local = stat.is_ok_and(|stat| self.is_local(&stat));
        Ok(Opened { local, ..opened })
    }

    /// Whether a large directory is to be visited in inode order; GNU find's rule.
    pub(crate) fn inode_order_helps(&self, dir: &OpenDir) -> bool {
        let flags = StatxFlags::DONT_SYNC;
        fscall::statx_fd(dir.as_fd(), flags, Mounts::mask()).map_or(true, |stat| {
            MOUNTS
                .get()
                .inode_order_helps(&stat, self.driver.backend() != Backend::Threads)
        })
    }
}

/// Opens a directory in a call that may sleep, and says so first.
fn open_announced(
    dir: BorrowedFd<'_>,
    name: &CStr,
    member: &Member<'_>,
    local: bool,
) -> io::Result<Opened> {
    let fd = member.may_sleep(|| fscall::openat(dir, name, OPEN))?;
    Ok(Opened {
        dir: OpenDir::Plain(fd),
        cold: true,
        local,
    })
}

/// What a directory's task has asked the ring and not been answered yet.
#[derive(Default)]
pub(crate) struct Asked {
    look: Option<Answer<Statx>>,
    open: Option<Answer<Dir>>,
    stats: Vec<Question>,
    /// The first question that was open in the last round; `None` before the first.
    open_from: Option<usize>,
    closing: Vec<Answer<()>>,
}

#[allow(clippy::large_enum_variant, reason = "most questions are answered")]
enum Question {
    /// Nothing that the directory does not tell.
    None,
    Waiting(Answer<Statx>),
    Answered(Option<io::Result<Statx>>),
}

impl Asked {
    /// How many entries of a directory the ring is asked about at a time.
    pub(crate) const WINDOW: usize = 512;

    pub(crate) fn has_questions(&self) -> bool {
        !self.stats.is_empty()
    }

    /// Asks for the fields of `mask`, if any, of a file in the directory.
    pub(crate) fn question(&mut self, dir: &Arc<OpenDir>, name: &[u8], mask: StatxMask) {
        if mask.is_empty() || matches!(**dir, OpenDir::Plain(_)) {
            return self.stats.push(Question::None);
        }
        let dir = Arc::clone(dir);
        let name = name.to_vec();
        self.stats.push(Question::Waiting(Box::pin(async move {
            let OpenDir::Ring(dir) = &*dir else {
                return Err(io::ErrorKind::Unsupported.into());
            };

            let path = Path::new(std::ffi::OsStr::from_bytes(&name));
            dir.statx_at(path).follow_symlinks(false).mask(mask).await
        })));
    }

    /// Ready when all questions are answered.
    pub(crate) fn poll_answers(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // The first round asks all of them. After that it is enough to wait for the first that is
        // open, or each answer would cost a look at every question.
        let asks = self.open_from.is_none();
        let mut first_open = None;
        let from = self.open_from.unwrap_or(0);
        for (index, question) in self.stats.iter_mut().enumerate().skip(from) {
            if let Question::Waiting(answer) = question {
                match answer.as_mut().poll(cx) {
                    Poll::Ready(answer) => *question = Question::Answered(Some(answer)),
                    Poll::Pending => {
                        first_open.get_or_insert(index);
                        if !asks {
                            break;
                        }
                    }
                }
            }
        }
        self.open_from = first_open;
        first_open.map_or(Poll::Ready(()), |_| Poll::Pending)
    }

    /// About how many entries there are answers.
    pub(crate) fn answered(&self) -> usize {
        self.stats.len()
    }

    /// The answer about an entry, `Some(None)` if nothing was asked about it; `None` if the ring
    /// was not asked at all.
    #[allow(
        clippy::option_option,
        reason = "whether it was asked, and whether there was a question"
    )]
    pub(crate) fn answer(&mut self, entry: usize) -> Option<Option<io::Result<Statx>>> {
        match self.stats.get_mut(entry)? {
            Question::None | Question::Waiting(_) => Some(None),
            Question::Answered(answer) => Some(answer.take()),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.stats.clear();
        self.open_from = None;
    }

    /// Closes a directory that nobody needs any more: through the ring if it came from there.
    pub(crate) fn close(&mut self, dir: Option<Arc<OpenDir>>) {
        if let Some(OpenDir::Ring(dir)) = dir.and_then(Arc::into_inner) {
            let mut close: Answer<()> = Box::pin(dir.close());
            // Polled once it is on its way, however long the directory's own work takes.
            if close
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
            {
                self.closing.push(close);
            }
        }
    }

    /// Ready when all that was to be closed is.
    pub(crate) fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // An error of a directory that was only read has nothing to say.
        self.closing
            .retain_mut(|close| close.as_mut().poll(cx).is_pending());
        if self.closing.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
