//! A directory that is still to be walked, being walked, or needed by what is below it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use fscall::{FileType, OFlags};

use crate::access::{Access, OpenDir};
use crate::chunk::Found;
use crate::descriptors::{Descriptor, Descriptors};
use crate::entry::EntryRef;
use crate::output::Output;
use crate::place::{Identity, Place};
use crate::span::Span;
use crate::task::DirTask;
use crate::visitor::OrderedVisitor;
use crate::worker::Worker;
use blockpool::lock;

/// How a directory is opened that was reached by a link which is to be followed.
pub(crate) const OPEN_FOLLOWED: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
/// How every other directory is opened. Links are not followed, so that one that takes the place of a
/// directory can't lead out of the tree.
pub(crate) const OPEN: OFlags = OPEN_FOLLOWED.union(OFlags::NOFOLLOW);

/// A root or a directory below one.
pub(crate) struct Node<V: OrderedVisitor> {
    /// `None` for a root.
    parent: Option<Arc<Node<V>>>,
    /// The name in the parent; of a root, the path as given.
    name: Box<[u8]>,
    depth: usize,
    /// How long its root's name is.
    root_len: usize,
    ino: u64,
    span: Span,
    /// It is a link that is followed.
    followed: AtomicBool,
    /// Its contents are walked, if it can be opened.
    entered: AtomicBool,
    /// Which directory it is, once it has been opened, if the walk has to know.
    place: OnceLock<Place>,
    claimed: AtomicBool,
    /// Its mount is known to be local, so what is in memory can be had without sleeping.
    local: AtomicBool,
    handle: Mutex<Handle>,
    /// Sub-directories found and not opened yet, and one more while the directory is being read.
    needed_by: AtomicUsize,
    /// The same, but until they are walked to their ends; counted where contents come first.
    unfinished: AtomicUsize,
    /// What the visit of the directory itself wrote; its task takes it along.
    head: Mutex<V::Segment>,
    pub(crate) output: Output<Part<V>, Box<DirTask<V>>>,
}

/// The directory's descriptor, while those below need it.
enum Handle {
    None,
    Open {
        dir: Arc<OpenDir>,
        _kept: Descriptor,
    },
    /// Closed to spare descriptors, to be found again by its name and known by its identity.
    Parked(Identity),
}

/// A piece of a directory's output.
pub(crate) enum Part<V: OrderedVisitor> {
    Out(V::Segment, usize),
    Child(Arc<Node<V>>),
    Quit,
}

impl<V: OrderedVisitor> Node<V> {
    pub(crate) fn root(path: &[u8], span: Span) -> Self {
        let root = Self::new(None, path, (0, 0), span, V::Segment::default());
        // Until it has been looked at.
        root.set_entered(false);
        root
    }

    pub(crate) fn child(
        parent: &Arc<Self>,
        found: &Found<'_>,
        span: Span,
        head: V::Segment,
    ) -> Self {
        let place = (parent.depth + 1, found.ino);
        Self::new(Some(Arc::clone(parent)), found.name(), place, span, head)
    }

    /// What holds the roots together: a directory that is never opened, and complete.
    pub(crate) fn top(roots: impl Iterator<Item = Arc<Self>>) -> Self {
        let parts = roots.map(Part::Child).collect();
        let mut top = Self::new(None, b"", (0, 0), Span::ALL, V::Segment::default());
        top.output = Output::new(parts, true);
        top.claimed.store(true, Ordering::Relaxed);
        top
    }

    fn new(
        parent: Option<Arc<Self>>,
        name: &[u8],
        (depth, ino): (usize, u64),
        span: Span,
        head: V::Segment,
    ) -> Self {
        Self {
            root_len: parent.as_ref().map_or(name.len(), |parent| parent.root_len),
            parent,
            name: name.into(),
            depth,
            ino,
            span,
            followed: AtomicBool::new(false),
            entered: AtomicBool::new(true),
            place: OnceLock::new(),
            claimed: AtomicBool::new(false),
            local: AtomicBool::new(false),
            handle: Mutex::new(Handle::None),
            needed_by: AtomicUsize::new(1),
            unfinished: AtomicUsize::new(1),
            head: Mutex::new(head),
            output: Output::new(Vec::new(), false),
        }
    }

    pub(crate) fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref()
    }

    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// How long its root's name is.
    pub(crate) fn root_len(&self) -> usize {
        self.root_len
    }

    /// Where in the walk's order it lies, as far as numbers can tell.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// True for the one who may work on it.
    pub(crate) fn claim(&self) -> bool {
        !self.claimed.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Acquire)
    }

    /// It is a link that is followed.
    pub(crate) fn is_followed(&self) -> bool {
        self.followed.load(Ordering::Relaxed)
    }

    /// It, or a directory that it is in, is a link that is followed.
    pub(crate) fn is_below_link(&self) -> bool {
        self.upwards().any(Self::is_followed)
    }

    pub(crate) fn set_followed(&self) {
        self.followed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_entered(&self) -> bool {
        self.entered.load(Ordering::Relaxed)
    }

    pub(crate) fn set_entered(&self, entered: bool) {
        self.entered.store(entered, Ordering::Relaxed);
    }

    fn open_flags(&self) -> OFlags {
        if self.is_followed() {
            OPEN_FOLLOWED
        } else {
            OPEN
        }
    }

    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.get()
    }

    pub(crate) fn set_place(&self, place: Place) {
        let _ = self.place.set(place);
    }

    /// The nearest directory upwards, this one included, that is the same.
    pub(crate) fn ancestor(&self, identity: Identity) -> Option<&Self> {
        let is_same = |place: &Place| place.identity == identity;
        self.upwards()
            .find(|node| node.place().is_some_and(is_same))
    }

    /// One more sub-directory has to be walked to its end before this one is done.
    pub(crate) fn await_one(&self) {
        self.unfinished.fetch_add(1, Ordering::Relaxed);
    }

    /// One less; true if it was the last.
    pub(crate) fn one_finished(&self) -> bool {
        self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(crate) fn is_local(&self) -> bool {
        self.local.load(Ordering::Relaxed)
    }

    pub(crate) fn set_local(&self, local: bool) {
        self.local.store(local, Ordering::Relaxed);
    }

    /// What the visit of the directory itself wrote.
    pub(crate) fn take_head(&self) -> V::Segment {
        std::mem::take(&mut lock(&self.head))
    }

    fn handle(&self) -> MutexGuard<'_, Handle> {
        lock(&self.handle)
    }

    /// Replaces `out` by what stands before the names in this directory: its path and a `/`,
    /// unless the path ends in one already.
    pub(crate) fn prefix(&self, out: &mut Vec<u8>) {
        let mut len = 0;
        for node in self.upwards() {
            len += node.name.len() + usize::from(node.needs_slash());
        }
        out.clear();
        out.resize(len, b'/');
        // From the end, where the walk up the tree begins.
        for node in self.upwards() {
            let end = len - usize::from(node.needs_slash());
            len = end - node.name.len();
            out[len..end].copy_from_slice(&node.name);
        }
    }

    /// Whether a `/` is to be put behind the name.
    fn needs_slash(&self) -> bool {
        !self.name.ends_with(b"/")
    }

    /// This directory, its parent, and so on up to the root.
    fn upwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |node| node.parent.as_deref())
    }

    /// What stands before this directory's own name.
    pub(crate) fn parent_prefix(&self, out: &mut Vec<u8>) {
        match &self.parent {
            Some(parent) => parent.prefix(out),
            None => out.clear(),
        }
    }

    /// The directory as its own entry, found in `parent`, with what stands before its name.
    pub(crate) fn entry<'a>(
        &'a self,
        parent: Option<&'a Arc<OpenDir>>,
        dir_path: &'a [u8],
    ) -> EntryRef<'a> {
        EntryRef {
            dir: parent.map_or(fscall::CWD, |dir| dir.as_fd()),
            dir_path,
            name: &self.name,
            depth: self.depth,
            root_len: self.root_len,
            ino: self.ino,
            file_type: Some(FileType::DIRECTORY),
            followed: self.is_followed(),
            stat: None,
        }
    }

    /// This directory's path.
    pub(crate) fn path(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.parent_prefix(&mut path);
        path.extend_from_slice(&self.name);
        path
    }

    /// One more sub-directory will have to be opened relative to this one.
    pub(crate) fn need(&self) {
        self.needed_by.fetch_add(1, Ordering::Relaxed);
    }

    /// One need less. After the last, gives out the descriptor to be closed.
    pub(crate) fn release(&self) -> Option<Arc<OpenDir>> {
        if self.needed_by.fetch_sub(1, Ordering::AcqRel) != 1 {
            return None;
        }
        match std::mem::replace(&mut *self.handle(), Handle::None) {
            Handle::Open { dir, .. } => Some(dir),
            Handle::None | Handle::Parked(_) => None,
        }
    }

    /// Keeps the descriptor for those below, or only what it can be found again by; that takes a
    /// call that may sleep. Without either the descriptor is kept however many there are.
    pub(crate) fn keep(&self, dir: &Arc<OpenDir>, kept: &Descriptors, member: &Worker<'_>) {
        let handle = if let Some(descriptor) = kept.take() {
            Handle::Open {
                dir: Arc::clone(dir),
                _kept: descriptor,
            }
        } else if let Ok(place) = member.may_sleep(|| Place::of_fd(dir.as_fd())) {
            Handle::Parked(place.identity)
        } else {
            Handle::Open {
                dir: Arc::clone(dir),
                _kept: kept.take_anyway(),
            }
        };
        *self.handle() = handle;
    }

    /// Whether the descriptor is at hand, without opening anything.
    pub(crate) fn dir(&self) -> Option<Arc<OpenDir>> {
        match &*self.handle() {
            Handle::Open { dir, .. } => Some(Arc::clone(dir)),
            Handle::None | Handle::Parked(_) => None,
        }
    }

    /// Opens this directory, which has been read, by the `..` of one right below it, and makes sure that
    /// it is the same: that one may have been moved.
    pub(crate) fn reopen_from_below(
        &self,
        below: &OpenDir,
        access: &Access,
    ) -> io::Result<Arc<OpenDir>> {
        let dir = access.adopt(fscall::openat(below.as_fd(), c"..", OPEN)?);
        let is_same = |place: &Place| {
            Place::of_fd(dir.as_fd()).is_ok_and(|there| there.identity == place.identity)
        };
        if self.place().is_some_and(is_same) {
            Ok(Arc::new(dir))
        } else {
            Err(moved())
        }
    }

    /// Opens this directory again from the nearest one above that is open, and makes sure that it
    /// is still the same.
    pub(crate) fn reopen(&self, access: &Access) -> io::Result<Arc<OpenDir>> {
        let mut below = Vec::new();
        let mut node = self;
        let start = loop {
            below.push(node);
            let Some(parent) = node.parent.as_deref() else {
                break None;
            };
            if let Some(dir) = parent.dir() {
                break Some(dir);
            }
            node = parent;
        };
        let mut at: Option<OwnedFd> = None;
        for node in below.into_iter().rev() {
            let dir = match (&at, &start) {
                (Some(fd), _) => fd.as_fd(),
                (None, Some(dir)) => dir.as_fd(),
                (None, None) => fscall::CWD,
            };
            at = Some(fscall::with_c_path(&node.name, |name| {
                fscall::openat(dir, name, node.open_flags())
            })?);
        }
        let fd = at.ok_or(io::ErrorKind::NotFound)?;
        let dir = Arc::new(access.adopt(fd));
        let parked = match &*self.handle() {
            Handle::Parked(identity) => Some(*identity),
            Handle::None | Handle::Open { .. } => None,
        };
        let known = self.place().map(|place| place.identity).or(parked);
        match known {
            Some(identity) if identity != Place::of_fd(dir.as_fd())?.identity => Err(moved()),
            _ => Ok(dir),
        }
    }
}

/// Something else has taken the directory's place since it was read.
fn moved() -> io::Error {
    io::Error::from_raw_os_error(libc::ESTALE)
}

/// A chain of ten thousand parents must not be dropped by as many nested calls.
impl<V: OrderedVisitor> Drop for Node<V> {
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(node) = parent {
            parent = Arc::into_inner(node).and_then(|mut node| node.parent.take());
        }
    }
}
