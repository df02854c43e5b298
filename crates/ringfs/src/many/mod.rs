//! Many files' metadata at a time: one submission, one wake-up.
//!
//! A few are answered inline. More go to one worker, which makes plain calls in order: from memory
//! nothing is cheaper ([`sweep`]). Once a call sleeps, or where one is known to, the rest is asked
//! at the same time: through the ring, or by many workers ([`gather`]).

mod gather;
mod names;
mod question;
mod sweep;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fscall::{Statx, StatxFlags, StatxMask};
use futures_channel::oneshot;

use crate::backend::Backend;
use crate::coop;
use crate::driver::Driver;
use crate::metadata::Metadata;
use crate::op::Done;
use gather::Gather;
use question::Question;
use sweep::Sweep;

/// The answers so far, in the order of the names.
type Answers = Vec<io::Result<Statx>>;

/// So many files are answered inline: with more, a worker's cheaper calls make up for its hand-over.
/// They hold the polling thread for less than 50 µs.
const INLINE: usize = 16;
/// So many operations are made on the polling thread, which takes about 50 µs.
const MADE_HERE: usize = 128;

/// What `statx(2)` is to be asked about many files, made by [`statx_paths`](crate::statx_paths)
/// and [`Dir::statx_many`](crate::Dir::statx_many); `.await` asks.
///
/// The answers come in the order of the names, one for each. Defaults are those of
/// [`Stat`](crate::Stat): symbolic links are followed, automounts are not triggered, the fields
/// are [`Metadata::MASK`].
///
/// # Errors
///
/// Each file has its own: those of `statx(2)`, and `InvalidInput` for a name with a NUL byte. What
/// concerns the whole batch (contradicting flags, no thread to be had) is every file's error.
///
/// # Cancel safety
///
/// Dropping the future abandons the calls that have not begun; nothing is lost but the answers.
///
/// ```
/// use ringfs::StatxMask;
///
/// # futures::executor::block_on(async {
/// let etc = ringfs::Dir::open("/etc").await?;
/// let answers = etc.statx_many(["passwd", "no such file"]).mask(StatxMask::SIZE).await;
/// assert!(answers[0].as_ref().unwrap().size() > Some(0));
/// assert!(answers[1].is_err());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is asked until it is awaited"]
pub struct StatMany {
    question: Question,
}

impl StatMany {
    pub(crate) fn new<P: AsRef<Path>>(
        driver: Driver,
        dir: Option<Arc<OwnedFd>>,
        names: impl IntoIterator<Item = P>,
    ) -> Self {
        let question = Question {
            driver,
            dir,
            names: names.into_iter().collect(),
            flags: StatxFlags::NO_AUTOMOUNT,
            mask: Metadata::MASK,
        };
        Self { question }
    }

    /// Whether symbolic links at the end of the names are followed.
    #[doc(alias = "AT_SYMLINK_NOFOLLOW")]
    pub fn follow_symlinks(mut self, follow: bool) -> Self {
        let flags = &mut self.question.flags;
        flags.set(StatxFlags::SYMLINK_NOFOLLOW, !follow);
        self
    }

    /// Whether automount points at the end of the names are mounted; they are not unless asked.
    #[doc(alias = "AT_NO_AUTOMOUNT")]
    pub fn automount(mut self, automount: bool) -> Self {
        let flags = &mut self.question.flags;
        flags.set(StatxFlags::NO_AUTOMOUNT, !automount);
        self
    }

    /// The fields wanted. The answers have no others, and lack those that a file system lacks.
    pub fn mask(mut self, mask: StatxMask) -> Self {
        self.question.mask = mask;
        self
    }

    /// Further flags, such as [`StatxFlags::DONT_SYNC`] or [`StatxFlags::FORCE_SYNC`].
    pub fn flags(mut self, flags: StatxFlags) -> Self {
        self.question.flags |= flags;
        self
    }
}

impl IntoFuture for StatMany {
    type Output = Vec<io::Result<Statx>>;
    type IntoFuture = StatManyFuture;

    fn into_future(self) -> StatManyFuture {
        StatManyFuture {
            state: State::New(self.question, Vec::new()),
        }
    }
}

/// The future of a [`StatMany`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct StatManyFuture {
    state: State,
}

#[derive(Debug)]
enum State {
    /// With what has been answered inline so far.
    New(Question, Answers),
    /// With the number of files.
    Waiting(oneshot::Receiver<Answers>, usize),
    Done,
}

impl Future for StatManyFuture {
    type Output = Vec<io::Result<Statx>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            match &mut self.state {
                State::New(question, answers) => {
                    ready!(answer_inline(question, answers, cx));
                    let State::New(question, answers) =
                        std::mem::replace(&mut self.state, State::Done)
                    else {
                        continue;
                    };
                    let len = question.len();
                    if answers.len() == len {
                        return Poll::Ready(answers);
                    }
                    self.state = State::Waiting(hand_over(question, answers), len);
                }
                State::Waiting(answers, len) => {
                    // The sender is dropped unused only if a back end's thread died.
                    let lost = |_| (0..*len).map(|_| Err(lost())).collect();
                    let answers = ready!(Pin::new(answers).poll(cx)).unwrap_or_else(lost);
                    self.state = State::Done;
                    return Poll::Ready(answers);
                }
                State::Done => panic!("polled after it was ready"),
            }
        }
    }
}

/// Answers a small batch for as long as that is certain not to sleep; each file costs as much of
/// the task's turn as a call of its own would.
fn answer_inline(question: &Question, answers: &mut Answers, cx: &mut Context<'_>) -> Poll<()> {
    if let Err(error) = question.driver.check() {
        answers.resize_with(question.len(), || Err(same(&error)));
    }
    if question.driver.is_this_thread() {
        return coop::poll_proceed(cx);
    }
    if question.len() > INLINE || !question.driver.is_inline() {
        return Poll::Ready(());
    }
    answers.reserve_exact(question.len() - answers.len());
    while answers.len() < question.len() {
        ready!(coop::poll_proceed(cx));
        match question.try_inline(answers.len()) {
            Some(answer) => answers.push(answer),
            None => break,
        }
    }
    Poll::Ready(())
}

/// Has the rest answered by a back end.
fn hand_over(question: Question, mut answers: Answers) -> oneshot::Receiver<Answers> {
    let (done, receiver) = Done::channel();
    let driver = question.driver.clone();
    let missing = question.len() - answers.len();
    if driver.backend() == Backend::Ring && missing <= MADE_HERE {
        Gather::spread(question, answers, done);
    } else {
        answers.reserve_exact(missing);
        driver.send_to_worker(Box::new(Sweep::new(question, answers, done)));
    }
    receiver
}

/// What a file is answered with whose operation was lost with its thread.
fn lost() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// The same error for one more file.
fn same(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(
        || io::Error::new(error.kind(), error.to_string()),
        io::Error::from_raw_os_error,
    )
}
