//! How many kernel workers (io-wq) may wait for files at a time.

use std::time::{Duration, Instant};

use blockpool::{Permit, budget};
use io_uring::IoUring;

use super::inbox::Inbox;

/// So many are kept while there is nothing to do, and are what a burst begins with.
const KEPT: usize = 8;

/// How long most of the share may be without work before it is given back: between two bursts the
/// kernel need not be told twice.
const UNUSED: Duration = Duration::from_millis(5);

/// How long a share that is too small is left so, if nothing happens, before more is asked for. The
/// time doubles up to [`LONGEST`] while there is none: whoever has it may wait for a dead server.
const SCANTY: Duration = Duration::from_millis(5);

const LONGEST: Duration = Duration::from_secs(1);

/// The share grows in steps, as each costs a call.
const STEP: usize = 16;

/// The ring's share of the process's budget: about as large as what is in flight, so that a ring
/// without work leaves the budget to others.
///
/// It is taken before the kernel's limit is raised, and given back down to twice what is in flight
/// when less than a quarter has had work for a while. The kernel's idle workers end by themselves, after five
/// seconds.
pub(super) struct Workers<'a> {
    share: Permit,
    most: usize,
    /// `IORING_REGISTER_IOWQ_MAX_WORKERS`, Linux 5.15. Before it the kernel's default stays: 4 per
    /// CPU, or the ring's size if smaller.
    can_limit: bool,
    /// Since when less than a quarter has had work.
    unused_since: Option<Instant>,
    /// After how long more is asked for, while there are fewer than operations in flight.
    scanty: Option<Duration>,
    inbox: &'a Inbox,
}

impl<'a> Workers<'a> {
    pub(super) fn new(ring: &IoUring, most: usize, inbox: &'a Inbox) -> Self {
        // At most half of what is there, so that another ring can begin as well.
        let begin = most.min(KEPT).min(budget().spare() / 2);
        let mut workers = Self {
            share: budget().acquire_up_to(begin),
            most,
            can_limit: true,
            unused_since: None,
            scanty: None,
            inbox,
        };
        workers.can_limit = workers.limit(ring);
        workers
    }

    /// Tells the kernel; false if it can't be told.
    fn limit(&self, ring: &IoUring) -> bool {
        // One is the least that there can be, and better than as many as the kernel likes.
        let share = self.share.count().max(1);
        let bounded = u32::try_from(share).unwrap_or(u32::MAX);
        // 0 leaves the limit of the other kind (sockets and pipes, which we have none of) alone.
        let mut limits = [bounded, 0];
        let told = ring.submitter().register_iowq_max_workers(&mut limits);
        if told.is_ok() {
            self.inbox.set_workers(share);
        }
        told.is_ok()
    }

    /// Makes the share suit what is in flight, as far as the budget allows.
    pub(super) fn suit(&mut self, ring: &IoUring, in_flight: usize) {
        let has = self.share.count();
        let wanted = in_flight.min(self.most);
        if !self.can_limit {
            return;
        }
        if wanted > has {
            let more = wanted.next_multiple_of(STEP).min(self.most) - has;
            let more = budget().acquire_up_to(more.min(budget().spare()));
            if more.count() > 0 {
                self.share.join(more);
                self.limit(ring);
            }
        }
        self.scanty = (wanted > self.share.count())
            .then(|| self.scanty.map_or(SCANTY, |last| LONGEST.min(2 * last)));
        if self.share.count() <= KEPT || wanted >= self.share.count() / 4 {
            self.unused_since = None;
        } else if self.unused_since.get_or_insert_with(Instant::now).elapsed() >= UNUSED {
            self.share.keep(KEPT.max(2 * wanted));
            self.limit(ring);
            self.unused_since = None;
        }
    }

    /// After how long the share should be looked at again, whatever happens.
    pub(super) fn look_again(&self) -> Option<Duration> {
        let unused = |since: Instant| UNUSED.saturating_sub(since.elapsed());
        self.scanty.or_else(|| self.unused_since.map(unused))
    }
}
