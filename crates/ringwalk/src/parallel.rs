//! A visitor of its own for each thread.

use std::sync::Mutex;

use fscall::StatxMask;

use crate::entry::EntryRef;
use crate::error::Error;
use crate::visitor::{OrderedVisitor, ParallelVisitor, Visit};
use blockpool::lock;

/// Lends a visitor to each directory that is being walked: it takes the place of a segment of
/// output, and comes back when that is emitted. So no more are made than threads work at once.
pub(crate) struct Parallel<P, F> {
    make: F,
    idle: Mutex<Vec<P>>,
}

impl<P: ParallelVisitor, F: Fn() -> P> Parallel<P, F> {
    pub(crate) fn new(make: F) -> Self {
        Self {
            make,
            idle: Mutex::default(),
        }
    }

    fn visitor<'a>(&self, lent: &'a mut Option<P>) -> &'a mut P {
        lent.get_or_insert_with(|| {
            let idle = lock(&self.idle).pop();
            idle.unwrap_or_else(|| (self.make)())
        })
    }
}

impl<P, F> OrderedVisitor for Parallel<P, F>
where
    P: ParallelVisitor + 'static,
    F: Fn() -> P + Send + Sync + 'static,
{
    type Segment = Option<P>;

    fn wants(&self, _: &EntryRef<'_>) -> StatxMask {
        StatxMask::empty()
    }

    fn visit(&self, entry: &EntryRef<'_>, lent: &mut Option<P>) -> Visit {
        self.visitor(lent).visit(Ok(entry))
    }

    fn error(&self, error: &Error, lent: &mut Option<P>) -> Visit {
        self.visitor(lent).visit(Err(error))
    }

    fn weight(&self, lent: &Option<P>) -> usize {
        lent.is_some().into()
    }

    fn emit(&self, lent: Option<P>) -> Visit {
        lock(&self.idle).extend(lent);
        Visit::Continue
    }
}
