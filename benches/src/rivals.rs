//! Ways to stat files that are not ours: the plain call, and other runtimes.

use std::cell::OnceCell;
use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread;

use futures::stream::{self, StreamExt, TryStreamExt};
use tokio::runtime::{Builder, Runtime};

use crate::sys;
use crate::turns::{Contender, Name};

/// A tokio runtime of one thread, which contenders share or have alone.
///
/// # Errors
/// The kernel refuses what it needs.
pub fn runtime() -> io::Result<Rc<Runtime>> {
    Builder::new_current_thread().build().map(Rc::new)
}

/// One call for each file, so many of them in flight.
///
/// # Errors
/// The first call that failed.
pub async fn in_flight<'a, F: Future<Output = io::Result<T>>, T>(
    names: &'a [Name],
    count: usize,
    call: impl Fn(&'a str) -> F,
) -> io::Result<()> {
    if count == 1 {
        for name in names {
            call(&name.std).await?;
        }
        return Ok(());
    }
    stream::iter(names)
        .map(|name| call(&name.std))
        .buffer_unordered(count)
        .try_for_each(|_| async { Ok(()) })
        .await
}

/// statx(2), one call after the other.
///
/// # Errors
/// The first call that failed.
pub fn statx_all<'a>(names: impl IntoIterator<Item = &'a Name>) -> io::Result<()> {
    names
        .into_iter()
        .try_for_each(|name| sys::statx(sys::CWD, &name.c, libc::STATX_BASIC_STATS).map(drop))
}

/// [`statx_all`].
pub fn plain() -> Contender {
    Contender::new("statx", |names: &[Name]| statx_all(names))
}

fn statx_each(names: &[CString]) -> Vec<io::Result<libc::statx>> {
    let ask = |name: &CString| sys::statx(sys::CWD, name, libc::STATX_BASIC_STATS);
    names.iter().map(ask).collect()
}

/// As [`plain`], but another thread makes the calls, so many for each time that it is woken: what a
/// hand-over costs with nothing around it.
///
/// # Errors
/// The thread could not be started.
pub fn handed_over(size: usize) -> io::Result<Contender> {
    let (sender, orders) = mpsc::channel::<(Arc<[CString]>, Range<usize>)>();
    let (done, answers) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        for (names, range) in orders {
            if done.send(statx_each(&names[range])).is_err() {
                return;
            }
        }
    })?;
    // The same names each time.
    let shared = OnceCell::new();
    let name = format!("statx, {size} names by another thread");
    Ok(Contender::new(name, move |names: &[Name]| {
        let all: &Arc<[CString]> =
            shared.get_or_init(|| names.iter().map(|name| name.c.clone()).collect());
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        for start in (0..all.len()).step_by(size) {
            let range = start..all.len().min(start + size);
            let order = (Arc::clone(all), range);
            sender.send(order).map_err(|_| gone(mpsc::RecvError))?;
            for answer in answers.recv().map_err(gone)? {
                answer?;
            }
        }
        Ok(())
    }))
}

/// The same by tokio's threads for calls that block.
///
/// # Errors
/// The runtime could not be made.
pub fn spawn_blocking(size: usize) -> io::Result<Contender> {
    let runtime = runtime()?;
    let shared = OnceCell::new();
    let name = format!("tokio spawn_blocking, {size} names");
    Ok(Contender::new(name, move |names: &[Name]| {
        let all: &Arc<[CString]> =
            shared.get_or_init(|| names.iter().map(|name| name.c.clone()).collect());
        runtime.block_on(async {
            for start in (0..all.len()).step_by(size) {
                let (names, end) = (Arc::clone(all), all.len().min(start + size));
                let batch = tokio::task::spawn_blocking(move || statx_each(&names[start..end]));
                for answer in batch.await? {
                    answer?;
                }
            }
            Ok(())
        })
    }))
}

/// [`statx_all`] on so many threads, each with its part of the files.
pub fn threads(count: usize) -> Contender {
    Contender::new(
        format!("statx, {count} threads"),
        move |names: &[Name]| statx_by_threads(names, count),
    )
}

/// As [`threads`]: the calls are evenly divided among them.
///
/// # Errors
/// A call that failed, or a thread that could not be started.
pub fn statx_by_threads(names: &[Name], count: usize) -> io::Result<()> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|first| {
                let own = names.iter().skip(first).step_by(count);
                thread::Builder::new()
                    .stack_size(64 * 1024)
                    .spawn_scoped(scope, move || statx_all(own))
            })
            .collect::<io::Result<_>>()?;
        threads.into_iter().try_for_each(|thread| {
            let joined = thread.join();
            joined.unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
        })
    })
}

/// `tokio::fs::symlink_metadata`, so many in flight.
///
/// # Errors
/// There can be no runtime.
pub fn tokio_fs(count: usize) -> io::Result<Contender> {
    let runtime = runtime()?;
    Ok(Contender::new(
        "tokio::fs::symlink_metadata",
        move |names: &[Name]| {
            runtime.block_on(in_flight(names, count, tokio::fs::symlink_metadata))
        },
    ))
}

/// `tokio_uring::fs::statx`, so many in flight. It follows symbolic links.
///
/// # Errors
/// There can be no runtime.
pub fn tokio_uring(count: usize) -> io::Result<Contender> {
    let runtime = tokio_uring::Runtime::new(&tokio_uring::builder())?;
    Ok(Contender::new(
        "tokio-uring statx",
        move |names: &[Name]| runtime.block_on(in_flight(names, count, tokio_uring::fs::statx)),
    ))
}

/// `compio::fs::symlink_metadata`, so many in flight.
///
/// # Errors
/// There can be no runtime.
pub fn compio(count: usize) -> io::Result<Contender> {
    let runtime = compio::runtime::Runtime::new()?;
    Ok(Contender::new(
        "compio symlink_metadata",
        move |names: &[Name]| {
            runtime.block_on(in_flight(names, count, compio::fs::symlink_metadata))
        },
    ))
}

/// Those of other runtimes, so many in flight.
///
/// # Errors
/// There can be no runtime.
pub fn runtimes(count: usize) -> io::Result<[Contender; 3]> {
    Ok([tokio_fs(count)?, tokio_uring(count)?, compio(count)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns;

    /// Each looks at every file: a missing one is noticed.
    #[test]
    fn every_way_stats_every_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut names = turns::make_files(directory.path(), 20).unwrap();
        for name in &mut names {
            name.std = directory
                .path()
                .join(&name.std)
                .to_str()
                .unwrap()
                .to_owned();
            name.c = std::ffi::CString::new(name.std.clone()).unwrap();
        }
        let ways = || {
            let mut ways = vec![plain(), threads(3)];
            ways.extend(runtimes(1).unwrap());
            ways.extend(runtimes(8).unwrap());
            ways
        };
        for way in ways() {
            way.pass(&names).unwrap();
        }
        std::fs::remove_file(&names[19].std).unwrap();
        for way in ways() {
            assert_eq!(
                way.pass(&names).unwrap_err().kind(),
                io::ErrorKind::NotFound
            );
        }
    }
}
