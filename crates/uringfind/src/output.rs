//! What evaluating some files gave, in order: bytes for standard output with messages for standard
//! error in between.

use std::ops::Range;

/// Output of a run of files. Filled on a worker, written later, in order.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// Which ranges of `bytes` are messages, in order.
    messages: Vec<Range<usize>>,
}

/// What is allocated for the first line: the output of a middling directory, and still in reach of
/// malloc's per-thread cache.
const FIRST: usize = 1000;

/// A place in an [`Output`], to go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    bytes: usize,
    messages: usize,
}

impl Mark {
    /// The beginning.
    pub(crate) const START: Self = Self {
        bytes: 0,
        messages: 0,
    };
}

/// A piece of an [`Output`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// For standard output.
    Text(&'a [u8]),
    /// A whole message for standard error.
    Message(&'a [u8]),
}

impl Output {
    /// Where bytes for standard output are appended.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve(FIRST);
        }
        &mut self.bytes
    }

    /// Appends a message for standard error.
    pub(crate) fn message(&mut self, message: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        self.messages.push(start..self.bytes.len());
    }

    /// Bytes held.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The present end.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            bytes: self.bytes.len(),
            messages: self.messages.len(),
        }
    }

    /// Drops what came after `mark`.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.messages.truncate(mark.messages);
    }

    /// The pieces in order. No piece of text is empty.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut at = 0;
        let ranges = self.messages.iter().cloned().map(Some).chain([None]);
        ranges.flat_map(move |range| {
            let (start, end) = range
                .as_ref()
                .map_or((self.bytes.len(), self.bytes.len()), |it| {
                    (it.start, it.end)
                });
            let text = (at < start).then(|| Piece::Text(&self.bytes[at..start]));
            at = end;
            [text, range.map(|range| Piece::Message(&self.bytes[range]))]
                .into_iter()
                .flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_order() {
        let mut out = Output::default();
        assert_eq!(out.pieces().count(), 0);
        out.message(b"m1");
        out.text().extend_from_slice(b"text");
        let mark = out.mark();
        out.message(b"gone");
        out.rewind(mark);
        out.message(b"m2");
        out.message(b"m3");
        let pieces: Vec<_> = out.pieces().collect();
        assert_eq!(
            pieces,
            [
                Piece::Message(b"m1"),
                Piece::Text(b"text"),
                Piece::Message(b"m2"),
                Piece::Message(b"m3")
            ]
        );
        assert_eq!(out.len(), 10);
    }
}
