//! The life of the ring's thread.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use blockpool::Permit;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};

use super::entry;
use super::inbox::Inbox;
use super::setup::{self, Config, Features, SetupError};
use super::table::Table;
use super::workers::Workers;
use crate::op::{Answer, Job, Late};
use crate::pool::Pool;
use crate::trace;

/// The completion of the event's poll. No operation has this name: its slot would be beyond the
/// table.
const EVENT: u64 = u64::MAX;
/// The completion of a request to cancel.
const CANCEL: u64 = u64::MAX - 1;

pub(super) fn live(inbox: &Arc<Inbox>, config: Config, fallback: &Pool) {
    let _closes = Closes(inbox);
    let made = permit().and_then(|permit| Ok((setup::make(config)?, permit)));
    match made {
        Ok(((ring, features), permit)) => {
            trace::ring_ready(features.completions);
            let workers = Workers::new(&ring, config.workers, inbox);
            inbox.set_up(Ok(features.clone()));
            Looper::new(ring, features, workers, inbox, fallback).run();
            drop(permit);
        }
        Err(error) => {
            trace::ring_refused(&error);
            inbox.set_up(Err(error));
            give_back(inbox, fallback, inbox.jobs().shut());
        }
    }
}

/// The permit of this thread.
fn permit() -> Result<Permit, SetupError> {
    let budget = blockpool::budget();
    // Not of what is spare: another ring may have taken that, and gives it back soon. But what no ring
    // can do needs a thread as well.
    let left = budget.limit().saturating_sub(budget.at_work());
    let permit = budget.acquire_up_to(usize::from(left >= 2));
    (permit.count() > 0).then_some(permit).ok_or_else(|| {
        let error = io::Error::from_raw_os_error(libc::EAGAIN);
        SetupError::new("the process's budget of waiting threads", &error)
    })
}

/// However the thread ends, nothing may be left to wait for it.
struct Closes<'a>(&'a Inbox);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        // Their futures are told by the drop.
        for job in self.0.jobs().shut() {
            drop(job);
            self.0.finished_one();
        }
    }
}

/// Everything that the ring can't do any more goes the other way.
fn give_back(inbox: &Inbox, fallback: &Pool, jobs: VecDeque<Box<dyn Job>>) {
    for job in jobs {
        fallback.take_over(job);
        inbox.finished_one();
    }
}

struct Looper<'a> {
    ring: IoUring,
    features: Features,
    workers: Workers<'a>,
    table: Table,
    backlog: VecDeque<Box<dyn Job>>,
    inbox: &'a Inbox,
    /// Wakes this thread when a future is dropped.
    dropped: Waker,
    fallback: &'a Pool,
    polling: bool,
    /// The names of operations that the kernel is to be asked to cancel.
    to_cancel: VecDeque<u64>,
    cancelling: usize,
}

impl<'a> Looper<'a> {
    fn new(
        ring: IoUring,
        features: Features,
        workers: Workers<'a>,
        inbox: &'a Arc<Inbox>,
        fallback: &'a Pool,
    ) -> Self {
        let capacity = u32::try_from(features.capacity()).unwrap_or(u32::MAX);
        Self {
            ring,
            features,
            workers,
            table: Table::new(capacity),
            backlog: VecDeque::new(),
            inbox,
            dropped: Waker::from(Arc::clone(inbox)),
            fallback,
            polling: false,
            to_cancel: VecDeque::new(),
            cancelling: 0,
        }
    }

    fn run(mut self) {
        loop {
            let open = self.inbox.jobs().drain(&mut self.backlog);
            if self.inbox.jobs().take_signal() {
                self.let_go();
            }
            let entered = self.fill();
            if !open && self.table.is_empty() && self.backlog.is_empty() {
                return;
            }
            self.workers.suit(&self.ring, self.table.len());
            let entered = entered.and_then(|()| {
                if self.inbox.jobs().fall_asleep(open) {
                    let result = self.sleep();
                    self.inbox.jobs().woke_up();
                    result
                } else {
                    self.ring.submit().map(drop)
                }
            });
            let completed = self.reap();
            match entered {
                Ok(()) => {}
                // An operation that was pushed stays in the table and in the queue whatever the
                // entry answered, and is submitted by the next.
                Err(error) if is_passing(&error) => {
                    if completed == 0 {
                        // The kernel is out of memory for requests, and nothing of ours that
                        // could give some back has finished.
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
                Err(error) => {
                    trace::ring_broken(&error);
                    return self.give_up();
                }
            }
        }
    }

    /// Submits what is queued and waits for a completion, or until the share of the budget is to be
    /// looked at again (`IORING_ENTER_EXT_ARG`, Linux 5.11; without it that waits for the completion).
    fn sleep(&self) -> io::Result<()> {
        let limit = self.workers.look_again();
        let limit = limit.filter(|_| self.ring.params().is_feature_ext_arg());
        let Some(limit) = limit else {
            return self.ring.submit_and_wait(1).map(drop);
        };
        let limit = Timespec::from(limit);
        let args = SubmitArgs::new().timespec(&limit);
        match self.ring.submitter().submit_with_args(1, &args) {
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => Ok(()),
            result => result.map(drop),
        }
    }

    /// Futures have been dropped: what has not been pushed is skipped, the rest is to be cancelled.
    fn let_go(&mut self) {
        if self.features.cancel {
            self.to_cancel.extend(self.table.newly_abandoned());
        }
        let inbox = self.inbox;
        self.backlog.retain(|job| {
            let wanted = !job.is_abandoned();
            if !wanted {
                inbox.finished_one();
            }
            wanted
        });
    }

    /// Pushes as much of the backlog as there is room for.
    fn fill(&mut self) -> io::Result<()> {
        if !self.polling {
            let poll = self.inbox.event().poll().user_data(EVENT);
            self.push(&poll)?;
            self.polling = true;
        }
        self.cancel()?;
        while !self.table.is_full() && !self.backlog.is_empty() {
            // First, as it can fail, and nothing must be lost then.
            self.make_room()?;
            let Some(job) = self.backlog.pop_front() else {
                break;
            };
            if job.is_abandoned() {
                drop(job);
                self.inbox.finished_one();
                continue;
            }
            let kind = job.kind();
            if !self.features.supports(kind) {
                self.fallback.take_over(job);
                self.inbox.finished_one();
                continue;
            }
            let Some((name, job)) = self.table.insert(kind, job) else {
                break;
            };
            job.watch(&mut Context::from_waker(&self.dropped));
            if job.is_abandoned() {
                // Dropped before it was watched, so nobody else will find out.
                self.inbox.jobs().signal_self();
            }
            if let Some(request) = job.request() {
                let entry = entry::build(request).user_data(name);
                self.inbox.count(kind);
                self.push(&entry)?;
            } else if let Some((_, job)) = self.table.take(name) {
                self.fallback.take_over(job);
                self.inbox.finished_one();
            }
        }
        Ok(())
    }

    /// Asks the kernel to cancel operations whose futures are gone: those that no kernel worker has
    /// begun are over then, and of the others those whose file system heeds signals.
    ///
    /// The operation stays in the table until its own completion, whatever comes of it.
    fn cancel(&mut self) -> io::Result<()> {
        while self.cancelling < self.features.most_cancelling() {
            self.make_room()?;
            let Some(name) = self.to_cancel.pop_front() else {
                break;
            };
            let entry = opcode::AsyncCancel::new(name).build().user_data(CANCEL);
            self.inbox.counters().count_cancelled();
            self.push(&entry)?;
            self.cancelling += 1;
        }
        Ok(())
    }

    /// Submits what is queued if there is no room for one more entry.
    fn make_room(&mut self) -> io::Result<()> {
        if self.ring.submission().is_full() {
            self.ring.submit()?;
        }
        Ok(())
    }

    fn push(&mut self, entry: &io_uring::squeue::Entry) -> io::Result<()> {
        self.make_room()?;
        // SAFETY: lent until completed: the entry is the event's poll or a request to cancel, which
        // point to nothing, or was built from an operation in its slot of the table.
        unsafe { self.ring.submission().push(entry) }.map_err(|_| io::ErrorKind::WouldBlock.into())
    }

    /// Wakes the futures of what has completed; how many there were.
    fn reap(&mut self) -> usize {
        let mut count = 0;
        let completions: Vec<(u64, i32)> = self
            .ring
            .completion()
            .map(|entry| (entry.user_data(), entry.result()))
            .collect();
        for (name, result) in completions {
            count += 1;
            if name == EVENT {
                self.inbox.event().clear();
                self.polling = false;
            } else if name == CANCEL {
                self.cancelling -= 1;
            } else if let Some((kind, job)) = self.table.take(name) {
                self.land(job, entry::answer(kind, result));
                self.inbox.finished_one();
            }
        }
        let overflows = self.ring.completion().overflow();
        if overflows > 0 {
            self.inbox.counters().set_overflows(overflows);
        }
        count
    }

    fn land(&self, job: Box<dyn Job>, answer: io::Result<Answer>) {
        if job.is_abandoned() {
            // Dropping it may be the last close of a file, which this thread must not wait for.
            return self.fallback.submit(Box::new(Late::new(job, answer)));
        }
        // A waker is the executor's code; its panic must not take the table along.
        let _ = catch_unwind(AssertUnwindSafe(|| job.complete(answer)));
    }

    /// The ring has broken in a way that no retry mends. What waits goes the other way; what is in
    /// flight is the table's to deal with.
    fn give_up(mut self) {
        give_back(self.inbox, self.fallback, self.inbox.jobs().shut());
        give_back(self.inbox, self.fallback, std::mem::take(&mut self.backlog));
        // Its futures are told by the table's drop.
        for _ in 0..self.table.len() {
            self.inbox.finished_one();
        }
    }
}

/// Whether the next entry may go well where this one failed.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINTR | libc::EAGAIN | libc::EBUSY | libc::ENOMEM)
    ) || error.kind() == io::ErrorKind::WouldBlock
}
