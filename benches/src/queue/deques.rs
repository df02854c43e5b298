//! A lock-free deque for each thread.

use std::sync::Arc;

use crossbeam_deque::{Steal, Stealer, Worker};

use super::probe::Probe;
use super::sleepers::Sleepers;
use super::{Hand, Job, Touch, Touches};

struct Shared<J> {
    stealers: Vec<Stealer<J>>,
    sleepers: Sleepers,
}

/// A hand for each thread.
pub(super) fn hands<J: Job, P: Probe>(threads: usize) -> Vec<impl Hand<J>> {
    let own: Vec<_> = (0..threads).map(|_| Worker::new_lifo()).collect();
    let shared = Arc::new(Shared {
        stealers: own.iter().map(Worker::stealer).collect(),
        sleepers: Sleepers::new(threads),
    });
    let hand = |(index, own)| DequeHand {
        shared: Arc::clone(&shared),
        index,
        own,
        probe: P::default(),
    };
    own.into_iter().enumerate().map(hand).collect()
}

struct DequeHand<J, P> {
    shared: Arc<Shared<J>>,
    index: usize,
    own: Worker<J>,
    probe: P,
}

impl<J: Job, P: Probe> Hand<J> for DequeHand<J, P> {
    fn next(&mut self, found: &mut Vec<J>) -> Option<J> {
        let has_found = !found.is_empty();
        for job in found.drain(..).rev() {
            self.own.push(job);
        }
        loop {
            if P::ON && self.own.len() == 1 {
                // The last is taken by a compare-and-swap: a thief may want it, too.
                self.probe.add(Touch::Atomic, 1);
            }
            let popped = self.own.pop();
            let is_stolen = popped.is_none();
            if let Some(job) = popped.or_else(|| self.steal()) {
                if (has_found || is_stolen) && !self.own.is_empty() {
                    self.shared.sleepers.call(&mut self.probe);
                }
                return Some(job);
            }
            let is_work = || {
                let mut stealers = self.shared.stealers.iter();
                stealers.any(|other| !other.is_empty())
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

impl<J: Job, P: Probe> DequeHand<J, P> {
    /// Takes half of what another has, at most 32: one to be walked, the others into the own deque.
    fn steal(&mut self) -> Option<J> {
        let (after, before) = (self.index + 1.., ..self.index);
        let stealers = &self.shared.stealers;
        for other in stealers[after].iter().chain(&stealers[before]) {
            loop {
                match other.steal_batch_and_pop(&self.own) {
                    Steal::Success(job) => {
                        let stolen = self.own.len() + 1;
                        self.probe.add(Touch::Steal, 1);
                        self.probe.add(Touch::Stolen, stolen);
                        // From the end that is not its owner's, one by one.
                        self.probe.add(Touch::Atomic, stolen);
                        return Some(job);
                    }
                    Steal::Empty => break,
                    Steal::Retry => self.probe.add(Touch::Atomic, 1),
                }
            }
            self.probe.add(Touch::Miss, 1);
        }
        None
    }
}
