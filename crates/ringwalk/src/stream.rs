//! The entries of a walk as a stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::vec;

use async_channel::{Receiver, Sender};
use fscall::StatxMask;
use futures_core::Stream;

use crate::entry::{Entry, EntryRef};
use crate::error::{Error, ErrorKind};
use crate::visitor::{OrderedVisitor, Visit};
use crate::walk::Walk;
use crate::walker::Walker;

/// How many batches may be ahead of the consumer; each is at most what one buffer of directory
/// entries holds.
const AHEAD: usize = 16;

/// Some entries, and what they take up.
#[derive(Default)]
struct Batch {
    items: Vec<Result<Entry, Error>>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, item: Result<Entry, Error>, path: usize) {
        self.bytes += size_of_val(&item) + path;
        self.items.push(item);
    }
}

/// The entries of a walk, from [`Walk::into_stream`].
///
/// The walk is a bounded amount ahead of the consumer: 16 buffers of directory entries, and in
/// find's order up to 4 MiB of entries that wait for their turn. Dropping the stream ends it,
/// without waiting for calls that are stuck in the kernel. A walk that can get no thread ends with
/// an error that has no path; so does one with `Backend::ThisThread`, as others have to walk ahead.
#[must_use = "streams do nothing unless polled"]
pub struct Entries {
    state: State,
}

enum State {
    New(Option<Walk>),
    Walking(Walking),
    Ended,
}

struct Walking {
    walker: Arc<Walker<Collector>>,
    batches: Pin<Box<Receiver<Batch>>>,
    batch: vec::IntoIter<Result<Entry, Error>>,
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").finish_non_exhaustive()
    }
}

impl Entries {
    pub(crate) fn new(walk: Walk) -> Self {
        Self {
            state: State::New(Some(walk)),
        }
    }
}

impl Stream for Entries {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match &mut self.state {
                State::New(walk) => {
                    let Some(walk) = walk.take() else {
                        return Poll::Ready(None);
                    };
                    if walk.is_for_this_thread() {
                        self.state = State::Ended;
                        return Poll::Ready(Some(Err(without_threads(
                            io::ErrorKind::Unsupported.into(),
                        ))));
                    }
                    let walking = Walking::begin(walk);
                    let started = walking.walker.start();
                    self.state = State::Walking(walking);
                    if let Err(error) = started {
                        self.state = State::Ended;
                        return Poll::Ready(Some(Err(without_threads(error.into()))));
                    }
                }
                State::Walking(walking) => {
                    if let Some(item) = walking.batch.next() {
                        return Poll::Ready(Some(item));
                    }
                    if let Some(batch) = ready!(walking.batches.as_mut().poll_next(cx)) {
                        walking.batch = batch.items.into_iter();
                    } else {
                        let failure = walking.walker.take_failure();
                        self.state = State::Ended;
                        if let Some(error) = failure {
                            return Poll::Ready(Some(Err(without_threads(error))));
                        }
                    }
                }
                State::Ended => return Poll::Ready(None),
            }
        }
    }
}

/// No thread could be had for the walk, or for the rest of it.
fn without_threads(error: io::Error) -> Error {
    Error::new(ErrorKind::Open, Vec::new(), 0, error)
}

impl Walking {
    fn begin(walk: Walk) -> Self {
        let (sender, receiver) = async_channel::bounded(AHEAD);
        let ordered = walk.is_ordered();
        let walker = walk.walker(Arc::new(Collector { sender }), ordered);
        Self {
            walker,
            batches: Box::pin(receiver),
            batch: Vec::new().into_iter(),
        }
    }
}

impl Drop for Walking {
    fn drop(&mut self) {
        // Closed first, so that no worker stays in a send.
        self.batches.close();
        self.walker.finish();
        self.walker.dismantle();
    }
}

/// Collects entries and sends them to the stream.
struct Collector {
    sender: Sender<Batch>,
}

impl OrderedVisitor for Collector {
    type Segment = Batch;

    fn wants(&self, _: &EntryRef<'_>) -> StatxMask {
        StatxMask::empty()
    }

    fn visit(&self, entry: &EntryRef<'_>, batch: &mut Batch) -> Visit {
        let path = entry.dir_path().len() + entry.file_name().len();
        batch.push(Ok(entry.to_owned()), path);
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
        // A worker that waits here is a thread of ours: the consumer is slower than the walk.
        match self.sender.send_blocking(batch) {
            Ok(()) => Visit::Continue,
            Err(_) => Visit::Quit,
        }
    }

    fn finished(&self) {
        self.sender.close();
    }
}
