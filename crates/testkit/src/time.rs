//! Nothing hangs: limits for futures and for blocking code.

use std::fs;
use std::io::Write;
use std::panic::Location;
use std::pin::pin;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use futures_util::future::{Either, select};

/// The output of `future`, on any executor.
///
/// # Panics
/// It takes longer than `limit`. A future that blocks its thread is not
/// noticed: [`deadline`] is for that.
#[track_caller]
pub fn within<F: Future>(limit: Duration, future: F) -> impl Future<Output = F::Output> {
    let caller = Location::caller();
    async move {
        let (expired, expiry) = futures_channel::oneshot::channel();
        // Dropped with this future, which ends the timer's thread.
        let (_alive, gone) = mpsc::channel::<()>();
        thread::spawn(move || {
            if gone.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                let _ = expired.send(());
            }
        });
        match select(pin!(future), expiry).await {
            Either::Left((output, _)) => output,
            Either::Right(_) => panic!("{caller}: not ready within {limit:?}"),
        }
    }
}

/// Aborts the process if the guard lives longer than `limit`.
///
/// A thread that is stuck in the kernel cannot be unwound, so the test binary
/// ends. Before that, it is printed what every thread waits for.
#[track_caller]
pub fn deadline(limit: Duration) -> Deadline {
    let caller = Location::caller();
    let (alive, gone) = mpsc::channel::<()>();
    thread::spawn(move || {
        if gone.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let text = format!("{caller}: not done within {limit:?}\n{}", threads());
            let _ = std::io::stderr().write_all(text.as_bytes());
            std::process::abort();
        }
    });
    Deadline { _alive: alive }
}

/// Guard of [`deadline`]: dropped in time, nothing happens.
#[must_use = "the deadline is lifted as soon as this is dropped"]
#[derive(Debug)]
pub struct Deadline {
    _alive: Sender<()>,
}

/// Name and wait channel of each thread, one to a line.
fn threads() -> String {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return String::new();
    };
    let line = |task: fs::DirEntry| {
        let read = |file| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let (name, waits) = (read("comm"), read("wchan"));
        let id = task.file_name();
        format!(
            "  thread {} {}: {}\n",
            id.display(),
            name.trim_end(),
            waits.trim_end()
        )
    };
    tasks.flatten().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::os::unix::process::ExitStatusExt;

    use futures::executor::block_on;

    use super::*;
    use crate::child;

    const LIMIT: Duration = Duration::from_mins(1);
    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn a_future_in_time_gives_its_output() {
        assert_eq!(block_on(within(LIMIT, ready(7))), 7);
    }

    #[test]
    #[should_panic(expected = "time.rs")]
    fn a_future_out_of_time_panics_with_the_callers_place() {
        block_on(within(SHORT, pending::<()>()));
    }

    const STUCK: &str = "time::tests::a_stuck_thread_ends_the_process_with_a_list_of_threads";

    #[test]
    fn a_stuck_thread_ends_the_process_with_a_list_of_threads() {
        if child::is_child(STUCK) {
            drop(deadline(SHORT));
            thread::sleep(SHORT * 2);
            let _deadline = deadline(SHORT);
            thread::sleep(LIMIT);
        }
        let output = child::Rerun::new(STUCK).run();
        assert_eq!(output.status.signal(), Some(libc::SIGABRT));
        let stderr = output.stderr_text();
        assert_eq!(stderr.matches("not done within").count(), 1, "{stderr}");
        assert!(stderr.contains("  thread "), "{stderr}");
    }
}
