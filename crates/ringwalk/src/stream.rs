//! The entries of a walk as a stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::vec;

use async_channel::{Receiver, Sender};
use fscall::StatxMask;
use futures_core::Stream;
use ringfs::coop;

use crate::entry::{Entry, EntryRef};
use crate::error::{Action, Error};
use crate::visitor::{OrderedVisitor, Visit};
use crate::walk::Walk;
use crate::walker::{Walker, lock};

/// From so many bytes on that the consumer has not taken the walk waits for it.
const AHEAD: usize = 2 * 1024 * 1024;

/// Some entries, and what they take up.
#[derive(Default)]
struct Batch {
    items: Vec<Result<Entry, Error>>,
    bytes: usize,
}

impl Batch {
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
    batch: vec::IntoIter<Result<Entry, Error>>,
}

impl Entries {
    pub(crate) fn new(walk: Walk) -> Self {
        Self {
            batches: Batches::new(walk),
            batch: Vec::new().into_iter(),
        }
    }
}

impl Stream for Entries {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if self.batch.len() > 0 {
                ready!(coop::poll_proceed(cx));
                return Poll::Ready(self.batch.next());
            }
            match ready!(Pin::new(&mut self.batches).poll_next(cx)) {
                Some(batch) => self.batch = batch.into_iter(),
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
    batches: Pin<Box<Receiver<Batch>>>,
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
                    ready!(coop::poll_proceed(cx));
                    if let Some(batch) = ready!(walking.batches.as_mut().poll_next(cx)) {
                        walking.flow.taken(batch.bytes);
                        return Poll::Ready(Some(batch.items));
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
    /// No thread could be had for the walk, or for the rest of it.
    fn end_with(&mut self, error: io::Error) -> Poll<Option<Vec<Result<Entry, Error>>>> {
        self.state = State::Ended;
        let error = Error::new(Action::Open, Vec::new(), 0, error);
        Poll::Ready(Some(vec![Err(error)]))
    }
}

impl Walking {
    fn begin(walk: Walk) -> io::Result<Self> {
        let (sender, receiver) = async_channel::unbounded();
        let flow = Arc::new(Flow::default());
        let ordered = walk.is_ordered();
        let collector = Collector {
            sender,
            flow: Arc::clone(&flow),
        };
        let walking = Self {
            walker: walk.walker(Arc::new(collector), ordered),
            flow,
            batches: Box::pin(receiver),
        };
        walking.walker.start()?;
        Ok(walking)
    }
}

impl Drop for Walking {
    fn drop(&mut self) {
        // Ended first, so that no worker stays in a wait.
        self.flow.end();
        self.batches.close();
        self.walker.finish();
        self.walker.dismantle();
    }
}

/// Holds the walk up when it is too far ahead of the consumer.
#[derive(Default)]
struct Flow {
    state: Mutex<Ahead>,
    changed: Condvar,
}

#[derive(Default)]
struct Ahead {
    bytes: usize,
    ended: bool,
}

impl Flow {
    /// Waits until there is room, and takes it; false if nobody wants any more. A worker that waits
    /// here is a thread of ours: the consumer is slower than the walk.
    fn add(&self, bytes: usize) -> bool {
        let full = |ahead: &mut Ahead| ahead.bytes >= AHEAD && !ahead.ended;
        let ahead = self.changed.wait_while(lock(&self.state), full);
        let mut ahead = ahead.unwrap_or_else(PoisonError::into_inner);
        ahead.bytes += bytes;
        !ahead.ended
    }

    fn taken(&self, bytes: usize) {
        let mut ahead = lock(&self.state);
        let was_full = ahead.bytes >= AHEAD;
        ahead.bytes -= bytes;
        let wakes = was_full && ahead.bytes < AHEAD;
        drop(ahead);
        if wakes {
            self.changed.notify_all();
        }
    }

    fn end(&self) {
        lock(&self.state).ended = true;
        self.changed.notify_all();
    }
}

/// Collects entries and sends them to the stream.
struct Collector {
    sender: Sender<Batch>,
    flow: Arc<Flow>,
}

impl OrderedVisitor for Collector {
    type Segment = Batch;

    fn wants(&self, _: &EntryRef<'_>) -> StatxMask {
        StatxMask::empty()
    }

    fn visit(&self, entry: &EntryRef<'_>, batch: &mut Batch) -> Visit {
        let path = entry.dir_path().len() + entry.file_name().len();
        let stat = entry.stat().map_or(0, |_| size_of::<fscall::Statx>());
        batch.push(Ok(entry.to_owned()), path + stat);
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
        if self.flow.add(batch.bytes) && self.sender.try_send(batch).is_ok() {
            Visit::Continue
        } else {
            Visit::Quit
        }
    }

    fn finished(&self) {
        self.sender.close();
    }
}
