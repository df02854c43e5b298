//! The walk of one directory: open, read, look, visit, hand over what is below.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fscall::StatxMask;
use fscall::mounts::Mounts;

use crate::access::{OpenDir, Opened};
use crate::asked::Asked;
use crate::chunk::Chunk;
use crate::descriptors::Descriptor;
use crate::entry::EntryRef;
use crate::error::{Action, Error};
use crate::node::{Node, Part};
use crate::place::Place;
use crate::span::Span;
use crate::spread::Spread;
use crate::visit::{Visible, Visited, cut, fill};
use crate::visitor::{OrderedVisitor, Visit};
use crate::walker::{Turn, Walker};

/// A directory being walked. It runs on a worker until it is done, or waits for the ring or for
/// its turn.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct DirTask<V: OrderedVisitor> {
    pub(crate) node: Arc<Node<V>>,
    stage: Stage,
    dir: Option<Arc<OpenDir>>,
    /// Opening it could sleep, so its reads and stats can as well.
    cold: bool,
    /// Stats of its entries have slept: others are asked about them, all at the same time.
    slow: bool,
    /// What is left of the directory's span for sub-directories that are still to be found.
    pub(crate) span: Span,
    /// The output since the last sub-directory.
    pub(crate) out: V::Segment,
    /// The directory's own output, where it comes after its contents.
    last: V::Segment,
    pub(crate) tools: Tools<V>,
    pub(crate) asked: Asked,
    /// How many entries the visitor has seen since that was counted.
    pub(crate) visited: usize,
    /// The answers that are on their way.
    spread: Option<Spread>,
    /// The right to the descriptor that was lent for them.
    lent: Option<Descriptor>,
    /// The walk ends with this directory.
    quits: bool,
    counted: bool,
    /// The right to have it open.
    _descriptor: Descriptor,
}

/// What one directory after the other is walked with, to spare allocations. Empty in between.
pub(crate) struct Tools<V: OrderedVisitor> {
    pub(crate) chunk: Chunk,
    /// Finished output that has not been published.
    pub(crate) parts: Vec<Part<V>>,
    /// Sub-directories that have not been queued.
    pub(crate) children: Vec<Arc<Node<V>>>,
}

impl<V: OrderedVisitor> Default for Tools<V> {
    fn default() -> Self {
        Self {
            chunk: Chunk::default(),
            parts: Vec::new(),
            children: Vec::new(),
        }
    }
}

enum Stage {
    /// A root, of which nothing is known yet.
    Look,
    Open,
    Read,
    /// Others are asked about the next entries.
    Ask,
    Visit,
    Close,
}

/// How a task's turn ended.
pub(crate) enum Step {
    Done,
    /// Something it waits for will wake it.
    Pending,
    /// Enough output waits to be emitted; it goes on when emission comes here.
    Throttled,
    /// The consumer is behind; it goes on when that has caught up.
    HeldUp,
}

impl<V: OrderedVisitor> DirTask<V> {
    pub(crate) fn new(node: Arc<Node<V>>, tools: Tools<V>, descriptor: Descriptor) -> Self {
        let stage = if node.parent().is_none() {
            Stage::Look
        } else {
            Stage::Open
        };
        Self {
            span: node.span(),
            node,
            stage,
            dir: None,
            cold: false,
            slow: false,
            out: V::Segment::default(),
            last: V::Segment::default(),
            tools,
            asked: Asked::default(),
            visited: 0,
            spread: None,
            lent: None,
            quits: false,
            counted: false,
            _descriptor: descriptor,
        }
    }

    /// Takes the directory's own output along: it comes first, or last.
    fn take_head(&mut self, contents_first: bool) {
        let head = self.node.take_head();
        if contents_first {
            self.last = head;
        } else {
            self.out = head;
        }
    }

    pub(crate) fn node(&self) -> &Arc<Node<V>> {
        &self.node
    }

    pub(crate) fn into_tools(mut self) -> Tools<V> {
        self.tools.chunk.reset();
        self.tools.parts.clear();
        self.tools.children.clear();
        self.tools
    }

    /// Goes on as far as possible.
    pub(crate) fn step(&mut self, turn: &mut Turn<'_, V>, cx: &mut Context<'_>) -> Step {
        loop {
            let stopped = turn.walker.is_stopped();
            if stopped && !matches!(self.stage, Stage::Close) {
                return Step::Done;
            }
            let next = match self.stage {
                Stage::Look => self.look(turn, cx),
                Stage::Open => self.open(turn, cx),
                Stage::Read if turn.walker.is_held_up() => return Step::HeldUp,
                Stage::Read if turn.walker.should_wait() && !self.node.output.is_wanted() => {
                    return Step::Throttled;
                }
                Stage::Read => Poll::Ready(self.read(turn)),
                Stage::Ask => self.ask(turn, cx),
                Stage::Visit => Poll::Ready(self.visit(turn)),
                Stage::Close => match self.asked.poll_close(cx) {
                    Poll::Ready(()) => return Step::Done,
                    // They are on their way, and nobody has to wait for them.
                    Poll::Pending if stopped => return Step::Done,
                    Poll::Pending => Poll::Pending,
                },
            };
            match next {
                Poll::Ready(stage) => self.stage = stage,
                Poll::Pending => return Step::Pending,
            }
        }
    }

    /// Looks at a root and visits it.
    fn look(&mut self, turn: &mut Turn<'_, V>, cx: &mut Context<'_>) -> Poll<Stage> {
        let rules = &turn.walker.options.rules;
        let mask = StatxMask::BASIC_STATS | Mounts::mask() | rules.mask;
        let name = self.node.name();
        let access = &turn.walker.access;
        let how = (mask, rules.follows(0));
        let answer = ready!(access.poll_look(&mut self.asked, cx, turn.member, name, how));
        let (stat, followed) = match answer {
            Ok(answer) => answer,
            Err(error) => {
                let error = Error::new(Action::Stat, name.to_vec(), 0, error);
                return Poll::Ready(self.fail(turn, &error));
            }
        };
        self.node.set_local(access.is_local(&stat));
        if followed {
            self.node.set_followed();
        }
        let entry = EntryRef {
            dir: fscall::CWD,
            dir_path: b"",
            name,
            depth: 0,
            root_len: name.len(),
            ino: stat.ino().unwrap_or(0),
            file_type: stat.file_type(),
            followed,
            stat: Some(Ok(&stat)),
        };
        if !rules.admits(&entry) {
            return Poll::Ready(self.end(turn));
        }
        let enters = rules.enters(&entry);
        let is_late = enters && rules.contents_first;
        let visit = if rules.min_depth > 0 || is_late && !turn.walker.is_ordered() {
            Visit::Continue
        } else if is_late {
            turn.walker.visitor().visit(&entry, &mut self.last)
        } else {
            turn.walker.visitor().visit(&entry, &mut self.out)
        };
        if let Some(progress) = &rules.progress
            && rules.min_depth == 0
            && (turn.walker.is_ordered() || !is_late)
        {
            progress.visited(1);
        }
        self.node.set_entered(enters);
        Poll::Ready(match visit {
            Visit::Continue if enters => Stage::Open,
            // Its contents come before the end.
            Visit::Quit if is_late => {
                self.quits = true;
                Stage::Open
            }
            Visit::Continue | Visit::Prune => self.end(turn),
            Visit::Quit => self.quit(turn),
        })
    }

    fn open(&mut self, turn: &mut Turn<'_, V>, cx: &mut Context<'_>) -> Poll<Stage> {
        let rules = &turn.walker.options.rules;
        // Otherwise it may be one that is not to be read at all.
        let any = !rules.need_places(turn.walker.is_ordered());
        let ahead = any.then_some(&mut self.tools.chunk);
        let access = &turn.walker.access;
        let opened = ready!(access.poll_open(&mut self.asked, cx, turn, &self.node, ahead));
        if self.node.parent().is_some() {
            self.take_head(rules.contents_first);
        }
        if let Some(progress) = &rules.progress {
            progress.begun(self.node.path());
        }
        let stage = match opened.and_then(|opened| self.settle(turn, opened)) {
            Ok(true) => Stage::Read,
            Ok(false) => self.end(turn),
            Err(error) => self.unopened(turn, error),
        };
        if let Some(parent) = self.node.parent() {
            self.asked.close(parent.release());
        }
        Poll::Ready(stage)
    }

    /// Takes up a directory that has been opened; false if it is not to be walked.
    fn settle(&mut self, turn: &Turn<'_, V>, opened: Option<Opened>) -> io::Result<bool> {
        let Some(Opened { dir, cold, local }) = opened else {
            return Ok(false);
        };
        let rules = &turn.walker.options.rules;
        if rules.need_places(turn.walker.is_ordered()) {
            let place = turn.member.asleep_if(cold, || Place::of_fd(dir.as_fd()))?;
            let parent = self.node.parent();
            let outside = parent
                .and_then(|parent| parent.place())
                .is_some_and(|parent| !parent.may_lead_to(&place, rules.boundary));
            let identity = place.identity;
            if outside || rules.once && !turn.walker.is_first_at(identity) {
                return Ok(false);
            }
            // The link may have been changed since it was looked at.
            if self.node.is_followed()
                && parent.is_some_and(|parent| parent.ancestor(identity).is_some())
            {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            self.node.set_place(place);
        }
        self.node.set_local(local);
        self.dir = Some(Arc::new(dir));
        self.cold = cold || turn.walker.is_sleepy();
        Ok(true)
    }

    /// Reports a directory that cannot be opened, in the place of its contents.
    fn unopened(&mut self, turn: &mut Turn<'_, V>, error: io::Error) -> Stage {
        let node = &self.node;
        let parent = node.parent().and_then(|parent| parent.dir());
        node.parent_prefix(&mut turn.scratch.prefix);
        let entry = node.entry(parent.as_ref(), &turn.scratch.prefix);
        let error = Error::new(Action::Open, entry.path_bytes(), node.depth(), error);
        let own = if turn.walker.options.rules.contents_first {
            &mut self.last
        } else {
            &mut self.out
        };
        match turn.walker.visitor().unopened(&entry, &error, own) {
            Visit::Continue | Visit::Prune => self.end(turn),
            Visit::Quit => self.quit(turn),
        }
    }

    fn fail(&mut self, turn: &mut Turn<'_, V>, error: &Error) -> Stage {
        match turn.walker.visitor().error(error, &mut self.out) {
            Visit::Continue | Visit::Prune => self.end(turn),
            Visit::Quit => self.quit(turn),
        }
    }

    fn read(&mut self, turn: &mut Turn<'_, V>) -> Stage {
        // Borrowed: at the end of the directory its last handle goes to the ring to be closed.
        let Some(dir) = &self.dir else {
            return self.end(turn);
        };
        // Whether the ring had to wait for it is not told.
        let may_sleep = self.cold || turn.walker.access.is_ring();
        let chunk = &mut self.tools.chunk;
        let may_sleep = may_sleep && chunk.may_read();
        let bare = Visible {
            dir: dir.as_fd(),
            prefix: b"",
            depth: self.node.depth() + 1,
            root_len: self.node.root_len(),
        };
        let prefix = |out: &mut Vec<u8>| self.node.prefix(out);
        let (access, sort) = (&turn.walker.access, &turn.walker.options.rules.sort);
        let filled = turn
            .member
            .asleep_if(may_sleep, || fill(chunk, access, sort, &bare, prefix));
        match filled {
            Ok(true) if self.slow || turn.walker.access.is_ring() => Stage::Ask,
            Ok(true) => Stage::Visit,
            Ok(false) => self.end(turn),
            Err(error) => {
                let error = Error::new(Action::Read, self.node.path(), self.node.depth(), error);
                self.fail(turn, &error)
            }
        }
    }

    /// Asks others for what the visitor wants to know of the next entries.
    fn ask(&mut self, turn: &mut Turn<'_, V>, cx: &mut Context<'_>) -> Poll<Stage> {
        let Some(dir) = &self.dir else {
            return Poll::Ready(self.end(turn));
        };
        if !self.asked.is_about_entries() {
            let most = if turn.walker.access.is_ring() {
                Asked::WINDOW
            } else {
                // As many as there is memory for the answers; if there is none left, enough others
                // are asked about for one thread to go on by itself.
                self.spread = turn.walker.spread(self.tools.chunk.len());
                match &self.spread {
                    Some(spread) => spread.most(),
                    None => return Poll::Ready(Stage::Visit),
                }
            };
            let lent = match &**dir {
                OpenDir::Ring(_) => None,
                // Without a descriptor to spare it goes on by itself as well.
                OpenDir::Plain(_) => {
                    self.lent = turn.walker.reading.take();
                    let lent = self.lent.as_ref();
                    match lent.and_then(|_| turn.walker.access.lend(dir).ok()) {
                        Some(lent) => Some(lent),
                        None => return Poll::Ready(Stage::Visit),
                    }
                }
            };
            self.node.prefix(&mut turn.scratch.prefix);
            let visible = Visible {
                dir: dir.as_fd(),
                prefix: &turn.scratch.prefix,
                depth: self.node.depth() + 1,
                root_len: self.node.root_len(),
            };
            let wanted = self.tools.chunk.wanted(turn.walker, &visible, most);
            match (&**dir, &lent) {
                (OpenDir::Ring(dir), _) | (_, Some(dir)) => self.asked.ask(dir, wanted),
                (OpenDir::Plain(_), None) => {}
            }
        }
        ready!(self.asked.poll_answers(cx));
        Poll::Ready(Stage::Visit)
    }

    /// Visits the entries that have been read, or those that others were asked about.
    fn visit(&mut self, turn: &mut Turn<'_, V>) -> Stage {
        let Some(dir) = self.dir.as_ref().map(Arc::clone) else {
            return self.end(turn);
        };
        let is_answered = self.asked.is_about_entries();
        let count = if is_answered {
            self.asked.answered()
        } else {
            self.tools.chunk.len()
        };
        self.node.prefix(&mut turn.scratch.prefix);
        let prefix = std::mem::take(&mut turn.scratch.prefix);
        let visible = Visible {
            dir: dir.as_fd(),
            prefix: &prefix,
            depth: self.node.depth() + 1,
            root_len: self.node.root_len(),
        };
        // Without a question about any of them nothing is called.
        let asleep =
            self.cold && !is_answered && self.tools.chunk.asks(turn.walker, &visible, count);
        let end = turn.member.asleep_if(asleep, || {
            self.visit_all(turn.walker, turn.member, (count, asleep), &visible)
        });
        turn.scratch.prefix = prefix;
        let count = match end {
            Visited::Slowly(visited) => {
                self.slow = true;
                visited
            }
            Visited::All | Visited::Quit => count,
        };
        self.tools.chunk.advance(count);
        self.asked.forget();
        self.spread = None;
        self.lent = None;
        if end == Visited::Quit {
            return self.quit(turn);
        }
        let all_visited = self.tools.chunk.len() == 0;
        let ended = all_visited && self.tools.chunk.has_ended();
        self.hand_over(turn, &dir, ended);
        // The last handle goes to the ring to be closed.
        drop(dir);
        if ended {
            self.let_go(turn)
        } else if all_visited {
            Stage::Read
        } else {
            Stage::Ask
        }
    }

    /// Counts the directory as walked, once: at the latest before its end can be seen.
    pub(crate) fn count(&mut self, walker: &Walker<V>) {
        if !std::mem::replace(&mut self.counted, true) {
            walker.count(&self.node);
        }
    }

    /// Ends the current segment.
    fn cut(&mut self, walker: &Walker<V>) {
        cut(walker.visitor(), &mut self.out, &mut self.tools.parts);
    }

    /// Ends the last one.
    fn cut_last(&mut self, walker: &Walker<V>) {
        self.count(walker);
        self.cut(walker);
        cut(walker.visitor(), &mut self.last, &mut self.tools.parts);
        if self.quits {
            self.tools.parts.push(Part::Quit);
        }
    }

    /// Publishes the output so far and queues the sub-directories that were found.
    fn hand_over(&mut self, turn: &mut Turn<'_, V>, dir: &Arc<OpenDir>, complete: bool) {
        if complete {
            self.cut_last(turn.walker);
        } else {
            self.cut(turn.walker);
        }
        let ordered = turn.walker.is_ordered();
        // In any order what is found is emitted at once, and a sub-directory that is queued may
        // be walked at once: it must not come before its own entry.
        if !ordered {
            turn.walker
                .publish(&self.node, &mut self.tools.parts, complete);
        }
        if !self.tools.children.is_empty() {
            if self.node.dir().is_none() {
                self.node.keep(dir, &turn.walker.kept, turn.member);
            }
            for _ in &self.tools.children {
                self.node.need();
                if turn.walker.comes_late() {
                    self.node.await_one();
                }
            }
            turn.walker.queue(&mut self.tools.children);
        }
        if ordered {
            turn.walker
                .publish(&self.node, &mut self.tools.parts, complete);
        }
        turn.walker.tell(turn.member);
    }

    /// The directory has no more to give.
    fn end(&mut self, turn: &mut Turn<'_, V>) -> Stage {
        self.cut_last(turn.walker);
        turn.walker.publish(&self.node, &mut self.tools.parts, true);
        self.let_go(turn)
    }

    /// The visitor has seen what it looked for: this is the last that the walk will emit.
    fn quit(&mut self, turn: &mut Turn<'_, V>) -> Stage {
        self.cut(turn.walker);
        self.tools.parts.push(Part::Quit);
        // Those found before the last entry still come first.
        if let Some(dir) = self.dir.as_ref().map(Arc::clone) {
            self.hand_over(turn, &dir, true);
        } else {
            turn.walker.publish(&self.node, &mut self.tools.parts, true);
        }
        self.let_go(turn)
    }

    /// Lets go of the descriptor, unless a sub-directory needs it.
    fn let_go(&mut self, turn: &mut Turn<'_, V>) -> Stage {
        drop(self.node.release());
        let dir = self.dir.take();
        if turn.walker.comes_late() {
            self.finish(turn, dir.as_ref().map(Arc::clone));
        }
        self.asked.close(dir);
        Stage::Close
    }

    /// All below the directory may have been walked: if so its own entry is next, and then perhaps
    /// those above. `here` is the directory, if it could be opened.
    fn finish(&mut self, turn: &mut Turn<'_, V>, mut here: Option<Arc<OpenDir>>) {
        let mut node = Arc::clone(&self.node);
        while node.one_finished() {
            let mut parent_dir = None;
            if node.is_entered() && !turn.walker.is_stopped() {
                let visit = match above(turn, &node, here.as_deref()) {
                    Ok(dir) => {
                        parent_dir = dir;
                        self.visit_late(turn, &node, parent_dir.as_ref())
                    }
                    Err(error) => self.miss_late(turn, &node, error),
                };
                self.cut(turn.walker);
                if visit == Visit::Quit {
                    self.tools.parts.push(Part::Quit);
                }
            }
            turn.walker.publish(&node, &mut self.tools.parts, true);
            let Some(parent) = node.parent() else {
                return;
            };
            node = Arc::clone(parent);
            here = parent_dir;
        }
    }
}

/// The directory that a node is in, which may have been closed long ago; `None` for a root.
fn above<V: OrderedVisitor>(
    turn: &Turn<'_, V>,
    node: &Node<V>,
    here: Option<&OpenDir>,
) -> io::Result<Option<Arc<OpenDir>>> {
    let Some(parent) = node.parent() else {
        return Ok(None);
    };
    if let Some(dir) = parent.dir() {
        return Ok(Some(dir));
    }
    let access = &turn.walker.access;
    // One step, however deep it is. The `..` of what a link leads to is another, and that of a directory
    // that may be read and not searched can't be opened.
    if let Some(here) = here.filter(|_| !node.is_followed()) {
        let again = || parent.reopen_from_below(here, access);
        if let Ok(dir) = turn.member.may_sleep(again) {
            return Ok(Some(dir));
        }
    }
    turn.member.may_sleep(|| parent.reopen(access)).map(Some)
}
