//! Upper case.

use std::borrow::Cow;

use super::Encoding;
use super::units::{Unit, units};

/// `text` with every character in upper case.
pub(super) fn fold(text: &[u8], encoding: Encoding) -> Cow<'_, [u8]> {
    if encoding == Encoding::Bytes || text.is_ascii() {
        return if text.iter().any(u8::is_ascii_lowercase) {
            Cow::Owned(text.to_ascii_uppercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let mut folded = Vec::with_capacity(text.len());
    for unit in units(text, encoding) {
        unit.fold().append_to(&mut folded);
    }
    Cow::Owned(folded)
}

impl Unit {
    /// This one in upper case.
    pub(super) fn fold(self) -> Self {
        match self {
            Self::Byte(byte) => Self::Byte(byte.to_ascii_uppercase()),
            Self::Char(char) => Self::of_char(upper(char)),
        }
    }
}

/// The one character that is `char` in upper case (`towupper`).
pub(super) fn upper(char: char) -> char {
    let mut full = char.to_uppercase();
    match (full.next(), full.next()) {
        (Some(upper), None) => upper,
        _ => simple_upper(char),
    }
}

/// For those whose full upper case is longer: Greek letters with an iota have a title case of one
/// character, the others stay.
fn simple_upper(char: char) -> char {
    let offset = match u32::from(char) {
        0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7 => 8,
        0x1fb3 | 0x1fc3 | 0x1ff3 => 9,
        _ => 0,
    };
    char::from_u32(u32::from(char) + offset).unwrap_or(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_character_each() {
        for (lower, upper) in [
            ('a', 'A'),
            ('é', 'É'),
            ('ß', 'ß'),
            ('ı', 'I'),
            ('ŉ', 'ŉ'),
            ('ÿ', 'Ÿ'),
            ('\u{1f80}', '\u{1f88}'),
            ('\u{1fb3}', '\u{1fbc}'),
            ('1', '1'),
        ] {
            assert_eq!(super::upper(lower), upper);
        }
    }

    #[test]
    fn bytes_that_are_no_characters_stay() {
        let text = b"a\xc3\xa9\xff\xc3b";
        assert_eq!(*fold(text, Encoding::Utf8), *b"A\xc3\x89\xff\xc3B");
        assert_eq!(*fold(text, Encoding::Bytes), *b"A\xc3\xa9\xff\xc3B");
        assert!(matches!(fold(b"A/B", Encoding::Utf8), Cow::Borrowed(_)));
    }
}
