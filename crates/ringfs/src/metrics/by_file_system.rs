//! How often the inline route answers, by file system.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use fscall::{Form, Statx};

/// What an answer tells of the file system that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FsKey(u64);

impl FsKey {
    /// The unique id of the mount where the answer has it, else the device.
    pub(crate) fn of(answer: &Statx) -> Self {
        let (major, minor) = answer.dev_numbers();
        Self(match answer.mnt_id_unique() {
            Some(id) => id << 1 | 1,
            None => (u64::from(major) << 32 | u64::from(minor)) << 1,
        })
    }

    /// The name of its type.
    fn name(self, may_statmount: bool) -> Option<String> {
        let id = self.0 >> 1;
        let name = if self.0 & 1 == 0 {
            #[allow(clippy::cast_possible_truncation, reason = "one half after the other")]
            fscall::mounts::fs_type_of_device(((id >> 32) as u32, id as u32))
        } else if may_statmount {
            fscall::statmount(id).ok()?.fs_type
        } else {
            None
        };
        Some(String::from_utf8_lossy(&name?).into_owned())
    }
}

/// So many file systems are told apart.
const SLOTS: usize = 32;
/// A file system that finds so many slots taken is counted with the others.
const PROBES: usize = 4;

/// Counts for each file system, without a lock.
#[derive(Debug, Default)]
pub(super) struct ByFileSystem {
    slots: [Slot; SLOTS],
    others: Slot,
}

#[derive(Debug, Default)]
struct Slot {
    /// 0: nobody's.
    key: AtomicU64,
    /// By the descriptor form, by the path form.
    hits: [AtomicU64; 2],
    misses: AtomicU64,
}

impl ByFileSystem {
    pub(super) fn hit(&self, key: FsKey, form: Form) {
        self.slot(key).hits[form as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// On all of them together, by this form.
    pub(super) fn all_hits(&self, form: Form) -> u64 {
        let hits = |slot: &Slot| slot.hits[form as usize].load(Ordering::Relaxed);
        self.slots.iter().chain([&self.others]).map(hits).sum()
    }

    pub(super) fn miss(&self, key: FsKey) {
        self.slot(key).misses.fetch_add(1, Ordering::Relaxed);
    }

    fn slot(&self, FsKey(key): FsKey) -> &Slot {
        // Ids and devices are given one by one, but for their lowest bit here.
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the low bits are what is wanted"
        )]
        let first = (key >> 1) as usize;
        for probe in 0..PROBES {
            let slot = &self.slots[(first + probe) % SLOTS];
            let taken = match slot.key.load(Ordering::Relaxed) {
                0 => slot
                    .key
                    .compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed)
                    .unwrap_or_else(|taken| taken),
                taken => taken,
            };
            if taken == key || taken == 0 {
                return slot;
            }
        }
        &self.others
    }

    /// The counts, by the names of the file systems.
    pub(super) fn snapshot(&self, may_statmount: bool) -> Vec<FileSystemHits> {
        let mut by_name = BTreeMap::<String, (u64, u64)>::new();
        for slot in self.slots.iter().chain([&self.others]) {
            let [by_fd, by_path] = &slot.hits;
            let hits = by_fd.load(Ordering::Relaxed) + by_path.load(Ordering::Relaxed);
            let misses = slot.misses.load(Ordering::Relaxed);
            if hits + misses > 0 {
                let key = FsKey(slot.key.load(Ordering::Relaxed));
                let name = key.name(may_statmount).unwrap_or_default();
                let counts = by_name.entry(name).or_default();
                *counts = (counts.0 + hits, counts.1 + misses);
            }
        }
        let named = by_name.into_iter();
        named
            .map(|(file_system, (hits, misses))| FileSystemHits {
                file_system,
                hits,
                misses,
            })
            .collect()
    }
}

/// How often single stats were answered inline on one type of file system; see
/// [`Metrics::inline_by_file_system`](crate::Metrics::inline_by_file_system).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSystemHits {
    /// The name of the type as in `/proc/filesystems`; empty where it could not be found out.
    pub file_system: String,
    /// How many were answered inline.
    pub hits: u64,
    /// How many were tried inline, and answered by another route.
    pub misses: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_system_has_its_counts() {
        let counts = ByFileSystem::default();
        let keys = (1..=SLOTS as u64 * 2).map(FsKey);
        for (key, times) in keys.clone().zip(1..) {
            for _ in 0..times {
                counts.hit(key, Form::Path);
            }
            counts.miss(key);
        }
        let of = |key: FsKey| counts.slot(key).hits[Form::Path as usize].load(Ordering::Relaxed);
        assert_eq!((of(FsKey(1)), of(FsKey(2))), (1, 2));
        let slots = || counts.slots.iter().chain([&counts.others]);
        let hits = (1..=SLOTS as u64 * 2).sum();
        assert_eq!(
            (counts.all_hits(Form::Path), counts.all_hits(Form::Fd)),
            (hits, 0)
        );
        let misses = slots().map(|slot| slot.misses.load(Ordering::Relaxed));
        assert_eq!(misses.sum::<u64>(), keys.count() as u64);
    }

    #[test]
    fn names_of_what_is_mounted() {
        let ask = |mask| {
            let flags = fscall::StatxFlags::empty();
            fscall::statx(fscall::CWD, Some(c"/proc"), flags, mask).unwrap()
        };
        for mask in [fscall::StatxMask::TYPE, fscall::mounts::Mounts::mask()] {
            let key = FsKey::of(&ask(mask));
            assert_eq!(key.name(true).as_deref(), Some("proc"));
        }
    }
}
