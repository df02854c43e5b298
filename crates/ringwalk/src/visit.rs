//! The entries of a directory, one after the other: what is asked about them, and what comes of it.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use blockpool::SleepWatch;
use fscall::{FileType, Statx, StatxMask};

use crate::access::{Access, OpenDir, followed, has_servers};
use crate::chunk::{Chunk, Found, Sorting};
use crate::entry::{EntryRef, lstat};
use crate::error::{Action, Error};
use crate::node::{Node, Part};
use crate::options::Follow;
use crate::options::Sort;
use crate::place::{Identity, Place};
use crate::span::Span;
use crate::task::{DirTask, Tools};
use crate::visitor::{OrderedVisitor, Visit};
use crate::walker::{Turn, Walker};
use crate::worker::Worker;

/// A directory that was in memory is believed to have its files there as well, so only every so many
/// of its stats is looked at whether it has slept.
const BELIEVED: usize = 16;
/// So many entries more, and it is worth asking about all of them at once when one has slept: where a
/// server is asked each takes its time, and a disk brings many inodes at once.
const WORTH_SPREADING: usize = 8;
const WORTH_SPREADING_LOCALLY: usize = 256;

/// What all entries of a directory share.
pub(crate) struct Visible<'a> {
    pub(crate) dir: BorrowedFd<'a>,
    pub(crate) prefix: &'a [u8],
    pub(crate) depth: usize,
    pub(crate) root_len: usize,
}

impl<'a> Visible<'a> {
    pub(crate) fn entry(&self, found: &Found<'a>) -> EntryRef<'a> {
        self.bare(found.name(), found.ino, found.file_type)
    }

    /// An entry of which the directory tells this, and nothing else is known.
    pub(crate) fn bare(
        &self,
        name: &'a [u8],
        ino: u64,
        file_type: Option<FileType>,
    ) -> EntryRef<'a> {
        EntryRef {
            dir: self.dir,
            dir_path: self.prefix,
            name,
            depth: self.depth,
            root_len: self.root_len,
            ino,
            file_type,
            followed: false,
            stat: None,
        }
    }
}

/// Reads a directory's next entries, in the order that was asked for; false at its end. `visible` is the
/// directory without its path, which `prefix` writes if the order takes it.
pub(crate) fn fill(
    chunk: &mut Chunk,
    access: &Access,
    sort: &Sort,
    visible: &Visible<'_>,
    prefix: impl FnOnce(&mut Vec<u8>),
) -> io::Result<bool> {
    let helps = || access.inode_order_helps(visible.dir);
    let mut path = Vec::new();
    let by_caller;
    let sorting = match sort {
        Sort::Listed => Sorting::Listed,
        Sort::LargeByInode => Sorting::LargeByInode(&helps),
        Sort::ByName => Sorting::ByName,
        Sort::By(sort) => {
            prefix(&mut path);
            let visible = Visible {
                prefix: &path,
                ..*visible
            };
            by_caller = move |found: &[Found<'_>]| {
                let entries: Vec<_> = found.iter().map(|found| visible.entry(found)).collect();
                sort(&entries)
            };
            Sorting::By(&by_caller)
        }
    };
    chunk.fill(visible.dir, &sorting)
}

/// How far the visits came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visited {
    All,
    /// So many, and looking at files sleeps: the rest is better asked about at the same time.
    Slowly(usize),
    Quit,
}

/// What is known of an entry before it is visited.
pub(crate) struct Known {
    pub(crate) stat: Option<io::Result<Statx>>,
    pub(crate) file_type: Option<FileType>,
    /// It is a link that was followed.
    pub(crate) followed: bool,
    /// Which file it is, where it may be a directory that it is in.
    pub(crate) identity: Option<Identity>,
}

/// Which file a directory below a followed link is; `None` if nobody can tell.
pub(crate) fn identity(dir: BorrowedFd<'_>, name: &CStr) -> Option<Identity> {
    let answer = lstat(dir, name, Place::MASK).ok()?;
    Some(Identity::of(&answer))
}

/// Finds out at once what has to be known of an entry. An error stands in the way of even a visit: a
/// link that was to be followed, and can't be.
pub(crate) fn know(
    dir: BorrowedFd<'_>,
    name: &CStr,
    file_type: Option<FileType>,
    mask: StatxMask,
    follows: bool,
) -> io::Result<Known> {
    let is_link = |file_type: Option<FileType>| file_type.is_some_and(FileType::is_symlink);
    let spared = mask.is_empty() || follows && is_link(file_type);
    let answer = (!spared).then(|| lstat(dir, name, mask));
    let known = Known::of(answer, file_type);
    if follows && is_link(known.file_type) {
        let target = followed(dir, name, mask)?;
        return Ok(known.led_to(target.map(Box::new), mask, || lstat(dir, name, mask)));
    }
    Ok(known)
}

impl Known {
    /// With the answer about the entry itself, if it was asked for.
    fn of(answer: Option<io::Result<Statx>>, listed: Option<FileType>) -> Self {
        let file_type = match (listed, &answer) {
            (None, Some(Ok(stat))) => stat.file_type(),
            _ => listed,
        };
        Self {
            stat: answer,
            file_type,
            followed: false,
            identity: None,
        }
    }

    /// The link leads to `target`, or nowhere.
    fn led_to(
        mut self,
        target: Option<Box<Statx>>,
        mask: StatxMask,
        itself: impl FnOnce() -> io::Result<Statx>,
    ) -> Self {
        if let Some(target) = target {
            self.file_type = target.file_type();
            self.followed = true;
            self.identity = Some(Identity::of(&target));
            self.stat = (!mask.is_empty()).then_some(Ok(*target));
        } else if self.stat.is_none() && !mask.is_empty() {
            self.stat = Some(itself());
        }
        self
    }
}

impl<V: OrderedVisitor> DirTask<V> {
    /// Visits the next `count` entries. `asleep` says that the thread's place is given to others
    /// already.
    pub(crate) fn visit_all(
        &mut self,
        walker: &Walker<V>,
        member: &Worker<'_>,
        (count, asleep): (usize, bool),
        visible: &Visible<'_>,
    ) -> Visited {
        // By their places among all entries; how many of them are directories is not known yet.
        let place = self.span.take_half();
        let mut watch = Watch::new(asleep);
        let worth_spreading = if self.node.is_local() {
            WORTH_SPREADING_LOCALLY
        } else {
            WORTH_SPREADING
        };
        let mut looker = Looker {
            walker,
            below_link: walker.options.rules.follow == Follow::All && self.node.is_below_link(),
            member: (!asleep).then_some(member),
            visible,
            watch: walker.access.can_spread().then_some(&mut watch),
        };
        let mut end = Visited::All;
        for ahead in 0..count {
            let Some(found) = self.tools.chunk.peek(ahead) else {
                continue;
            };
            let answer = self.asked.take_answer(ahead);
            let known = looker.look(&found, answer);
            let span = place.part(ahead, count);
            match self.visit_one(walker, visible, ahead, (known, span)) {
                Visit::Continue | Visit::Prune => {}
                Visit::Quit => {
                    end = Visited::Quit;
                    break;
                }
            }
            if looker.has_slept() && count - ahead > worth_spreading {
                end = Visited::Slowly(ahead + 1);
                break;
            }
        }
        if let Some(progress) = &walker.options.rules.progress {
            progress.visited(std::mem::take(&mut self.visited));
        }
        end
    }

    /// Visits a directory after its contents, relative to the one `above`.
    pub(crate) fn visit_late(
        &mut self,
        turn: &mut Turn<'_, V>,
        node: &Node<V>,
        above: Option<&Arc<OpenDir>>,
    ) -> Visit {
        let (walker, member) = (turn.walker, turn.member);
        if node.depth() < walker.options.rules.min_depth {
            return Visit::Continue;
        }
        node.parent_prefix(&mut turn.scratch.prefix);
        let mut entry = node.entry(above, &turn.scratch.prefix);
        let mut mask = walker.mask_for(&entry);
        if entry.depth == 0 {
            mask |= StatxMask::BASIC_STATS;
        }
        let stat = (!mask.is_empty()).then(|| member.may_sleep(|| entry.statx(mask)));
        entry.stat = stat.as_ref().map(Result::as_ref);
        if let Some(progress) = &walker.options.rules.progress {
            progress.visited(1);
        }
        walker.visitor().visit(&entry, &mut self.out)
    }

    /// The same where the one above can't be opened again: relative to another directory it would be
    /// another file.
    pub(crate) fn miss_late(
        &mut self,
        turn: &Turn<'_, V>,
        node: &Node<V>,
        error: io::Error,
    ) -> Visit {
        if node.depth() < turn.walker.options.rules.min_depth {
            return Visit::Continue;
        }
        let error = Error::new(Action::Stat, node.path(), node.depth(), error);
        turn.walker.visitor().error(&error, &mut self.out)
    }

    fn visit_one(
        &mut self,
        walker: &Walker<V>,
        visible: &Visible<'_>,
        ahead: usize,
        (known, span): (io::Result<Known>, Span),
    ) -> Visit {
        let Self {
            node, out, tools, ..
        } = self;
        let Tools {
            chunk,
            parts,
            children,
        } = tools;
        let (rules, ordered) = (&walker.options.rules, walker.is_ordered());
        let visitor = walker.visitor();
        let Some(found) = chunk.peek(ahead) else {
            return Visit::Continue;
        };
        let mut entry = visible.entry(&found);
        let known = match known {
            Ok(known) => known,
            Err(_) if !rules.admits(&entry) => return Visit::Continue,
            Err(error) => {
                let error = Error::new(Action::Stat, entry.path_bytes(), entry.depth, error);
                return visitor.unfollowed(&entry, &error, out);
            }
        };
        entry.stat = known.stat.as_ref().map(Result::as_ref);
        entry.file_type = known.file_type;
        entry.followed = known.followed;
        if !rules.admits(&entry) {
            return Visit::Continue;
        }
        if entry.file_type.is_some_and(FileType::is_dir)
            && let Some(ancestor) = known.identity.and_then(|identity| node.ancestor(identity))
        {
            let error = Error::found_loop(entry.path_bytes(), entry.depth, ancestor.path());
            return visitor.error(&error, out);
        }
        let descends = rules.enters(&entry);
        // In order, the directory's own output begins the segment that its contents continue, or ends
        // it.
        let mut own = V::Segment::default();
        let is_late = descends && rules.contents_first;
        let is_seen = entry.depth >= rules.min_depth && (ordered || !is_late);
        self.visited += usize::from(is_seen);
        let visit = if !is_seen {
            Visit::Continue
        } else if descends && ordered {
            visitor.visit(&entry, &mut own)
        } else {
            visitor.visit(&entry, out)
        };
        if descends && ordered {
            cut(visitor, out, parts);
        }
        // Where its contents come first, they come also before the end.
        if descends && (visit == Visit::Continue || visit == Visit::Quit && is_late) {
            let child = Arc::new(Node::child(node, &found, span, own));
            if entry.followed {
                child.set_followed();
            }
            if ordered {
                parts.push(Part::Child(Arc::clone(&child)));
            }
            children.push(child);
        } else if descends && ordered {
            *out = own;
        }
        visit
    }
}

/// Finds out what has to be known of one entry after the other.
struct Looker<'a, 'w, V: OrderedVisitor> {
    walker: &'a Walker<V>,
    /// The directory was reached by a link that was followed, so one in it may be one that it is in.
    below_link: bool,
    /// Whose place is given to others before a call that may sleep; `None` if it has been.
    member: Option<&'a Worker<'a>>,
    visible: &'a Visible<'a>,
    watch: Option<&'w mut Watch>,
}

impl<V: OrderedVisitor> Looker<'_, '_, V> {
    /// What is known of an entry, with `answer` if it was asked about before. An error stands in the
    /// way of even a visit: a link that was to be followed, and can't be.
    fn look(
        &mut self,
        found: &Found<'_>,
        mut answer: Option<io::Result<Statx>>,
    ) -> io::Result<Known> {
        let entry = self.visible.entry(found);
        let file_type = found.file_type;
        let follows = self.walker.options.rules.follows(entry.depth);
        let mask = self.walker.mask_for(&entry);
        let is_link = |file_type: Option<FileType>| file_type.is_some_and(FileType::is_symlink);
        if answer.is_none() && !mask.is_empty() && !(follows && is_link(file_type)) {
            let look = || lstat(self.visible.dir, found.c_name(), mask);
            // A server that never answers may be mounted in the warmest directory.
            let may_be_mount = file_type.is_none_or(FileType::is_dir);
            answer = Some(match self.member {
                Some(member) if may_be_mount && has_servers() => member.may_sleep(look),
                _ => look(),
            });
            if let Some(watch) = &mut self.watch {
                watch.look();
            }
        }
        let mut known = Known::of(answer, file_type);
        if self.below_link && known.file_type.is_some_and(FileType::is_dir) {
            known.identity = identity(self.visible.dir, found.c_name());
        }
        if follows && is_link(known.file_type) {
            let follow = || followed(self.visible.dir, found.c_name(), mask);
            let target = match self.member {
                Some(member) => member.may_sleep(follow),
                None => follow(),
            };
            let itself = || lstat(self.visible.dir, found.c_name(), mask);
            return Ok(known.led_to(target?.map(Box::new), mask, itself));
        }
        Ok(known)
    }

    fn has_slept(&mut self) -> bool {
        let watch = self.watch.as_mut();
        watch.is_some_and(|watch| std::mem::take(&mut watch.slept))
    }
}

/// Notices calls that sleep.
struct Watch {
    sleeps: Option<SleepWatch>,
    /// After so many calls it is looked at.
    every: usize,
    calls: usize,
    slept: bool,
}

impl Watch {
    fn new(cold: bool) -> Self {
        Self {
            sleeps: None,
            every: if cold { 1 } else { BELIEVED },
            calls: 0,
            slept: false,
        }
    }

    /// A call has been made.
    fn look(&mut self) {
        self.calls += 1;
        if self.calls.is_multiple_of(self.every) {
            match &mut self.sleeps {
                Some(watch) => self.slept |= watch.has_slept(),
                // The first calls of a directory bring it to memory.
                None => self.sleeps = Some(SleepWatch::new()),
            }
        }
    }
}

impl Chunk {
    /// Whether anything is wanted of the next entries that the directory does not tell.
    pub(crate) fn asks<V: OrderedVisitor>(
        &self,
        walker: &Walker<V>,
        visible: &Visible<'_>,
        count: usize,
    ) -> bool {
        let asks = |found: Found<'_>| !walker.mask_for(&visible.entry(&found)).is_empty();
        (0..count).any(|ahead| self.peek(ahead).is_some_and(asks))
    }

    /// Names and fields that are wanted of the next entries, to ask others about them: nothing of a
    /// link that is to be followed, which is looked at when it is its turn.
    pub(crate) fn wanted<'a, V: OrderedVisitor>(
        &'a self,
        walker: &'a Walker<V>,
        visible: &'a Visible<'a>,
        most: usize,
    ) -> impl Iterator<Item = (&'a [u8], StatxMask)> {
        let follows = walker.options.rules.follows(visible.depth);
        (0..self.len().min(most)).filter_map(move |ahead| {
            let found = self.peek(ahead)?;
            let is_link = found.file_type.is_some_and(FileType::is_symlink);
            let mask = if follows && is_link {
                StatxMask::empty()
            } else {
                walker.mask_for(&visible.entry(&found))
            };
            Some((found.name(), mask))
        })
    }
}

/// Moves a segment to the finished parts, unless it is empty.
pub(crate) fn cut<V: OrderedVisitor>(visitor: &V, out: &mut V::Segment, parts: &mut Vec<Part<V>>) {
    let weight = visitor.weight(out);
    if weight > 0 {
        parts.push(Part::Out(std::mem::take(out), weight));
    }
}
