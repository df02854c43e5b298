//! An answer that came too late.

use std::io;
use std::task::Context;

use super::{Answer, Job, Place, Request};
use crate::capabilities::OperationKind;

/// What the ring answered to an operation whose future is gone. What comes of it is dropped, and
/// that may be the last close of a file: so a worker has to do it.
pub(crate) struct Late {
    late: Option<(Box<dyn Job>, io::Result<Answer>)>,
    kind: OperationKind,
}

impl Late {
    pub(crate) fn new(job: Box<dyn Job>, answer: io::Result<Answer>) -> Self {
        Self {
            kind: job.kind(),
            late: Some((job, answer)),
        }
    }
}

impl Job for Late {
    fn kind(&self) -> OperationKind {
        self.kind
    }

    fn calls(&self) -> usize {
        0
    }

    fn is_for_ring(&self) -> bool {
        false
    }

    fn place(&self) -> Option<Place<'_>> {
        None
    }

    fn request(&mut self) -> Option<Request<'_>> {
        None
    }

    fn is_abandoned(&self) -> bool {
        false
    }

    fn watch(&mut self, _: &mut Context<'_>) {}

    fn run(&mut self) {
        if let Some((job, answer)) = self.late.take() {
            job.complete(answer);
        }
    }

    fn land(self: Box<Self>) {}

    fn complete(mut self: Box<Self>, _: io::Result<Answer>) {
        self.run();
    }

    fn disown(&mut self) {
        if let Some((job, _)) = &mut self.late {
            job.disown();
        }
    }
}
