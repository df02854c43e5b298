//! A batch on one worker: plain calls in order, for as long as none of them sleeps.

use std::io;
use std::task::Context;

use blockpool::SleepWatch;

use super::Answers;
use super::gather::Gather;
use super::question::Question;
use crate::capabilities::{OperationKind, Route};
use crate::op::{Answer, Done, Job, Place, Request};

/// One call after the other, from the first file that has no answer on.
pub(super) struct Sweep(Option<Swept>);

struct Swept {
    question: Question,
    answers: Answers,
    done: Done<Answers>,
}

impl Sweep {
    pub(super) fn new(question: Question, answers: Answers, done: Done<Answers>) -> Self {
        Self(Some(Swept {
            question,
            answers,
            done,
        }))
    }
}

impl Swept {
    /// Wakes the future. The directory is let go of before that: whoever is woken may want to close it,
    /// and be the last that has it.
    fn tell(self) {
        let Self {
            question,
            answers,
            done,
        } = self;
        drop(question);
        done.tell(answers);
    }

    /// Asks until a call sleeps, or nobody wants to know.
    fn sweep(&mut self) {
        let question = &self.question;
        let mut watch = SleepWatch::new();
        let before = self.answers.len();
        while self.answers.len() < self.question.len() && !self.done.is_abandoned() {
            question.call_onto(self.answers.len(), &mut self.answers);
            // A thread that has to do it alone goes on.
            if !question.driver.is_this_thread() && watch.has_slept() {
                break;
            }
        }
        let route = if question.driver.is_this_thread() {
            Route::Inline
        } else {
            Route::Worker
        };
        let count = self.answers.len() - before;
        question
            .driver
            .count(OperationKind::StatxPath, route, count);
    }
}

impl Job for Sweep {
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
        let Swept {
            question, answers, ..
        } = self.0.as_ref()?;
        question.place(answers.len())
    }

    fn request(&mut self) -> Option<Request<'_>> {
        None
    }

    fn is_abandoned(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|swept| swept.done.is_abandoned())
    }

    fn watch(&mut self, cx: &mut Context<'_>) {
        if let Some(swept) = &mut self.0 {
            swept.done.watch(cx);
        }
    }

    fn run(&mut self) {
        let Some(mut swept) = self.0.take() else {
            return;
        };
        let driver = &swept.question.driver;
        if driver.is_this_thread() || driver.is_inline() && !swept.question.is_remote() {
            swept.sweep();
        }
        if swept.answers.len() == swept.question.len() || swept.done.is_abandoned() {
            self.0 = Some(swept);
        } else {
            Gather::spread(swept.question, swept.answers, swept.done);
        }
    }

    fn land(self: Box<Self>) {
        if let Some(swept) = self.0 {
            swept.tell();
        }
    }

    fn complete(mut self: Box<Self>, answer: io::Result<Answer>) {
        match (answer, self.0.take()) {
            (Err(error), Some(mut swept)) => {
                let len = swept.question.len();
                swept.answers.resize_with(len, || Err(super::same(&error)));
                swept.tell();
            }
            (_, swept) => {
                self.0 = swept;
                self.run();
                self.land();
            }
        }
    }

    fn disown(&mut self) {
        // The future is told by the drop.
        self.0 = None;
    }
}
