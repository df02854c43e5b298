//! Bytes as characters, and bytes that are none.

use std::borrow::Cow;

use super::Encoding;

/// A character of more than one byte, or a single byte, whether or not it is a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Byte(u8),
    Char(char),
}

impl Unit {
    pub(super) fn of_char(char: char) -> Self {
        u8::try_from(char)
            .ok()
            .filter(u8::is_ascii)
            .map_or(Self::Char(char), Self::Byte)
    }

    /// Appends its bytes.
    pub(super) fn append_to(self, out: &mut Vec<u8>) {
        match self {
            Self::Byte(byte) => out.push(byte),
            Self::Char(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// Cuts `text` into units.
pub(super) fn units(text: &[u8], encoding: Encoding) -> Vec<Unit> {
    match encoding {
        Encoding::Bytes => text.iter().copied().map(Unit::Byte).collect(),
        Encoding::Utf8 => {
            let mut units = Vec::with_capacity(text.len());
            for chunk in text.utf8_chunks() {
                units.extend(chunk.valid().chars().map(Unit::of_char));
                units.extend(chunk.invalid().iter().copied().map(Unit::Byte));
            }
            units
        }
    }
}

/// What stands for byte 0 in [`as_text`] if it is no character. The 256 characters from here on are
/// the last ones of Unicode, for private use.
pub(super) const NO_CHARACTER: u32 = 0x10_ff00;

/// `text` in a form that an engine for strings takes: bytes that are no characters become such as
/// no name has. Every byte is a character of its own where the encoding says so.
pub(super) fn as_text(text: &[u8], encoding: Encoding) -> Cow<'_, str> {
    match str::from_utf8(text) {
        Ok(text) if encoding == Encoding::Utf8 || text.is_ascii() => Cow::Borrowed(text),
        _ => units(text, encoding)
            .into_iter()
            .map(|unit| as_char(unit, encoding))
            .collect(),
    }
}

fn as_char(unit: Unit, encoding: Encoding) -> char {
    match unit {
        Unit::Char(char) => char,
        Unit::Byte(byte) if byte.is_ascii() || encoding == Encoding::Bytes => char::from(byte),
        Unit::Byte(byte) => {
            char::from_u32(NO_CHARACTER + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_bytes() {
        use Unit::{Byte, Char};
        let text = "aé\n".as_bytes();
        assert_eq!(
            units(text, Encoding::Utf8),
            [Byte(b'a'), Char('é'), Byte(b'\n')]
        );
        assert_eq!(units(text, Encoding::Bytes).len(), 4);
        let cut = b"\xe2\x80x\xff";
        assert_eq!(
            units(cut, Encoding::Utf8),
            [Byte(0xe2), Byte(0x80), Byte(b'x'), Byte(0xff)]
        );
    }

    #[test]
    fn text_for_strings() {
        assert_eq!(as_text(b"a\xff", Encoding::Bytes), "aÿ");
        assert_eq!(as_text(b"a\xff", Encoding::Utf8), "a\u{10ffff}");
        assert_eq!(as_text("é".as_bytes(), Encoding::Utf8), "é");
        assert_eq!(as_text("é".as_bytes(), Encoding::Bytes), "Ã©");
    }
}
