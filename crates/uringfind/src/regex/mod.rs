//! GNU's regular expressions.
//!
//! The C library's `re_compile_pattern` and `re_match` are the reference: they are what GNU find
//! calls. A pattern is read by one of the [`Syntax`]es into a small tree (`tree`), with the C
//! library's rules and messages (`token`, `parse`, `bracket`), and the tree is written down again
//! (`translate`) for one of two engines:
//!
//! - the `regex` crate, on the bytes of the path;
//! - `fancy-regex`, on text, for what needs to look at more than one place: back-references, and
//!   the edges of words where the characters are UTF-8.
//!
//! To ignore case, both the pattern and the path are changed to upper case first (`fold`), as the C
//! library does it. It shows: `[Z-a]` is no range then, and `\a` matches nothing.

mod bracket;
mod class;
mod copies;
mod error;
mod fold;
mod parse;
mod syntax;
mod token;
mod translate;
mod tree;
mod units;

use std::borrow::Cow;

use hostproc::locale;

use fold::fold;
use translate::{Engine, Writer};

pub(crate) use error::Error;
pub(crate) use syntax::{Syntax, TYPES};

/// What makes a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Every byte, of which only ASCII's are letters.
    Bytes,
    Utf8,
}

impl Encoding {
    /// The locale's.
    pub(crate) fn of_locale() -> Self {
        if locale::is_utf8() {
            Self::Utf8
        } else {
            Self::Bytes
        }
    }
}

/// A compiled regular expression. It matches whole texts.
#[derive(Debug)]
pub(crate) struct Regex {
    program: Program,
    encoding: Encoding,
    ignores_case: bool,
}

#[derive(Debug)]
enum Program {
    Bytes(regex::bytes::Regex),
    Text(Box<fancy_regex::Regex>),
}

/// A match took more memory than an engine is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooHard;

/// The most that a compiled pattern may take, in bytes.
const SIZE_LIMIT: usize = 64 << 20;

/// The most that the tables of one thread's automaton may take, in bytes.
const TABLE_LIMIT: usize = 16 << 20;

impl Regex {
    /// Compiles `pattern`.
    pub(crate) fn new(
        pattern: &[u8],
        syntax: Syntax,
        encoding: Encoding,
        ignores_case: bool,
    ) -> Result<Self, Error> {
        let tree = copies::expand(parse::parse(pattern, syntax, encoding, ignores_case)?)?;
        let engine = if tree.any(&|node| node.looks_around(encoding)) {
            Engine::Text
        } else {
            Engine::Bytes
        };
        let text = Writer::new(&tree, syntax, encoding, engine, ignores_case).write();
        let program = match engine {
            Engine::Bytes => regex::bytes::RegexBuilder::new(&text)
                .size_limit(SIZE_LIMIT)
                .dfa_size_limit(TABLE_LIMIT)
                .nest_limit(translate::NEST_LIMIT)
                .build()
                .map(Program::Bytes)
                .map_err(|_| Error::TooBig)?,
            Engine::Text => fancy_regex::RegexBuilder::new(&text)
                .backtrack_limit(usize::MAX)
                .delegate_size_limit(SIZE_LIMIT)
                .delegate_dfa_size_limit(TABLE_LIMIT)
                .build()
                .map(|regex| Program::Text(Box::new(regex)))
                .map_err(|_| Error::TooBig)?,
        };
        Ok(Self {
            program,
            encoding,
            ignores_case,
        })
    }

    /// Whether a text can be too hard for it.
    pub(crate) fn can_give_up(&self) -> bool {
        matches!(self.program, Program::Text(_))
    }

    /// Whether the whole `text` matches.
    ///
    /// # Errors
    /// A pattern with back-references can be too hard for a text.
    pub(crate) fn matches(&self, text: &[u8]) -> Result<bool, TooHard> {
        let text = if self.ignores_case {
            fold(text, self.encoding)
        } else {
            Cow::Borrowed(text)
        };
        match &self.program {
            Program::Bytes(regex) => Ok(regex.is_match(&text)),
            Program::Text(regex) => regex
                .is_match(&*units::as_text(&text, self.encoding))
                .map_err(|_| TooHard),
        }
    }
}

#[cfg(test)]
mod tests;
