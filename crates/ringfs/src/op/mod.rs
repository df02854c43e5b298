//! What an operation is, whoever executes it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fscall::{OpenHow, Statx, StatxFlags, StatxMask};
use futures_channel::oneshot;

use crate::capabilities::OperationKind;
use crate::coop;

mod canonicalize;
mod close;
mod done;
mod late;
mod open;
mod open_beneath;
mod read_dir;
mod read_link;
mod statfs;
mod statx;

pub(crate) use canonicalize::Canonicalize;
pub(crate) use close::Close;
pub(crate) use done::Done;
pub(crate) use late::Late;
pub(crate) use open::Open;
pub(crate) use open_beneath::{OpenBeneath, Opened};
pub(crate) use read_dir::{Chunk, ReadChunk};
pub(crate) use read_link::ReadLink;
pub(crate) use statfs::StatFsOp;
pub(crate) use statx::StatxOp;

/// One operation, described once for both back ends, so that they answer alike by construction.
pub(crate) trait Operation: Send + 'static {
    type Output: Send + 'static;

    /// Which operation it is.
    fn kind(&self) -> OperationKind;

    /// Where it leads; `None` if to nobody whose answer could be long in coming.
    fn place(&self) -> Option<Place<'_>>;

    /// The operation as the ring is asked for it.
    ///
    /// Everything lent here stays where it is until the completion: the operation lives in a
    /// table entry that nobody touches meanwhile. `None` if only [`call`](Self::call) can do it.
    fn request(&mut self) -> Option<Request<'_>>;

    /// The same by plain calls, which may sleep.
    fn call(&mut self) -> io::Result<Answer>;

    /// Makes the result of what either back end answered when it went well; an error is the
    /// future's as it is.
    fn finish(self, answer: Answer) -> io::Result<Self::Output>;
}

/// Where an operation leads, as its caller said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// What the path is relative to.
    pub(crate) dir: BorrowedFd<'a>,
    /// Empty for `dir` itself.
    pub(crate) path: &'a [u8],
}

impl<'a> Place<'a> {
    /// `None` is the current directory.
    pub(crate) fn new(dir: Option<&'a Arc<OwnedFd>>, path: &'a [u8]) -> Self {
        Self {
            dir: dir.map_or(fscall::CWD, |dir| dir.as_fd()),
            path,
        }
    }
}

/// What the ring is asked for, with everything the kernel will read or write still borrowed.
pub(crate) enum Request<'a> {
    Statx {
        dir: BorrowedFd<'a>,
        path: &'a CStr,
        flags: StatxFlags,
        mask: StatxMask,
        out: &'a mut Statx,
    },
    Openat2 {
        dir: BorrowedFd<'a>,
        path: &'a CStr,
        how: &'a OpenHow,
    },
    Close {
        fd: OwnedFd,
    },
}

/// What an operation that went well answered. A result that is a descriptor says so, and is owned
/// from the moment it arrives: a dropped future can't leak it.
pub(crate) enum Answer {
    Done,
    Fd(OwnedFd),
}

impl Answer {
    /// The descriptor of an operation that opens.
    pub(crate) fn into_fd(self) -> io::Result<OwnedFd> {
        match self {
            Answer::Fd(fd) => Ok(fd),
            Answer::Done => Err(io::Error::from(io::ErrorKind::InvalidData)),
        }
    }
}

/// An operation on its way, with its type forgotten, as queues and the ring's table hold it.
pub(crate) trait Job: Send {
    /// See [`Operation::kind`].
    fn kind(&self) -> OperationKind;
    /// How many calls it is counted as by who takes it; none if it counts them itself.
    fn calls(&self) -> usize {
        1
    }
    /// Whether the ring can be asked, if it knows the operation.
    fn is_for_ring(&self) -> bool {
        self.kind().has_ring_operation()
    }
    /// See [`Operation::place`].
    fn place(&self) -> Option<Place<'_>>;
    /// See [`Operation::request`].
    fn request(&mut self) -> Option<Request<'_>>;
    /// The future is gone and nobody wants the answer, so there is no need to ask. Never true of
    /// a close: it has to be made, and as a call that may sleep.
    fn is_abandoned(&self) -> bool;
    /// Has the task of `cx` woken when it [is abandoned](Self::is_abandoned).
    fn watch(&mut self, cx: &mut Context<'_>);
    /// Does it by plain calls, which may sleep. What they answered is kept until it lands.
    fn run(&mut self);
    /// Wakes the future with what [`run`](Self::run) has brought, which does not sleep.
    fn land(self: Box<Self>);
    /// Wakes the future with what the ring answered, or with why it was never asked.
    fn complete(self: Box<Self>, answer: io::Result<Answer>);
    /// Wakes the future with an error but keeps the operation, which the kernel may still use.
    fn disown(&mut self);
}

/// An operation and the future that waits for it.
struct Task<O: Operation> {
    op: O,
    answer: Option<io::Result<Answer>>,
    done: Done<io::Result<O::Output>>,
}

/// Packs an operation for a back end; the [`Pending`] becomes ready with its result.
pub(crate) fn pack<O: Operation>(op: O) -> (Box<dyn Job>, Pending<O::Output>) {
    let (done, result) = Done::channel();
    (
        Box::new(Task {
            op,
            answer: None,
            done,
        }),
        Pending {
            result,
            takes_turn: false,
        },
    )
}

/// The result of an operation that a back end has. Dropping it abandons the operation: what it
/// will bring is dropped on arrival.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    result: oneshot::Receiver<io::Result<T>>,
    /// It is there already, and others must have their turn as well.
    takes_turn: bool,
}

impl<T> Pending<T> {
    /// Of an operation that has been done on the spot.
    pub(crate) fn done_here(self) -> Self {
        Self {
            takes_turn: true,
            ..self
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = io::Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if self.takes_turn {
            ready!(coop::poll_proceed(cx));
            self.takes_turn = false;
        }
        // The sender is dropped unused only if a back end's thread died.
        Pin::new(&mut self.result)
            .poll(cx)
            .map(|result| result.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())))
    }
}

impl<O: Operation> Job for Task<O> {
    fn kind(&self) -> OperationKind {
        self.op.kind()
    }

    fn place(&self) -> Option<Place<'_>> {
        self.op.place()
    }

    fn request(&mut self) -> Option<Request<'_>> {
        self.op.request()
    }

    fn is_abandoned(&self) -> bool {
        self.op.kind() != OperationKind::Close && self.done.is_abandoned()
    }

    fn watch(&mut self, cx: &mut Context<'_>) {
        if self.op.kind() != OperationKind::Close {
            self.done.watch(cx);
        }
    }

    fn run(&mut self) {
        self.answer = Some(self.op.call());
    }

    fn land(mut self: Box<Self>) {
        if let Some(answer) = self.answer.take() {
            self.complete(answer);
        }
    }

    fn complete(self: Box<Self>, answer: io::Result<Answer>) {
        let Self { op, done, .. } = *self;
        done.tell(answer.and_then(|answer| op.finish(answer)));
    }

    fn disown(&mut self) {
        self.done.take().tell(Err(io::ErrorKind::BrokenPipe.into()));
    }
}
