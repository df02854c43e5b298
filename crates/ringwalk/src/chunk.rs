//! The entries of a directory, a buffer at a time, in the order in which they are to be visited.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;

use fscall::{Dirent, Dirents, FileType};

/// What is asked of the kernel at once.
const BUFFER: usize = 64 * 1024;
/// A single record can be larger than what is left of a buffer, never than this.
const LARGEST_RECORD: usize = 64 * 1024;

/// gnulib's fts, and so GNU find, sorts the entries of large directories by inode number, because
/// looking at them in that order saves seeks: it collects 100,000 of them at a time, and sorts
/// those if they are more than 10,000.
const SORTED_AT_ONCE: usize = 100_000;
const WORTH_SORTING: usize = 10_000;

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

    /// Reads the next entries; false at the end of the directory. `sort` says whether a large
    /// directory is to be visited in inode order, and is asked only in one.
    pub(crate) fn fill(
        &mut self,
        dir: BorrowedFd<'_>,
        sort: Option<&dyn Fn() -> bool>,
    ) -> io::Result<bool> {
        self.records.drain(..self.indexed);
        self.index.clear();
        self.indexed = 0;
        self.next = 0;
        let collect = sort.filter(|_| !self.unsorted);
        let (enough, most) = if collect.is_some() {
            (SORTED_AT_ONCE, SORTED_AT_ONCE)
        } else {
            (1, usize::MAX)
        };
        let mut sorts = false;
        loop {
            self.add_to_index(most);
            if let Some(helps) = collect
                && !sorts
                && self.index.len() > WORTH_SORTING
            {
                sorts = helps();
                self.unsorted = !sorts;
            }
            if self.index.len() >= enough || self.ended || self.unsorted {
                break;
            }
            if let Err(error) = self.read(dir) {
                self.end_with(error);
            }
        }
        if sorts {
            // Stable, like fts's merge sort: hard links of one file stay in directory order.
            self.index.sort_by_key(|place| place.ino);
        }
        match self.error.take() {
            Some(error) if self.index.is_empty() => Err(error),
            error => {
                self.error = error;
                Ok(!self.index.is_empty())
            }
        }
    }

    fn end_with(&mut self, error: io::Error) {
        self.error = Some(error);
        self.ended = true;
    }

    fn read(&mut self, dir: BorrowedFd<'_>) -> io::Result<()> {
        self.records.reserve(BUFFER);
        let read = match fscall::getdents64(dir, &mut self.records) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                self.records.reserve(BUFFER + LARGEST_RECORD);
                fscall::getdents64(dir, &mut self.records)?
            }
            other => other?,
        };
        self.ended = read == 0;
        Ok(())
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
