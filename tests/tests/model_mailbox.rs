//! Every order of the steps by which an operation gets to the ring's thread, tried by a model
//! checker: nothing is left lying while the thread sleeps.

use std::collections::VecDeque;

use loom::sync::{Arc, Condvar};
use loom::thread;

#[allow(
    dead_code,
    unreachable_pub,
    reason = "part of another crate, compiled with other locks"
)]
#[path = "../../crates/ringfs/src/ring/mailbox.rs"]
mod mailbox;

mod sync {
    pub(super) use loom::sync::atomic::{AtomicBool, Ordering};
    pub(super) use loom::sync::{Mutex, MutexGuard};
    pub(super) use std::sync::PoisonError;
}

use mailbox::{Mailbox, Wake};

/// An eventfd: it stays rung until somebody has waited for it.
#[derive(Default)]
struct Bell {
    rung: sync::Mutex<bool>,
    ringing: Condvar,
}

impl Bell {
    fn ring(&self, Wake(wake): Wake) {
        if wake {
            *self.rung.lock().unwrap() = true;
            self.ringing.notify_one();
        }
    }

    fn wait(&self) {
        let mut rung = self.rung.lock().unwrap();
        while !*rung {
            rung = self.ringing.wait(rung).unwrap();
        }
        *rung = false;
    }
}

struct Place {
    mailbox: Mailbox<u32>,
    bell: Bell,
    /// How many items have been taken out; the future that waits for one is woken then.
    done: sync::Mutex<u32>,
    doing: Condvar,
}

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            mailbox: Mailbox::new(),
            bell: Bell::default(),
            done: sync::Mutex::default(),
            doing: Condvar::new(),
        })
    }

    fn put(&self, item: u32) -> bool {
        match self.mailbox.put([item], |_| {}) {
            Ok(wake) => {
                self.bell.ring(wake);
                true
            }
            Err(_) => false,
        }
    }

    /// Waits, as a future does, until so many items have been taken out.
    fn wait_for(&self, count: u32) {
        let mut done = self.done.lock().unwrap();
        while *done < count {
            done = self.doing.wait(done).unwrap();
        }
    }

    fn close(&self) {
        self.bell.ring(self.mailbox.close());
    }

    /// What the ring's thread does, with nothing ever in flight: the sum of what came, and how
    /// many signals.
    fn live(&self) -> (u32, u32) {
        let (mut sum, mut signals) = (0, 0);
        let mut items = VecDeque::new();
        loop {
            let open = self.mailbox.drain(&mut items);
            signals += u32::from(self.mailbox.take_signal());
            for item in items.drain(..) {
                sum += item;
                *self.done.lock().unwrap() += 1;
                self.doing.notify_one();
            }
            if !open {
                return (sum, signals);
            }
            if self.mailbox.fall_asleep(open) {
                self.bell.wait();
                self.mailbox.woke_up();
            }
        }
    }
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn what_is_put_in_comes_out() {
    check(|| {
        let place = Place::new();
        let theirs = Arc::clone(&place);
        let reader = thread::spawn(move || theirs.live());
        let theirs = Arc::clone(&place);
        let other = thread::spawn(move || theirs.put(1));
        assert!(place.put(2));
        assert!(other.join().unwrap());
        // If the thread slept now, they would wait for ever.
        place.wait_for(2);
        place.close();
        assert_eq!(reader.join().unwrap().0, 3);
    });
}

#[test]
fn a_signal_wakes_as_well() {
    check(|| {
        let place = Place::new();
        let theirs = Arc::clone(&place);
        let reader = thread::spawn(move || {
            let mut items = VecDeque::new();
            // Until it has seen the signal: if it slept for ever, that would be a deadlock.
            while !theirs.mailbox.take_signal() {
                let open = theirs.mailbox.drain(&mut items);
                if theirs.mailbox.fall_asleep(open) {
                    theirs.bell.wait();
                    theirs.mailbox.woke_up();
                }
            }
        });
        place.bell.ring(place.mailbox.signal());
        reader.join().unwrap();
    });
}

#[test]
fn what_comes_too_late_is_given_back() {
    check(|| {
        let place = Place::new();
        let theirs = Arc::clone(&place);
        // A ring that is refused.
        let reader = thread::spawn(move || theirs.mailbox.shut().into_iter().sum::<u32>());
        let taken = place.put(7);
        let came = reader.join().unwrap();
        assert_eq!(came, if taken { 7 } else { 0 });
    });
}

#[test]
fn closing_ends_the_thread() {
    check(|| {
        let place = Place::new();
        let theirs = Arc::clone(&place);
        let reader = thread::spawn(move || theirs.live());
        place.close();
        assert_eq!(reader.join().unwrap(), (0, 0));
    });
}
