//! A tree in the language of an engine.

use std::fmt::Write as _;

use super::parse::DEPTH_LIMIT;
use super::tree::{Anchor, Class, Member, Node, Set};
use super::units::{NO_CHARACTER, as_text};
use super::{Encoding, Syntax};

/// What takes the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// The `regex` crate, on bytes.
    Bytes,
    /// `fancy-regex`, on what [`as_text`] makes of bytes.
    Text,
}

/// How deep the written pattern can be nested: a level of parentheses is a group, an alternation, a
/// sequence and a repetition; then there are repetitions of repetitions.
pub(super) const NEST_LIMIT: u32 = 8 * DEPTH_LIMIT;

/// What the C library's `.` and negated lists take for UTF-8 beyond Unicode's last character.
const BEYOND_UNICODE: &str = r"\xF4[\x90-\xBF][\x80-\xBF]{2}|[\xF5-\xF7][\x80-\xBF]{3}|\xF8[\x88-\xBF][\x80-\xBF]{3}|[\xF9-\xFB][\x80-\xBF]{4}|\xFC[\x84-\xBF][\x80-\xBF]{4}|\xFD[\x80-\xBF]{5}";

/// What its `.` takes as well where it can compare bytes.
const SURROGATES: &str = r"|\xED[\xA0-\xBF][\x80-\xBF]";

/// A set that nothing is in.
const NOTHING: &str = r"[^\x00-\x{10FFFF}]";

/// Writes a tree down.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    tree: &'a Node,
    syntax: Syntax,
    encoding: Encoding,
    engine: Engine,
    /// The C library works on bytes although characters are UTF-8.
    bytewise: bool,
    out: String,
    /// Numbers of the groups written so far that are referred to, in the order of their opening.
    captures: Vec<usize>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        tree: &'a Node,
        syntax: Syntax,
        encoding: Encoding,
        engine: Engine,
        ignores_case: bool,
    ) -> Self {
        Self {
            tree,
            syntax,
            encoding,
            engine,
            bytewise: !ignores_case && !tree.any(&Node::needs_characters),
            out: String::new(),
            captures: Vec::new(),
        }
    }

    /// The pattern, for whole texts.
    pub(super) fn write(mut self) -> String {
        self.out.push_str(r"\A(?:");
        self.node(self.tree);
        self.out.push_str(r")\z");
        self.out
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Empty => {}
            Node::Literal(bytes) => self.literal(bytes),
            Node::Any => self.any(),
            Node::Set(set) => self.set(set),
            Node::Anchor(anchor) => self.anchor(*anchor),
            Node::Group(number, node) => {
                let number = *number;
                if number <= 9 && self.tree.any(&|it| *it == Node::Reference(number)) {
                    self.captures.push(number);
                    self.out.push('(');
                } else {
                    self.out.push_str("(?:");
                }
                self.node(node);
                self.out.push(')');
            }
            Node::Reference(number) => {
                match self.captures.iter().position(|it| it == number) {
                    Some(at) => {
                        let _ = write!(self.out, r"(?:\{})", at + 1);
                    }
                    // The group is repeated zero times.
                    None => self.out.push_str(NOTHING),
                }
            }
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Node::Alternation(nodes) => {
                self.out.push_str("(?:");
                for (place, node) in nodes.iter().enumerate() {
                    if place > 0 {
                        self.out.push('|');
                    }
                    self.node(node);
                }
                self.out.push(')');
            }
            // The engine for text will not repeat nothing.
            Node::Repeat { node, .. } if node.is_empty() => self.node(node),
            Node::Repeat { node, min, max } => {
                self.out.push_str("(?:");
                self.node(node);
                self.out.push(')');
                let _ = match (min, max) {
                    (0, None) => write!(self.out, "*"),
                    (1, None) => write!(self.out, "+"),
                    (0, Some(1)) => write!(self.out, "?"),
                    (min, None) => write!(self.out, "{{{min},}}"),
                    (min, Some(max)) if min == max => write!(self.out, "{{{min}}}"),
                    (min, Some(max)) => write!(self.out, "{{{min},{max}}}"),
                };
            }
        }
    }

    fn literal(&mut self, bytes: &[u8]) {
        match self.engine {
            Engine::Bytes => {
                for &byte in bytes {
                    let _ = match byte {
                        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'/' => {
                            self.out.push(char::from(byte));
                            Ok(())
                        }
                        0..=0x7f => write!(self.out, r"\x{byte:02X}"),
                        _ => write!(self.out, r"(?-u:\x{byte:02X})"),
                    };
                }
            }
            Engine::Text => {
                for char in as_text(bytes, self.encoding).chars() {
                    self.char(u32::from(char));
                }
            }
        }
    }

    fn char(&mut self, code: u32) {
        let _ = match code {
            // The only form that is a byte where characters are bytes.
            0..=0xff => write!(self.out, r"\x{code:02X}"),
            _ => write!(self.out, r"\x{{{code:X}}}"),
        };
    }

    /// Opens a class with the characters that it may never match.
    fn open_negated(&mut self) {
        self.out.push_str("[^");
        if (self.engine, self.encoding) == (Engine::Text, Encoding::Utf8) {
            self.char(NO_CHARACTER);
            self.out.push('-');
            self.char(NO_CHARACTER + 0xff);
        }
    }

    /// The negated class that `members` writes, with what is beyond Unicode.
    fn negated(&mut self, is_any: bool, members: impl FnOnce(&mut Self)) {
        match (self.engine, self.encoding) {
            (Engine::Bytes, Encoding::Utf8) => {
                self.out.push_str("(?:");
                self.open_negated();
                members(self);
                self.out.push_str("]|(?-u:");
                self.out.push_str(BEYOND_UNICODE);
                if is_any && self.bytewise {
                    self.out.push_str(SURROGATES);
                }
                self.out.push_str("))");
            }
            (Engine::Bytes, Encoding::Bytes) => {
                self.out.push_str("(?-u:");
                self.open_negated();
                members(self);
                self.out.push_str("])");
            }
            (Engine::Text, _) => {
                self.open_negated();
                members(self);
                self.out.push(']');
            }
        }
    }

    fn any(&mut self) {
        // A path holds no NUL.
        let excluded = if self.syntax.dot_newline {
            r"\x00"
        } else {
            r"\x00\n"
        };
        self.negated(true, |writer| writer.out.push_str(excluded));
    }

    fn set(&mut self, set: &Set) {
        if set.negated {
            return self.negated(false, |writer| {
                writer.out.push_str(r"\x00");
                writer.members(&set.members);
            });
        }
        let start = self.out.len();
        let is_bytes = (self.engine, self.encoding) == (Engine::Bytes, Encoding::Bytes);
        self.out.push_str(if is_bytes { "(?-u:[" } else { "[" });
        let open = self.out.len();
        self.members(&set.members);
        if self.out.len() == open {
            self.out.truncate(start);
            self.out.push_str(NOTHING);
            return;
        }
        self.out.push_str(if is_bytes { "])" } else { "]" });
    }

    fn members(&mut self, members: &[Member]) {
        for &member in members {
            match member {
                Member::Char(char) => self.char(u32::from(char)),
                // No other byte is a character.
                Member::Byte(byte) if self.encoding == Encoding::Utf8 && !byte.is_ascii() => {}
                Member::Byte(byte) => self.char(u32::from(byte)),
                Member::Range(start, end) => {
                    self.char(u32::from(start));
                    self.out.push('-');
                    self.char(u32::from(end));
                }
                Member::Class(class) => self.out.push_str(class.written(self.encoding)),
            }
        }
    }

    fn anchor(&mut self, anchor: Anchor) {
        let text = match (anchor, self.engine) {
            (Anchor::LineStart, _) => "(?m:^)",
            (Anchor::LineEnd, _) => "(?m:$)",
            (Anchor::TextStart, _) => r"\A",
            (Anchor::TextEnd, _) => r"\z",
            // Only where letters are ASCII's.
            (Anchor::WordStart, Engine::Bytes) => r"(?-u:\b{start})",
            (Anchor::WordEnd, Engine::Bytes) => r"(?-u:\b{end})",
            (Anchor::WordEdge, Engine::Bytes) => r"(?-u:\b)",
            (Anchor::NoWordEdge, Engine::Bytes) => r"(?-u:\B)",
            (Anchor::WordStart, Engine::Text) => "(?<!W)(?=W)",
            (Anchor::WordEnd, Engine::Text) => "(?<=W)(?!W)",
            (Anchor::WordEdge, Engine::Text) => "(?:(?<!W)(?=W)|(?<=W)(?!W))",
            (Anchor::NoWordEdge, Engine::Text) => "(?:(?<!W)(?!W)|(?<=W)(?=W))",
        };
        if self.engine == Engine::Text && anchor.is_of_words() {
            let word = format!("[{}_]", Class::Alnum.written(self.encoding));
            self.out.push_str(&text.replace('W', &word));
        } else {
            self.out.push_str(text);
        }
    }
}
