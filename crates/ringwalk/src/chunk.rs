//! The entries of a directory, a buffer at a time, in the order in which they are to be visited.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;

use fscall::{Dirent, Dirents, FileType};

/// What is asked of the kernel at once.
const BUFFER: usize = 64 * 1024;

/// gnulib's fts, and so GNU find, sorts the entries of large directories by inode number, because
/// looking at them in that order saves seeks: it collects 100,000 of them at a time, and sorts
/// those if they are more than 10,000.
const SORTED_AT_ONCE: usize = 100_000;
const WORTH_SORTING: usize = 10_000;

/// In which order the entries that are read come.
pub(crate) enum Sorting<'a> {
    Listed,
    /// GNU find's rule; the question whether it helps here is asked only in a large directory.
    LargeByInode(&'a dyn Fn() -> bool),
    ByName,
    /// Their places, in the order wanted.
    By(&'a dyn Fn(&[Found<'_>]) -> Vec<usize>),
}

impl Sorting<'_> {
    /// How many entries are collected before any is visited.
    fn collects(&self) -> Option<usize> {
        match self {
            Self::Listed => None,
            Self::LargeByInode(_) => Some(SORTED_AT_ONCE),
            Self::ByName | Self::By(_) => Some(usize::MAX),
        }
    }
}

/// Reads a directory's records and says where each entry lies. `.` and `..` are left out.
#[derive(Default)]
pub(crate) struct Chunk {
    records: Vec<u8>,
    index: Vec<Place>,
    /// Records before this offset are in the index, or were in one before.
    indexed: usize,
    /// The next entry of the index to be visited.
    next: usize,
    ended: bool,
    /// Not worth it here after all.
    unsorted: bool,
    /// Why the directory ends early; told when what was read before it has been visited.
    error: Option<io::Error>,
}

/// An entry that has been parsed: where its name is, and the rest.
#[derive(Clone, Copy)]
struct Place {
    ino: u64,
    name: usize,
    len: usize,
    file_type: Option<FileType>,
}

impl Place {
    fn name(self, records: &[u8]) -> &[u8] {
        records
            .get(self.name..self.name + self.len)
            .unwrap_or_default()
    }
}

/// An entry of the directory.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    /// With its NUL.
    name: &'a [u8],
    pub(crate) ino: u64,
    pub(crate) file_type: Option<FileType>,
}

impl<'a> Found<'a> {
    pub(crate) fn name(&self) -> &'a [u8] {
        self.name.split_last().map_or(b"", |(_, name)| name)
    }

    /// The name as system calls take it. It is where the kernel wrote it.
    pub(crate) fn c_name(&self) -> &'a CStr {
        CStr::from_bytes_with_nul(self.name).unwrap_or(c"")
    }
}

impl Chunk {
    /// Forgets everything but the memory.
    pub(crate) fn reset(&mut self) {
        self.records.clear();
        self.index.clear();
        *self = Self {
            records: std::mem::take(&mut self.records),
            index: std::mem::take(&mut self.index),
            ..Self::default()
        };
        self.records.shrink_to(4 * BUFFER);
    }

    /// Reads the next entries; false at the end of the directory.
    pub(crate) fn fill(&mut self, dir: BorrowedFd<'_>, sorting: &Sorting<'_>) -> io::Result<bool> {
        self.records.drain(..self.indexed);
        self.index.clear();
        self.indexed = 0;
        self.next = 0;
        let mut by_inode = false;
        loop {
            let collects = sorting.collects().filter(|_| !self.unsorted);
            self.add_to_index(collects.unwrap_or(usize::MAX));
            if let Sorting::LargeByInode(helps) = sorting
                && !self.unsorted
                && !by_inode
                && self.index.len() > WORTH_SORTING
            {
                by_inode = helps();
                self.unsorted = !by_inode;
                continue;
            }
            // Without a reason to collect, a buffer that is nearly full is enough. A smaller
            // directory is read to its end, so that nothing has to be kept of it.
            let enough = match collects {
                Some(most) => self.index.len() >= most,
                None => !self.index.is_empty() && self.records.len() > BUFFER / 2,
            };
            if enough || self.ended {
                break;
            }
            if let Err(error) = self.read(dir) {
                self.end_with(error);
            }
        }
        match sorting {
            Sorting::LargeByInode(_) if by_inode => {
                // Stable, like fts's merge sort: hard links of one file stay in directory order.
                self.index.sort_by_key(|place| place.ino);
            }
            Sorting::Listed | Sorting::LargeByInode(_) => {}
            Sorting::ByName => {
                let Self { index, records, .. } = self;
                // All differ, and the longer of two with the same beginning comes last: the NUL is
                // not in them.
                index.sort_unstable_by(|a, b| a.name(records).cmp(b.name(records)));
            }
            Sorting::By(sort) => {
                let found: Vec<_> = (0..self.len()).filter_map(|at| self.peek(at)).collect();
                let order = sort(&found);
                self.index = order
                    .iter()
                    .filter_map(|&at| self.index.get(at))
                    .copied()
                    .collect();
            }
        }
        match self.error.take() {
            Some(error) if self.index.is_empty() => Err(error),
            error => {
                self.error = error;
                Ok(!self.index.is_empty())
            }
        }
    }

    /// Reads as much as [`fill`](Self::fill) needs at least, which then has nothing to wait for.
    pub(crate) fn read_ahead(&mut self, dir: BorrowedFd<'_>) {
        while self.may_read() && self.records.len() - self.indexed <= BUFFER / 2 {
            if let Err(error) = self.read(dir) {
                self.end_with(error);
            }
        }
    }

    /// Whether [`fill`](Self::fill) may have to read more.
    pub(crate) fn may_read(&self) -> bool {
        !self.ended
    }

    fn end_with(&mut self, error: io::Error) {
        self.error = Some(error);
        self.ended = true;
    }

    fn read(&mut self, dir: BorrowedFd<'_>) -> io::Result<()> {
        // Half a buffer is enough to find the end of what the first half held, without a larger one.
        if self.records.capacity() - self.records.len() < BUFFER / 2 {
            self.records.reserve(BUFFER);
        }
        self.ended = fscall::read_records(dir, &mut self.records)? == 0;
        Ok(())
    }

    /// Nothing is left to read, and nothing to tell.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended && self.error.is_none() && self.indexed == self.records.len()
    }

    /// Adds what has been read to the index, up to `most` entries.
    fn add_to_index(&mut self, most: usize) {
        let mut rest = Dirents::new(&self.records[self.indexed..]);
        while self.index.len() < most {
            let record = self.indexed + rest.offset_in_buffer();
            match rest.next() {
                None => break,
                Some(Ok(entry)) if entry.is_dot() => {}
                Some(Ok(entry)) => self.index.push(Place {
                    ino: entry.ino(),
                    name: record + Dirent::NAME_OFFSET,
                    len: entry.name().len(),
                    file_type: entry.file_type(),
                }),
                Some(Err(error)) => {
                    // What follows can't be read.
                    self.indexed = self.records.len();
                    return self.end_with(error.into());
                }
            }
        }
        self.indexed += rest.offset_in_buffer();
    }

    /// How many entries are still to be visited.
    pub(crate) fn len(&self) -> usize {
        self.index.len() - self.next
    }

    /// The entry that is `ahead` of the next one.
    pub(crate) fn peek(&self, ahead: usize) -> Option<Found<'_>> {
        let place = self.index.get(self.next + ahead)?;
        let name = self.records.get(place.name..)?.get(..=place.len)?;
        Some(Found {
            name,
            ino: place.ino,
            file_type: place.file_type,
        })
    }

    /// Goes on by `count` entries.
    pub(crate) fn advance(&mut self, count: usize) {
        self.next += count;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs::File;
    use std::os::fd::AsFd;

    use super::*;

    /// A directory of `count` entries, in memory, where they come in no order of theirs.
    fn directory(count: usize) -> (tempfile::TempDir, File) {
        let temp = tempfile::tempdir().unwrap();
        for index in 0..count {
            // A link is made faster than a file, and is an entry all the same.
            std::os::unix::fs::symlink("x", temp.path().join(format!("{index:x}"))).unwrap();
        }
        let file = File::open(temp.path()).unwrap();
        (temp, file)
    }

    /// All entries, as the chunks bring them.
    fn read(dir: &File, sorting: &Sorting<'_>) -> Vec<Vec<(u64, Vec<u8>)>> {
        let mut chunk = Chunk::default();
        let mut chunks = Vec::new();
        fscall::rewind(dir.as_fd()).unwrap();
        while chunk.fill(dir.as_fd(), sorting).unwrap() {
            let entry = |ahead| {
                chunk
                    .peek(ahead)
                    .map(|found| (found.ino, found.name().to_vec()))
            };
            chunks.push((0..chunk.len()).filter_map(entry).collect());
            chunk.advance(chunk.len());
        }
        chunks
    }

    #[test]
    fn every_entry_comes_once_sorted_or_not() {
        let (_temp, dir) = directory(25_000);
        let plain = read(&dir, &Sorting::Listed);
        assert!(plain.len() > 1);
        let plain = plain.concat();
        assert_eq!(plain.iter().collect::<HashSet<_>>().len(), 25_000);
        assert_eq!(
            read(&dir, &Sorting::LargeByInode(&|| false)).concat(),
            plain
        );
        let sorted = read(&dir, &Sorting::LargeByInode(&|| true));
        assert_eq!(sorted.len(), 1);
        let by_name = read(&dir, &Sorting::ByName);
        assert_eq!(by_name.len(), 1);
        let mut expected = plain.clone();
        expected.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(by_name.concat(), expected);
        let backwards = |found: &[Found<'_>]| (0..found.len()).rev().collect();
        let mut backwards = read(&dir, &Sorting::By(&backwards)).concat();
        backwards.reverse();
        assert_eq!(backwards, plain);
        let mut expected = plain;
        expected.sort_by_key(|(ino, _)| *ino);
        assert_eq!(sorted.concat(), expected);
    }

    #[test]
    fn small_directories_are_never_sorted() {
        let (_temp, dir) = directory(300);
        let asked = std::cell::Cell::new(false);
        let entries = read(&dir, &Sorting::LargeByInode(&|| asked.replace(true)));
        assert_eq!(entries.concat().len(), 300);
        assert!(!asked.get());
    }
}
