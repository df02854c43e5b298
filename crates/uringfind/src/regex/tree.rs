//! What a pattern says.

use super::Encoding;

/// A regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// Matches nothing, everywhere.
    Empty,
    /// These bytes.
    Literal(Vec<u8>),
    /// `.`
    Any,
    Set(Set),
    Anchor(Anchor),
    /// In parentheses, by number from 1.
    Group(usize, Box<Node>),
    Reference(usize),
    Concat(Vec<Node>),
    Alternation(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
}

/// Some characters, or all but some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) negated: bool,
    pub(super) members: Vec<Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Char(char),
    /// A byte. In UTF-8 only ASCII's are characters.
    Byte(u8),
    /// From one byte to another; in UTF-8, characters from one number to another.
    Range(u8, u8),
    Class(Class),
}

/// A class of characters (`iswctype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Alnum,
    Alpha,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Xdigit,
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// `^`: at the start of a line.
    LineStart,
    /// `$`
    LineEnd,
    /// `` \` ``
    TextStart,
    /// `\'`
    TextEnd,
    /// `\<`
    WordStart,
    /// `\>`
    WordEnd,
    /// `\b`
    WordEdge,
    /// `\B`
    NoWordEdge,
}

impl Node {
    /// Whether some part satisfies `test`.
    pub(super) fn any(&self, test: &impl Fn(&Self) -> bool) -> bool {
        test(self)
            || match self {
                Self::Group(_, node) | Self::Repeat { node, .. } => node.any(test),
                Self::Concat(nodes) | Self::Alternation(nodes) => {
                    nodes.iter().any(|node| node.any(test))
                }
                _ => false,
            }
    }

    /// Whether it is nothing, in parentheses or not.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Group(_, node) => node.is_empty(),
            _ => false,
        }
    }

    /// Whether it cannot be matched by reading bytes from left to right once.
    pub(super) fn looks_around(&self, encoding: Encoding) -> bool {
        match self {
            Self::Reference(_) => true,
            Self::Anchor(anchor) => encoding == Encoding::Utf8 && anchor.is_of_words(),
            _ => false,
        }
    }

    /// Whether the C library has to look at characters, not bytes, to match it in UTF-8.
    pub(super) fn needs_characters(&self) -> bool {
        match self {
            Self::Set(set) => {
                let is_byte = |it: &Member| matches!(it, Member::Byte(_));
                set.negated || !set.members.iter().all(is_byte)
            }
            Self::Anchor(anchor) => anchor.is_of_words(),
            _ => false,
        }
    }

    /// Puts `next` behind it.
    pub(super) fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Empty, node) | (node, Self::Empty) => node,
            (Self::Concat(mut nodes), next) => {
                nodes.push(next);
                Self::Concat(nodes)
            }
            (node, next) => Self::Concat(vec![node, next]),
        }
    }

    /// Repeats it. What repeats a repetition without changing it is left out.
    pub(super) fn repeat(self, min: u32, max: Option<u32>) -> Self {
        match self {
            Self::Empty => Self::Empty,
            _ if max == Some(0) => Self::Empty,
            _ if (min, max) == (1, Some(1)) => self,
            Self::Repeat {
                node,
                min: inner @ 0..=1,
                max: None,
            } if min <= 1 => Self::Repeat {
                node,
                min: inner.min(min),
                max: None,
            },
            Self::Repeat {
                node,
                min: 0,
                max: Some(1),
            } if min <= 1 && matches!(max, None | Some(1)) => Self::Repeat { node, min: 0, max },
            _ => Self::Repeat {
                node: Box::new(self),
                min,
                max,
            },
        }
    }
}

impl Anchor {
    pub(super) fn is_of_words(self) -> bool {
        matches!(
            self,
            Self::WordStart | Self::WordEnd | Self::WordEdge | Self::NoWordEdge
        )
    }
}

impl Class {
    /// The one of this name.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alnum" => Self::Alnum,
            b"alpha" => Self::Alpha,
            b"blank" => Self::Blank,
            b"cntrl" => Self::Cntrl,
            b"digit" => Self::Digit,
            b"graph" => Self::Graph,
            b"lower" => Self::Lower,
            b"print" => Self::Print,
            b"punct" => Self::Punct,
            b"space" => Self::Space,
            b"upper" => Self::Upper,
            b"xdigit" => Self::Xdigit,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_do_not_pile_up() {
        let repeated = |min, max| Node::Any.repeat(min, max);
        let star = repeated(0, None);
        assert_eq!(star.clone().repeat(0, None), star);
        assert_eq!(star.clone().repeat(1, None), star);
        assert_eq!(star.clone().repeat(0, Some(1)), star);
        assert_eq!(repeated(1, None).repeat(1, None), repeated(1, None));
        assert_eq!(repeated(1, None).repeat(0, Some(1)), star);
        assert_eq!(repeated(0, Some(1)).repeat(0, None), star);
        assert_eq!(repeated(0, Some(1)).repeat(1, None), star);
        assert_eq!(repeated(0, Some(0)), Node::Empty);
        assert!(matches!(
            repeated(2, Some(2)).repeat(2, Some(2)),
            Node::Repeat { min: 2, .. }
        ));
    }
}
