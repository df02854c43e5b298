//! From characters to tokens, outside of brackets.

use super::tree::Anchor;
use super::units::{Unit, units};
use super::{Encoding, Syntax};

/// A token, and the characters it is when it turns out to be ordinary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ordinary,
    Any,
    OpenBracket,
    Anchor(Anchor),
    /// `\w`, or `\W` if negated.
    Word {
        negated: bool,
    },
    /// `\s`, or `\S` if negated.
    Space {
        negated: bool,
    },
    Reference(usize),
    Open,
    Close,
    Alternate,
    Star,
    Plus,
    Question,
    OpenInterval,
    CloseInterval,
    /// A backslash with nothing behind it.
    TrailingBackslash,
    End,
}

/// A pattern and a place in it.
#[derive(Debug)]
pub(super) struct Pattern {
    /// In upper case if case is ignored.
    units: Vec<Unit>,
    /// As typed.
    raw: Vec<Unit>,
    pub(super) position: usize,
    pub(super) syntax: Syntax,
}

impl Pattern {
    pub(super) fn new(
        pattern: &[u8],
        syntax: Syntax,
        encoding: Encoding,
        ignores_case: bool,
    ) -> Self {
        let raw = units(pattern, encoding);
        let units = if ignores_case {
            raw.iter().map(|unit| unit.fold()).collect()
        } else {
            raw.clone()
        };
        Self {
            units,
            raw,
            position: 0,
            syntax,
        }
    }

    /// The unit so far behind the present place.
    pub(super) fn peek(&self, offset: usize) -> Option<Unit> {
        self.units.get(self.position + offset).copied()
    }

    /// The same as it was typed.
    pub(super) fn peek_raw(&self, offset: usize) -> Option<Unit> {
        self.raw.get(self.position + offset).copied()
    }

    /// Takes a token. `starts`: a `^` would be at the start of a group or an alternative.
    pub(super) fn token(&mut self, starts: bool) -> Token {
        let (token, len) = self.peek_token(starts);
        self.position += len;
        token
    }

    fn peek_token(&self, starts: bool) -> (Token, usize) {
        let Some(unit) = self.peek(0) else {
            return (
                Token {
                    kind: Kind::End,
                    text: Vec::new(),
                },
                0,
            );
        };
        if unit == Unit::Byte(b'\\') {
            return self.escaped();
        }
        let kind = match unit {
            Unit::Byte(byte) => self.plain(byte, starts),
            Unit::Char(_) => Kind::Ordinary,
        };
        let mut text = Vec::new();
        unit.append_to(&mut text);
        (Token { kind, text }, 1)
    }

    fn plain(&self, byte: u8, starts: bool) -> Kind {
        let syntax = &self.syntax;
        let all = !syntax.limited_operators;
        match byte {
            b'\n' if syntax.newline_alternates => Kind::Alternate,
            b'|' if all && syntax.plain_bar => Kind::Alternate,
            b'*' => Kind::Star,
            b'+' if all && !syntax.backslash_plus => Kind::Plus,
            b'?' if all && !syntax.backslash_plus => Kind::Question,
            b'{' if syntax.intervals && syntax.plain_braces => Kind::OpenInterval,
            b'}' if syntax.intervals && syntax.plain_braces => Kind::CloseInterval,
            b'(' if syntax.plain_parens => Kind::Open,
            b')' if syntax.plain_parens => Kind::Close,
            b'[' => Kind::OpenBracket,
            b'.' => Kind::Any,
            b'^' if starts || syntax.anchors_anywhere || self.is_line_start() => {
                Kind::Anchor(Anchor::LineStart)
            }
            b'$' if syntax.anchors_anywhere || self.is_branch_end(starts) => {
                Kind::Anchor(Anchor::LineEnd)
            }
            _ => Kind::Ordinary,
        }
    }

    /// Whether this is the pattern's start, or behind a newline that separates alternatives.
    fn is_line_start(&self) -> bool {
        match self.position.checked_sub(1) {
            None => true,
            Some(before) => {
                self.syntax.newline_alternates && self.units[before] == Unit::Byte(b'\n')
            }
        }
    }

    /// Whether the pattern, the group or the alternative ends behind the present unit.
    fn is_branch_end(&self, starts: bool) -> bool {
        let behind = match self.peek(1) {
            None => return true,
            Some(Unit::Byte(b'\\')) if self.peek(2).is_none() => return false,
            Some(Unit::Byte(b'\\')) => self.escaped_at(1).kind,
            // A dollar sign behind it is no end whatever is behind that.
            Some(Unit::Byte(byte)) if byte != b'$' => self.plain(byte, starts),
            Some(_) => return false,
        };
        matches!(behind, Kind::Alternate | Kind::Close)
    }

    fn escaped(&self) -> (Token, usize) {
        if self.peek(1).is_some() {
            return (self.escaped_at(0), 2);
        }
        let text = b"\\".to_vec();
        (
            Token {
                kind: Kind::TrailingBackslash,
                text,
            },
            1,
        )
    }

    /// The token of the backslash so far behind the present place, which is not the last unit.
    fn escaped_at(&self, offset: usize) -> Token {
        let (raw, unit) = (self.peek_raw(offset + 1), self.peek(offset + 1));
        let kind = match raw {
            Some(Unit::Byte(byte)) => self.escape(byte),
            _ => Kind::Ordinary,
        };
        // Of what is escaped, the C library does not put the first byte into upper case.
        let mut text = Vec::new();
        if let (Some(raw), Some(unit)) = (raw, unit) {
            let mut typed = Vec::new();
            raw.append_to(&mut typed);
            unit.append_to(&mut text);
            text[0] = typed[0];
        }
        Token { kind, text }
    }

    fn escape(&self, byte: u8) -> Kind {
        let syntax = &self.syntax;
        let all = !syntax.limited_operators;
        let braces = syntax.intervals && !syntax.plain_braces;
        let gnu = !syntax.no_gnu_operators;
        match byte {
            b'|' if all && !syntax.plain_bar => Kind::Alternate,
            b'1'..=b'9' if !syntax.no_references => Kind::Reference(usize::from(byte - b'0')),
            b'<' if gnu => Kind::Anchor(Anchor::WordStart),
            b'>' if gnu => Kind::Anchor(Anchor::WordEnd),
            b'b' if gnu => Kind::Anchor(Anchor::WordEdge),
            b'B' if gnu => Kind::Anchor(Anchor::NoWordEdge),
            b'w' | b'W' if gnu => Kind::Word {
                negated: byte == b'W',
            },
            b's' | b'S' if gnu => Kind::Space {
                negated: byte == b'S',
            },
            b'`' if gnu => Kind::Anchor(Anchor::TextStart),
            b'\'' if gnu => Kind::Anchor(Anchor::TextEnd),
            b'(' if !syntax.plain_parens => Kind::Open,
            b')' if !syntax.plain_parens => Kind::Close,
            b'+' if all && syntax.backslash_plus => Kind::Plus,
            b'?' if all && syntax.backslash_plus => Kind::Question,
            b'{' if braces => Kind::OpenInterval,
            b'}' if braces => Kind::CloseInterval,
            _ => Kind::Ordinary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(pattern: &str, syntax: &str) -> Vec<Kind> {
        let syntax = Syntax::named(syntax.as_bytes()).unwrap();
        let mut pattern = Pattern::new(pattern.as_bytes(), syntax, Encoding::Utf8, false);
        let mut kinds = Vec::new();
        loop {
            match pattern.token(false).kind {
                Kind::End => return kinds,
                kind => kinds.push(kind),
            }
        }
    }

    #[test]
    fn backslashes_differ() {
        use Kind::{Close, Open, Ordinary, Plus, Star};
        assert_eq!(kinds("(+*)", "posix-extended"), [Open, Plus, Star, Close]);
        assert_eq!(
            kinds("(+*)", "posix-basic"),
            [Ordinary, Ordinary, Star, Ordinary]
        );
        assert_eq!(kinds(r"\(\+*\)", "posix-basic"), [Open, Plus, Star, Close]);
        assert_eq!(kinds(r"\(+*\)", "emacs"), [Open, Plus, Star, Close]);
        assert_eq!(kinds("é\\", "emacs"), [Ordinary, Kind::TrailingBackslash]);
    }

    #[test]
    fn anchors_by_place() {
        use Kind::Ordinary;
        let (start, end) = (
            Kind::Anchor(Anchor::LineStart),
            Kind::Anchor(Anchor::LineEnd),
        );
        assert_eq!(kinds("^^$$", "emacs"), [start, Ordinary, Ordinary, end]);
        assert_eq!(kinds("^^$$", "egrep"), [start, start, end, end]);
        assert_eq!(kinds(r"$\|", "emacs"), [end, Kind::Alternate]);
        assert_eq!(kinds(r"$\", "emacs")[0], Ordinary);
        assert_eq!(kinds("$\n^", "grep"), [end, Kind::Alternate, start]);
    }

    #[test]
    fn an_escaped_letter_keeps_its_case() {
        let mut pattern = Pattern::new(b"a\\a", Syntax::default(), Encoding::Utf8, true);
        assert_eq!(pattern.token(false).text, b"A");
        assert_eq!(pattern.token(false).text, b"a");
    }
}
