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
        Self {
            records: records.into(),
        }
    }

    pub(crate) fn from_records(records: Bytes) -> Self {
        Self { records }
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
