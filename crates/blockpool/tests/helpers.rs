//! Permits for others than the pool's threads. The budget is the process's, so there is one test.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use blockpool::{Crew, Member, Work, budget};

/// Jobs that sleep until all of them may go on.
#[derive(Default)]
struct Sleepers {
    left: AtomicUsize,
    done: AtomicUsize,
    may_wake: Mutex<bool>,
    woken: Condvar,
}

impl Sleepers {
    fn crew(count: usize) -> (Arc<Self>, Crew) {
        let sleepers = Arc::new(Self {
            left: AtomicUsize::new(count),
            ..Self::default()
        });
        let crew = Crew::new(usize::MAX, Arc::clone(&sleepers) as Arc<dyn Work>);
        (sleepers, crew)
    }

    fn wake(&self) {
        *self.may_wake.lock().unwrap() = true;
        self.woken.notify_all();
    }
}

impl Work for Sleepers {
    fn run(&self, member: &Member<'_>) {
        let take = |left: usize| left.checked_sub(1);
        while self.left.fetch_update(SeqCst, SeqCst, take).is_ok() {
            member.may_sleep(|| {
                let lock = self.may_wake.lock().unwrap();
                drop(self.woken.wait_while(lock, |may| !*may).unwrap());
            });
            self.done.fetch_add(1, SeqCst);
        }
    }

    fn waiting(&self) -> usize {
        self.left.load(SeqCst)
    }
}

fn settles(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn helpers_and_threads_give_way_to_each_other() {
    const THREADS: usize = 20;
    // A deadlock must not hold up whoever runs this.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_mins(1));
        std::process::abort();
    });
    let (sleepers, crew) = Sleepers::crew(THREADS);
    crew.call_in().unwrap();
    settles("all sleep", || crew.asleep() == THREADS);
    assert!(budget().at_work() >= THREADS);
    sleepers.wake();
    settles("all parked", || budget().at_work() == 0);
    assert_eq!(sleepers.done.load(SeqCst), THREADS);
    assert!(budget().in_use() >= THREADS);

    // Threads without work make room for helpers.
    let all = budget().acquire_up_to(usize::MAX);
    assert_eq!(all.count(), budget().limit());

    // A crew that finds the budget used up gets a thread when a helper gives it back.
    let (sleepers, crew) = Sleepers::crew(3);
    crew.call_in().unwrap();
    assert_eq!(crew.members(), 0);
    drop(all);
    settles("all sleep", || crew.asleep() == 3);
    sleepers.wake();
    settles("all done", || sleepers.done.load(SeqCst) == 3);
}
