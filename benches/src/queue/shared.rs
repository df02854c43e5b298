//! One queue for all threads.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::probe::Probe;
use super::{Hand, Job, Touch, Touches};

/// The most directories that are taken at a time.
const MOST: usize = 64;

/// How threads use the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// One lock for each directory: what was found goes in, and the next comes out.
    OneLock,
    /// A lock to hand in, a lock to take, and counters of what is alive, active, walked and open.
    AsRingwalk,
    /// Half of a thread's share of what is there at a time. What is found meanwhile is handed in
    /// with the next lock, or at once if somebody waits.
    Batches,
}

/// What the queue keeps directories in.
pub(super) trait Store<J>: Default + Send + 'static {
    /// Adds directories, the first to be walked first, and leaves none.
    fn add(&mut self, found: &mut Vec<J>);

    fn pop(&mut self) -> Option<J>;

    fn len(&self) -> usize;
}

/// The last in is the first out.
pub(super) struct Stack<J>(Vec<J>);

impl<J> Default for Stack<J> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<J: Job> Store<J> for Stack<J> {
    fn add(&mut self, found: &mut Vec<J>) {
        self.0.extend(found.drain(..).rev());
    }

    fn pop(&mut self) -> Option<J> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// The first in pre-order comes first; of equals, the last in.
pub(super) struct Heap<J> {
    heap: BinaryHeap<Placed<J>>,
    count: u64,
}

impl<J> Default for Heap<J> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            count: 0,
        }
    }
}

struct Placed<J> {
    priority: (Reverse<u128>, u64),
    job: J,
}

impl<J> Ord for Placed<J> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.cmp(&other.priority)
    }
}

impl<J> PartialOrd for Placed<J> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<J> PartialEq for Placed<J> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<J> Eq for Placed<J> {}

impl<J: Job> Store<J> for Heap<J> {
    fn add(&mut self, found: &mut Vec<J>) {
        for job in found.drain(..).rev() {
            self.count += 1;
            let priority = (Reverse(job.place()), self.count);
            self.heap.push(Placed { priority, job });
        }
    }

    fn pop(&mut self) -> Option<J> {
        self.heap.pop().map(|placed| placed.job)
    }

    fn len(&self) -> usize {
        self.heap.len()
    }
}

struct Shared<S> {
    threads: usize,
    queue: Mutex<Queue<S>>,
    work: Condvar,
    /// Somebody waits whom nobody has called.
    hungry: AtomicBool,
    counters: Counters,
}

#[derive(Default)]
struct Queue<S> {
    store: S,
    /// Threads that wait.
    idle: usize,
    /// Those of them that have been called and have not come yet.
    called: usize,
    over: bool,
}

/// Ringwalk's, which nobody reads here: what they cost is wanted.
#[derive(Default)]
struct Counters {
    live: AtomicUsize,
    active: AtomicUsize,
    walked: AtomicUsize,
    open: AtomicUsize,
}

/// A hand for each thread.
pub(super) fn hands<J: Job, S: Store<J>, P: Probe>(
    threads: usize,
    manner: Manner,
) -> Vec<impl Hand<J>> {
    let shared = Arc::new(Shared {
        threads,
        queue: Mutex::new(Queue::<S>::default()),
        work: Condvar::new(),
        hungry: AtomicBool::new(false),
        counters: Counters::default(),
    });
    let hand = |_| SharedHand {
        shared: Arc::clone(&shared),
        manner,
        own: Vec::new(),
        kept: Vec::new(),
        busy: false,
        probe: P::default(),
    };
    (0..threads).map(hand).collect()
}

struct SharedHand<J, S, P> {
    shared: Arc<Shared<S>>,
    manner: Manner,
    /// Taken and not begun, the next last.
    own: Vec<J>,
    /// Found and not handed in.
    kept: Vec<J>,
    /// A directory is being walked.
    busy: bool,
    probe: P,
}

impl<J: Job, S: Store<J>, P: Probe> Hand<J> for SharedHand<J, S, P> {
    fn next(&mut self, found: &mut Vec<J>) -> Option<J> {
        match self.manner {
            Manner::OneLock => self.take(found),
            Manner::AsRingwalk => {
                self.count_done(found.len());
                if !found.is_empty() {
                    let mut queue = self.probe.lock(&self.shared.queue, Touch::Lock);
                    queue.store.add(found);
                }
                let job = self.take(found);
                self.busy = job.is_some();
                self.count_begun();
                job
            }
            Manner::Batches => {
                self.kept.append(found);
                let Some(job) = self.own.pop() else {
                    let mut kept = std::mem::take(&mut self.kept);
                    let job = self.take(&mut kept);
                    self.kept = kept;
                    return job;
                };
                if !self.kept.is_empty() && self.shared.hungry.load(Relaxed) {
                    let mut queue = self.probe.lock(&self.shared.queue, Touch::Lock);
                    queue.store.add(&mut self.kept);
                    self.shared.call(queue, &mut self.probe);
                }
                Some(job)
            }
        }
    }

    fn touches(&self) -> Touches {
        self.probe.touches()
    }
}

impl<J: Job, S: Store<J>, P: Probe> SharedHand<J, S, P> {
    /// One lock to hand in and to take.
    fn take(&mut self, found: &mut Vec<J>) -> Option<J> {
        let shared = &*self.shared;
        let mut queue = self.probe.lock(&shared.queue, Touch::Lock);
        queue.store.add(found);
        loop {
            if let Some(job) = queue.store.pop() {
                if self.manner == Manner::Batches {
                    let share = queue.store.len() / (2 * shared.threads);
                    let more = share.min(MOST - 1);
                    self.own.extend((0..more).map_while(|_| queue.store.pop()));
                    self.own.reverse();
                }
                shared.call(queue, &mut self.probe);
                return Some(job);
            }
            if queue.over || queue.idle + 1 == shared.threads {
                queue.over = true;
                shared.work.notify_all();
                return None;
            }
            queue.idle += 1;
            shared.hungry.store(true, Relaxed);
            self.probe.add(Touch::Park, 1);
            while queue.called == 0 && !queue.over {
                queue = shared
                    .work
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            queue.idle -= 1;
            queue.called = queue.called.saturating_sub(1);
            shared.hungry.store(queue.idle > queue.called, Relaxed);
        }
    }

    fn count_done(&mut self, found: usize) {
        let counters = &self.shared.counters;
        if found > 0 {
            counters.live.fetch_add(found, Relaxed);
            self.probe.add(Touch::Atomic, 1);
        }
        if self.busy {
            counters.active.fetch_sub(1, Relaxed);
            counters.walked.fetch_add(1, Relaxed);
            counters.open.fetch_sub(1, Relaxed);
            counters.live.fetch_sub(1, AcqRel);
            self.probe.add(Touch::Atomic, 4);
        }
    }

    fn count_begun(&mut self) {
        let counters = &self.shared.counters;
        if self.busy {
            counters.active.fetch_add(1, Relaxed);
            counters.open.fetch_add(1, Relaxed);
            self.probe.add(Touch::Atomic, 2);
        }
    }
}

impl<S> Shared<S> {
    /// Calls somebody who waits, if there is work left. One at a time: who comes calls the next.
    fn call<J>(&self, mut queue: MutexGuard<'_, Queue<S>>, probe: &mut impl Probe)
    where
        S: Store<J>,
    {
        if queue.idle > 0 && queue.called == 0 && queue.store.len() > 0 {
            queue.called += 1;
            self.hungry.store(queue.idle > queue.called, Relaxed);
            drop(queue);
            probe.add(Touch::Wake, 1);
            self.work.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Job for u128 {
        fn place(&self) -> u128 {
            *self
        }
    }

    fn order<S: Store<u128>>() -> Vec<u128> {
        let mut store = S::default();
        store.add(&mut vec![3, 9]);
        store.add(&mut vec![5, 7]);
        std::iter::from_fn(|| store.pop()).collect()
    }

    #[test]
    fn what_comes_first() {
        assert_eq!(order::<Stack<u128>>(), [5, 7, 3, 9]);
        assert_eq!(order::<Heap<u128>>(), [3, 5, 7, 9]);
    }
}
