//! A deque under a mutex for each thread.

use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use super::pad::Padded;
use super::probe::Probe;
use super::sleepers::Sleepers;
use super::{Hand, Job, Touch, Touches};

struct Deque<J> {
    /// The next to be walked last.
    jobs: Mutex<VecDeque<J>>,
    /// How many there are, to pass by without the lock where there is none.
    len: AtomicUsize,
}

impl<J> Default for Deque<J> {
    fn default() -> Self {
        Self {
            jobs: Mutex::default(),
            len: AtomicUsize::new(0),
        }
    }
}

struct Shared<J> {
    deques: Vec<Padded<Deque<J>>>,
    sleepers: Sleepers,
}

/// A hand for each thread.
pub(super) fn hands<J: Job, P: Probe>(threads: usize) -> Vec<impl Hand<J>> {
    let shared = Arc::new(Shared {
        deques: (0..threads).map(|_| Padded::default()).collect(),
        sleepers: Sleepers::new(threads),
    });
    let hand = |index| HalfHand {
        shared: Arc::clone(&shared),
        index,
        stolen: VecDeque::new(),
        probe: P::default(),
    };
    (0..threads).map(hand).collect()
}

struct HalfHand<J, P> {
    shared: Arc<Shared<J>>,
    index: usize,
    /// Room for what is on its way from one deque to the other.
    stolen: VecDeque<J>,
    probe: P,
}

impl<J: Job, P: Probe> Hand<J> for HalfHand<J, P> {
    fn next(&mut self, found: &mut Vec<J>) -> Option<J> {
        let mut has_added = !found.is_empty();
        loop {
            let own = &self.shared.deques[self.index];
            let mut jobs = self.probe.lock(&own.jobs, Touch::OwnLock);
            jobs.extend(found.drain(..).rev());
            jobs.append(&mut self.stolen);
            let job = jobs.pop_back();
            let left = jobs.len();
            own.len.store(left, Relaxed);
            drop(jobs);
            if let Some(job) = job {
                if has_added && left > 0 {
                    self.shared.sleepers.call(&mut self.probe);
                }
                return Some(job);
            }
            has_added = true;
            if self.steal() {
                continue;
            }
            let is_work = || {
                let mut deques = self.shared.deques.iter();
                deques.any(|other| other.len.load(Relaxed) > 0)
            };
            if !self.shared.sleepers.wait(&mut self.probe, is_work) {
                return None;
            }
        }
    }

    fn touches(&self) -> Touches {
        self.probe.touches()
    }
}

impl<J: Job, P: Probe> HalfHand<J, P> {
    /// Takes half of what another has, from the end that is not its owner's.
    fn steal(&mut self) -> bool {
        let (after, before) = (self.index + 1.., ..self.index);
        let deques = &self.shared.deques;
        for other in deques[after].iter().chain(&deques[before]) {
            if other.len.load(Relaxed) > 0 {
                let mut jobs = self.probe.lock(&other.jobs, Touch::Lock);
                let half = jobs.len().div_ceil(2);
                self.stolen.extend(jobs.drain(..half));
                other.len.store(jobs.len(), Relaxed);
            }
            if !self.stolen.is_empty() {
                self.probe.add(Touch::Steal, 1);
                self.probe.add(Touch::Stolen, self.stolen.len());
                return true;
            }
            self.probe.add(Touch::Miss, 1);
        }
        false
    }
}
