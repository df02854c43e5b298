//! A batch that is spread: many answer, each whenever it can, and the future is woken once.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Context, Wake, Waker};

use blockpool::lock;

use fscall::Statx;

use super::question::Question;
use super::{Answers, lost};
use crate::capabilities::{OperationKind, Route};
use crate::op::{Answer, Done, Job, Operation, Place, Request, StatxOp};

/// Collects the answers to a batch.
pub(super) struct Gather {
    question: Question,
    /// The first file that no [`Helper`] has taken.
    next: AtomicUsize,
    collected: Mutex<Collected>,
}

struct Collected {
    answers: Answers,
    missing: usize,
    done: Done<Answers>,
    /// Who is to be woken when the future is dropped, and for how many of the files.
    watchers: Vec<(Waker, usize)>,
}

/// Wakes the watchers of a batch, for the future's channel knows but one waker.
struct Dropped(Weak<Gather>);

impl Wake for Dropped {
    fn wake(self: Arc<Self>) {
        let Some(gather) = self.0.upgrade() else {
            return;
        };
        let watchers = std::mem::take(&mut gather.collected().watchers);
        for (waker, times) in watchers {
            for _ in 0..times {
                waker.wake_by_ref();
            }
        }
    }
}

/// All answers, and who waits for them.
struct Complete {
    answers: Answers,
    done: Done<Answers>,
}

impl Complete {
    /// Wakes the future. To be called without a handle of the batch: whoever is woken may want to close
    /// the directory, and be the last that has it.
    fn tell(self) {
        self.done.tell(self.answers);
    }
}

impl Gather {
    /// Has the files that are missing in `answers` asked about: all of them at once on the ring if
    /// there is one and they are many, else by as many threads as the process may have, the calling
    /// one among them. So it may be called on a polling thread only if the ring was asked for.
    pub(super) fn spread(question: Question, mut answers: Answers, done: Done<Answers>) {
        let (first, len) = (answers.len(), question.len());
        answers.resize_with(len, || Err(lost()));
        let gather = Arc::new(Self {
            question,
            next: AtomicUsize::new(first),
            collected: Mutex::new(Collected {
                answers,
                missing: len - first,
                done,
                watchers: Vec::new(),
            }),
        });
        let driver = &gather.question.driver;
        if driver.suits_ring(len - first) {
            let items = (first..len).filter_map(|index| gather.item(index));
            driver.spread_on_ring(items.collect());
            return;
        }
        // Calls are known to sleep: for each a thread of its own, as far as there may be any.
        let helpers = (len - first).min(blockpool::budget().limit());
        for _ in 1..helpers {
            driver.send_to_worker(Box::new(Helper(Arc::clone(&gather))));
        }
        Helper(gather).help();
    }

    /// One file's operation; `None` if it can't even be asked about.
    fn item(self: &Arc<Self>, index: usize) -> Option<Box<dyn Job>> {
        match self.question.operation(index) {
            Ok(op) => Some(Box::new(Item {
                op,
                answer: None,
                index,
                gather: Arc::clone(self),
            })),
            Err(error) => {
                if let Some(complete) = self.put(index, Err(error)) {
                    complete.tell();
                }
                None
            }
        }
    }

    fn collected(&self) -> MutexGuard<'_, Collected> {
        lock(&self.collected)
    }

    /// Takes one answer; gives out all if it was the last that was missing.
    fn put(&self, index: usize, answer: io::Result<Statx>) -> Option<Complete> {
        let mut collected = self.collected();
        collected.answers[index] = answer;
        collected.missing -= 1;
        (collected.missing == 0).then(|| Complete {
            answers: std::mem::take(&mut collected.answers),
            done: collected.done.take(),
        })
    }

    /// Has the task of `cx` woken for one more file when the future is dropped.
    fn watch(self: &Arc<Self>, cx: &mut Context<'_>) {
        let mut collected = self.collected();
        let Collected { done, watchers, .. } = &mut *collected;
        let known = watchers
            .iter_mut()
            .find(|(waker, _)| waker.will_wake(cx.waker()));
        if let Some((_, times)) = known {
            *times += 1;
            return;
        }
        watchers.push((cx.waker().clone(), 1));
        let waker = Waker::from(Arc::new(Dropped(Arc::downgrade(self))));
        done.watch(&mut Context::from_waker(&waker));
    }

    /// Nobody wants the answers any more.
    fn is_abandoned(&self) -> bool {
        self.collected().done.is_abandoned()
    }
}

/// One file's operation on the ring.
struct Item {
    op: StatxOp,
    answer: Option<io::Result<Answer>>,
    index: usize,
    gather: Arc<Gather>,
}

impl Job for Item {
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
        self.gather.is_abandoned()
    }

    fn watch(&mut self, cx: &mut Context<'_>) {
        self.gather.watch(cx);
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
        let Self {
            op, index, gather, ..
        } = *self;
        let complete = gather.put(index, answer.and_then(|answer| op.finish(answer)));
        drop(gather);
        if let Some(complete) = complete {
            complete.tell();
        }
    }

    fn disown(&mut self) {
        if let Some(complete) = self.gather.put(self.index, Err(lost())) {
            complete.tell();
        }
    }
}

/// One thread's part: file after file, until none is left.
struct Helper(Arc<Gather>);

impl Helper {
    fn take(&self) -> Option<usize> {
        let index = self.0.next.fetch_add(1, Ordering::Relaxed);
        (index < self.0.question.len()).then_some(index)
    }

    fn help(&self) {
        let question = &self.0.question;
        while !self.0.is_abandoned()
            && let Some(index) = self.take()
        {
            question
                .driver
                .count(OperationKind::StatxPath, Route::Worker, 1);
            if let Some(complete) = self.0.put(index, question.call(index)) {
                complete.tell();
            }
        }
    }
}

impl Job for Helper {
    fn kind(&self) -> OperationKind {
        OperationKind::StatxPath
    }

    fn calls(&self) -> usize {
        0
    }

    fn is_for_ring(&self) -> bool {
        false
    }

    fn place(&self) -> Option<Place<'_>> {
        let gather = &self.0;
        gather.question.place(gather.next.load(Ordering::Relaxed))
    }

    fn request(&mut self) -> Option<Request<'_>> {
        None
    }

    fn is_abandoned(&self) -> bool {
        self.0.is_abandoned()
    }

    fn watch(&mut self, cx: &mut Context<'_>) {
        self.0.watch(cx);
    }

    fn run(&mut self) {
        self.help();
    }

    fn land(self: Box<Self>) {}

    fn complete(self: Box<Self>, answer: io::Result<Answer>) {
        let Err(error) = answer else {
            return self.help();
        };
        while let Some(index) = self.take() {
            if let Some(complete) = self.0.put(index, Err(super::same(&error))) {
                complete.tell();
            }
        }
    }

    fn disown(&mut self) {}
}
