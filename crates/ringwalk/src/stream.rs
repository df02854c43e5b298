//! The entries of a walk as a stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use fscall::StatxMask;
use futures_core::Stream;
use ringfs::coop;

use crate::entry::{Entry, EntryRef};
use crate::error::{Action, Error};
use crate::visitor::{OrderedVisitor, Visit};
use crate::walk::Walk;
use crate::walker::Walker;
use blockpool::lock;

/// From so many bytes on that the consumer has not taken the walk waits for it.
const AHEAD: usize = 1024 * 1024;
/// The consumer is not woken for fewer, unless nobody knows when there will be more: waking it costs as
/// much as walking a directory.
const WORTH_WAKING: usize = 128 * 1024;

/// A batch begins with memory for so many entries, a middling directory.
const FIRST: usize = 32;
/// In order batches end at sub-directories, many are of one entry, and many wait for their turn.
const FIRST_IN_ORDER: usize = 4;
/// So many batches' memory is kept for others, unless they are very large.
const SPARE: usize = 64;
const LARGEST: usize = 256;

/// Some entries, and what they take up.
#[derive(Default)]
struct Batch {
    items: Vec<Result<Entry, Error>>,
    bytes: usize,
    /// What stands before the names of the last entry's directory.
    dir_path: Option<Arc<[u8]>>,
}

impl Batch {
    /// The same for all entries of a directory.
    fn dir_path(&mut self, wanted: &[u8]) -> Arc<[u8]> {
        let known = self.dir_path.take().filter(|known| **known == *wanted);
        let known = known.unwrap_or_else(|| Arc::from(wanted));
        Arc::clone(self.dir_path.insert(known))
    }

    fn push(&mut self, item: Result<Entry, Error>, more: usize) {
        self.bytes += size_of_val(&item) + more;
        self.items.push(item);
    }
}

/// The entries of a walk one by one, from [`Walk::into_stream`].
///
/// The walk is a bounded amount ahead of the consumer: 2 MiB of entries and a buffer for each thread,
/// and in find's order up to 4 MiB of entries that wait for their turn. It takes part in tokio's
/// cooperative budget. Dropping the stream ends the walk, without waiting for calls that are stuck in
/// the kernel. A walk that can get no thread ends with an error that has no path; so does one with
/// `Backend::ThisThread`, as others have to walk ahead.
#[must_use = "streams do nothing unless polled"]
#[derive(Debug)]
pub struct Entries {
    batches: Batches,
    /// The next one last, so that the memory can go back to the walk when it is empty.
    batch: Vec<Result<Entry, Error>>,
}

impl Entries {
    pub(crate) fn new(walk: Walk) -> Self {
        Self {
            batches: Batches::new(walk),
            batch: Vec::new(),
        }
    }
}

impl Stream for Entries {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if !self.batch.is_empty() {
                ready!(coop::poll_proceed(cx));
                return Poll::Ready(self.batch.pop());
            }
            let empty = std::mem::take(&mut self.batch);
            self.batches.give_back(empty);
            match ready!(Pin::new(&mut self.batches).poll_next(cx)) {
                Some(batch) => {
                    self.batch = batch;
                    self.batch.reverse();
                }
                None => return Poll::Ready(None),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.batch.len(), None)
    }
}

/// The entries of a walk many at a time, from [`Walk::into_batches`]; otherwise as [`Entries`].
///
/// ```
/// use futures::StreamExt;
/// use ringwalk::Walk;
///
/// # futures::executor::block_on(async {
/// let mut count = 0;
/// let mut batches = Walk::new("/etc").into_batches();
/// while let Some(batch) = batches.next().await {
///     count += batch.iter().filter(|entry| entry.is_ok()).count();
/// }
/// assert!(count > 1);
/// # });
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct Batches {
    state: State,
}

enum State {
    New(Option<Walk>),
    Walking(Walking),
    Ended,
}

struct Walking {
    walker: Arc<Walker<Collector>>,
    flow: Arc<Flow>,
    /// What has been taken from it and not been handed out, the next one last.
    batches: Vec<Batch>,
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").finish_non_exhaustive()
    }
}

impl Batches {
    pub(crate) fn new(walk: Walk) -> Self {
        Self {
            state: State::New(Some(walk)),
        }
    }
}

impl Stream for Batches {
    type Item = Vec<Result<Entry, Error>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match &mut self.state {
                State::New(walk) => {
                    let Some(walk) = walk.take() else {
                        return Poll::Ready(None);
                    };
                    let started = if walk.is_for_this_thread() {
                        Err(io::ErrorKind::Unsupported.into())
                    } else {
                        Walking::begin(walk)
                    };
                    match started {
                        Ok(walking) => self.state = State::Walking(walking),
                        Err(error) => return self.end_with(error),
                    }
                }
                State::Walking(walking) => {
                    if let Some(batch) = walking.batches.pop() {
                        return Poll::Ready(Some(batch.items));
                    }
                    ready!(coop::poll_proceed(cx));
                    let taken = walking.flow.poll_take(cx, &mut walking.batches);
                    if let Some(was_held_up) = ready!(taken) {
                        if was_held_up {
                            walking.walker.wake_someone();
                        }
                        continue;
                    }
                    if let Some(error) = walking.walker.take_failure() {
                        return self.end_with(error);
                    }
                    self.state = State::Ended;
                }
                State::Ended => return Poll::Ready(None),
            }
        }
    }
}

impl Batches {
    /// Memory for entries to come.
    fn give_back(&self, empty: Vec<Result<Entry, Error>>) {
        if let State::Walking(walking) = &self.state {
            walking.flow.give_back(empty);
        }
    }

    /// No thread could be had for the walk, or for the rest of it.
    fn end_with(&mut self, error: io::Error) -> Poll<Option<Vec<Result<Entry, Error>>>> {
        self.state = State::Ended;
        let error = Error::new(Action::Open, Vec::new(), 0, error);
        Poll::Ready(Some(vec![Err(error)]))
    }
}

impl Walking {
    fn begin(walk: Walk) -> io::Result<Self> {
        let flow = Arc::new(Flow::default());
        let ordered = walk.is_ordered();
        let walking = Self {
            walker: walk.walker(
                Arc::new(Collector {
                    flow: Arc::clone(&flow),
                    first: if ordered { FIRST_IN_ORDER } else { FIRST },
                }),
                ordered,
                Some(Arc::clone(&flow.held_up)),
            ),
            flow,
            batches: Vec::new(),
        };
        walking.walker.start()?;
        Ok(walking)
    }
}

impl Drop for Walking {
    fn drop(&mut self) {
        self.flow.give_up();
        self.walker.finish();
        self.walker.dismantle();
    }
}

/// The way of entries to the consumer.
#[derive(Default)]
struct Flow {
    state: Mutex<Ahead>,
    /// Memory that has been used: freed by the consumer's thread, and taken anew by the walk's, each
    /// batch would make these wait for each other in the allocator.
    spare: Mutex<Vec<Vec<Result<Entry, Error>>>>,
    /// The walk is as far ahead as it may be. Nobody waits for that to end: its threads leave, and the
    /// consumer brings them back.
    held_up: Arc<AtomicBool>,
}

/// What the walk is ahead of the consumer.
#[derive(Default)]
struct Ahead {
    batches: Vec<Batch>,
    bytes: usize,
    /// The consumer waits.
    waiting: Option<Waker>,
    /// Nothing more will come.
    finished: bool,
    /// Nobody wants any more.
    given_up: bool,
}

impl Flow {
    /// Adds entries; false if nobody wants any more.
    fn add(&self, batch: Batch) -> bool {
        let mut ahead = lock(&self.state);
        ahead.bytes += batch.bytes;
        ahead.batches.push(batch);
        if ahead.bytes >= AHEAD {
            self.held_up.store(true, SeqCst);
        }
        let wakes = ahead.bytes >= WORTH_WAKING;
        let waker = wakes.then(|| ahead.waiting.take()).flatten();
        let wanted = !ahead.given_up;
        drop(ahead);
        wake(waker);
        wanted
    }

    fn give_back(&self, empty: Vec<Result<Entry, Error>>) {
        let usual = FIRST_IN_ORDER..=LARGEST;
        if usual.contains(&empty.capacity()) {
            let mut spare = lock(&self.spare);
            if spare.len() < SPARE {
                spare.push(empty);
            }
        }
    }

    /// Memory for a batch.
    fn room(&self, first: usize) -> Vec<Result<Entry, Error>> {
        let spare = lock(&self.spare).pop();
        spare.unwrap_or_else(|| Vec::with_capacity(first))
    }

    /// Hands on what there is.
    fn flush(&self) {
        let mut ahead = lock(&self.state);
        if ahead.batches.is_empty() || ahead.waiting.is_none() {
            return;
        }
        let waker = ahead.waiting.take();
        drop(ahead);
        wake(waker);
    }

    /// Takes all there is, the next one last, and whether the walk was held up; `None` at the end.
    fn poll_take(&self, cx: &Context<'_>, batches: &mut Vec<Batch>) -> Poll<Option<bool>> {
        let mut ahead = lock(&self.state);
        if ahead.batches.is_empty() {
            if ahead.finished {
                return Poll::Ready(None);
            }
            ahead.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        std::mem::swap(&mut ahead.batches, batches);
        ahead.bytes = 0;
        let was_held_up = self.held_up.swap(false, SeqCst);
        drop(ahead);
        batches.reverse();
        Poll::Ready(Some(was_held_up))
    }

    fn finish(&self) {
        let mut ahead = lock(&self.state);
        ahead.finished = true;
        let waker = ahead.waiting.take();
        drop(ahead);
        wake(waker);
    }

    fn give_up(&self) {
        lock(&self.state).given_up = true;
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Collects entries and sends them to the stream.
struct Collector {
    flow: Arc<Flow>,
    /// How large new batches are.
    first: usize,
}

impl OrderedVisitor for Collector {
    type Segment = Batch;

    fn wants(&self, _: &EntryRef<'_>) -> StatxMask {
        StatxMask::empty()
    }

    fn visit(&self, entry: &EntryRef<'_>, batch: &mut Batch) -> Visit {
        if batch.items.capacity() == 0 {
            batch.items = self.flow.room(self.first);
        }
        let name = entry.file_name().len();
        let stat = entry.stat().map_or(0, |_| size_of::<fscall::Statx>());
        let dir_path = batch.dir_path(entry.dir_path());
        batch.push(Ok(entry.owned_in(dir_path)), name + stat);
        Visit::Continue
    }

    fn error(&self, error: &Error, batch: &mut Batch) -> Visit {
        batch.push(Err(error.clone()), error.path_bytes().len());
        Visit::Continue
    }

    fn weight(&self, batch: &Batch) -> usize {
        batch.bytes
    }

    fn emit(&self, batch: Batch) -> Visit {
        if self.flow.add(batch) {
            Visit::Continue
        } else {
            Visit::Quit
        }
    }

    fn finished(&self) {
        self.flow.finish();
    }

    fn about_to_wait(&self) {
        self.flow.flush();
    }
}
