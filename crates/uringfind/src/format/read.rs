//! Reads formats.

use super::directive::Directive;
use super::spec::Spec;
use super::{Format, Piece};
use crate::failure::Failure;
use crate::primary::Stamp;

/// Reads a format. Parts of warnings about what is dubious go to `warn`.
pub(crate) fn read(format: &[u8], warn: &mut dyn FnMut(&[&[u8]])) -> Result<Format, Failure> {
    let mut reader = Reader {
        warn,
        rest: format,
        text: Vec::new(),
        piece: 0,
        format: Format::default(),
    };
    while let Some(at) = memchr::memchr2(b'\\', b'%', reader.rest) {
        reader.copy(at);
        if reader.rest[0] == b'%' {
            reader.directive()?;
        } else {
            reader.escape();
        }
        if reader.format.flushes {
            break;
        }
    }
    reader.copy(reader.rest.len());
    reader.end_text();
    Ok(reader.format)
}

struct Reader<'a> {
    warn: &'a mut dyn FnMut(&[&[u8]]),
    rest: &'a [u8],
    /// Text that no directive has ended.
    text: Vec<u8>,
    /// Where in it GNU find begins a new piece.
    piece: usize,
    format: Format,
}

impl Reader<'_> {
    /// Takes `len` bytes as they are.
    fn copy(&mut self, len: usize) {
        let (text, rest) = self.rest.split_at(len);
        self.text.extend_from_slice(text);
        self.rest = rest;
    }

    fn end_text(&mut self) {
        self.piece = 0;
        if !self.text.is_empty() {
            self.format
                .pieces
                .push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    /// Reads what a backslash begins.
    fn escape(&mut self) {
        let (len, byte) = match self.rest[1..] {
            [] => {
                (self.warn)(&[b"warning: escape `\\' followed by nothing at all"]);
                (1, b'\\')
            }
            [b'c', ..] => {
                self.format.flushes = true;
                self.rest = &[];
                return;
            }
            [b'0'..=b'7', ..] => self.octal(),
            [b'a', ..] => (2, 0x07),
            [b'b', ..] => (2, 0x08),
            [b'f', ..] => (2, 0x0c),
            [b'n', ..] => (2, b'\n'),
            [b'r', ..] => (2, b'\r'),
            [b't', ..] => (2, b'\t'),
            [b'v', ..] => (2, 0x0b),
            [b'\\', ..] => (2, b'\\'),
            [other, ..] => {
                (self.warn)(&[b"warning: unrecognized escape `\\", &[other], b"'"]);
                return self.copy(2);
            }
        };
        self.text.push(byte);
        self.piece = self.text.len();
        self.rest = &self.rest[len..];
    }

    /// A backslash and up to three octal digits: their length and the byte, which is what is left of a
    /// number that is too large.
    fn octal(&self) -> (usize, u8) {
        let digits = self.rest[1..].iter().take(3);
        let digits = digits.take_while(|byte| (b'0'..=b'7').contains(byte));
        digits.fold((1, 0), |(len, byte), digit| {
            (len + 1, (byte << 3) | (digit - b'0'))
        })
    }

    /// Reads what a percent sign begins.
    fn directive(&mut self) -> Result<(), Failure> {
        if self.rest.len() == 1 {
            return Err(Failure::new(&b"error: % at end of format string"[..]));
        }
        let (spec, len) = Spec::read(&self.rest[1..]);
        let at = 1 + len;
        let letter = self.rest.get(at).copied();
        let stamp = match letter {
            // The flags of a percent sign are shown.
            Some(b'%') => {
                self.copy(at);
                self.piece = self.text.len();
                self.rest = &self.rest[1..];
                return Ok(());
            }
            // GNU find takes the end of the format for one of them.
            None | Some(b'{' | b'[' | b'(') => {
                return Err(Failure::of(&[
                    b"error: the format directive `%",
                    &[letter.unwrap_or(0)],
                    b"' is reserved for future use",
                ]));
            }
            Some(b'A') => Some(Stamp::Access),
            Some(b'B') => Some(Stamp::Birth),
            Some(b'C') => Some(Stamp::Change),
            Some(b'T') => Some(Stamp::Modification),
            Some(_) => None,
        };
        let letter = letter.unwrap_or(0);
        let Some(stamp) = stamp else {
            if let Some(directive) = Directive::of(letter) {
                self.field(directive, spec, at + 1);
            } else {
                let what = b"warning: unrecognized format directive `%";
                (self.warn)(&[what, &[letter], b"'"]);
                self.copy(at + 1);
                self.piece = self.text.len();
            }
            return Ok(());
        };
        if let Some(&second) = self.rest.get(at + 1) {
            self.field(Directive::time(stamp, second), spec, at + 2);
        } else {
            (self.warn)(&[
                b"warning: format directive `%",
                &[letter],
                b"' should be followed by another character",
            ]);
            self.copy(at + 1);
        }
        Ok(())
    }

    fn field(&mut self, mut directive: Directive, spec: Option<Spec>, len: usize) {
        if let Directive::LinkTarget { lead } = &mut directive {
            *lead = self.text.len() - self.piece;
        }
        self.end_text();
        self.rest = &self.rest[len..];
        self.format.pieces.push(match spec {
            Some(spec) if spec.is_too_wide() => Piece::TooWide,
            spec => Piece::Field { directive, spec },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::directive::Shape;
    use super::*;

    fn with_warnings(format: &[u8]) -> (Result<Format, Failure>, usize) {
        let mut warnings = 0;
        let result = read(format, &mut |_| warnings += 1);
        (result, warnings)
    }

    fn pieces(format: &[u8]) -> (Vec<Piece>, usize) {
        let (format, warnings) = with_warnings(format);
        (format.unwrap().pieces, warnings)
    }

    #[test]
    fn text_and_escapes() {
        let text = |format: &[u8]| match pieces(format) {
            (pieces, warnings) if pieces.is_empty() => (Vec::new(), warnings),
            (mut pieces, warnings) if pieces.len() == 1 => match pieces.remove(0) {
                Piece::Text(text) => (text, warnings),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert_eq!(text(b""), (vec![], 0));
        assert_eq!(text(br"a\n\\\101\0\7777"), (b"a\n\\A\0\xff7".to_vec(), 0));
        assert_eq!(text(br"\q\8\%d"), (br"\q\8\%d".to_vec(), 3));
        assert_eq!(text(b"\\"), (b"\\".to_vec(), 1));
        assert_eq!(text(b"%%%5%"), (b"%%5".to_vec(), 0));
        assert_eq!(text(b"%z%-5.3!x%A"), (b"%z%-5.3!x%A".to_vec(), 3));
        assert_eq!(text(br"a\cb%"), (b"a".to_vec(), 0));
    }

    #[test]
    fn fields() {
        let field = |directive| Piece::Field {
            directive,
            spec: None,
        };
        let (found, warnings) = pieces(b"%p %T@%A%\n");
        let expected = [
            field(Directive::Path),
            Piece::Text(b" ".to_vec()),
            field(Directive::Time(Stamp::Modification, Shape::Epoch)),
            field(Directive::Time(Stamp::Access, Shape::Letter(b'%'))),
            Piece::Text(b"\n".to_vec()),
        ];
        assert_eq!((&found[..], warnings), (&expected[..], 0));
        assert_eq!(pieces(b"%2147483648p").0, [Piece::TooWide]);
    }

    #[test]
    fn refusals() {
        for format in [&b"x%"[..], b"%5", b"%{", b"%-[", b"%("] {
            assert!(with_warnings(format).0.is_err());
        }
    }
}
