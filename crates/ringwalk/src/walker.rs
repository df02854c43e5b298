//! The shared state of a walk, and what its workers do.

use std::any::Any;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{AcqRel, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::task::{Context, Waker};

use blockpool::{Crew, Member, NoThread, SleepWatch, Work, lock};
use fscall::StatxMask;
use ringfs::coop;

use crate::access::Access;
use crate::descriptors::Descriptors;
use crate::emit::{Emitter, Held};
use crate::entry::EntryRef;
use crate::node::{Node, Part};
use crate::options::Options;
use crate::park::Park;
use crate::place::Identity;
use crate::span::Span;
use crate::spread::{Asking, Spread};
use crate::task::{DirTask, Step, Tools};
use crate::visitor::OrderedVisitor;
use crate::worker::{Flush, Worker};

/// So many directories are walked by the first thread alone: a small tree is done before a second
/// one has started.
const ALONE: usize = 16;

/// A walk.
pub(crate) struct Walker<V: OrderedVisitor> {
    visitor: Arc<V>,
    pub(crate) options: Options,
    pub(crate) access: Access,
    /// For directories that are being read, and for those that others below need.
    pub(crate) reading: Descriptors,
    pub(crate) kept: Descriptors,
    queue: Mutex<Queue<V>>,
    emitter: Mutex<Emitter<V>>,
    pub(crate) held: Held,
    /// Directories that are queued or being walked.
    live: AtomicUsize,
    /// Those being walked.
    active: AtomicUsize,
    walked: AtomicUsize,
    stopped: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    failure: Mutex<Option<io::Error>>,
    /// Gone when the walk is over: the crew holds the walk.
    crew: Mutex<Option<Crew>>,
    this: Weak<Walker<V>>,
    /// The caller's thread, when it takes part and has nothing to do.
    caller: Mutex<Caller>,
    caller_wakes: Condvar,
    spare: Mutex<Spare<V>>,
    asking: Asking,
    /// Directories that have been found and not been counted as walked, if anybody counts.
    uncounted: AtomicUsize,
    /// For how many directories more it is expected that they make threads sleep.
    sleepy: AtomicUsize,
    /// The directories that have been walked, where none is to be walked twice.
    seen: Mutex<HashSet<Identity>>,
}

/// What may be worked on next.
struct Queue<V: OrderedVisitor> {
    /// Emission waits for it and nobody has begun.
    wanted: Option<Arc<Node<V>>>,
    /// Directories that were waiting and can go on.
    resumed: Vec<Box<DirTask<V>>>,
    /// Directories that nobody has begun, the next in order on top.
    fresh: BinaryHeap<Fresh<V>>,
    /// How many directories have been queued.
    count: u64,
}

impl<V: OrderedVisitor> Default for Queue<V> {
    fn default() -> Self {
        Self {
            wanted: None,
            resumed: Vec::new(),
            fresh: BinaryHeap::new(),
            count: 0,
        }
    }
}

/// A directory that nobody has begun, with what it is chosen by: the first in order, so that as
/// little output as possible has to wait for its turn; among equals, and where there is no order,
/// the one that was queued last, whose surroundings are still in the caches.
struct Fresh<V: OrderedVisitor> {
    priority: (Reverse<u128>, u64),
    node: Arc<Node<V>>,
}

impl<V: OrderedVisitor> Ord for Fresh<V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.cmp(&other.priority)
    }
}

impl<V: OrderedVisitor> PartialOrd for Fresh<V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V: OrderedVisitor> PartialEq for Fresh<V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<V: OrderedVisitor> Eq for Fresh<V> {}

/// Memory for the directories to come.
struct Spare<V: OrderedVisitor> {
    /// Of workers that have left.
    tools: Vec<Tools<V>>,
    /// That have been emitted.
    parts: Vec<Vec<Part<V>>>,
}

impl<V: OrderedVisitor> Default for Spare<V> {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// When one directory has made a thread sleep, so many more are expected to.
const EXPECTED: usize = 64;

/// For so many directories at a time.
const SPARE: usize = 64;

/// The thread that asked for the walk.
#[derive(Default)]
struct Caller {
    /// It works, or waits for work; otherwise only the crew does.
    takes_part: bool,
    waits: bool,
    finished: bool,
}

/// What a worker keeps from one directory to the next.
pub(crate) struct Scratch<V: OrderedVisitor> {
    /// What stands before the names of the current directory.
    pub(crate) prefix: Vec<u8>,
    /// What the last directory was walked with.
    tools: Option<Tools<V>>,
    /// Tells whether a directory made the thread sleep.
    watch: SleepWatch,
}

/// A worker at work.
pub(crate) struct Turn<'a, V: OrderedVisitor> {
    pub(crate) walker: &'a Walker<V>,
    pub(crate) member: &'a Worker<'a>,
    pub(crate) scratch: &'a mut Scratch<V>,
}

impl<V: OrderedVisitor> Walker<V> {
    pub(crate) fn new(
        visitor: Arc<V>,
        options: Options,
        access: Access,
        roots: &[Vec<u8>],
    ) -> Arc<Self> {
        let roots: Vec<_> = roots
            .iter()
            .enumerate()
            .map(|(index, root)| Arc::new(Node::root(root, Span::ALL.part(index, roots.len()))))
            .collect();
        let top = Arc::new(Node::top(roots.iter().cloned()));
        let (threads, ordered) = (options.threads, options.ordered);
        let walker = Arc::new_cyclic(|this: &Weak<Self>| Self {
            visitor,
            reading: Descriptors::to_read(options.open),
            kept: Descriptors::to_keep(options.kept),
            access,
            queue: Mutex::default(),
            emitter: Mutex::new(Emitter::new(top)),
            held: Held::default(),
            live: AtomicUsize::new(roots.len()),
            active: AtomicUsize::new(0),
            walked: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            panic: Mutex::new(None),
            failure: Mutex::new(None),
            crew: Mutex::new(None),
            this: Weak::clone(this),
            caller: Mutex::default(),
            caller_wakes: Condvar::new(),
            spare: Mutex::default(),
            asking: Asking::default(),
            uncounted: AtomicUsize::new(0),
            sleepy: AtomicUsize::new(0),
            seen: Mutex::default(),
            options,
        });
        if let Some(progress) = &walker.options.rules.progress {
            progress.found(roots.len());
            walker.uncounted.store(roots.len(), Relaxed);
        }
        walker.push(roots.into_iter());
        if ordered {
            // Emission begins to wait for the first root.
            walker.emit();
        } else if walker.live.load(Relaxed) == 0 {
            walker.finish();
        }
        let crew = Crew::new(threads, Arc::clone(&walker) as Arc<dyn Work>);
        *lock(&walker.crew) = Some(crew);
        walker
    }

    pub(crate) fn visitor(&self) -> &V {
        &self.visitor
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.options.ordered
    }

    pub(crate) fn emitter(&self) -> &Mutex<Emitter<V>> {
        &self.emitter
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Ends the walk: all is done, or it stops wherever it is.
    pub(crate) fn finish(&self) {
        self.stopped.store(true, Relaxed);
        let was_finished = std::mem::replace(&mut lock(&self.caller).finished, true);
        self.caller_wakes.notify_all();
        if !was_finished {
            self.visitor.finished();
        }
    }

    /// The fields to ask an entry for.
    pub(crate) fn mask_for(&self, entry: &EntryRef<'_>) -> StatxMask {
        let rules = &self.options.rules;
        rules.mask_for(entry, || self.visitor.wants(entry))
    }

    /// Directories are visited after their contents, and not only handed out then.
    pub(crate) fn comes_late(&self) -> bool {
        self.options.rules.contents_first && !self.is_ordered()
    }

    /// Counts a directory as walked.
    pub(crate) fn count(&self, node: &Node<V>) {
        if let Some(progress) = &self.options.rules.progress {
            self.uncounted.fetch_sub(1, Relaxed);
            progress.walked(node.is_entered());
        }
    }

    /// Whether walking a directory is likely to sleep although opening it has not.
    pub(crate) fn is_sleepy(&self) -> bool {
        self.sleepy.load(Relaxed) > 0
    }

    /// A directory has been walked.
    fn learn(&self, scratch: &mut Scratch<V>) {
        let slept = scratch.watch.has_slept();
        let sleepy = self.sleepy.load(Relaxed);
        // A count that is a little off does no harm, and a warm walk writes nothing here.
        if slept {
            self.sleepy.store(EXPECTED, Relaxed);
        } else if sleepy > 0 {
            self.sleepy.store(sleepy - 1, Relaxed);
        }
    }

    /// Whether nobody has come to this directory before.
    pub(crate) fn is_first_at(&self, directory: Identity) -> bool {
        lock(&self.seen).insert(directory)
    }

    /// Room for the answers about so many entries.
    pub(crate) fn spread(&self, entries: usize) -> Option<Spread> {
        self.asking.begin(entries)
    }

    /// Adds directories that were found in this order, the first to be walked first.
    pub(crate) fn queue(&self, nodes: &mut Vec<Arc<Node<V>>>) {
        self.live.fetch_add(nodes.len(), Relaxed);
        if let Some(progress) = &self.options.rules.progress {
            progress.found(nodes.len());
            self.uncounted.fetch_add(nodes.len(), Relaxed);
        }
        self.push(nodes.drain(..));
    }

    fn push(&self, nodes: impl DoubleEndedIterator<Item = Arc<Node<V>>>) {
        let mut queue = lock(&self.queue);
        for node in nodes.rev() {
            queue.count += 1;
            let place = if self.options.ordered {
                node.span().place()
            } else {
                0
            };
            let priority = (Reverse(place), queue.count);
            queue.fresh.push(Fresh { priority, node });
        }
    }

    /// Emission waits for a directory that nobody has begun. The emitting worker will look for
    /// work next, so nobody needs to be woken.
    pub(crate) fn want(&self, node: &Arc<Node<V>>) {
        lock(&self.queue).wanted = Some(Arc::clone(node));
    }

    /// A task can go on, and a worker is about to look for work.
    pub(crate) fn resume(&self, task: Box<DirTask<V>>) {
        if !self.is_stopped() {
            lock(&self.queue).resumed.push(task);
        }
    }

    /// A task can go on, and nobody may be there to see it.
    pub(crate) fn resume_elsewhere(&self, task: Box<DirTask<V>>) {
        self.resume(task);
        self.wake_someone();
    }

    /// A member has added work.
    pub(crate) fn tell(&self, member: &Worker<'_>) {
        if self.walked.load(Relaxed) > ALONE && member.has_room() && self.waiting() > 0 {
            member.call_in();
        }
    }

    /// The consumer is behind: nobody goes on until it [brings](Self::wake_someone) somebody.
    pub(crate) fn is_held_up(&self) -> bool {
        let held_up = self.options.held_up.as_ref();
        held_up.is_some_and(|held_up| held_up.load(SeqCst))
    }

    /// Brings a thread to the work: the caller's if it is idle, else one of the crew.
    pub(crate) fn wake_someone(&self) {
        if std::mem::take(&mut lock(&self.caller).waits) {
            self.caller_wakes.notify_all();
        } else if let Some(crew) = self.crew()
            && let Err(error) = crew.call_in()
        {
            self.without_threads(error);
        }
    }

    /// There is work and no thread for it: the caller's has to do, or the walk ends.
    fn without_threads(&self, error: NoThread) {
        let mut caller = lock(&self.caller);
        if caller.takes_part {
            caller.waits = false;
            drop(caller);
            self.caller_wakes.notify_all();
        } else {
            drop(caller);
            lock(&self.failure).get_or_insert_with(|| error.into());
            self.finish();
        }
    }

    /// Why the walk ended early, if it did so for want of a thread.
    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        lock(&self.failure).take()
    }

    /// Starts without the caller's thread.
    pub(crate) fn start(&self) -> Result<(), NoThread> {
        self.crew().map_or(Ok(()), |crew| crew.call_in())
    }

    fn crew(&self) -> Option<Crew> {
        lock(&self.crew).clone()
    }

    /// Lets the caller's thread take part until the walk is over.
    pub(crate) fn run_to_the_end(&self) {
        let Some(crew) = self.crew() else { return };
        lock(&self.caller).takes_part = true;
        loop {
            crew.join();
            let mut caller = lock(&self.caller);
            loop {
                if caller.finished {
                    drop(caller);
                    self.dismantle();
                    if let Some(panic) = lock(&self.panic).take() {
                        std::panic::resume_unwind(panic);
                    }
                    return;
                }
                if self.waiting() > 0 && crew.has_room() {
                    break;
                }
                caller.waits = true;
                caller = self
                    .caller_wakes
                    .wait(caller)
                    .unwrap_or_else(PoisonError::into_inner);
                if !caller.waits && !caller.finished {
                    break;
                }
            }
            caller.waits = false;
        }
    }

    /// Frees what an unfinished walk leaves.
    pub(crate) fn dismantle(&self) {
        lock(&self.crew).take();
        let queue = std::mem::take(&mut *lock(&self.queue));
        drop(queue);
        lock(&self.emitter).dismantle();
    }

    /// The next thing to do.
    fn next(&self, scratch: &mut Scratch<V>) -> Option<Box<DirTask<V>>> {
        if self.is_stopped() || self.is_held_up() {
            return None;
        }
        let mut queue = lock(&self.queue);
        if let Some(node) = queue.wanted.take()
            && node.claim()
        {
            drop(queue);
            return Some(self.begin(node, scratch));
        }
        if let Some(task) = queue.resumed.pop() {
            return Some(task);
        }
        while self.may_begin() {
            let Fresh { node, .. } = queue.fresh.pop()?;
            if node.claim() {
                drop(queue);
                return Some(self.begin(node, scratch));
            }
        }
        None
    }

    fn may_begin(&self) -> bool {
        // One at least, whatever other walks have.
        !self.is_full() && (self.active.load(Relaxed) == 0 || self.reading.are_left())
    }

    fn begin(&self, node: Arc<Node<V>>, scratch: &mut Scratch<V>) -> Box<DirTask<V>> {
        self.active.fetch_add(1, Relaxed);
        let mut tools = scratch.tools.take().unwrap_or_default();
        if self.is_ordered() && tools.parts.capacity() == 0 {
            tools.parts = lock(&self.spare).parts.pop().unwrap_or_default();
        }
        Box::new(DirTask::new(node, tools, self.reading.take_anyway()))
    }

    /// Takes back the memory of parts that have been emitted.
    pub(crate) fn recycle_parts(&self, parts: Vec<Part<V>>) {
        let mut spare = lock(&self.spare);
        if parts.capacity() > 0 && spare.parts.len() < SPARE {
            spare.parts.push(parts);
        }
    }

    /// Takes a task as far as it goes now.
    fn advance(&self, mut task: Box<DirTask<V>>, member: &Worker<'_>, scratch: &mut Scratch<V>) {
        let mut park: Option<Arc<Park<V>>> = None;
        let mut waker = Waker::noop().clone();
        loop {
            let mut turn = Turn {
                walker: self,
                member,
                scratch: &mut *scratch,
            };
            // The calling thread may be that of a task of its own.
            let mut cx = Context::from_waker(&waker);
            let step = coop::exempt(|| task.step(&mut turn, &mut cx));
            let back = match (step, &park) {
                (Step::Done, _) => return self.done(*task, scratch),
                (Step::Throttled, _) => self.throttle(task),
                (Step::HeldUp, _) => {
                    self.resume(task);
                    None
                }
                (Step::Pending, Some(park)) => park.leave(task),
                // Most directories never wait for anybody, so it is made only now.
                (Step::Pending, None) => {
                    let Some(this) = self.this.upgrade() else {
                        return;
                    };
                    let place = Arc::new(Park::new(this));
                    waker = Waker::from(Arc::clone(&place));
                    park = Some(place);
                    Some(task)
                }
            };
            match back {
                Some(again) => task = again,
                None => return,
            }
        }
    }

    fn done(&self, mut task: DirTask<V>, scratch: &mut Scratch<V>) {
        self.active.fetch_sub(1, Relaxed);
        self.walked.fetch_add(1, Relaxed);
        task.count(self);
        self.learn(scratch);
        scratch.tools = Some(task.into_tools());
        if self.live.fetch_sub(1, AcqRel) == 1 && !self.is_ordered() {
            self.finish();
        }
    }
}

impl<V: OrderedVisitor> Flush for Walker<V> {
    fn flush(&self) {
        self.visitor.about_to_wait();
    }
}

impl<V: OrderedVisitor> Drop for Walker<V> {
    fn drop(&mut self) {
        if let Some(progress) = &self.options.rules.progress {
            progress.dropped(*self.uncounted.get_mut());
        }
    }
}

impl<V: OrderedVisitor> Work for Walker<V> {
    fn run(&self, member: &Member<'_>) {
        let mut scratch = Scratch {
            prefix: Vec::new(),
            tools: lock(&self.spare).tools.pop(),
            watch: SleepWatch::new(),
        };
        let worker = Worker::new(member, self);
        while let Some(task) = self.next(&mut scratch) {
            let result = catch_unwind(AssertUnwindSafe(|| {
                self.advance(task, &worker, &mut scratch);
            }));
            if let Err(panic) = result {
                // The first is thrown; what others do meanwhile is of no interest any more.
                lock(&self.panic).get_or_insert(panic);
                self.finish();
            }
            if member.is_surplus() {
                break;
            }
        }
        if let Some(tools) = scratch.tools {
            let mut spare = lock(&self.spare);
            if spare.tools.len() < SPARE {
                spare.tools.push(tools);
            }
        }
        self.flush();
    }

    fn waiting(&self) -> usize {
        if self.is_stopped() || self.is_held_up() {
            return 0;
        }
        let queue = lock(&self.queue);
        let fresh = if self.may_begin() {
            queue.fresh.len()
        } else {
            0
        };
        usize::from(queue.wanted.is_some()) + queue.resumed.len() + fresh
    }
}
