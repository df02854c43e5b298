//! Our walker, in each of its forms.

use std::io;
use std::sync::Arc;

use futures::StreamExt;
use futures::executor::block_on;
use ringwalk::{Entry, EntryRef, Error, FileType, OrderedVisitor, Statx, StatxMask, Visit, Walk};

use super::{Board, Order, Slot, Tally, Way};

fn walk(order: &Order) -> io::Result<Walk> {
    let roots = order.roots.split_first();
    let (first, others) = roots.ok_or(io::ErrorKind::InvalidInput)?;
    let walk = others.iter().fold(Walk::new(first), Walk::root);
    let walk = walk.min_depth(1);
    if !order.sizes {
        return Ok(walk);
    }
    Ok(walk.metadata_for(|entry| match entry.file_type() {
        Some(file_type) if !file_type.is_file() => StatxMask::empty(),
        _ => StatxMask::SIZE,
    }))
}

/// Regular files come with their sizes if these are asked for.
fn found<E: Into<io::Error>>(
    name_bytes: usize,
    file_type: Option<FileType>,
    stat: Option<Result<&Statx, E>>,
) -> io::Result<Tally> {
    let stat = stat.transpose().map_err(Into::into)?;
    let is_file = file_type.is_some_and(FileType::is_file);
    let size = stat.filter(|_| is_file).and_then(Statx::size);
    Ok(Tally::one(name_bytes, size.unwrap_or(0)))
}

fn of_ref(entry: &EntryRef<'_>) -> io::Result<Tally> {
    let copied = |error: &io::Error| io::Error::new(error.kind(), error.to_string());
    let stat = entry.stat().map(|stat| stat.map_err(copied));
    found(entry.file_name().len(), entry.file_type(), stat)
}

fn of_entry(entry: &Entry) -> io::Result<Tally> {
    found(entry.file_name().len(), entry.file_type(), entry.stat())
}

/// `visit_parallel`.
pub fn visitor() -> Way {
    Way::new("ringwalk visitor", |order| {
        let board = Arc::clone(&order.board);
        walk(order)?.visit_parallel(move || {
            let (board, slot) = (Arc::clone(&board), board.slot());
            move |entry: Result<&EntryRef<'_>, &Error>| {
                match entry.map_err(|error| error.clone().into()).and_then(of_ref) {
                    Ok(found) => slot.add(found),
                    Err(error) => board.fail(error),
                }
                Visit::Continue
            }
        });
        Ok(())
    })
}

/// `into_stream`.
pub fn stream() -> Way {
    Way::new("ringwalk stream", |order| drain(order, walk(order)?))
}

/// `into_batches`.
pub fn batches() -> Way {
    Way::new("ringwalk batches", |order| {
        let (mut batches, slot) = (walk(order)?.into_batches(), order.board.slot());
        block_on(async {
            while let Some(batch) = batches.next().await {
                for entry in batch {
                    slot.add(of_entry(&entry?)?);
                }
            }
            Ok(())
        })
    })
}

/// The stream in find's order.
pub fn stream_in_order() -> Way {
    Way::new("ringwalk stream, find's order", |order| {
        drain(order, walk(order)?.order(ringwalk::Order::PreOrder))
    })
}

fn drain(order: &Order, walk: Walk) -> io::Result<()> {
    let (mut entries, slot) = (walk.into_stream(), order.board.slot());
    block_on(async {
        while let Some(entry) = entries.next().await {
            slot.add(of_entry(&entry?)?);
        }
        Ok(())
    })
}

/// `visit_in_order`; a segment is a tally.
pub fn visitor_in_order() -> Way {
    Way::new("ringwalk visitor, find's order", |order| {
        let visitor = Counter {
            board: Arc::clone(&order.board),
            slot: order.board.slot(),
        };
        walk(order)?.visit_in_order(Arc::new(visitor));
        Ok(())
    })
}

struct Counter {
    board: Arc<Board>,
    slot: Arc<Slot>,
}

impl OrderedVisitor for Counter {
    type Segment = Tally;

    fn wants(&self, _: &EntryRef<'_>) -> StatxMask {
        // The walk asks for what is wanted.
        StatxMask::empty()
    }

    fn visit(&self, entry: &EntryRef<'_>, out: &mut Tally) -> Visit {
        match of_ref(entry) {
            Ok(found) => *out = *out + found,
            Err(error) => self.board.fail(error),
        }
        Visit::Continue
    }

    fn error(&self, error: &Error, _: &mut Tally) -> Visit {
        self.board.fail(error.clone());
        Visit::Continue
    }

    fn weight(&self, segment: &Tally) -> usize {
        if segment.entries == 0 {
            0
        } else {
            size_of::<Tally>()
        }
    }

    fn emit(&self, segment: Tally) -> Visit {
        self.slot.add(segment);
        Visit::Continue
    }
}
