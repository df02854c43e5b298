//! Walkers of other libraries.

use std::fs::Metadata;
use std::io;
use std::sync::Arc;

use futures::StreamExt;
use futures::executor::block_on;
use ignore::{WalkBuilder, WalkState};
use jwalk::rayon::ThreadPoolBuilder;
use jwalk::{Parallelism, WalkDirGeneric};

use super::{Order, Tally, Way};

/// The size of an entry, if it is to be asked for.
fn size<E>(
    order: &Order,
    is_file: bool,
    metadata: impl FnOnce() -> Result<Metadata, E>,
) -> Result<u64, E> {
    if order.sizes && is_file {
        metadata().map(|metadata| metadata.len())
    } else {
        Ok(0)
    }
}

/// walkdir: one thread.
pub fn walkdir() -> Way {
    Way::new("walkdir", |order| {
        let slot = order.board.slot();
        for root in &order.roots {
            for entry in walkdir::WalkDir::new(root).min_depth(1) {
                let entry = entry?;
                let size = size(order, entry.file_type().is_file(), || entry.metadata())?;
                slot.add(Tally::one(entry.file_name().len(), size));
            }
        }
        Ok(())
    })
}

/// jwalk: as it comes, or with a pool of so many threads that is there before the walk. Sizes are
/// asked for where it reads directories, thus by its threads. Of several roots each has a thread of
/// its own that takes the entries.
///
/// # Errors
/// There can be no such pool.
pub fn jwalk(threads: Option<usize>) -> io::Result<Way> {
    let (name, parallelism) = match threads {
        None => ("jwalk".to_owned(), None),
        Some(count) => {
            let pool = ThreadPoolBuilder::new().num_threads(count).build();
            let existing = Parallelism::RayonExistingPool {
                pool: Arc::new(pool.map_err(io::Error::other)?),
                busy_timeout: None,
            };
            (format!("jwalk T={count}"), Some(existing))
        }
    };
    Ok(Way::new(name, move |order| {
        std::thread::scope(|scope| {
            let (last, others) = order
                .roots
                .split_last()
                .ok_or(io::ErrorKind::InvalidInput)?;
            for root in others {
                scope.spawn(|| {
                    if let Err(error) = jwalk_one(order, root, parallelism.clone()) {
                        order.board.fail(error);
                    }
                });
            }
            jwalk_one(order, last, parallelism.clone())
        })
    }))
}

fn jwalk_one(
    order: &Order,
    root: &std::path::Path,
    parallelism: Option<Parallelism>,
) -> io::Result<()> {
    // An entry's state is its size.
    let mut walk = WalkDirGeneric::<((), u64)>::new(root)
        .min_depth(1)
        .skip_hidden(false);
    if let Some(parallelism) = parallelism {
        walk = walk.parallelism(parallelism);
    }
    if order.sizes {
        let own = order.clone();
        walk = walk.process_read_dir(move |_, _, (), entries| {
            for entry in entries.iter_mut().flatten() {
                match size(&own, entry.file_type.is_file(), || entry.metadata()) {
                    Ok(size) => entry.client_state = size,
                    Err(error) => own.board.fail(error),
                }
            }
        });
    }
    let slot = order.board.slot();
    for entry in walk {
        let entry = entry?;
        if let Some(error) = entry.read_children_error {
            return Err(error.into());
        }
        slot.add(Tally::one(entry.file_name.len(), entry.client_state));
    }
    Ok(())
}

/// ignore's parallel walker without its filters: with as many threads as it takes by itself, or with
/// so many.
pub fn ignore(threads: Option<usize>) -> Way {
    let name = match threads {
        None => "ignore".to_owned(),
        Some(count) => format!("ignore T={count}"),
    };
    Way::new(name, move |order| {
        let (first, others) = order
            .roots
            .split_first()
            .ok_or(io::ErrorKind::InvalidInput)?;
        let mut builder = WalkBuilder::new(first);
        for root in others {
            builder.add(root);
        }
        builder.standard_filters(false).min_depth(Some(1));
        builder.threads(threads.unwrap_or(0));
        builder.build_parallel().run(|| {
            let slot = order.board.slot();
            Box::new(move |entry| {
                match entry.and_then(|entry| ignored(order, &entry)) {
                    Ok(found) => slot.add(found),
                    Err(error) => order.board.fail(io::Error::other(error)),
                }
                WalkState::Continue
            })
        });
        Ok(())
    })
}

fn ignored(order: &Order, entry: &ignore::DirEntry) -> Result<Tally, ignore::Error> {
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    let size = size(order, is_file, || entry.metadata())?;
    Ok(Tally::one(entry.file_name().len(), size))
}

/// async-walkdir: a stream.
pub fn async_walkdir() -> Way {
    Way::new("async-walkdir", |order| {
        let slot = order.board.slot();
        block_on(async {
            for root in &order.roots {
                let mut entries = async_walkdir::WalkDir::new(root);
                while let Some(entry) = entries.next().await {
                    let entry = entry?;
                    let size = if order.sizes && entry.file_type().await?.is_file() {
                        entry.metadata().await?.len()
                    } else {
                        0
                    };
                    slot.add(Tally::one(entry.file_name().len(), size));
                }
            }
            Ok(())
        })
    })
}
