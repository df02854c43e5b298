//! How many entries others may be asked about at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Each answer keeps some 270 bytes until its directory's turn.
const MOST: usize = 16 * 1024;
/// Fewer are not worth asking for.
const LEAST: usize = 64;

/// The entries that a walk has asked others about.
#[derive(Clone, Default)]
pub(crate) struct Asking {
    now: Arc<AtomicUsize>,
}

/// The right to ask about so many.
pub(crate) struct Spread {
    entries: usize,
    asking: Asking,
}

impl Asking {
    /// As many as wanted, or as there is room for; `None` if there is next to none.
    pub(crate) fn begin(&self, wanted: usize) -> Option<Spread> {
        let mut entries = 0;
        let take = |now: usize| {
            entries = wanted.min(MOST.saturating_sub(now));
            (entries >= wanted.min(LEAST)).then_some(now + entries)
        };
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        self.now.fetch_update(set, get, take).ok()?;
        Some(Spread {
            entries,
            asking: self.clone(),
        })
    }
}

impl Spread {
    pub(crate) fn most(&self) -> usize {
        self.entries
    }
}

impl Drop for Spread {
    fn drop(&mut self) {
        self.asking.now.fetch_sub(self.entries, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_than_the_most() {
        let asking = Asking::default();
        let most = asking.begin(MOST - 100).unwrap();
        let rest = asking.begin(1_000).unwrap();
        assert_eq!((most.most(), rest.most()), (MOST - 100, 100));
        assert!(asking.begin(1).is_none());
        drop(most);
        assert_eq!(asking.begin(1).unwrap().most(), 1);
        drop(rest);
        assert_eq!(asking.now.load(Ordering::Relaxed), 0);
    }
}
