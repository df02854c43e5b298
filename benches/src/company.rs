//! What a timer's task has beside it on its runtime: stats of a slow file system, and many that
//! are answered at once.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, TryStreamExt};
use ringfs::Dir;

use crate::cli::Error;
use crate::report::Table;
use crate::rivals;
use crate::slow::{Scenario, Slow};
use crate::ticker;
use crate::turns::{Args, Name};

/// Of the table.
pub const TITLE: &str = "lateness of 1ms ticks beside it, µs";

/// What there is to work on.
#[derive(Clone)]
struct Files {
    directory: PathBuf,
    relative: Arc<Vec<String>>,
    absolute: Arc<Vec<Name>>,
    /// Not on the slow file system.
    local: PathBuf,
    /// How often the local file is looked up.
    calls: usize,
}

type Work = fn(Files) -> BoxFuture<'static, io::Result<()>>;

const COMPANY: [(&str, Work); 6] = [
    ("nothing", |_| nothing().boxed()),
    ("statx, 256 threads", |files| bare_threads(files).boxed()),
    ("ringfs Dir::statx_many", |files| in_a_batch(files).boxed()),
    ("ringfs::symlink_metadata, all in flight", |files| {
        all_in_flight(files, |path| ringfs::symlink_metadata(path).boxed()).boxed()
    }),
    ("tokio::fs::symlink_metadata, all in flight", |files| {
        all_in_flight(files, |path| tokio::fs::symlink_metadata(path).boxed()).boxed()
    }),
    ("ringfs::metadata of one local file, in a loop", |files| {
        cached(files).boxed()
    }),
];

async fn nothing() -> io::Result<()> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(())
}

async fn bare_threads(files: Files) -> io::Result<()> {
    let (done, answer) = oneshot::channel();
    thread::spawn(move || done.send(rivals::statx_by_threads(&files.absolute, 256)));
    answer.await.map_err(io::Error::other)?
}

async fn in_a_batch(files: Files) -> io::Result<()> {
    let dir = ringfs::open_dir(files.directory).await?;
    stat_batch(&dir, &files.relative).await
}

/// One batch of all these names, without following symbolic links.
///
/// # Errors
/// The first call that failed.
pub async fn stat_batch(dir: &Dir, names: &[String]) -> io::Result<()> {
    for answer in dir.statx_many(names).follow_symlinks(false).await {
        answer?;
    }
    Ok(())
}

async fn all_in_flight<T>(
    files: Files,
    call: impl Fn(&str) -> BoxFuture<'_, io::Result<T>>,
) -> io::Result<()> {
    let calls: FuturesUnordered<_> = files.absolute.iter().map(|name| call(&name.std)).collect();
    calls.try_for_each(|_| async { Ok(()) }).await
}

async fn cached(files: Files) -> io::Result<()> {
    for _ in 0..files.calls {
        ringfs::metadata(&files.local).await?;
    }
    Ok(())
}

/// How late a tick of each millisecond is beside each of them, `local` being a file that is not
/// slow. The company comes in turns until each has had enough ticks.
///
/// # Errors
/// A call failed.
pub fn measure(slow: &mut Slow, local: &Path, args: &Args) -> Result<Table, Error> {
    // The value that one in a thousand exceeds takes some thousands.
    let (ticks, calls) = if args.smoke {
        (20, 10_000)
    } else {
        (5_000, 1_000_000)
    };
    slow.set(Scenario::of(Duration::from_millis(1)))?;
    let files = Files {
        directory: slow.directory(),
        relative: Arc::clone(&slow.relative),
        absolute: Arc::clone(&slow.absolute),
        local: local.to_owned(),
        calls,
    };
    let mut lateness = vec![Vec::new(); COMPANY.len()];
    let runtimes: Vec<_> = COMPANY
        .iter()
        .map(|_| ticker::runtime())
        .collect::<io::Result<_>>()?;
    let mut first = true;
    while lateness.iter().any(|own| own.len() < ticks) {
        for (((_, work), runtime), own) in COMPANY.iter().zip(&runtimes).zip(&mut lateness) {
            if own.len() >= ticks {
                continue;
            }
            slow.forget()?;
            let late = ticker::beside(runtime, work(files.clone()))?;
            // The first is the one that starts threads and rings.
            if !first {
                own.extend(late);
            }
        }
        first = false;
    }
    let mut table = Table::new(&[TITLE, "ticks", "p50", "p99.9", "max"]);
    for ((name, _), own) in COMPANY.iter().zip(&lateness) {
        let mut row = vec![(*name).to_owned(), own.len().to_string()];
        let micros = [0.5, 0.999, 1.0].map(|part| ticker::quantile(own, part).as_micros());
        row.extend(micros.map(|micros| micros.to_string()));
        table.row(row);
    }
    Ok(table)
}
