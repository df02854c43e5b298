//! What evaluating some files gave, in order: bytes for standard output, with messages for standard
//! error and bytes for other receivers in between.

use std::ops::Range;

/// Output of a run of files. Filled on a worker, written later, in order.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// Which ranges of `bytes` are not for standard output, in order.
    others: Vec<(Range<usize>, Other)>,
}

/// Where bytes go that are not for standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Message,
    Remark,
    Receiver(Receiver),
}

/// One of the plan's receivers, by its number; see [`Receive`](crate::receiver::Receive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Receiver(pub(crate) usize);

/// What is allocated for the first line: the output of a middling directory, and still in reach of
/// malloc's per-thread cache.
const FIRST: usize = 1000;

/// A place in an [`Output`], to go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    bytes: usize,
    others: usize,
}

impl Mark {
    /// The beginning.
    pub(crate) const START: Self = Self {
        bytes: 0,
        others: 0,
    };
}

/// A piece of an [`Output`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// For standard output.
    Text(&'a [u8]),
    /// A whole message for standard error.
    Message(&'a [u8]),
    /// A message that leaves the exit status as it is.
    Remark(&'a [u8]),
    /// What one evaluation has for a receiver.
    For(Receiver, &'a [u8]),
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
        self.other(Other::Message, |bytes| bytes.extend_from_slice(message));
    }

    /// Puts a message for standard error in front of everything.
    pub(crate) fn message_first(&mut self, message: &[u8]) {
        self.bytes.splice(..0, message.iter().copied());
        for (range, _) in &mut self.others {
            *range = range.start + message.len()..range.end + message.len();
        }
        self.others.insert(0, (0..message.len(), Other::Message));
    }

    /// Appends what `write` appends, for a receiver.
    pub(crate) fn send(&mut self, to: Receiver, write: impl FnOnce(&mut Vec<u8>)) {
        self.other(Other::Receiver(to), write);
    }

    /// To append for `to`, standard output if `None`, with messages in between.
    pub(crate) fn pen(&mut self, to: Option<Receiver>) -> Pen<'_> {
        let start = self.text().len();
        Pen {
            out: self,
            to,
            start,
        }
    }

    fn other(&mut self, other: Other, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.others.push((start..self.bytes.len(), other));
    }

    /// Forgets everything but the memory.
    pub(crate) fn clear(&mut self) {
        self.rewind(Mark::START);
    }

    /// Bytes held.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The present end.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            bytes: self.bytes.len(),
            others: self.others.len(),
        }
    }

    /// Drops what came after `mark`.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.others.truncate(mark.others);
    }

    /// The pieces in order. No piece of text is empty.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut at = 0;
        let others = self.others.iter().cloned().map(Some).chain([None]);
        others.flat_map(move |other| {
            let end = self.bytes.len();
            let (start, end) = other
                .as_ref()
                .map_or((end, end), |(range, _)| (range.start, range.end));
            let text = (at < start).then(|| Piece::Text(&self.bytes[at..start]));
            at = end;
            let other = other.map(|(range, other)| match other {
                Other::Message => Piece::Message(&self.bytes[range]),
                Other::Remark => Piece::Remark(&self.bytes[range]),
                Other::Receiver(to) => Piece::For(to, &self.bytes[range]),
            });
            [text, other].into_iter().flatten()
        })
    }
}

/// Appends to an [`Output`], for one receiver.
pub(crate) struct Pen<'a> {
    out: &'a mut Output,
    to: Option<Receiver>,
    /// From here on it is not yet noted whom the bytes are for.
    start: usize,
}

impl Pen<'_> {
    /// Where bytes are appended.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.out.bytes
    }

    /// Puts a message for standard error behind what is there.
    pub(crate) fn message(&mut self, message: &[u8]) {
        self.between(Other::Message, message);
    }

    /// Puts a message that leaves the exit status as it is behind what is there.
    pub(crate) fn remark(&mut self, message: &[u8]) {
        self.between(Other::Remark, message);
    }

    fn between(&mut self, other: Other, message: &[u8]) {
        self.note();
        self.out
            .other(other, |bytes| bytes.extend_from_slice(message));
        self.start = self.out.bytes.len();
    }

    fn note(&mut self) {
        let end = self.out.bytes.len();
        if let Some(to) = self.to
            && self.start < end
        {
            self.out.others.push((self.start..end, Other::Receiver(to)));
        }
    }
}

impl Drop for Pen<'_> {
    fn drop(&mut self) {
        self.note();
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
        out.message_first(b"m0");
        let pieces: Vec<_> = out.pieces().take(3).collect();
        assert_eq!(
            pieces,
            [
                Piece::Message(b"m0"),
                Piece::Message(b"m1"),
                Piece::Text(b"text")
            ]
        );
    }

    #[test]
    fn a_pen_keeps_bytes_and_messages_apart() {
        let mut out = Output::default();
        for to in [None, Some(Receiver(3))] {
            let mut pen = out.pen(to);
            pen.bytes().extend_from_slice(b"one");
            pen.remark(b"r");
            pen.message(b"m");
            pen.bytes().extend_from_slice(b"two");
        }
        let pieces: Vec<_> = out.pieces().collect();
        let expected = [
            Piece::Text(b"one"),
            Piece::Remark(b"r"),
            Piece::Message(b"m"),
            Piece::Text(b"two"),
            Piece::For(Receiver(3), b"one"),
            Piece::Remark(b"r"),
            Piece::Message(b"m"),
            Piece::For(Receiver(3), b"two"),
        ];
        assert_eq!(pieces, expected);
    }
}
