//! Answers that become due: any number of them wait, and one thread makes them.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is to be done when a request's time has come. Dropped, it answers with EIO.
pub(super) type Answer = Box<dyn FnOnce() + Send>;

/// Answers and the clock; [`Queue::run`] makes them.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// There is something to be done earlier than was known, or nothing any more.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    schedule: Schedule<Answer>,
    closed: bool,
}

impl Queue {
    /// The answer is made after this delay, which begins when there is room for it.
    pub(super) fn push(&self, delay: Duration, answer: Answer) {
        let mut state = self.lock();
        if state.closed {
            // Outside of the lock, since dropping it is a call to the kernel.
            drop(state);
            return drop(answer);
        }
        if state.schedule.push(Instant::now(), delay, answer) {
            drop(state);
            self.changed.notify_one();
        }
    }

    /// How many delays pass at the same time; all others wait for one of them to end.
    pub(super) fn set_width(&self, width: usize) {
        self.lock().schedule.set_width(Instant::now(), width);
        self.changed.notify_one();
    }

    /// Whether there is no limit to how many delays pass at the same time.
    pub(super) fn is_unlimited(&self) -> bool {
        self.lock().schedule.width == usize::MAX
    }

    /// Nothing is answered any more: all that waits, and all that comes, is dropped.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Makes each answer when it is due, until the queue is closed.
    pub(super) fn run(&self) {
        wake_on_time();
        let mut state = self.lock();
        while !state.closed {
            let now = Instant::now();
            if let Some(answer) = state.schedule.pop(now) {
                drop(state);
                answer();
                state = self.lock();
                continue;
            }
            state = match state.schedule.next_due() {
                None => self.changed.wait(state),
                Some(due) => Ok(self
                    .changed
                    .wait_timeout(state, due.saturating_duration_since(now))
                    .unwrap_or_else(PoisonError::into_inner)
                    .0),
            }
            .unwrap_or_else(PoisonError::into_inner);
        }
        let rest = std::mem::take(&mut state.schedule);
        drop(state);
        drop(rest);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets this thread sleep as long as it asks to; otherwise the kernel adds up to 50 µs.
#[allow(unsafe_code)]
fn wake_on_time() {
    // SAFETY: no memory is involved; it concerns the calling thread alone. Where it is refused,
    // answers are later by that slack.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// What is due when. It knows no clock: the time is given to it.
struct Schedule<T> {
    /// Those whose delay has begun, at most `width`.
    due: BinaryHeap<Due<T>>,
    /// The others in the order of their arrival, with that time.
    waiting: VecDeque<(Instant, Duration, T)>,
    width: usize,
    /// How many have been admitted: of those due at the same time the earlier one is first.
    count: u64,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self {
            due: BinaryHeap::new(),
            waiting: VecDeque::new(),
            width: usize::MAX,
            count: 0,
        }
    }
}

impl<T> Schedule<T> {
    /// Whether it is the first to be due.
    fn push(&mut self, now: Instant, delay: Duration, item: T) -> bool {
        if self.due.len() >= self.width {
            self.waiting.push_back((now, delay, item));
            return false;
        }
        let before = self.next_due();
        self.begin(now, delay, item);
        self.next_due() != before
    }

    fn next_due(&self) -> Option<Instant> {
        self.due.peek().map(|due| due.at)
    }

    /// The next item that is due. Whoever waits for its place has it from the moment on at which it
    /// was due, however late this call comes: that many are answered in a second does not depend
    /// on how precise the timer is.
    fn pop(&mut self, now: Instant) -> Option<T> {
        if self.next_due()? > now {
            return None;
        }
        let Due { at, item, .. } = self.due.pop()?;
        self.admit(at);
        Some(item)
    }

    fn set_width(&mut self, now: Instant, width: usize) {
        self.width = width;
        self.admit(now);
    }

    /// There is room since `free`.
    fn admit(&mut self, free: Instant) {
        while self.due.len() < self.width
            && let Some((arrived, delay, item)) = self.waiting.pop_front()
        {
            self.begin(free.max(arrived), delay, item);
        }
    }

    fn begin(&mut self, now: Instant, delay: Duration, item: T) {
        self.count += 1;
        self.due.push(Due {
            at: now + delay,
            number: self.count,
            item,
        });
    }
}

struct Due<T> {
    at: Instant,
    number: u64,
    item: T,
}

/// The greatest is the one to be made first.
impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Due<T> {}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::thread;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// What is due at this time, in its order.
    fn all(schedule: &mut Schedule<u32>, now: Instant) -> Vec<u32> {
        std::iter::from_fn(|| schedule.pop(now)).collect()
    }

    #[test]
    fn any_number_of_delays_overlap() {
        let (start, mut schedule) = (Instant::now(), Schedule::default());
        for number in 0..10_000 {
            assert_eq!(schedule.push(start, MS, number), number == 0);
        }
        assert_eq!(schedule.next_due(), Some(start + MS));
        assert!(all(&mut schedule, start + MS / 2).is_empty());
        let answered = all(&mut schedule, start + MS);
        assert!(answered.len() == 10_000 && answered.is_sorted());
    }

    #[test]
    fn the_shortest_delay_is_answered_first() {
        let (start, mut schedule) = (Instant::now(), Schedule::default());
        assert!(schedule.push(start, 5 * MS, 5));
        assert!(schedule.push(start, 2 * MS, 2));
        assert!(!schedule.push(start + MS, 3 * MS, 4));
        assert_eq!(all(&mut schedule, start + 3 * MS), [2]);
        assert_eq!(all(&mut schedule, start + 6 * MS), [4, 5]);
    }

    #[test]
    fn a_delay_begins_when_there_is_room() {
        let (start, mut schedule) = (Instant::now(), Schedule::default());
        schedule.set_width(start, 2);
        for number in 0..5 {
            schedule.push(start, MS, number);
        }
        assert_eq!(all(&mut schedule, start + MS), [0, 1]);
        assert_eq!(schedule.next_due(), Some(start + 2 * MS));
        // Late, and nothing is later for it.
        assert_eq!(all(&mut schedule, start + 9 * MS), [2, 3, 4]);
        // A place that was free for long counts from the arrival on.
        schedule.push(start + 10 * MS, MS, 5);
        assert_eq!(schedule.next_due(), Some(start + 11 * MS));
    }

    #[test]
    fn a_wider_queue_admits_at_once_and_a_narrower_one_later() {
        let (start, mut schedule) = (Instant::now(), Schedule::default());
        schedule.set_width(start, 1);
        for number in 0..4 {
            schedule.push(start, 4 * MS, number);
        }
        schedule.set_width(start + MS, 3);
        assert_eq!(all(&mut schedule, start + 4 * MS), [0]);
        schedule.set_width(start + 4 * MS, 1);
        assert_eq!(all(&mut schedule, start + 5 * MS), [1, 2]);
        assert_eq!(all(&mut schedule, start + 8 * MS), [3]);
    }

    #[test]
    fn the_thread_answers_in_time_and_a_closed_queue_drops() {
        let queue = Arc::new(Queue::default());
        let runner = Arc::clone(&queue);
        let thread = thread::spawn(move || runner.run());
        let (sender, receiver) = mpsc::channel();
        let answer = |number: u32| -> Answer {
            let sender = sender.clone();
            Box::new(move || sender.send(number).unwrap())
        };
        let start = Instant::now();
        queue.push(20 * MS, answer(2));
        queue.push(10 * MS, answer(1));
        assert_eq!(receiver.recv(), Ok(1));
        assert!(start.elapsed() >= 10 * MS);
        assert_eq!(receiver.recv(), Ok(2));
        assert!(start.elapsed() >= 20 * MS);
        queue.push(Duration::from_hours(1), answer(3));
        queue.close();
        thread.join().unwrap();
        queue.push(Duration::ZERO, answer(4));
        drop(sender);
        assert!(receiver.recv().is_err());
    }
}
