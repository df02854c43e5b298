//! How names are shown: quoted in messages, without control characters on a terminal.

use hostproc::locale::{self, Decoded, decode};

/// `name` in the locale's quotation marks (‘ ’ in UTF-8, ' ' elsewhere), with what cannot be
/// printed escaped: `\n` and the like, three octal digits for other bytes, a backslash before a
/// backslash or a closing mark.
pub(crate) fn quote(name: &[u8]) -> Vec<u8> {
    let (open, close) = if locale::is_utf8() {
        ("‘", "’")
    } else {
        ("'", "'")
    };
    let mut out = Vec::with_capacity(name.len() + 6);
    out.extend_from_slice(open.as_bytes());
    let mut rest = name;
    while let Some(&byte) = rest.first() {
        let (len, printable) = match decode(rest) {
            Decoded::Character { len, printable, .. } => (len, printable),
            Decoded::Invalid => (1, false),
            Decoded::Incomplete => (rest.len(), false),
        };
        let (character, tail) = rest.split_at(len);
        match letter_escape(byte) {
            Some(letter) => out.extend([b'\\', letter]),
            None if printable => {
                if character == close.as_bytes() {
                    out.push(b'\\');
                }
                out.extend_from_slice(character);
            }
            None => {
                for byte in character {
                    out.extend([
                        b'\\',
                        b'0' + (byte >> 6),
                        b'0' + ((byte >> 3) & 7),
                        b'0' + (byte & 7),
                    ]);
                }
            }
        }
        rest = tail;
    }
    out.extend_from_slice(close.as_bytes());
    out
}

/// The letter that stands for `byte` behind a backslash.
fn letter_escape(byte: u8) -> Option<u8> {
    Some(match byte {
        0x07 => b'a',
        0x08 => b'b',
        0x0b => b'v',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        b'\\' => b'\\',
        _ => return None,
    })
}

/// Appends `name` to `out` as it is shown on a terminal: each character without a place there is
/// one `?`.
pub(crate) fn show_on_terminal(name: &[u8], out: &mut Vec<u8>) {
    let single_byte = locale::is_single_byte();
    let mut rest = name;
    while !rest.is_empty() {
        let (len, shown) = match decode(rest) {
            Decoded::Character {
                len,
                printable,
                has_width,
            } => (len, if single_byte { printable } else { has_width }),
            Decoded::Invalid => (1, false),
            Decoded::Incomplete => (rest.len(), false),
        };
        if shown {
            out.extend_from_slice(&rest[..len]);
        } else {
            out.push(b'?');
        }
        rest = &rest[len..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The tests run in the C locale: nothing here sets another. The integration tests see both.

    #[test]
    fn marks_and_escapes_in_the_c_locale() {
        assert_eq!(quote(b"plain name"), b"'plain name'");
        assert_eq!(
            quote(b"a\xc3\xa9\n'\\\x01\x7f"),
            br"'a\303\251\n\'\\\001\177'"
        );
        assert_eq!(quote(b""), b"''");
    }

    #[test]
    fn a_terminal_gets_question_marks() {
        let mut out = b"x:".to_vec();
        show_on_terminal(b"a\nb\xff", &mut out);
        assert_eq!(out, b"x:a?b?");
    }
}
