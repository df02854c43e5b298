//! Directories that wait for the ring: no thread sleeps on them.

use std::sync::{Arc, Mutex};
use std::task::Wake;

use blockpool::lock;

use crate::task::DirTask;
use crate::visitor::OrderedVisitor;
use crate::walker::Walker;

/// Where a directory's task waits until what it asked for has come.
pub(crate) struct Park<V: OrderedVisitor> {
    place: Mutex<Place<V>>,
    walker: Arc<Walker<V>>,
}

enum Place<V: OrderedVisitor> {
    Empty,
    /// Woken before the task had come here.
    Woken,
    Waiting(Box<DirTask<V>>),
}

impl<V: OrderedVisitor> Park<V> {
    pub(crate) fn new(walker: Arc<Walker<V>>) -> Self {
        Self {
            place: Mutex::new(Place::Empty),
            walker,
        }
    }

    /// Leaves the task here; gives it back if it was woken meanwhile.
    pub(crate) fn leave(&self, task: Box<DirTask<V>>) -> Option<Box<DirTask<V>>> {
        let mut place = lock(&self.place);
        match std::mem::replace(&mut *place, Place::Empty) {
            Place::Woken => Some(task),
            Place::Empty | Place::Waiting(_) => {
                *place = Place::Waiting(task);
                None
            }
        }
    }
}

impl<V: OrderedVisitor> Wake for Park<V> {
    fn wake(self: Arc<Self>) {
        let mut place = lock(&self.place);
        match std::mem::replace(&mut *place, Place::Woken) {
            Place::Waiting(task) => {
                *place = Place::Empty;
                drop(place);
                self.walker.resume_elsewhere(task);
            }
            Place::Empty | Place::Woken => {}
        }
    }
}
