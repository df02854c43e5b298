//! How many directories may be open: all walks of the process share what there is.

use std::sync::atomic::{AtomicUsize, Ordering};

use blockpool::PerFork;

/// Of one kind of descriptors, as many as one walk may have.
pub(crate) struct Descriptors {
    most: usize,
    /// Those of all walks.
    used: &'static AtomicUsize,
}

/// The right to have one open, until it is dropped.
pub(crate) struct Descriptor(&'static AtomicUsize);

impl Descriptors {
    /// For directories that are being read.
    pub(crate) fn to_read(most: usize) -> Self {
        static USED: PerFork<AtomicUsize> = PerFork::new(|| AtomicUsize::new(0));
        let used = USED.get();
        Self { most, used }
    }

    /// For directories that have been read and are needed by those below them.
    pub(crate) fn to_keep(most: usize) -> Self {
        static USED: PerFork<AtomicUsize> = PerFork::new(|| AtomicUsize::new(0));
        let used = USED.get();
        Self { most, used }
    }

    /// Whether one is left at the moment.
    pub(crate) fn are_left(&self) -> bool {
        self.used.load(Ordering::Relaxed) < self.most
    }

    /// One, if one is left.
    pub(crate) fn take(&self) -> Option<Descriptor> {
        let taken = self.take_anyway();
        (self.used.load(Ordering::Relaxed) <= self.most).then_some(taken)
    }

    /// One, whether or not.
    pub(crate) fn take_anyway(&self) -> Descriptor {
        self.used.fetch_add(1, Ordering::Relaxed);
        Descriptor(self.used)
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_share_what_there_is() {
        let [one, other] = [(); 2].map(|()| Descriptors::to_keep(2));
        let (first, second) = (one.take(), other.take());
        assert!(first.is_some() && second.is_some());
        assert!(one.take().is_none() && !other.are_left());
        let more = one.take_anyway();
        drop(first);
        assert!(other.take().is_none());
        drop(more);
        assert!(other.take().is_some());
    }
}
