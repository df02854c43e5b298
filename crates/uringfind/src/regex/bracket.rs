//! Bracket expressions.

use super::error::Error;
use super::token::Pattern;
use super::tree::{Class, Member, Set};
use super::units::Unit;

/// The longest name of a class, without its brackets.
const NAME_LIMIT: usize = 32;

/// Reads what stands behind an opening bracket, with the closing one.
pub(super) fn parse(pattern: &mut Pattern, ignores_case: bool) -> Result<Set, Error> {
    Reader {
        pattern,
        ignores_case,
    }
    .set()
}

/// A token within brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Ordinary(Unit),
    /// `-`
    Hyphen,
    /// `]`
    Close,
    /// `^`
    Caret,
    /// `[.`, `[=` or `[:`
    Open(u8),
    End,
}

/// What stands between hyphens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Byte(u8),
    Char(char),
    /// Between `[:` and `:]`. `None`: of an unknown name, which is an error, but errors about ranges
    /// come first.
    Class(Option<Class>),
    /// Between `[=` and `=]`.
    Equivalents(Option<u8>),
    /// Between `[.` and `.]`.
    Symbol(Option<u8>),
}

struct Reader<'a> {
    pattern: &'a mut Pattern,
    ignores_case: bool,
}

impl Reader<'_> {
    fn set(&mut self) -> Result<Set, Error> {
        let mut set = Set {
            negated: false,
            members: Vec::new(),
        };
        let (mut token, mut len) = self.peek();
        if token == Token::Caret {
            set.negated = true;
            self.pattern.position += len;
            (token, len) = self.peek();
        }
        match token {
            Token::End => return Err(Error::Bracket),
            // The first one is ordinary.
            Token::Close => token = Token::Ordinary(Unit::Byte(b']')),
            _ => {}
        }
        let mut first = true;
        loop {
            let start = self.element(token, len, first)?;
            first = false;
            (token, len) = self.peek();
            let is_class = matches!(start, Element::Class(_) | Element::Equivalents(_));
            let mut end = None;
            if !is_class && token == Token::Hyphen {
                self.pattern.position += len;
                match self.peek() {
                    (Token::End, _) => return Err(Error::UnmatchedBracket),
                    (Token::Close, _) => {
                        // The last hyphen is ordinary.
                        self.pattern.position -= len;
                        token = Token::Ordinary(Unit::Byte(b'-'));
                    }
                    (next, next_len) => {
                        end = Some(self.element(next, next_len, true)?);
                        (token, len) = self.peek();
                    }
                }
            } else if !is_class && token == Token::End {
                return Err(Error::UnmatchedBracket);
            }
            set.members.extend(match end {
                Some(end) => self.range(start, end)?,
                None => Some(start.member()?),
            });
            match token {
                Token::End => return Err(Error::UnmatchedBracket),
                Token::Close => break,
                _ => {}
            }
        }
        self.pattern.position += len;
        Ok(set)
    }

    /// The next token and its length. A backslash that makes it ordinary is already passed.
    fn peek(&mut self) -> (Token, usize) {
        let Some(unit) = self.pattern.peek(0) else {
            return (Token::End, 0);
        };
        if unit == Unit::Byte(b'\\')
            && self.pattern.syntax.backslash_in_lists
            && let Some(next) = self.pattern.peek(1)
        {
            self.pattern.position += 1;
            return (Token::Ordinary(next), 1);
        }
        let token = match unit {
            Unit::Byte(b'[') => match self.pattern.peek(1) {
                Some(Unit::Byte(kind @ (b'.' | b'='))) => return (Token::Open(kind), 2),
                Some(Unit::Byte(b':')) if self.pattern.syntax.char_classes => {
                    return (Token::Open(b':'), 2);
                }
                _ => Token::Ordinary(unit),
            },
            Unit::Byte(b'-') => Token::Hyphen,
            Unit::Byte(b']') => Token::Close,
            Unit::Byte(b'^') => Token::Caret,
            _ => Token::Ordinary(unit),
        };
        (token, 1)
    }

    /// Takes the element that begins with `token`.
    fn element(&mut self, token: Token, len: usize, may_be_hyphen: bool) -> Result<Element, Error> {
        self.pattern.position += len;
        let byte = match token {
            Token::Ordinary(Unit::Char(char)) => return Ok(Element::Char(char)),
            Token::Ordinary(Unit::Byte(byte)) => byte,
            Token::Open(kind) => return self.symbol(kind),
            Token::Hyphen => {
                if !may_be_hyphen && self.peek().0 != Token::Close {
                    return Err(Error::Range);
                }
                b'-'
            }
            Token::Close => b']',
            Token::Caret => b'^',
            // What comes behind a range at the pattern's end.
            Token::End => return Err(Error::UnmatchedBracket),
        };
        Ok(Element::Byte(byte))
    }

    /// Reads a name up to its end, which is `kind` and a bracket.
    fn symbol(&mut self, kind: u8) -> Result<Element, Error> {
        let mut name = Vec::new();
        loop {
            if name.len() >= NAME_LIMIT {
                return Err(Error::UnmatchedBracket);
            }
            // Names of classes are read as typed.
            let unit = if kind == b':' {
                self.pattern.peek_raw(0)
            } else {
                self.pattern.peek(0)
            };
            let unit = unit.ok_or(Error::UnmatchedBracket)?;
            self.pattern.position += 1;
            let next = self.pattern.peek(0).ok_or(Error::UnmatchedBracket)?;
            if unit == Unit::Byte(kind) && next == Unit::Byte(b']') {
                break;
            }
            unit.append_to(&mut name);
        }
        self.pattern.position += 1;
        let single = match *name {
            [byte] => Some(byte),
            _ => None,
        };
        Ok(match kind {
            b':' => Element::Class(self.class(&name)),
            b'=' => Element::Equivalents(single),
            _ => Element::Symbol(single),
        })
    }

    fn class(&self, name: &[u8]) -> Option<Class> {
        match Class::named(name)? {
            Class::Lower | Class::Upper if self.ignores_case => Some(Class::Alpha),
            class => Some(class),
        }
    }

    /// From `start` to `end`. `None`: that is nothing.
    fn range(&self, start: Element, end: Element) -> Result<Option<Member>, Error> {
        let is_class = |it| matches!(it, Element::Class(_) | Element::Equivalents(_));
        if is_class(start) || is_class(end) {
            return Err(Error::Range);
        }
        // Without rules of collation a character of several bytes has no place in the order.
        let (Some(start), Some(end)) = (start.byte(), end.byte()) else {
            return Err(Error::Collation);
        };
        if start <= end {
            Ok(Some(Member::Range(start, end)))
        } else if self.pattern.syntax.no_empty_ranges {
            Err(Error::Range)
        } else {
            Ok(None)
        }
    }
}

impl Element {
    fn byte(self) -> Option<u8> {
        match self {
            Self::Byte(byte) => Some(byte),
            Self::Symbol(byte) | Self::Equivalents(byte) => byte,
            Self::Char(_) | Self::Class(_) => None,
        }
    }

    /// What it is by itself.
    fn member(self) -> Result<Member, Error> {
        match self {
            Self::Char(char) => Ok(Member::Char(char)),
            Self::Class(class) => class.map(Member::Class).ok_or(Error::Class),
            _ => self.byte().map(Member::Byte).ok_or(Error::Collation),
        }
    }
}
