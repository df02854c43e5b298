//! A buffer of directory entries.

use bytes::Bytes;
use fscall::{Dirent, Dirents, MalformedDirent};

/// Entries of one directory as the kernel wrote them, parsed without copying.
///
/// Cheap to clone; the entries borrow from it.
#[derive(Clone, Debug, Default)]
pub struct DirBatch {
    records: Bytes,
}

impl DirBatch {
    pub(crate) fn new(records: Vec<u8>) -> Self {
        if records.is_empty() {
            // Its memory would be kept as well.
            return Self::default();
        }
        Self {
            records: records.into(),
        }
    }

    pub(crate) fn from_records(records: Bytes) -> Self {
        Self { records }
    }

    /// The memory, if nobody else holds the batch or a part of it.
    pub(crate) fn into_buffer(self) -> Option<Vec<u8>> {
        let mut buffer = self.records.try_into_mut().ok()?;
        // First, or the records would be moved along.
        buffer.clear();
        Some(buffer.into())
    }

    /// Whether there is no entry in it: the directory has ended.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The entries, `.` and `..` included where the file system lists them.
    ///
    /// A record that makes no sense is an error, and the last item.
    pub fn iter(&self) -> impl Iterator<Item = Result<Dirent<'_>, MalformedDirent>> {
        Dirents::new(&self.records)
    }

    /// The records themselves, `struct linux_dirent64` of `getdents64(2)` one after the other.
    pub fn as_bytes(&self) -> &Bytes {
        &self.records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_nobody_holds_is_had_back_whole() {
        for capacity in [64, 4096] {
            let mut records = Vec::with_capacity(capacity);
            records.extend_from_slice(&[1; 64]);
            let place = records.as_ptr();
            let given = DirBatch::new(records);
            let kept = given.clone();
            drop(given);
            let buffer = kept.into_buffer().unwrap();
            assert_eq!((buffer.as_ptr(), buffer.len()), (place, 0));
            assert_eq!(buffer.capacity(), capacity);
        }
    }

    #[test]
    fn memory_that_somebody_holds_is_theirs() {
        let given = DirBatch::new(vec![1; 64]);
        let kept = given.clone();
        let part = DirBatch::from_records(given.as_bytes().slice(8..16));
        assert_eq!(given.into_buffer(), None);
        assert_eq!(kept.into_buffer(), None);
        assert_eq!(part.as_bytes()[..], [1; 8]);
        assert_eq!(DirBatch::new(Vec::with_capacity(64)).into_buffer(), None);
    }
}
