//! Every order of the steps by which what is found in parallel is emitted in order, tried by a model
//! checker: all of it comes once and in its place, and nobody is left waiting.

use loom::sync::{Arc, Mutex};
use loom::thread;

#[allow(
    dead_code,
    unreachable_pub,
    reason = "part of another crate, compiled with other locks"
)]
#[path = "../../crates/ringwalk/src/output.rs"]
mod output;

mod sync {
    pub(super) use loom::sync::{Mutex, MutexGuard};
    use std::sync::PoisonError;

    pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

use output::{Added, Output, Taken};

#[derive(Clone, Copy)]
enum Part {
    Out(u32),
    /// What the other directory has comes here.
    Child,
}

/// What a throttled task still has to add.
type Task = Vec<Part>;

/// A directory with one below it.
struct Walk {
    directories: [Output<Part, Task>; 2],
    /// Which directories emission is in, with what it has taken from them.
    path: Mutex<Vec<(usize, Vec<Part>)>>,
    emitted: Mutex<Vec<u32>>,
    /// Nothing is left to emit.
    finished: Mutex<bool>,
    /// Directories that can go on.
    resumed: Mutex<Vec<(usize, Task)>>,
}

impl Walk {
    fn new() -> Arc<Self> {
        let walk = Self {
            directories: [(); 2].map(|()| Output::new(Vec::new(), false)),
            path: Mutex::new(vec![(0, Vec::new())]),
            emitted: Mutex::default(),
            finished: Mutex::new(false),
            resumed: Mutex::default(),
        };
        let walk = Arc::new(walk);
        // Emission begins to wait.
        walk.emit();
        walk
    }

    fn add(&self, directory: usize, parts: &[Part], complete: bool) {
        let added = self.directories[directory].add(&mut parts.to_vec(), complete, || false);
        match added {
            Added::Waits => {}
            Added::Wanted => self.emit(),
            Added::Refused => unreachable!(),
        }
    }

    /// Only the one who has taken a mark comes here; the one who left it may be about to leave.
    fn emit(&self) {
        let mut path = self.path.lock().unwrap();
        loop {
            let Some((directory, parts)) = path.last_mut() else {
                *self.finished.lock().unwrap() = true;
                return;
            };
            match parts.pop() {
                Some(Part::Out(item)) => self.emitted.lock().unwrap().push(item),
                Some(Part::Child) => path.push((1, Vec::new())),
                None => match self.directories[*directory].take(parts) {
                    Taken::Some => {}
                    Taken::Complete => {
                        path.pop();
                    }
                    Taken::Waiting(task) => {
                        let task = task.map(|task| (*directory, task));
                        self.resumed.lock().unwrap().extend(task);
                        return;
                    }
                },
            }
        }
    }

    /// What a worker does before it leaves.
    fn go_on(&self) {
        loop {
            // A `while let` would hold the lock.
            let Some((directory, task)) = self.resumed.lock().unwrap().pop() else {
                return;
            };
            self.add(directory, &task, true);
        }
    }
}

fn check(story: impl Fn(Arc<Walk>) + Send + Sync + 'static) {
    loom::model(move || {
        let walk = Walk::new();
        story(Arc::clone(&walk));
        assert!(*walk.finished.lock().unwrap(), "somebody waits for ever");
        assert_eq!(*walk.emitted.lock().unwrap(), [1, 2, 3, 4]);
    });
}

#[test]
fn two_directories_by_two_threads() {
    check(|walk| {
        let child = {
            let walk = Arc::clone(&walk);
            thread::spawn(move || {
                walk.add(1, &[Part::Out(2)], false);
                walk.add(1, &[Part::Out(3)], true);
            })
        };
        walk.add(0, &[Part::Out(1), Part::Child], false);
        walk.add(0, &[Part::Out(4)], true);
        child.join().unwrap();
    });
}

#[test]
fn a_task_that_waits_for_its_turn() {
    check(|walk| {
        let child = {
            let walk = Arc::clone(&walk);
            thread::spawn(move || {
                walk.add(1, &[Part::Out(2)], false);
                let rest = vec![Part::Out(3)];
                if let Some(rest) = walk.directories[1].throttle(rest, || false) {
                    walk.add(1, &rest, true);
                }
                walk.go_on();
            })
        };
        walk.add(0, &[Part::Out(1), Part::Child, Part::Out(4)], true);
        walk.go_on();
        child.join().unwrap();
    });
}
