//! The walk of one directory: open, read, look, visit, hand over what is below.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fscall::mounts::Mounts;
use fscall::{FileType, StatxMask};

use crate::access::{Asked, OpenDir, Opened};
use crate::chunk::{Chunk, Found};
use crate::entry::{EntryRef, lstat};
use crate::error::{Error, ErrorKind};
use crate::node::{Node, Part};
use crate::span::Span;
use crate::visitor::{OrderedVisitor, Visit};
use crate::walker::{Options, Turn, Walker, asleep_if};

/// A directory being walked. It runs on a worker until it is done, or waits for the ring or for
/// its turn.
pub(crate) struct DirTask<V: OrderedVisitor> {
    node: Arc<Node<V>>,
    stage: Stage,
    dir: Option<Arc<OpenDir>>,
    /// Opening it could sleep, so its reads and stats can as well.
    cold: bool,
    /// What is left of the directory's span for sub-directories that are still to be found.
    span: Span,
    /// The output since the last sub-directory.
    out: V::Segment,
    tools: Tools<V>,
    asked: Asked,
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
    /// The ring is asked about the next entries.
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
}

impl<V: OrderedVisitor> DirTask<V> {
    pub(crate) fn new(node: Arc<Node<V>>, tools: Tools<V>) -> Self {
        let stage = if node.parent().is_none() {
            Stage::Look
        } else {
            Stage::Open
        };
        let out = std::mem::take(&mut node.order().head);
        Self {
            span: node.span(),
            node,
            stage,
            dir: None,
            cold: false,
            out,
            tools,
            asked: Asked::default(),
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
                Stage::Read if turn.walker.should_wait() && !self.node.order().wanted => {
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
        let mask = StatxMask::BASIC_STATS | Mounts::mask() | turn.walker.options.mask;
        let name = self.node.name();
        let answer =
            ready!(
                turn.walker
                    .access
                    .poll_look(&mut self.asked, cx, turn.member, name, mask)
            );
        let stat = match answer {
            Ok(stat) => stat,
            Err(error) => {
                let error = Error::new(ErrorKind::Stat, name.to_vec(), 0, error);
                return Poll::Ready(self.fail(turn, &error));
            }
        };
        self.node.set_local(turn.walker.access.is_local(&stat));
        let entry = EntryRef {
            dir: fscall::CWD,
            dir_path: b"",
            name,
            depth: 0,
            ino: stat.ino().unwrap_or(0),
            file_type: stat.file_type(),
            stat: Some(Ok(&stat)),
        };
        let visit = if turn.walker.options.min_depth == 0 {
            turn.walker.visitor().visit(&entry, &mut self.out)
        } else {
            Visit::Continue
        };
        let is_dir = stat.file_type().is_some_and(FileType::is_dir);
        Poll::Ready(match visit {
            Visit::Continue if is_dir && turn.walker.options.max_depth > 0 => Stage::Open,
            Visit::Continue | Visit::Prune => self.end(turn),
            Visit::Quit => self.quit(turn),
        })
    }

    fn open(&mut self, turn: &mut Turn<'_, V>, cx: &mut Context<'_>) -> Poll<Stage> {
        let opened = ready!(
            turn.walker
                .access
                .poll_open(&mut self.asked, cx, turn, &self.node)
        );
        let stage = match opened {
            Ok(Opened { dir, cold, local }) => {
                self.node.set_local(local);
                self.dir = Some(Arc::new(dir));
                self.cold = cold;
                Stage::Read
            }
            Err(error) => self.unopened(turn, error),
        };
        if let Some(parent) = self.node.parent() {
            self.asked.close(parent.release(&turn.walker.kept));
        }
        Poll::Ready(stage)
    }

    /// Reports a directory that cannot be opened, in the place of its contents.
    fn unopened(&mut self, turn: &mut Turn<'_, V>, error: io::Error) -> Stage {
        let node = &self.node;
        let parent = node.parent().and_then(|parent| parent.dir());
        node.parent_prefix(&mut turn.scratch.prefix);
        let entry = EntryRef {
            dir: parent.as_ref().map_or(fscall::CWD, |dir| dir.as_fd()),
            dir_path: &turn.scratch.prefix,
            name: node.name(),
            depth: node.depth(),
            ino: node.ino(),
            file_type: Some(FileType::DIRECTORY),
            stat: None,
        };
        let error = Error::new(ErrorKind::Open, entry.path_bytes(), node.depth(), error);
        match turn
            .walker
            .visitor()
            .unopened(&entry, &error, &mut self.out)
        {
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
        let sort = || turn.walker.access.inode_order_helps(dir);
        let sort: Option<&dyn Fn() -> bool> =
            turn.walker.options.sort_large_by_inode.then_some(&sort);
        let filled = asleep_if(may_sleep, turn.member, || chunk.fill(dir.as_fd(), sort));
        match filled {
            Ok(true) if turn.walker.access.is_ring() => Stage::Ask,
            Ok(true) => Stage::Visit,
            Ok(false) => self.end(turn),
            Err(error) => {
                let error = Error::new(ErrorKind::Read, self.node.path(), self.node.depth(), error);
                self.fail(turn, &error)
            }
        }
    }

    /// Asks the ring for what the visitor wants to know of the next entries.
    fn ask(&mut self, turn: &mut Turn<'_, V>, cx: &mut Context<'_>) -> Poll<Stage> {
        let Some(dir) = &self.dir else {
            return Poll::Ready(self.end(turn));
        };
        if !self.asked.has_questions() {
            self.node.prefix(&mut turn.scratch.prefix);
            let visible = Visible {
                dir: dir.as_fd(),
                prefix: &turn.scratch.prefix,
                depth: self.node.depth() + 1,
            };
            for ahead in 0..self.tools.chunk.len().min(Asked::WINDOW) {
                let Some(found) = self.tools.chunk.peek(ahead) else {
                    break;
                };
                let mask = turn.walker.mask_for(&visible.entry(&found));
                self.asked.question(dir, found.name(), mask);
            }
        }
        ready!(self.asked.poll_answers(cx));
        Poll::Ready(Stage::Visit)
    }

    /// Visits the entries that have been read, or those that the ring was asked about.
    fn visit(&mut self, turn: &mut Turn<'_, V>) -> Stage {
        let Some(dir) = self.dir.as_ref().map(Arc::clone) else {
            return self.end(turn);
        };
        let count = if turn.walker.access.is_ring() {
            self.asked.answered()
        } else {
            self.tools.chunk.len()
        };
        self.node.prefix(&mut turn.scratch.prefix);
        let prefix = std::mem::take(&mut turn.scratch.prefix);
        let cold = self.cold;
        let visible = Visible {
            dir: dir.as_fd(),
            prefix: &prefix,
            depth: self.node.depth() + 1,
        };
        let end = asleep_if(cold, turn.member, || {
            self.visit_all(turn.walker, count, &visible)
        });
        turn.scratch.prefix = prefix;
        self.tools.chunk.advance(count);
        self.asked.forget();
        if end == Visit::Quit {
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

    fn visit_all(&mut self, walker: &Walker<V>, count: usize, visible: &Visible<'_>) -> Visit {
        let Self {
            node,
            span,
            out,
            tools,
            asked,
            ..
        } = self;
        let Tools {
            chunk,
            parts,
            children,
        } = tools;
        let Options {
            min_depth,
            max_depth,
            ordered,
            ..
        } = walker.options;
        let visitor = walker.visitor();
        let is_visited = visible.depth >= min_depth;
        // By their places among all entries; how many of them are directories is not known yet.
        let place = span.take_half();
        for ahead in 0..count {
            let Some(found) = chunk.peek(ahead) else {
                continue;
            };
            let mut entry = visible.entry(&found);
            let answer = if let Some(answer) = asked.answer(ahead) {
                answer
            } else {
                let mask = walker.mask_for(&entry);
                (!mask.is_empty()).then(|| lstat(visible.dir, found.c_name(), mask))
            };
            entry.stat = answer.as_ref().map(Result::as_ref);
            if let (None, Some(Ok(stat))) = (entry.file_type, &answer) {
                entry.file_type = stat.file_type();
            }
            let descends =
                visible.depth < max_depth && entry.file_type.is_some_and(FileType::is_dir);
            // In order, the directory's own output begins the segment that its contents continue.
            let mut head = V::Segment::default();
            let own = if descends && ordered {
                &mut head
            } else {
                &mut *out
            };
            let visit = if is_visited {
                visitor.visit(&entry, own)
            } else {
                Visit::Continue
            };
            if descends && ordered {
                cut(visitor, out, parts);
            }
            match visit {
                Visit::Continue if descends => {
                    let span = place.part(ahead, count);
                    let child = Arc::new(Node::child(node, &found, span, head));
                    if ordered {
                        parts.push(Part::Child(Arc::clone(&child)));
                    }
                    children.push(child);
                }
                Visit::Continue => {}
                Visit::Prune | Visit::Quit => {
                    if descends && ordered {
                        *out = head;
                    }
                    if visit == Visit::Quit {
                        return Visit::Quit;
                    }
                }
            }
        }
        Visit::Continue
    }

    /// Ends the current segment.
    fn cut(&mut self, walker: &Walker<V>) {
        cut(walker.visitor(), &mut self.out, &mut self.tools.parts);
    }

    /// Publishes the output so far and queues the sub-directories that were found.
    fn hand_over(&mut self, turn: &mut Turn<'_, V>, dir: &Arc<OpenDir>, complete: bool) {
        self.cut(turn.walker);
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
            self.tools.children.iter().for_each(|_| self.node.need());
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
        self.cut(turn.walker);
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
        let kept = self.node.release(&turn.walker.kept);
        drop(kept);
        self.asked.close(self.dir.take());
        Stage::Close
    }
}

/// Moves a segment to the finished parts, unless it is empty.
fn cut<V: OrderedVisitor>(visitor: &V, out: &mut V::Segment, parts: &mut Vec<Part<V>>) {
    let weight = visitor.weight(out);
    if weight > 0 {
        parts.push(Part::Out(std::mem::take(out), weight));
    }
}

/// What all entries of a directory share.
struct Visible<'a> {
    dir: BorrowedFd<'a>,
    prefix: &'a [u8],
    depth: usize,
}

impl<'a> Visible<'a> {
    fn entry(&self, found: &Found<'a>) -> EntryRef<'a> {
        EntryRef {
            dir: self.dir,
            dir_path: self.prefix,
            name: found.name(),
            depth: self.depth,
            ino: found.ino,
            file_type: found.file_type,
            stat: None,
        }
    }
}
