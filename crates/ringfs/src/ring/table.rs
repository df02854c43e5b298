//! What is in flight: every operation, from before it is pushed until its completion.

use crate::capabilities::OperationKind;
use crate::op::Job;

/// Operations by slot. A completion names slot and generation, so one that is not ours, or comes
/// twice, finds nothing.
pub(super) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    flight: Option<(OperationKind, Box<dyn Job>)>,
    /// The kernel is to be asked to cancel it.
    cancelled: bool,
}

impl Slot {
    fn name(&self, index: usize) -> u64 {
        u64::from(self.generation) << 32 | index as u64
    }
}

impl Table {
    /// A table for at most `capacity` operations.
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            slots: (0..capacity).map(|_| Slot::default()).collect(),
            free: (0..capacity).rev().collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts an operation into a slot and gives back the slot's name with the operation in its
    /// final place. The table must not be [full](Self::is_full).
    pub(super) fn insert(
        &mut self,
        kind: OperationKind,
        job: Box<dyn Job>,
    ) -> Option<(u64, &mut dyn Job)> {
        let index = self.free.pop()?;
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        slot.cancelled = false;
        let name = slot.name(index as usize);
        let (_, job) = slot.flight.insert((kind, job));
        Some((name, job.as_mut()))
    }

    /// The names of those whose futures are gone, each once.
    pub(super) fn newly_abandoned(&mut self) -> impl Iterator<Item = u64> {
        self.slots
            .iter_mut()
            .enumerate()
            .filter_map(|(index, slot)| {
                let (_, job) = slot.flight.as_ref()?;
                let newly = !slot.cancelled && job.is_abandoned();
                slot.cancelled |= newly;
                newly.then(|| slot.name(index))
            })
    }

    /// Takes out the operation of a completion.
    pub(super) fn take(&mut self, name: u64) -> Option<(OperationKind, Box<dyn Job>)> {
        let index = u32::try_from(name & u64::from(u32::MAX)).ok()?;
        let slot = self.slots.get_mut(index as usize)?;
        if u64::from(slot.generation) != name >> 32 {
            return None;
        }
        let flight = slot.flight.take()?;
        self.free.push(index);
        Some(flight)
    }
}

/// Nothing is dropped in flight: if the thread ends before its time, the futures are told and
/// what the kernel may still write to is leaked.
impl Drop for Table {
    fn drop(&mut self) {
        for mut slot in self.slots.drain(..) {
            if let Some((_, mut job)) = slot.flight.take() {
                job.disown();
                std::mem::forget(job);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir::DIR_FLAGS;
    use crate::op::{Close, Open, pack};

    fn job() -> Box<dyn Job> {
        let fd = std::fs::File::open("/").expect("the root directory opens");
        pack(Close::new(fd.into())).0
    }

    #[test]
    fn names_are_used_once() {
        let mut table = Table::new(1);
        let (first, _) = table
            .insert(OperationKind::Close, job())
            .expect("room for one");
        assert!(table.is_full());
        assert!(table.insert(OperationKind::Close, job()).is_none());
        assert!(table.take(first).is_some());
        assert!(table.take(first).is_none());
        let (second, _) = table
            .insert(OperationKind::Close, job())
            .expect("room again");
        assert_ne!(first, second);
        assert!(table.take(first).is_none());
        assert!(table.take(u64::MAX).is_none());
        assert!(!table.is_empty());
        assert!(table.take(second).is_some());
        assert!(table.is_empty());
    }

    #[test]
    fn an_abandoned_operation_is_told_once() {
        let mut table = Table::new(3);
        let open = || pack(Open::new(None, c"/".to_owned(), DIR_FLAGS));
        let (kept, wanted) = open();
        table.insert(OperationKind::Open, kept).expect("room");
        let (dropped, unwanted) = open();
        let (name, _) = table.insert(OperationKind::Open, dropped).expect("room");
        drop(unwanted);
        // A close has to be made, whoever waits for it.
        table.insert(OperationKind::Close, job()).expect("room");
        assert_eq!(table.newly_abandoned().collect::<Vec<_>>(), [name]);
        assert_eq!(table.newly_abandoned().count(), 0);
        drop(wanted);
        assert_eq!(table.newly_abandoned().count(), 1);
    }
}
