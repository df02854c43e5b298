//! When a slow server answers: after the same delay each time, thus in the order of the requests.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is to be done when a request's time has come. Dropped, it answers with EIO.
pub(super) type Answer = Box<dyn FnOnce() + Send>;

/// Answers that wait; [`Pace::run`] makes them.
#[derive(Default)]
pub(super) struct Pace {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    clock: Clock,
    waiting: VecDeque<(Instant, Answer)>,
    closed: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            clock: Clock::new(Duration::ZERO, usize::MAX),
            waiting: VecDeque::new(),
            closed: false,
        }
    }
}

impl Pace {
    /// From now on answers take so long, and so many of them at the same time.
    pub(super) fn set(&self, delay: Duration, width: usize) {
        self.lock().clock = Clock::new(delay, width);
    }

    /// The answer is made when it is due.
    pub(super) fn push(&self, answer: Answer) {
        let mut state = self.lock();
        if state.closed {
            // Outside of the lock, since dropping it is a call to the kernel.
            drop(state);
            return drop(answer);
        }
        if state.clock.is_free() && state.waiting.is_empty() {
            drop(state);
            return answer();
        }
        let due = state.clock.due(Instant::now());
        let is_first = state.waiting.is_empty();
        state.waiting.push_back((due, answer));
        drop(state);
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Nothing is answered any more: all that waits, and all that comes, is dropped.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Makes each answer when it is due, until it is closed.
    pub(super) fn run(&self) {
        let mut state = self.lock();
        while !state.closed {
            let now = Instant::now();
            let next = state.waiting.front().map(|&(due, _)| due);
            state = match next {
                Some(due) if due <= now => {
                    let answer = state.waiting.pop_front();
                    drop(state);
                    if let Some((_, answer)) = answer {
                        answer();
                    }
                    self.lock()
                }
                Some(due) => {
                    let waited = self.changed.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
        let rest = std::mem::take(&mut state.waiting);
        drop(state);
        drop(rest);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells when answers are due.
struct Clock {
    delay: Duration,
    width: usize,
    /// When the last `width` answers were due.
    last: VecDeque<Instant>,
}

impl Clock {
    fn new(delay: Duration, width: usize) -> Self {
        Self {
            delay,
            width,
            last: VecDeque::new(),
        }
    }

    /// Whether it never makes anybody wait.
    fn is_free(&self) -> bool {
        self.delay.is_zero()
    }

    /// When what is asked now is answered. The delay begins when there is room: when the one that
    /// came `width` earlier was due.
    fn due(&mut self, now: Instant) -> Instant {
        if self.width == usize::MAX {
            return now + self.delay;
        }
        let begin = if self.last.len() >= self.width {
            self.last.pop_front().map_or(now, |free| free.max(now))
        } else {
            now
        };
        let due = begin + self.delay;
        self.last.push_back(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::thread;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn delays_overlap_as_far_as_there_is_room() {
        let now = Instant::now();
        let mut wide = Clock::new(MS, usize::MAX);
        assert!((0..1_000).all(|_| wide.due(now) == now + MS));
        let mut narrow = Clock::new(MS, 2);
        let due: Vec<_> = (0..5).map(|_| narrow.due(now) - now).collect();
        assert_eq!(due, [MS, MS, 2 * MS, 2 * MS, 3 * MS]);
        // A place that was free for long counts from the request on.
        assert_eq!(narrow.due(now + 9 * MS), now + 10 * MS);
    }

    #[test]
    fn answers_come_in_time_and_a_closed_one_drops() {
        let pace = Arc::new(Pace::default());
        let (sender, receiver) = mpsc::channel();
        let answer = |number: u32| -> Answer {
            let sender = sender.clone();
            Box::new(move || sender.send(number).unwrap())
        };
        pace.push(answer(0));
        assert_eq!(receiver.try_recv(), Ok(0), "at once");
        let runner = Arc::clone(&pace);
        let thread = thread::spawn(move || runner.run());
        pace.set(20 * MS, 1);
        let start = Instant::now();
        pace.push(answer(1));
        pace.push(answer(2));
        assert_eq!(receiver.recv(), Ok(1));
        assert!(start.elapsed() >= 20 * MS);
        assert_eq!(receiver.recv(), Ok(2));
        assert!(start.elapsed() >= 40 * MS);
        pace.set(Duration::from_hours(1), 1);
        pace.push(answer(3));
        pace.close();
        thread.join().unwrap();
        pace.push(answer(4));
        drop(sender);
        assert!(receiver.recv().is_err());
    }
}
