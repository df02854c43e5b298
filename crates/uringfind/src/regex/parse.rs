//! From tokens to a tree, with all that the C library makes of odd places.

use super::error::Error;
use super::token::{Kind, Pattern, Token};
use super::tree::{Class, Member, Node, Set};
use super::{Encoding, Syntax, bracket};

/// How deep parentheses and repetitions may be nested.
pub(super) const DEPTH_LIMIT: u32 = 100;

/// The largest number in an interval (`RE_DUP_MAX`).
const REPEAT_LIMIT: u32 = 0x7fff;

/// Reads a pattern.
pub(super) fn parse(
    pattern: &[u8],
    syntax: Syntax,
    encoding: Encoding,
    ignores_case: bool,
) -> Result<Node, Error> {
    let mut pattern = Pattern::new(pattern, syntax, encoding, ignores_case);
    let token = pattern.token(true);
    let mut parser = Parser {
        pattern,
        syntax,
        ignores_case,
        token,
        groups: 0,
        completed: 0,
        depth: 0,
        stacked: 0,
    };
    parser.alternation()
}

struct Parser {
    pattern: Pattern,
    syntax: Syntax,
    ignores_case: bool,
    /// The token to be read next. The place in the pattern is behind it.
    token: Token,
    /// How many groups have been opened.
    groups: usize,
    /// Bit N - 1: group N can be referred to.
    completed: u16,
    /// How many parentheses are open here.
    depth: u32,
    /// How many repetitions repeat another.
    stacked: u32,
}

impl Parser {
    fn advance(&mut self) {
        self.token = self.pattern.token(false);
    }

    fn alternation(&mut self) -> Result<Node, Error> {
        // What one alternative completes cannot be referred to in the next.
        let completed_before = self.completed;
        let mut branches = vec![self.branch()?];
        while self.token.kind == Kind::Alternate {
            self.token = self.pattern.token(true);
            branches.push(if self.ends_branch() {
                Node::Empty
            } else {
                let completed = std::mem::replace(&mut self.completed, completed_before);
                let branch = self.branch()?;
                self.completed |= completed;
                branch
            });
        }
        Ok(match branches.pop() {
            Some(branch) if branches.is_empty() => branch,
            Some(last) => {
                branches.push(last);
                Node::Alternation(branches)
            }
            None => Node::Empty,
        })
    }

    fn ends_branch(&self) -> bool {
        match self.token.kind {
            Kind::Alternate | Kind::End => true,
            Kind::Close => self.depth > 0,
            _ => false,
        }
    }

    fn branch(&mut self) -> Result<Node, Error> {
        let mut node = self.expression()?;
        while !self.ends_branch() {
            node = node.then(self.expression()?);
        }
        Ok(node)
    }

    /// One thing and what repeats it.
    fn expression(&mut self) -> Result<Node, Error> {
        while self.is_repetition() {
            if self.token.kind == Kind::OpenInterval && self.syntax.no_repeated_interval
                || self.syntax.no_empty_repetition
            {
                return Err(Error::Repetition);
            }
            if !self.syntax.operators_anywhere {
                break;
            }
            self.advance();
        }
        let node = match self.token.kind {
            Kind::Alternate | Kind::End => return Ok(Node::Empty),
            Kind::TrailingBackslash => return Err(Error::TrailingBackslash),
            Kind::Anchor(anchor) => {
                // No operator repeats an anchor.
                self.advance();
                return Ok(Node::Anchor(anchor));
            }
            Kind::Close if !self.syntax.close_is_ordinary => return Err(Error::UnmatchedClose),
            Kind::Ordinary
            | Kind::Close
            | Kind::CloseInterval
            | Kind::Star
            | Kind::Plus
            | Kind::Question
            | Kind::OpenInterval => Node::Literal(std::mem::take(&mut self.token.text)),
            Kind::Any => Node::Any,
            Kind::Open => self.group()?,
            Kind::OpenBracket => Node::Set(bracket::parse(&mut self.pattern, self.ignores_case)?),
            Kind::Reference(group) => {
                if self.completed & 1 << (group - 1) == 0 {
                    return Err(Error::BackReference);
                }
                Node::Reference(group)
            }
            Kind::Word { negated } => Node::Set(Set {
                negated,
                members: vec![Member::Class(Class::Alnum), Member::Byte(b'_')],
            }),
            Kind::Space { negated } => Node::Set(Set {
                negated,
                members: vec![Member::Class(Class::Space)],
            }),
        };
        self.advance();
        self.repetitions(node)
    }

    fn is_repetition(&self) -> bool {
        matches!(
            self.token.kind,
            Kind::Star | Kind::Plus | Kind::Question | Kind::OpenInterval
        )
    }

    fn group(&mut self) -> Result<Node, Error> {
        self.groups += 1;
        let number = self.groups;
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Error::TooBig);
        }
        self.token = self.pattern.token(true);
        let node = if self.token.kind == Kind::Close {
            Node::Empty
        } else {
            let node = self.alternation()?;
            if self.token.kind != Kind::Close {
                return Err(Error::UnmatchedOpen);
            }
            node
        };
        self.depth -= 1;
        if number <= 9 {
            self.completed |= 1 << (number - 1);
        }
        Ok(Node::Group(number, Box::new(node)))
    }

    fn repetitions(&mut self, mut node: Node) -> Result<Node, Error> {
        let mut first = true;
        while self.is_repetition() {
            let Some((min, max)) = self.repetition()? else {
                break;
            };
            node = node.repeat(min, max);
            // A star on a star changes nothing, so any number of them is good.
            if !first
                && !matches!(
                    node,
                    Node::Repeat {
                        min: 0..=1,
                        max: None | Some(1),
                        ..
                    }
                )
            {
                self.stacked += 1;
                if self.stacked > DEPTH_LIMIT {
                    return Err(Error::TooBig);
                }
            }
            first = false;
            if self.syntax.no_repeated_interval
                && matches!(self.token.kind, Kind::Star | Kind::OpenInterval)
            {
                return Err(Error::Repetition);
            }
        }
        Ok(node)
    }

    /// What a repetition says. `None`: it is an interval that is none, and its brace is ordinary.
    fn repetition(&mut self) -> Result<Option<(u32, Option<u32>)>, Error> {
        let bounds = match self.token.kind {
            Kind::OpenInterval => {
                let start = self.pattern.position;
                match self.interval()? {
                    Some(bounds) => bounds,
                    None if self.syntax.bad_interval_is_ordinary => {
                        self.pattern.position = start;
                        self.token = Token {
                            kind: Kind::Ordinary,
                            text: b"{".to_vec(),
                        };
                        return Ok(None);
                    }
                    None if self.token.kind == Kind::End => return Err(Error::UnmatchedBrace),
                    None => return Err(Error::Interval),
                }
            }
            Kind::Plus => (1, None),
            Kind::Question => (0, Some(1)),
            _ => (0, None),
        };
        self.advance();
        Ok(Some(bounds))
    }

    /// The numbers of an interval, up to its closing brace. `None`: it is none.
    fn interval(&mut self) -> Result<Option<(u32, Option<u32>)>, Error> {
        let min = match self.number() {
            Number::Is(min) => min,
            Number::Absent if self.is_comma() => 0,
            Number::Absent => return Err(Error::Interval),
            Number::Bad => return Ok(None),
        };
        let max = if self.token.kind == Kind::CloseInterval {
            Some(min)
        } else if self.is_comma() {
            match self.number() {
                Number::Is(max) => Some(max),
                Number::Absent => None,
                Number::Bad => return Ok(None),
            }
        } else {
            return Ok(None);
        };
        if max.is_some_and(|max| min > max) || self.token.kind != Kind::CloseInterval {
            return Err(Error::Interval);
        }
        if max.unwrap_or(min) > REPEAT_LIMIT {
            return Err(Error::TooBig);
        }
        Ok(Some((min, max)))
    }

    fn is_comma(&self) -> bool {
        self.token.kind == Kind::Ordinary && self.token.text == b","
    }

    /// Reads up to a comma or the closing brace.
    fn number(&mut self) -> Number {
        let mut number = Number::Absent;
        loop {
            self.advance();
            if self.token.kind == Kind::End {
                return Number::Bad;
            }
            if self.token.kind == Kind::CloseInterval || self.is_comma() {
                return number;
            }
            number = match (self.token.kind, self.token.text.as_slice(), number) {
                (Kind::Ordinary, [digit @ b'0'..=b'9'], Number::Absent) => {
                    Number::Is(u32::from(digit - b'0'))
                }
                (Kind::Ordinary, [digit @ b'0'..=b'9'], Number::Is(number)) => {
                    Number::Is((number * 10 + u32::from(digit - b'0')).min(REPEAT_LIMIT + 1))
                }
                _ => Number::Bad,
            };
        }
    }
}

enum Number {
    Absent,
    Is(u32),
    Bad,
}
