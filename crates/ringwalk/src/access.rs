//! How a walk reaches files: by plain calls on its own threads, or through the ring.

use std::ffi::{CStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use blockpool::PerFork;
use fscall::mounts::{Locality, Mounts};
use fscall::{FileType, OpenHow, ResolveFlags, Statx, StatxFlags, StatxMask};
use ringfs::{Backend, Dir, Driver};

use crate::asked::Asked;
use crate::chunk::Chunk;
use crate::entry::{lstat, stat};
use crate::node::{Node, OPEN, OPEN_FOLLOWED};
use crate::options::{Boundary, Rules};
use crate::place::Place;
use crate::visitor::OrderedVisitor;
use crate::walker::Turn;
use crate::worker::Worker;

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

impl Opened {
    fn plain(fd: OwnedFd, cold: bool, local: bool) -> Self {
        let dir = OpenDir::Plain(fd);
        Self { dir, cold, local }
    }
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

    /// Whether others than the walk's threads can be asked while those do something else.
    pub(crate) fn can_spread(&self) -> bool {
        self.driver.backend() != Backend::ThisThread
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

    /// Lends a directory to the driver, with a descriptor of its own.
    pub(crate) fn lend(&self, dir: &OpenDir) -> io::Result<Dir> {
        let fd = dir.as_fd().try_clone_to_owned()?;
        Ok(self.driver.dir_from_fd(fd))
    }

    /// Looks at a root, relative to the current directory; at what it leads to if it is a link that
    /// is followed, and whether it was. A link to nothing is looked at itself.
    pub(crate) fn poll_look(
        &self,
        asked: &mut Asked,
        cx: &mut Context<'_>,
        member: &Worker<'_>,
        path: &[u8],
        (mask, follow): (StatxMask, bool),
    ) -> Poll<io::Result<(Statx, bool)>> {
        if !self.is_ring() || follow {
            let look = |path: &CStr| {
                let own = lstat(fscall::CWD, path, mask | StatxMask::TYPE)?;
                if !follow || !own.file_type().is_some_and(FileType::is_symlink) {
                    return Ok((own, false));
                }
                Ok(match followed(fscall::CWD, path, mask)? {
                    Some(target) => (target, true),
                    None => (own, false),
                })
            };
            return Poll::Ready(member.may_sleep(|| fscall::with_c_path(path, look)));
        }
        let look = asked.look.get_or_insert_with(|| {
            let driver = self.driver.clone();
            let path = PathBuf::from(OsString::from_vec(path.to_vec()));
            Box::pin(async move { driver.statx(&path).follow_symlinks(false).mask(mask).await })
        });
        let answer = ready!(look.as_mut().poll(cx));
        asked.look = None;
        Poll::Ready(answer.map(|stat| (stat, false)))
    }

    /// Opens a directory relative to its parent. `None`: it is not to be entered. Where that may sleep
    /// the first entries are read into `ahead` as well: to announce a sleep takes as long as a
    /// directory in memory.
    pub(crate) fn poll_open<V: OrderedVisitor>(
        &self,
        asked: &mut Asked,
        cx: &mut Context<'_>,
        turn: &Turn<'_, V>,
        node: &Node<V>,
        mut ahead: Option<&mut Chunk>,
    ) -> Poll<io::Result<Option<Opened>>> {
        if let Some(open) = &mut asked.open {
            let dir = ready!(open.as_mut().poll(cx));
            asked.open = None;
            return Poll::Ready(dir.map(|dir| {
                Some(Opened {
                    dir: OpenDir::Ring(dir),
                    cold: false,
                    local: false,
                })
            }));
        }
        let parent = match node.parent() {
            Some(parent) => match self.at_hand(parent, turn.member) {
                Ok(dir) => Some(dir),
                Err(error) => return Poll::Ready(Err(error)),
            },
            None => None,
        };
        let at = parent.as_ref().map_or(fscall::CWD, |dir| dir.as_fd());
        let caution = Caution::of(&turn.walker.options.rules, node);
        if !self.is_ring() || node.is_followed() {
            let local = node.parent().is_some_and(|parent| parent.is_local());
            let opened = fscall::with_c_path(node.name(), |name| match node.parent() {
                Some(_) if local && !node.is_followed() => {
                    let how = (&caution, &mut ahead);
                    self.open_below_local(at, name, turn.member, how, turn.walker.is_sleepy())
                }
                Some(_) => Self::open_announced(at, name, turn.member, (&caution, &mut ahead)),
                None => {
                    let how = (&caution, &mut ahead);
                    let opened = Self::open_announced(at, name, turn.member, how)?;
                    let local = node.is_local();
                    Ok(opened.map(|opened| Opened { local, ..opened }))
                }
            });
            return Poll::Ready(opened.map(|opened| {
                opened.map(|opened| match opened.dir {
                    OpenDir::Plain(fd) => Opened {
                        dir: self.adopt(fd),
                        ..opened
                    },
                    OpenDir::Ring(_) => opened,
                })
            }));
        }
        let entered =
            fscall::with_c_path(node.name(), |name| caution.allows(at, name, turn.member));
        match entered {
            Ok(true) => {}
            Ok(false) => return Poll::Ready(Ok(None)),
            Err(error) => return Poll::Ready(Err(error)),
        }
        let driver = self.driver.clone();
        let name = PathBuf::from(OsString::from_vec(node.name().to_vec()));
        asked.open = Some(Box::pin(async move {
            match parent.as_deref() {
                Some(OpenDir::Ring(parent)) => parent.open_dir_at(&name).await,
                _ => driver.open_dir(&name).await,
            }
        }));
        self.poll_open(asked, cx, turn, node, None)
    }

    /// The descriptor of a directory that has been read; opened again if it was closed meanwhile.
    pub(crate) fn at_hand<V: OrderedVisitor>(
        &self,
        node: &Node<V>,
        member: &Worker<'_>,
    ) -> io::Result<Arc<OpenDir>> {
        let reopen = || member.may_sleep(|| node.reopen(self));
        node.dir().map_or_else(reopen, Ok)
    }

    /// Opens a directory whose parent is on a local mount: from memory, if it is there and on the
    /// same mount. Only then is it certain that the open cannot sleep, whatever the lookup does.
    fn open_below_local(
        &self,
        dir: BorrowedFd<'_>,
        name: &CStr,
        member: &Worker<'_>,
        (caution, ahead): (&Caution<'_>, &mut Option<&mut Chunk>),
        sleepy: bool,
    ) -> io::Result<Option<Opened>> {
        if !self.cached_open.load(Ordering::Relaxed) {
            if !caution.allows(dir, name, member)? {
                return Ok(None);
            }
            // Nothing tells whether it is in memory or elsewhere. That it is local like its parent
            // is likely, and announcing every call would cost too much: unless there is any mount that
            // passes it on to a server, which may never answer.
            let fd = member.asleep_if(has_servers(), || fscall::openat(dir, name, OPEN))?;
            return Ok(Some(Opened::plain(fd, false, true)));
        }
        // Where the last ones were not in memory, to ask for this one there would be in vain.
        let mut error = Some(libc::EAGAIN);
        if !sleepy {
            let how = OpenHow::new(OPEN, ResolveFlags::CACHED | ResolveFlags::NO_XDEV);
            match fscall::openat2(dir, name, &how) {
                Ok(fd) => return Ok(Some(Opened::plain(fd, false, true))),
                Err(no) => error = no.raw_os_error(),
            }
        }
        if !caution.allows(dir, name, member)? {
            return Ok(None);
        }
        if error == Some(libc::EAGAIN) {
            let how = OpenHow::new(OPEN, ResolveFlags::NO_XDEV);
            let open = || read_ahead(fscall::openat2(dir, name, &how), ahead);
            match member.may_sleep(open) {
                Ok(fd) => return Ok(Some(Opened::plain(fd, true, true))),
                Err(no) => error = no.raw_os_error(),
            }
        }
        // Another mount, or an error, which only the plain call is to be believed.
        let fd = member.may_sleep(|| fscall::openat(dir, name, OPEN))?;
        if matches!(error, Some(libc::ENOSYS | libc::EPERM | libc::EINVAL)) {
            self.cached_open.store(false, Ordering::Relaxed);
        }
        let flags = StatxFlags::DONT_SYNC;
        let stat = member.may_sleep(|| fscall::statx_fd(fd.as_fd(), flags, Mounts::mask()));
        let local = stat.is_ok_and(|stat| self.is_local(&stat));
        Ok(Some(Opened::plain(fd, true, local)))
    }

    /// Opens a directory in a call that may sleep, and says so first. Nothing is known of its mount.
    fn open_announced(
        dir: BorrowedFd<'_>,
        name: &CStr,
        member: &Worker<'_>,
        (caution, ahead): (&Caution<'_>, &mut Option<&mut Chunk>),
    ) -> io::Result<Option<Opened>> {
        if !caution.allows(dir, name, member)? {
            return Ok(None);
        }
        let flags = if caution.followed {
            OPEN_FOLLOWED
        } else {
            OPEN
        };
        let open = || read_ahead(fscall::openat(dir, name, flags), ahead);
        let fd = member.may_sleep(open)?;
        Ok(Some(Opened::plain(fd, true, false)))
    }

    /// Whether a large directory is to be visited in inode order; GNU find's rule.
    pub(crate) fn inode_order_helps(&self, dir: BorrowedFd<'_>) -> bool {
        let flags = StatxFlags::DONT_SYNC;
        fscall::statx_fd(dir, flags, Mounts::mask()).map_or(true, |stat| {
            MOUNTS
                .get()
                .inode_order_helps(&stat, self.driver.backend() != Backend::Threads)
        })
    }
}

/// Reads the first entries of a directory that has just been opened.
fn read_ahead(opened: io::Result<OwnedFd>, ahead: &mut Option<&mut Chunk>) -> io::Result<OwnedFd> {
    if let (Ok(fd), Some(chunk)) = (&opened, ahead) {
        chunk.read_ahead(fd.as_fd());
    }
    opened
}

/// Whether there is any mount that passes questions on to a server.
pub(crate) fn has_servers() -> bool {
    MOUNTS.get().servers().is_some()
}

/// What a link leads to; `None` if to nothing. It may sleep for as long as whoever is there likes.
pub(crate) fn followed(
    dir: BorrowedFd<'_>,
    name: &CStr,
    mask: StatxMask,
) -> io::Result<Option<Statx>> {
    match stat(dir, name, mask | StatxMask::TYPE | Place::MASK) {
        Ok(target) => Ok(Some(target)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What must be known of a directory before it is opened: opening an automount point would mount
/// something, and opening another file system's directory only to find out that it is one may ask a
/// server that does not answer.
pub(crate) struct Caution<'a> {
    /// Automount points are not to be opened, and there are some.
    triggers: bool,
    boundary: Boundary,
    parent: Option<&'a Place>,
    followed: bool,
}

impl<'a> Caution<'a> {
    fn of<V: OrderedVisitor>(rules: &Rules, node: &'a Node<V>) -> Self {
        let parent = node.parent();
        let place = parent.and_then(|parent| parent.place());
        Self::new(rules, parent.is_none(), place, node.is_followed())
    }

    /// For a directory found in `parent`, or a root.
    pub(crate) fn new(
        rules: &Rules,
        is_root: bool,
        parent: Option<&'a Place>,
        followed: bool,
    ) -> Self {
        Self {
            // Roots have been asked for.
            triggers: !rules.automount && !is_root && MOUNTS.get().has_automount_points(),
            boundary: rules.boundary,
            parent,
            followed,
        }
    }

    fn allows(&self, dir: BorrowedFd<'_>, name: &CStr, member: &Worker<'_>) -> io::Result<bool> {
        if !self.asks() {
            return Ok(true);
        }
        member.may_sleep(|| self.allows_now(dir, name))
    }

    /// Whether anything has to be known at all.
    fn asks(&self) -> bool {
        self.triggers || self.boundary != Boundary::None && self.parent.is_some()
    }

    /// Whether the directory may be opened, as far as can be told without asking anybody.
    pub(crate) fn allows_now(&self, dir: BorrowedFd<'_>, name: &CStr) -> io::Result<bool> {
        if !self.asks() {
            return Ok(true);
        }
        let mut flags = StatxFlags::NO_AUTOMOUNT | StatxFlags::DONT_SYNC;
        flags.set(StatxFlags::SYMLINK_NOFOLLOW, !self.followed);
        let stat = fscall::statx(dir, Some(name), flags, Place::MASK)?;
        let place = Place::of(&stat);
        let leaves = |parent: &Place| !parent.may_lead_to(&place, self.boundary);
        Ok(!(self.parent.is_some_and(leaves)
            || self.triggers && MOUNTS.get().is_automount_point(&stat)))
    }
}
