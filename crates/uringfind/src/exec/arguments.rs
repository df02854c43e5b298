//! The arguments of a command.

use std::ffi::CStr;
use std::ops::Range;

/// Arguments, all in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Each with a NUL behind it.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Arguments {
    /// Appends one argument, the parts together.
    pub(super) fn push(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.bytes.push(0);
        self.ends.push(self.bytes.len());
    }

    /// How many they are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes that they take, with their NULs.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Drops all but the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Some of them.
    pub(super) fn range(&self, range: Range<usize>) -> impl Iterator<Item = &CStr> {
        range.map(|at| {
            let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
            // Neither arguments nor names of files contain a NUL.
            CStr::from_bytes_until_nul(&self.bytes[start..]).unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_out_as_they_went_in() {
        let mut arguments = Arguments::default();
        arguments.push(&[b"echo"]);
        arguments.push(&[]);
        arguments.push(&[b"./", b"\xff name"]);
        let all: Vec<_> = arguments.range(0..3).collect();
        assert_eq!(all, [c"echo", c"", c"./\xff name"]);
        assert_eq!((arguments.len(), arguments.size()), (3, 15));
        arguments.truncate(1);
        arguments.push(&[b"x"]);
        assert!(arguments.range(1..2).eq([c"x"]));
        arguments.truncate(0);
        assert_eq!((arguments.len(), arguments.size()), (0, 0));
    }
}
