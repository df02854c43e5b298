//! Order: what was found in parallel is emitted in pre-order, by whoever completes what emission
//! waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::node::{Node, Part};
use crate::output::{Added, Taken};
use crate::task::DirTask;
use crate::visitor::{OrderedVisitor, Visit};
use crate::walker::Walker;
use blockpool::lock;

/// From this many bytes on that wait for their turn, only the directory that emission waits for
/// is walked on.
pub(crate) const MOST_HELD: usize = 4 * 1024 * 1024;
/// What a directory that is still to be walked counts for: its node, name and output so far.
const NODE_WEIGHT: usize = 512;

/// What waits for its turn.
#[derive(Default)]
pub(crate) struct Held {
    bytes: AtomicUsize,
    nodes: AtomicUsize,
}

/// How far emission has come.
pub(crate) struct Emitter<V: OrderedVisitor> {
    /// The directories on the way to where it is.
    path: Vec<Frame<V>>,
}

/// A directory, with the parts that have been taken from it and not been emitted yet, the next
/// one last.
struct Frame<V: OrderedVisitor> {
    node: Arc<Node<V>>,
    parts: Vec<Part<V>>,
}

impl<V: OrderedVisitor> Frame<V> {
    fn new(node: Arc<Node<V>>) -> Self {
        Self {
            node,
            parts: Vec::new(),
        }
    }
}

impl<V: OrderedVisitor> Emitter<V> {
    pub(crate) fn new(top: Arc<Node<V>>) -> Self {
        Self {
            path: vec![Frame::new(top)],
        }
    }

    /// Takes the tree apart that has not been emitted.
    pub(crate) fn dismantle(&mut self) {
        for frame in self.path.drain(..) {
            dismantle(frame.parts);
            dismantle(take_parts(&frame.node));
        }
    }
}

/// Takes parts apart with all that hangs on them: directories and their parts hold each other.
fn dismantle<V: OrderedVisitor>(mut parts: Vec<Part<V>>) {
    while let Some(part) = parts.pop() {
        if let Part::Child(node) = part {
            parts.extend(take_parts(&node));
        }
    }
}

fn take_parts<V: OrderedVisitor>(node: &Node<V>) -> Vec<Part<V>> {
    let (parts, throttled) = node.output.dismantle();
    drop(throttled);
    parts
}

impl<V: OrderedVisitor> Walker<V> {
    /// Adds to a directory's output, and emits on if that is what emission waits for.
    pub(crate) fn publish(&self, node: &Node<V>, parts: &mut Vec<Part<V>>, complete: bool) {
        if !self.is_ordered() {
            return self.emit_unordered(parts);
        }
        // Before anybody can emit them, and so take them off again.
        let (bytes, nodes) = weigh(parts);
        self.held.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.held.nodes.fetch_add(nodes, Ordering::Relaxed);
        match node.output.add(parts, complete, || self.is_stopped()) {
            Added::Waits => {}
            Added::Wanted => self.emit(),
            Added::Refused => dismantle(std::mem::take(parts)),
        }
    }

    fn emit_unordered(&self, parts: &mut Vec<Part<V>>) {
        for part in parts.drain(..) {
            match part {
                Part::Out(segment, _) => {
                    if self.visitor().emit(segment) == Visit::Quit {
                        self.finish();
                    }
                }
                Part::Child(_) => {}
                Part::Quit => self.finish(),
            }
        }
    }

    /// Emits until there is nothing to emit yet. Only the one who took a directory's `wanted` mark
    /// comes here, so the lock is free.
    pub(crate) fn emit(&self) {
        let mut emitter = lock(self.emitter());
        while !self.is_stopped() {
            // The roots were there before anything was counted as held.
            let is_counted = emitter.path.len() > 1;
            let Some(frame) = emitter.path.last_mut() else {
                return self.finish();
            };
            let Some(part) = frame.parts.pop() else {
                match frame.node.output.take(&mut frame.parts) {
                    Taken::Some => {}
                    Taken::Complete => {
                        if let Some(frame) = emitter.path.pop() {
                            self.recycle_parts(frame.parts);
                        }
                    }
                    Taken::Waiting(throttled) => return self.wait_for(&frame.node, throttled),
                }
                continue;
            };
            if is_counted {
                self.unhold(&part);
            }
            match part {
                Part::Child(child) => emitter.path.push(Frame::new(child)),
                Part::Quit => return self.finish(),
                Part::Out(segment, _) => {
                    if self.visitor().emit(segment) == Visit::Quit {
                        return self.finish();
                    }
                }
            }
        }
    }

    /// Emission ends here for now: sees to it that the directory gets its turn.
    fn wait_for(&self, node: &Arc<Node<V>>, throttled: Option<Box<DirTask<V>>>) {
        if let Some(task) = throttled {
            self.resume(task);
        } else if !node.is_claimed() {
            self.want(node);
        }
        self.visitor().idle();
    }

    /// So much output waits for its turn that only the directory that emission waits for goes on.
    pub(crate) fn is_full(&self) -> bool {
        self.is_ordered() && self.held.bytes.load(Ordering::Relaxed) >= MOST_HELD
    }

    /// Whether a directory that has more to read should wait for its turn: also for the sake of
    /// the sub-directories that it would find.
    pub(crate) fn should_wait(&self) -> bool {
        let nodes = || self.held.nodes.load(Ordering::Relaxed) * NODE_WEIGHT;
        self.is_full() || self.is_ordered() && nodes() >= MOST_HELD
    }

    /// A part has found its turn. Crossing the limit lets others go on.
    fn unhold(&self, part: &Part<V>) {
        match part {
            Part::Out(_, weight) => {
                let before = self.held.bytes.fetch_sub(*weight, Ordering::Relaxed);
                if before >= MOST_HELD && before - weight < MOST_HELD {
                    self.wake_someone();
                }
            }
            Part::Child(_) => {
                self.held.nodes.fetch_sub(1, Ordering::Relaxed);
            }
            Part::Quit => {}
        }
    }

    /// Leaves the task with its directory until emission comes there; gives it back if it is
    /// there already.
    pub(crate) fn throttle(&self, task: Box<DirTask<V>>) -> Option<Box<DirTask<V>>> {
        let node = Arc::clone(task.node());
        node.output.throttle(task, || self.is_stopped())
    }
}

/// The bytes of output and the number of directories in these parts.
fn weigh<V: OrderedVisitor>(parts: &[Part<V>]) -> (usize, usize) {
    let mut sums = (0, 0);
    for part in parts {
        match part {
            Part::Out(_, weight) => sums.0 += weight,
            Part::Child(_) => sums.1 += 1,
            Part::Quit => {}
        }
    }
    sums
}
