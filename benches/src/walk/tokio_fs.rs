//! What is written by hand for tokio: a queue of directories.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures::stream::{self, StreamExt, TryStreamExt};
use tokio::fs::DirEntry;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use super::{Tally, Way};

/// What is in a directory, and the directories in it. Sizes one after the other.
async fn read(directory: PathBuf, sizes: bool) -> io::Result<(Tally, Vec<PathBuf>)> {
    let (mut found, mut below) = (Tally::default(), Vec::new());
    let mut entries = tokio::fs::read_dir(directory).await?;
    while let Some(entry) = entries.next_entry().await? {
        let kind = entry.file_type().await?;
        let size = if sizes && kind.is_file() {
            entry.metadata().await?.len()
        } else {
            0
        };
        found = found + Tally::one(entry.file_name().len(), size);
        if kind.is_dir() {
            below.push(entry.path());
        }
    }
    Ok((found, below))
}

/// One directory after the other, on a runtime of one thread.
///
/// # Errors
/// There can be no runtime.
pub fn one_by_one() -> io::Result<Way> {
    let runtime = Arc::new(Builder::new_current_thread().build()?);
    Ok(Way::new("tokio::fs, one by one", move |order| {
        let slot = order.board.slot();
        runtime.block_on(async {
            let mut pending = order.roots.clone();
            while let Some(directory) = pending.pop() {
                let (found, below) = read(directory, order.sizes).await?;
                slot.add(found);
                pending.extend(below);
            }
            Ok(())
        })
    }))
}

/// So many directories at the same time, each in a task of its own, on as many threads as cores.
///
/// # Errors
/// There can be no runtime.
pub fn at_once(directories: usize) -> io::Result<Way> {
    let runtime = Arc::new(Builder::new_multi_thread().build()?);
    let name = format!("tokio::fs, {directories} directories at once");
    Ok(Way::new(name, move |order| {
        let slot = order.board.slot();
        runtime.block_on(async {
            let (mut pending, mut tasks) = (order.roots.clone(), JoinSet::new());
            loop {
                while tasks.len() < directories
                    && let Some(directory) = pending.pop()
                {
                    tasks.spawn(read(directory, order.sizes));
                }
                let Some(read) = tasks.join_next().await else {
                    return Ok(());
                };
                let (found, below) = read??;
                slot.add(found);
                pending.extend(below);
            }
        })
    }))
}

/// One directory, in which so many stats are in flight.
///
/// # Errors
/// There can be no runtime.
pub fn stats_at_once(stats: usize) -> io::Result<Way> {
    let runtime = Arc::new(Builder::new_multi_thread().build()?);
    let name = format!("tokio::fs, {stats} stats at once");
    Ok(Way::new(name, move |order| {
        let slot = order.board.slot();
        let look = async |entry: DirEntry| {
            let size = if order.sizes {
                entry.metadata().await?.len()
            } else {
                0
            };
            io::Result::Ok(Tally::one(entry.file_name().len(), size))
        };
        runtime.block_on(async {
            for root in &order.roots {
                let entries = tokio::fs::read_dir(root).await?;
                let entries = stream::try_unfold(entries, async |mut entries| {
                    let next = entries.next_entry().await?;
                    io::Result::Ok(next.map(|entry| (entry, entries)))
                });
                let mut found = entries
                    .map(|entry| async { look(entry?).await })
                    .buffer_unordered(stats)
                    .boxed_local();
                while let Some(found) = found.try_next().await? {
                    slot.add(found);
                }
            }
            Ok(())
        })
    }))
}
