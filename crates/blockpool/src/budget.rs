//! One budget for everything that waits in the kernel on behalf of this process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use crate::PerFork;
use crate::sync::{AtomicUsize, fixed_limit};
use crate::threads::{dismiss, permits_are_back};

/// The most that may wait at once, however much the system would allow.
const MOST: usize = 512;
/// A quarter of what the system leaves is ours, the rest is the host program's.
const SHARE: u64 = 4;
/// How many permits there are before anybody has looked.
const UNTIL_LEARNT: usize = 4;
/// From this limit of processes on, those that exist are not counted: 512 is then less than a
/// quarter of what is left even beside 14,000 others.
const PLENTY: u64 = 16 * 1024;

/// How many threads of ours, kernel threads (io-wq) included, may exist at the same time.
///
/// At most 512, and never more than a quarter of what `RLIMIT_NPROC` and the cgroup's `pids.max`
/// left when it was first asked: 200 stats stuck on a dead mount must not leave the host program
/// unable to fork.
#[derive(Debug)]
pub struct Budget {
    limit: OnceLock<usize>,
    used: AtomicUsize,
    /// Of those used, how many are of threads that wait for work.
    parked: AtomicUsize,
    /// Of those used, how many are of helpers that are no threads of the pool.
    helpers: AtomicUsize,
}

/// The process's budget; a forked child has its own.
pub fn budget() -> &'static Budget {
    static BUDGET: PerFork<Budget> = PerFork::new(Budget::new);
    BUDGET.get()
}

impl Budget {
    fn new() -> Self {
        Self {
            limit: OnceLock::new(),
            used: AtomicUsize::new(0),
            parked: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
        }
    }

    /// The number of permits there are. Asked for the first time it reads a few files of `/proc` and
    /// `/sys/fs/cgroup`.
    pub fn limit(&self) -> usize {
        *self
            .limit
            .get_or_init(|| fixed_limit().unwrap_or_else(share_of_system))
    }

    /// The number of permits that are out.
    pub fn in_use(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// The number of permits that are at work: out, and not those of threads that wait for some.
    pub fn at_work(&self) -> usize {
        let parked = self.parked.load(Ordering::Relaxed);
        self.in_use().saturating_sub(parked)
    }

    /// How many permits are kept from kernel threads and other helpers, for the threads that do
    /// what those can't.
    pub fn kept_for_threads(&self) -> usize {
        self.limit().div_ceil(32)
    }

    /// The number of permits that are left for helpers. Threads without work give up theirs.
    pub fn spare(&self) -> usize {
        self.limit()
            .saturating_sub(self.at_work() + self.kept_for_threads())
    }

    /// One more thread waits for work. Called, as its opposite, with the lock of the list of those.
    pub(crate) fn park(&self) {
        self.parked.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn unpark(&self, count: usize) {
        self.parked.fetch_sub(count, Ordering::Relaxed);
    }

    /// Takes a permit, if one is left. The first four are given before the [limit](Self::limit) is
    /// known, so that who sends for the first thread does not wait for files: that thread learns it.
    pub(crate) fn try_acquire(&'static self) -> Option<Permit> {
        let known = self.limit.get().copied();
        let mut permit = self.take(known.unwrap_or(UNTIL_LEARNT), 1);
        if permit.count == 0 && known.is_none() {
            permit = self.take(self.limit(), 1);
        }
        (permit.count > 0).then_some(permit)
    }

    /// Takes as many permits as are left, at most `count`, for who is no thread of this crate's.
    /// Threads without work end to make room.
    pub fn acquire_up_to(&'static self, count: usize) -> Permit {
        let free = self.limit().saturating_sub(self.in_use());
        if free < count && self.parked.load(Ordering::Relaxed) > 0 {
            dismiss(count - free);
        }
        let mut permit = self.take(self.limit(), count);
        permit.from_outside = true;
        self.helpers.fetch_add(permit.count, Ordering::Relaxed);
        permit
    }

    /// Whether permits are out that [come back](permits_are_back) from others than threads.
    pub(crate) fn has_helpers(&self) -> bool {
        self.helpers.load(Ordering::Relaxed) > 0
    }

    fn take(&'static self, limit: usize, count: usize) -> Permit {
        let mut taken = 0;
        // The closure always answers `Some`, so the update can't fail.
        let _ = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                taken = limit.saturating_sub(used).min(count);
                Some(used + taken)
            });
        Permit {
            budget: self,
            count: taken,
            from_outside: false,
        }
    }
}

/// The right to keep [`count`](Permit::count) threads waiting in the kernel; returned when dropped.
#[derive(Debug)]
pub struct Permit {
    budget: &'static Budget,
    count: usize,
    /// No thread of the pool has it, so nobody looks who starves when it is back.
    from_outside: bool,
}

impl Permit {
    /// How many threads this permit is for; may be 0.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Makes one permit of two.
    pub fn join(&mut self, mut other: Self) {
        self.count += std::mem::take(&mut other.count);
    }

    /// Gives back all but so many.
    pub fn keep(&mut self, count: usize) {
        let count = self.count.min(count);
        let rest = Self {
            count: self.count - count,
            ..*self
        };
        self.count = count;
        drop(rest);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.count, Ordering::Relaxed);
        if self.from_outside && self.count > 0 {
            self.budget.helpers.fetch_sub(self.count, Ordering::Relaxed);
            permits_are_back();
        }
    }
}

fn share_of_system() -> usize {
    share_of(
        fscall::limits::nproc().map_or(u64::MAX, |(soft, _)| soft),
        fscall::limits::pids_left(),
        tasks_of_user,
    )
}

/// Our share of what the limits leave; at least one, or nothing could be done at all.
fn share_of(nproc: u64, pids_left: Option<u64>, tasks: impl FnOnce() -> Option<u64>) -> usize {
    let mut left = pids_left.unwrap_or(u64::MAX);
    if nproc < PLENTY {
        // Without /proc to count them, half of the limit is taken to be in use.
        let used = tasks().unwrap_or(nproc / 2);
        left = left.min(nproc.saturating_sub(used));
    }
    usize::try_from(left / SHARE).unwrap_or(MOST).clamp(1, MOST)
}

/// How many tasks count against this user's `RLIMIT_NPROC`, from `/proc`.
fn tasks_of_user() -> Option<u64> {
    let uid = fs::metadata("/proc/self").ok()?.uid();
    let mut tasks = 0;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        if !entry
            .file_name()
            .as_encoded_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit)
        {
            continue;
        }
        // A process that ends meanwhile no longer counts.
        let Ok(meta) = entry.metadata() else { continue };
        if meta.uid() == uid {
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let threads = status
                .lines()
                .find_map(|line| line.strip_prefix("Threads:"));
            tasks += threads
                .and_then(|count| count.trim().parse::<u64>().ok())
                .unwrap_or(1);
        }
    }
    Some(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_is_a_quarter_of_what_is_left() {
        assert_eq!(share_of(u64::MAX, None, || unreachable!()), 512);
        assert_eq!(share_of(PLENTY, Some(1000), || unreachable!()), 250);
        assert_eq!(share_of(120, None, || Some(20)), 25);
        assert_eq!(share_of(120, None, || None), 15);
        assert_eq!(share_of(120, Some(8), || Some(20)), 2);
        assert_eq!(share_of(10, Some(0), || Some(20)), 1);
    }

    #[test]
    fn counts_this_process() {
        assert!(tasks_of_user().is_some_and(|tasks| tasks >= 1));
    }

    #[test]
    fn many_at_once_before_the_limit_is_known() {
        static OWN: PerFork<Budget> = PerFork::new(Budget::new);
        let own = OWN.get();
        let permits: Vec<_> = (0..UNTIL_LEARNT * 3).map(|_| own.try_acquire()).collect();
        let given = permits.iter().flatten().count();
        assert_eq!(given, own.limit().min(UNTIL_LEARNT * 3));
    }

    #[test]
    fn permits_come_back() {
        static OWN: PerFork<Budget> = PerFork::new(Budget::new);
        let own = OWN.get();
        let limit = own.limit();
        let mut all = own.acquire_up_to(usize::MAX);
        assert_eq!(all.count(), limit);
        assert!(own.try_acquire().is_none());
        all.keep(1);
        assert_eq!((all.count(), own.in_use()), (1, 1));
        all.keep(limit);
        assert_eq!((all.count(), own.in_use()), (1, 1));
        all.join(own.acquire_up_to(usize::MAX));
        assert_eq!((all.count(), own.in_use()), (limit, limit));
        assert_eq!((own.in_use(), own.spare()), (limit, 0));
        drop(all);
        assert_eq!(own.in_use(), 0);
        assert!(own.try_acquire().is_some());
    }
}
