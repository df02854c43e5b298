//! The life of the ring's thread.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use blockpool::Permit;
use io_uring::IoUring;

use super::inbox::Inbox;
use super::setup::{self, Config, Features, SetupError};
use super::table::Table;
use super::{entry, inbox};
use crate::op::Job;
use crate::pool::Pool;

/// The completion of the event's poll. No operation has this name: its slot would be beyond the
/// table.
const EVENT: u64 = u64::MAX;

pub(super) fn live(inbox: &Inbox, config: Config, fallback: &Pool) {
    let _closes = Closes(inbox);
    let made = permit().and_then(|permit| Ok((setup::make(config)?, permit)));
    match made {
        Ok(((ring, mut features), permit)) => {
            // The io-wq share is taken before the limit is set, and given back with the ring. At
            // most half of what is there, so that another driver can have a ring as well.
            let budget = blockpool::budget();
            let share = budget.acquire_up_to(config.workers.min(budget.spare() / 2));
            features.workers = limit_workers(&ring, share.count());
            inbox.set_up(Ok(features.clone()));
            Looper::new(ring, features, inbox, fallback).run();
            drop((share, permit));
        }
        Err(error) => {
            inbox.set_up(Err(error));
            give_back(inbox, fallback, inbox.close());
        }
    }
}

/// The permit of this thread.
fn permit() -> Result<Permit, SetupError> {
    let budget = blockpool::budget();
    let permit = (budget.spare() > 0).then(|| budget.try_acquire());
    permit.flatten().ok_or_else(|| {
        let error = io::ErrorKind::WouldBlock.into();
        SetupError::new("the process's budget of waiting threads", &error)
    })
}

/// However the thread ends, nothing may be left to wait for it.
struct Closes<'a>(&'a Inbox);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        // Their futures are told by the drop.
        drop(self.0.close());
    }
}

/// Everything that the ring can't do any more goes the other way.
fn give_back(inbox: &Inbox, fallback: &Pool, jobs: VecDeque<Box<dyn Job>>) {
    for job in jobs {
        inbox.finished_one();
        fallback.take_over(job);
    }
}

/// Sets how many io-wq workers may wait for files at a time; `IORING_REGISTER_IOWQ_MAX_WORKERS`,
/// Linux 5.15. Elsewhere the kernel's default stays: 4 per CPU, or the ring's size if smaller.
fn limit_workers(ring: &IoUring, share: usize) -> usize {
    // One is the least that there can be, and better than as many as the kernel likes.
    let bounded = u32::try_from(share).unwrap_or(u32::MAX).max(1);
    // 0 leaves the limit of the other kind (sockets and pipes, which we have none of) alone.
    match ring
        .submitter()
        .register_iowq_max_workers(&mut [bounded, 0])
    {
        Ok(()) => share,
        Err(_) => 0,
    }
}

struct Looper<'a> {
    ring: IoUring,
    features: Features,
    table: Table,
    backlog: VecDeque<Box<dyn Job>>,
    inbox: &'a Inbox,
    fallback: &'a Pool,
    polling: bool,
}

impl<'a> Looper<'a> {
    fn new(ring: IoUring, features: Features, inbox: &'a inbox::Inbox, fallback: &'a Pool) -> Self {
        // One completion is the event's; with the rest the queue can never overflow.
        let capacity = u32::try_from(features.completions.saturating_sub(1)).unwrap_or(u32::MAX);
        Self {
            ring,
            features,
            table: Table::new(capacity),
            backlog: VecDeque::new(),
            inbox,
            fallback,
            polling: false,
        }
    }

    fn run(mut self) {
        loop {
            let open = self.inbox.drain(&mut self.backlog);
            let entered = self.fill();
            if !open && self.table.is_empty() && self.backlog.is_empty() {
                return;
            }
            let entered = entered.and_then(|()| {
                // With a full table only completions help, whatever else comes in.
                if self.inbox.fall_asleep(open) || self.table.is_full() {
                    let result = self.ring.submit_and_wait(1);
                    self.inbox.woke_up();
                    result.map(drop)
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
                Err(_) => return self.give_up(),
            }
        }
    }

    /// Pushes as much of the backlog as there is room for.
    fn fill(&mut self) -> io::Result<()> {
        if !self.polling {
            let poll = self.inbox.event().poll().user_data(EVENT);
            self.push(&poll)?;
            self.polling = true;
        }
        while !self.table.is_full() && !self.backlog.is_empty() {
            // First, as it can fail, and nothing must be lost then.
            self.make_room()?;
            let Some(job) = self.backlog.pop_front() else {
                break;
            };
            if job.is_abandoned() {
                self.inbox.finished_one();
                continue;
            }
            let kind = job.kind();
            if !self.features.supports(kind) {
                self.inbox.finished_one();
                self.fallback.take_over(job);
                continue;
            }
            let Some((name, job)) = self.table.insert(kind, job) else {
                break;
            };
            if let Some(request) = job.request() {
                let entry = entry::build(request).user_data(name);
                self.inbox.count(kind);
                self.push(&entry)?;
            } else if let Some((_, job)) = self.table.take(name) {
                self.inbox.finished_one();
                self.fallback.take_over(job);
            }
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
        // SAFETY: lent until completed: the entry is either the event's poll, which points to
        // nothing, or was built from an operation in its slot of the table.
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
            } else if let Some((kind, job)) = self.table.take(name) {
                self.inbox.finished_one();
                // A waker is the executor's code; its panic must not take the table along.
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    job.complete(entry::answer(kind, result));
                }));
            }
        }
        count
    }

    /// The ring has broken in a way that no retry mends. What waits goes the other way; what is in
    /// flight is the table's to deal with.
    fn give_up(mut self) {
        give_back(self.inbox, self.fallback, self.inbox.close());
        give_back(self.inbox, self.fallback, std::mem::take(&mut self.backlog));
    }
}

/// Whether the next entry may go well where this one failed.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EINTR | libc::EAGAIN | libc::EBUSY | libc::ENOMEM)
    ) || error.kind() == io::ErrorKind::WouldBlock
}
