//! How late a task of a runtime runs that wants to run each millisecond, beside other work.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

/// Time between two ticks. tokio's timer counts in milliseconds too and rounds up, so that a tick is
/// about one late where nothing else happens.
const TICK: Duration = Duration::from_millis(1);

/// A runtime of one thread with a timer, for [`beside`].
///
/// # Errors
/// The kernel refuses what it needs.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}

/// Runs `work` on a [`runtime`], and answers how late each tick of another task of that runtime
/// was. A tick has its time whatever became of the one before it: what holds the thread for ten
/// milliseconds makes ten ticks late.
///
/// # Errors
/// Those of `work`.
pub fn beside<F>(runtime: &Runtime, work: F) -> io::Result<Vec<Duration>>
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    runtime.block_on(async {
        let ended = Arc::new(AtomicBool::new(false));
        let ticks = tokio::spawn(ticks(Arc::clone(&ended)));
        // A task too, so that the scheduler treats the two alike.
        let worked = tokio::spawn(work).await;
        ended.store(true, Ordering::Relaxed);
        let lateness = ticks.await?;
        worked??;
        Ok(lateness)
    })
}

async fn ticks(ended: Arc<AtomicBool>) -> Vec<Duration> {
    let mut lateness = Vec::new();
    let mut due = Instant::now();
    while !ended.load(Ordering::Relaxed) {
        due += TICK;
        tokio::time::sleep_until(due.into()).await;
        lateness.push(due.elapsed());
    }
    lateness
}

/// The value that this part of all values does not exceed, `1.0` for the greatest. Zero if there
/// is none.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]
pub fn quantile(values: &[Duration], part: f64) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    let index = rank.clamp(1, sorted.len().max(1)) - 1;
    sorted.get(index).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let values: Vec<_> = (1..=1_000).rev().map(Duration::from_micros).collect();
        let at = |part| quantile(&values, part).as_micros();
        assert_eq!((at(0.5), at(0.999), at(1.0)), (500, 999, 1_000));
        assert_eq!(quantile(&[], 0.5), Duration::ZERO);
    }

    #[test]
    fn who_holds_the_thread_makes_ticks_late() {
        let hold = Duration::from_millis(30);
        let runtime = runtime().unwrap();
        let lateness = beside(&runtime, async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            std::thread::sleep(hold);
            Ok(())
        })
        .unwrap();
        assert!(quantile(&lateness, 1.0) >= hold * 2 / 3, "{lateness:?}");
        let failed = beside(&runtime, async { Err(io::ErrorKind::NotFound.into()) });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
