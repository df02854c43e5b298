//! The records that getdents64(2) writes, parsed. Any bytes will do: what is no record is an
//! error, never a panic and never a loop.

use std::{error, fmt, io};

use crate::FileType;

/// `d_ino` (8 bytes), `d_off` (8), `d_reclen` (2), `d_type` (1), then the name and its NUL.
const NAME: usize = Dirent::NAME_OFFSET;

/// Every record is a multiple of this.
const WORD: usize = 8;

/// The smallest record: a name of up to four bytes.
const MIN: usize = (NAME + 2).next_multiple_of(WORD);

/// One entry of a directory.
#[doc(alias = "struct linux_dirent64")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Dirent<'a> {
    ino: u64,
    offset: i64,
    d_type: u8,
    name: &'a [u8],
}

impl<'a> Dirent<'a> {
    /// Where in its record the name begins; a NUL follows it.
    pub const NAME_OFFSET: usize = 19;

    /// The name: at least one byte, no NUL, and from a sane file system no `/`. `.` and `..` are
    /// entries like others, see [`is_dot`](Self::is_dot).
    #[doc(alias = "d_name")]
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// The type, where the file system tells; `None` means to ask by statx.
    #[doc(alias = "d_type")]
    pub fn file_type(&self) -> Option<FileType> {
        FileType::from_d_type(self.d_type)
    }

    /// The inode number. At a mount point it is that of the directory underneath.
    #[doc(alias = "d_ino")]
    pub fn ino(&self) -> u64 {
        self.ino
    }

    /// Where the directory goes on after this entry: a cookie for lseek(2), in no order.
    #[doc(alias = "d_off")]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Whether it is `.` or `..`.
    #[inline]
    pub fn is_dot(&self) -> bool {
        matches!(self.name, b"." | b"..")
    }
}

impl fmt::Debug for Dirent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dirent")
            .field("name", &format_args!("\"{}\"", self.name.escape_ascii()))
            .field("file_type", &self.file_type())
            .field("ino", &self.ino)
            .field("offset", &self.offset)
            .finish()
    }
}

/// The entries in a buffer that [`getdents64`](crate::getdents64) has filled.
///
/// It ends after the first error, since the bytes do not tell where the next record would be.
#[derive(Clone, Debug)]
pub struct Dirents<'a> {
    rest: &'a [u8],
    len: usize,
}

impl<'a> Dirents<'a> {
    /// Parses `buf`, which starts with a record or is empty.
    pub fn new(buf: &'a [u8]) -> Self {
        Self {
            rest: buf,
            len: buf.len(),
        }
    }

    /// How far it has come, in bytes: where the next record starts. To go on later, parse the
    /// buffer from there.
    pub fn offset_in_buffer(&self) -> usize {
        self.len - self.rest.len()
    }

    /// The bytes that are not parsed yet.
    pub fn remaining(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Dirents<'a> {
    type Item = Result<Dirent<'a>, MalformedDirent>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        if let Some((entry, rest)) = parse(self.rest) {
            self.rest = rest;
            return Some(Ok(entry));
        }
        let at = self.offset_in_buffer();
        self.rest = &[];
        Some(Err(MalformedDirent { at }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (
            usize::from(!self.rest.is_empty()),
            Some(self.rest.len().div_ceil(MIN)),
        )
    }
}

impl std::iter::FusedIterator for Dirents<'_> {}

#[inline]
fn parse(buf: &[u8]) -> Option<(Dirent<'_>, &[u8])> {
    let (ino, rest) = buf.split_first_chunk()?;
    let (offset, rest) = rest.split_first_chunk()?;
    let (reclen, rest) = rest.split_first_chunk()?;
    let d_type = *rest.first()?;
    let reclen = usize::from(u16::from_ne_bytes(*reclen));
    if reclen < MIN || !reclen.is_multiple_of(WORD) {
        return None;
    }
    let (record, rest) = buf.split_at_checked(reclen)?;
    let name = record
        .get(NAME..name_end(record)?)
        .filter(|name| !name.is_empty())?;
    let entry = Dirent {
        ino: u64::from_ne_bytes(*ino),
        offset: i64::from_ne_bytes(*offset),
        d_type,
        name,
    };
    Some((entry, rest))
}

/// Where the first NUL of the name is, a word at a time. What follows it is not zeroed by the
/// kernel, so it can't be found from the end.
#[inline]
fn name_end(record: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The first word begins with the record's length and type, which may be 0.
    let mut not_name: u64 = 0x00ff_ffff;
    let (words, _) = record[NAME - 3..].as_chunks::<WORD>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word) | not_name;
        // The lowest bit that is set here belongs to the first byte that is 0.
        let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if zeros != 0 {
            return Some(NAME - 3 + index * WORD + zeros.trailing_zeros() as usize / 8);
        }
        not_name = 0;
    }
    None
}

/// Bytes that are no directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedDirent {
    at: usize,
}

impl MalformedDirent {
    /// Where in the buffer the record starts, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl fmt::Display for MalformedDirent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed directory entry at byte {}", self.at)
    }
}

impl error::Error for MalformedDirent {}

impl From<MalformedDirent> for io::Error {
    /// `EIO`, as the kernel answers for a directory that it can't make sense of.
    fn from(_: MalformedDirent) -> Self {
        Self::from_raw_os_error(libc::EIO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &[u8], padding: u8) -> Vec<u8> {
        let reclen = (NAME + name.len() + 1).next_multiple_of(WORD);
        let mut record = Vec::new();
        record.extend_from_slice(&7u64.to_ne_bytes());
        record.extend_from_slice(&(-9i64).to_ne_bytes());
        record.extend_from_slice(&u16::try_from(reclen).unwrap().to_ne_bytes());
        record.push(libc::DT_DIR);
        record.extend_from_slice(name);
        record.push(0);
        record.resize(reclen, padding);
        record
    }

    #[test]
    fn every_length_of_name_and_any_padding() {
        for padding in [0, 1, 0x80, 0xff] {
            for fill in [b'x', 1, 0x80, 0xff] {
                for length in 1..=300 {
                    let name = vec![fill; length];
                    let buf = record(&name, padding);
                    let mut entries = Dirents::new(&buf);
                    let entry = entries.next().unwrap().unwrap();
                    assert_eq!(
                        (entry.name(), entry.ino(), entry.offset()),
                        (&name[..], 7, -9)
                    );
                    assert_eq!(entry.file_type(), Some(FileType::DIRECTORY));
                    assert_eq!(
                        (entries.offset_in_buffer(), entries.next()),
                        (buf.len(), None)
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_no_record_is_an_error_once() {
        let good = record(b"good", 0);
        let mut short = record(b"name", 0);
        short[16..18].copy_from_slice(&16u16.to_ne_bytes());
        let mut long = record(b"name", 0);
        long[16..18].copy_from_slice(&32u16.to_ne_bytes());
        let mut zero = record(b"name", 0);
        zero[16..18].copy_from_slice(&0u16.to_ne_bytes());
        let mut unaligned = record(b"name-of-ten", 0);
        unaligned[16..18].copy_from_slice(&25u16.to_ne_bytes());
        let mut no_nul = record(b"name", 0);
        no_nul[NAME..].fill(b'x');
        let cut = record(b"name", 0)[..20].to_vec();
        for bad in [short, long, zero, unaligned, no_nul, record(b"", 0), cut] {
            let buf = [&good[..], &bad[..]].concat();
            let mut entries = Dirents::new(&buf);
            assert_eq!(entries.next().unwrap().unwrap().name(), b"good");
            let error = entries.next().unwrap().unwrap_err();
            assert_eq!(error.at(), good.len());
            assert_eq!(entries.next(), None);
            assert_eq!(io::Error::from(error).raw_os_error(), Some(libc::EIO));
        }
    }

    #[test]
    fn the_dots_are_entries() {
        let dot = |name: &[u8]| {
            Dirents::new(&record(name, 0))
                .next()
                .unwrap()
                .unwrap()
                .is_dot()
        };
        assert!(dot(b".") && dot(b".."));
        assert!(!dot(b"...") && !dot(b".a") && !dot(b"a"));
    }
}
