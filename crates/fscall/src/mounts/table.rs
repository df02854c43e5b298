//! What is known of mounts by their unique ids, without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

use super::kind::Kind;

/// One id and what is known of it per slot, since an id never gets another mount. Whoever needs
/// the slot next takes it.
pub(super) struct Table {
    slots: [AtomicU64; SLOTS],
}

/// Ids are given one by one, so mounts made together do not collide.
const SLOTS: usize = 256;

/// How many bits below the id tell what is known.
const BITS: u32 = 3;

/// What the bits say where the kernel would not tell. No [`Kind`] has it.
const REFUSED: u64 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Known(Kind),
    /// The kernel does not answer for this mount.
    Refused,
}

impl Table {
    pub(super) const fn new() -> Self {
        Self {
            slots: [const { AtomicU64::new(0) }; SLOTS],
        }
    }

    pub(super) fn get(&self, id: u64) -> Option<Entry> {
        // Relaxed: the slot is all there is.
        let slot = self.slot(id).load(Ordering::Relaxed);
        if slot >> BITS != id {
            return None;
        }
        match slot & ((1 << BITS) - 1) {
            REFUSED => Some(Entry::Refused),
            bits => Kind::from_bits(bits).map(Entry::Known),
        }
    }

    pub(super) fn set(&self, id: u64, entry: Entry) {
        let bits = match entry {
            Entry::Known(kind) => kind as u64,
            Entry::Refused => REFUSED,
        };
        // Of an id too large for its slot nothing is kept; none has come near it.
        if id.leading_zeros() >= BITS {
            self.slot(id).store(id << BITS | bits, Ordering::Relaxed);
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the low bits are what is wanted"
    )]
    fn slot(&self, id: u64) -> &AtomicU64 {
        &self.slots[id as usize % SLOTS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_what_it_was_given() {
        let table = Table::new();
        let base = 1 << 32;
        assert_eq!(table.get(base), None);
        assert_eq!(table.get(0), None);
        table.set(base, Entry::Known(Kind::Overlay));
        table.set(base + 1, Entry::Refused);
        assert_eq!(table.get(base), Some(Entry::Known(Kind::Overlay)));
        assert_eq!(table.get(base + 1), Some(Entry::Refused));
        // The same slot.
        let other = base + SLOTS as u64;
        assert_eq!(table.get(other), None);
        table.set(other, Entry::Known(Kind::Local));
        assert_eq!(table.get(base), None);
        assert_eq!(table.get(other), Some(Entry::Known(Kind::Local)));
    }

    #[test]
    fn an_id_too_large_is_not_mistaken_for_another() {
        let table = Table::new();
        table.set(u64::MAX, Entry::Known(Kind::Local));
        assert_eq!(table.get(u64::MAX), None);
        assert_eq!(table.get(u64::MAX >> BITS), None);
    }
}
