//! The pool in every order of events, within two or three preemptions: `cargo xtask loom`.
//!
//! A story that ends in a wait for its jobs keeps the clock still until then, so a wake-up that is
//! lost is a deadlock. One that does not lets time pass at any moment.

#![cfg(loom)]

use std::collections::VecDeque;
use std::sync::Arc;

use blockpool::model::{Machine, let_time_pass};
use blockpool::{Crew, Member, Work, budget};
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use loom::sync::{Condvar, Mutex};
use loom::thread;

const ONE_THREAD: Machine = Machine {
    cores: 1,
    permits: 1,
};

/// Beside a thread that sleeps there is one that computes.
const TWO_THREADS: Machine = Machine {
    cores: 1,
    permits: 2,
};

#[derive(Clone, Copy)]
enum Job {
    Quick,
    /// Sleeps in the kernel until another job is done.
    Sleeps,
    /// Is told of, and who is told adds the next before the member looks for it.
    Told,
}

struct Jobs {
    queue: Mutex<Queue>,
    one_done: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    done: usize,
}

impl Jobs {
    fn crew() -> (Arc<Self>, Crew) {
        let jobs = Arc::new(Self {
            queue: Mutex::new(Queue::default()),
            one_done: Condvar::new(),
        });
        let crew = Crew::new(usize::MAX, Arc::clone(&jobs) as Arc<dyn Work>);
        (jobs, crew)
    }

    fn add(&self, job: Job) {
        self.queue.lock().unwrap().waiting.push_back(job);
    }

    fn wait_for(&self, count: usize) {
        let mut queue = self.queue.lock().unwrap();
        while queue.done < count {
            queue = self.one_done.wait(queue).unwrap();
        }
    }

    fn done(&self) -> usize {
        self.queue.lock().unwrap().done
    }
}

impl Work for Jobs {
    fn run(&self, member: &Member<'_>) {
        loop {
            let Some(job) = self.queue.lock().unwrap().waiting.pop_front() else {
                return;
            };
            if let Job::Sleeps = job {
                member.may_sleep(|| self.wait_for(1));
            }
            let tell = || {
                self.queue.lock().unwrap().done += 1;
                self.one_done.notify_all();
            };
            if let Job::Told = job {
                member.may_sleep(|| ());
                member.before_next(tell);
            } else {
                tell();
            }
            if member.is_surplus() {
                return;
            }
        }
    }

    fn waiting(&self) -> usize {
        self.queue.lock().unwrap().waiting.len()
    }
}

/// All is done, nobody is at work and no permit is out.
fn nothing_is_left(jobs: &Jobs, crew: &Crew, count: usize) {
    assert_eq!(jobs.done(), count);
    assert_eq!((crew.members(), crew.asleep()), (0, 0));
    assert_eq!(budget().in_use(), 0);
}

#[test]
fn work_that_comes_while_the_last_member_leaves_is_not_left() {
    TWO_THREADS.check(
        3,
        || {
            let (jobs, crew) = Jobs::crew();
            for _ in 0..2 {
                jobs.add(Job::Quick);
                crew.call_in().unwrap();
            }
            (jobs, crew)
        },
        |(jobs, crew)| nothing_is_left(&jobs, &crew, 2),
    );
}

/// One job by an outsider, another by the story itself, on two cores.
fn two_outsiders(theirs: Job, ours: Job) {
    let machine = Machine {
        cores: 2,
        permits: 2,
    };
    // Three take some minutes.
    machine.check(
        2,
        move || {
            let (jobs, crew) = Jobs::crew();
            let outsider = {
                let (jobs, crew) = (Arc::clone(&jobs), crew.clone());
                thread::spawn(move || {
                    jobs.add(theirs);
                    crew.call_in().unwrap();
                })
            };
            jobs.add(ours);
            crew.call_in().unwrap();
            jobs.wait_for(2);
            outsider.join().unwrap();
            (jobs, crew)
        },
        |(jobs, crew)| nothing_is_left(&jobs, &crew, 2),
    );
}

#[test]
fn two_outsiders_and_two_cores() {
    two_outsiders(Job::Quick, Job::Quick);
}

#[test]
fn a_member_that_sleeps_is_replaced() {
    TWO_THREADS.check(
        3,
        || {
            let (jobs, crew) = Jobs::crew();
            for job in [Job::Sleeps, Job::Quick] {
                jobs.add(job);
                crew.call_in().unwrap();
            }
            jobs.wait_for(2);
            (jobs, crew)
        },
        |(jobs, crew)| nothing_is_left(&jobs, &crew, 2),
    );
}

#[test]
fn work_that_comes_while_a_member_searches_is_not_left() {
    TWO_THREADS.check(
        3,
        || {
            let (jobs, crew) = Jobs::crew();
            for count in 1..=2 {
                jobs.add(Job::Told);
                crew.call_in().unwrap();
                jobs.wait_for(count);
            }
            (jobs, crew)
        },
        |(jobs, crew)| nothing_is_left(&jobs, &crew, 2),
    );
}

#[test]
fn two_outsiders_and_a_member_that_searches() {
    two_outsiders(Job::Sleeps, Job::Told);
}

#[test]
fn a_starved_crew_gets_the_thread() {
    ONE_THREAD.check(
        3,
        || {
            // Else the first four are given without a look at the limit.
            budget().limit();
            let crews = [Jobs::crew(), Jobs::crew()];
            for (jobs, crew) in &crews {
                jobs.add(Job::Quick);
                crew.call_in().unwrap();
            }
            for (jobs, _) in &crews {
                jobs.wait_for(1);
            }
            crews
        },
        |crews| {
            for (jobs, crew) in &crews {
                nothing_is_left(jobs, crew, 1);
            }
        },
    );
}

#[test]
fn a_starved_crew_gets_the_permit_of_a_thread_that_ends() {
    ONE_THREAD.check(
        3,
        || {
            budget().limit();
            let crews = [Jobs::crew(), Jobs::crew()];
            for (jobs, crew) in &crews {
                jobs.add(Job::Quick);
                crew.call_in().unwrap();
            }
            crews
        },
        |crews| {
            for (jobs, crew) in &crews {
                nothing_is_left(jobs, crew, 1);
            }
        },
    );
}

#[test]
fn a_starved_crew_whose_only_member_sleeps_gets_the_thread() {
    ONE_THREAD.check(
        3,
        || {
            budget().limit();
            let (jobs, crew) = Jobs::crew();
            jobs.add(Job::Sleeps);
            jobs.add(Job::Quick);
            let visitor = {
                let crew = crew.clone();
                thread::spawn(move || crew.join())
            };
            let (other_jobs, other) = Jobs::crew();
            other_jobs.add(Job::Quick);
            other.call_in().unwrap();
            other_jobs.wait_for(1);
            jobs.wait_for(2);
            visitor.join().unwrap();
            (jobs, crew)
        },
        |(jobs, crew)| nothing_is_left(&jobs, &crew, 2),
    );
}

/// That there is but one thread must not fail a call that comes just after another.
#[test]
fn one_permit_is_enough_for_one_call_after_the_other() {
    ONE_THREAD.check(
        3,
        || {
            budget().limit();
            let (jobs, crew) = Jobs::crew();
            for count in 1..=2 {
                jobs.add(Job::Quick);
                crew.call_in().unwrap();
                jobs.wait_for(count);
            }
            (jobs, crew)
        },
        |(jobs, crew)| nothing_is_left(&jobs, &crew, 2),
    );
}

#[test]
fn a_thread_that_gives_up_waiting_and_is_called_meanwhile() {
    ONE_THREAD.check(
        3,
        || {
            budget().limit();
            let (jobs, crew) = Jobs::crew();
            let clock = thread::spawn(let_time_pass);
            for count in 1..=2 {
                jobs.add(Job::Quick);
                crew.call_in().unwrap();
                jobs.wait_for(count);
            }
            clock.join().unwrap();
            (jobs, crew)
        },
        |(jobs, crew)| nothing_is_left(&jobs, &crew, 2),
    );
}

#[test]
fn permits_never_exceed_the_limit_and_come_back() {
    const LIMIT: usize = 2;
    let machine = Machine {
        cores: 1,
        permits: LIMIT,
    };
    machine.check(
        3,
        || {
            assert_eq!(budget().limit(), LIMIT);
            let out = Arc::new(AtomicUsize::new(0));
            let hold = move |permit: blockpool::Permit| {
                let others = out.fetch_add(permit.count(), SeqCst);
                assert!(others + permit.count() <= LIMIT);
                out.fetch_sub(permit.count(), SeqCst);
            };
            let takers = [1, 2].map(|count| {
                let hold = hold.clone();
                thread::spawn(move || hold(budget().acquire_up_to(count)))
            });
            hold(budget().acquire_up_to(1));
            for taker in takers {
                taker.join().unwrap();
            }
        },
        |()| assert_eq!(budget().in_use(), 0),
    );
}
