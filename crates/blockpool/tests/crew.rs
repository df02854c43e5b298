//! How many threads come to a piece of work, and that none of it is left lying.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use blockpool::{Crew, Member, Work};

/// Jobs that announce a sleep and sleep, or compute, for a while.
struct Jobs {
    left: AtomicUsize,
    done: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    threads: Mutex<HashSet<ThreadId>>,
    announced: bool,
    takes: Duration,
    finished: Condvar,
    lock: Mutex<()>,
}

impl Jobs {
    fn new(count: usize, announced: bool, takes: Duration) -> Arc<Self> {
        Arc::new(Self {
            left: AtomicUsize::new(count),
            done: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            threads: Mutex::default(),
            announced,
            takes,
            finished: Condvar::new(),
            lock: Mutex::default(),
        })
    }

    fn take(&self) -> bool {
        self.left
            .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
            .is_ok()
    }

    fn work(&self) {
        let at_once = self.at_once.fetch_add(1, SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, SeqCst);
        self.threads
            .lock()
            .unwrap()
            .insert(std::thread::current().id());
        if self.announced {
            std::thread::sleep(self.takes);
        } else {
            let end = Instant::now() + self.takes;
            while Instant::now() < end {
                std::hint::spin_loop();
            }
        }
        self.at_once.fetch_sub(1, SeqCst);
        let _guard = self.lock.lock().unwrap();
        self.done.fetch_add(1, SeqCst);
        self.finished.notify_all();
    }

    fn wait_for(&self, count: usize) {
        let guard = self.lock.lock().unwrap();
        let (_guard, timeout) = self
            .finished
            .wait_timeout_while(guard, Duration::from_secs(30), |()| {
                self.done.load(SeqCst) < count
            })
            .unwrap();
        assert!(
            !timeout.timed_out(),
            "{} of {count} jobs were done",
            self.done.load(SeqCst)
        );
    }
}

impl Work for Jobs {
    fn run(&self, member: &Member<'_>) {
        while self.take() {
            if self.announced {
                member.may_sleep(|| self.work());
            } else {
                self.work();
            }
            if member.is_surplus() {
                return;
            }
        }
    }

    fn waiting(&self) -> usize {
        self.left.load(SeqCst)
    }
}

#[test]
fn computing_takes_as_many_threads_as_cores() {
    let jobs = Jobs::new(200, false, Duration::from_millis(1));
    let crew = Crew::new(usize::MAX, Arc::clone(&jobs) as Arc<dyn Work>);
    crew.call_in().unwrap();
    jobs.wait_for(200);
    let cores = fscall::limits::usable_cores();
    assert!(
        jobs.most_at_once.load(SeqCst) <= cores,
        "{jobs} at once",
        jobs = jobs.most_at_once.load(SeqCst)
    );
}

#[test]
fn sleeping_takes_as_many_as_there_is_work_for() {
    let jobs = Jobs::new(100, true, Duration::from_millis(300));
    let crew = Crew::new(usize::MAX, Arc::clone(&jobs) as Arc<dyn Work>);
    let begin = Instant::now();
    crew.call_in().unwrap();
    jobs.wait_for(100);
    let took = begin.elapsed();
    assert!(
        took < Duration::from_secs(3),
        "100 sleeps of 0.3 s took {took:?}"
    );
    assert!(jobs.most_at_once.load(SeqCst) > 30);
}

#[test]
fn the_limit_holds_for_those_that_sleep_too() {
    let jobs = Jobs::new(20, true, Duration::from_millis(10));
    let crew = Crew::new(3, Arc::clone(&jobs) as Arc<dyn Work>);
    crew.call_in().unwrap();
    jobs.wait_for(20);
    assert!(jobs.most_at_once.load(SeqCst) <= 3);
}

#[test]
fn the_caller_can_do_it_all() {
    let jobs = Jobs::new(50, false, Duration::ZERO);
    let crew = Crew::new(1, Arc::clone(&jobs) as Arc<dyn Work>);
    crew.join();
    assert_eq!(jobs.done.load(SeqCst), 50);
    assert_eq!(
        *jobs.threads.lock().unwrap(),
        HashSet::from([std::thread::current().id()])
    );
}

#[test]
fn work_that_comes_while_the_last_member_leaves_is_not_left() {
    let jobs = Jobs::new(0, false, Duration::ZERO);
    let crew = Crew::new(usize::MAX, Arc::clone(&jobs) as Arc<dyn Work>);
    for count in 1..=20_000 {
        jobs.left.fetch_add(1, SeqCst);
        crew.call_in().unwrap();
        if count % 3 == 0 {
            jobs.wait_for(count);
        }
    }
    jobs.wait_for(20_000);
}

#[test]
fn a_panic_costs_the_crew_neither_place_nor_thread() {
    struct Panics(AtomicUsize, AtomicUsize);
    impl Work for Panics {
        fn run(&self, member: &Member<'_>) {
            if self
                .0
                .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
                .is_ok()
            {
                self.1.fetch_add(1, SeqCst);
                member.may_sleep(|| std::panic::resume_unwind(Box::new(())));
            }
        }
        fn waiting(&self) -> usize {
            self.0.load(SeqCst)
        }
    }
    let work = Arc::new(Panics(AtomicUsize::new(0), AtomicUsize::new(0)));
    let crew = Crew::new(usize::MAX, Arc::clone(&work) as Arc<dyn Work>);
    for count in 1..=100 {
        work.0.fetch_add(2, SeqCst);
        crew.call_in().unwrap();
        let end = Instant::now() + Duration::from_secs(10);
        while work.1.load(SeqCst) < 2 * count || crew.members() > 0 {
            assert!(Instant::now() < end, "{crew:?} after {count} panics");
            std::thread::yield_now();
        }
    }
}

#[test]
fn signals_do_not_reach_the_threads() {
    struct Mask(Mutex<Option<String>>);
    impl Work for Mask {
        fn run(&self, _: &Member<'_>) {
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let mask = status
                .lines()
                .find_map(|line| line.strip_prefix("SigBlk:"))
                .unwrap();
            *self.0.lock().unwrap() = Some(mask.trim().to_owned());
        }
        fn waiting(&self) -> usize {
            0
        }
    }
    let mask = Arc::new(Mask(Mutex::default()));
    Crew::new(1, Arc::clone(&mask) as Arc<dyn Work>)
        .call_in()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(10);
    let blocked = loop {
        if let Some(mask) = mask.0.lock().unwrap().take() {
            break u64::from_str_radix(&mask, 16).unwrap();
        }
        assert!(Instant::now() < end);
    };
    // SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGUSR1 and the last real-time signal.
    for signal in [1, 2, 15, 17, 10, 64] {
        assert_ne!(
            blocked & 1 << (signal - 1),
            0,
            "signal {signal} in {blocked:#x}"
        );
    }
}
