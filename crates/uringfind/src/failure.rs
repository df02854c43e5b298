//! Why a command line cannot be run.

use crate::message::Messages;

/// A command line that cannot be run. Ends the program with status 1.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    lines: Vec<Line>,
    /// The argument that is no word of the language, if that is the reason.
    pub(crate) unknown_word: Option<usize>,
}

#[derive(Debug)]
enum Line {
    /// The whole text after the program's name.
    Plain(Vec<u8>),
    /// Where to find help.
    Hint,
    /// Text, with the system's word for an error number behind it.
    Errno(Vec<u8>, i32),
    /// A file's name, to be quoted, with the system's word for an error number behind it.
    File(Vec<u8>, i32),
}

impl Failure {
    /// One line of text.
    pub(crate) fn new(text: impl Into<Vec<u8>>) -> Self {
        Self {
            lines: vec![Line::Plain(text.into())],
            ..Self::default()
        }
    }

    /// Text made of parts.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        Self::new(parts.concat())
    }

    /// A word that does not take this argument.
    pub(crate) fn invalid_argument(argument: &[u8], word: &[u8]) -> Self {
        Self::of(&[b"invalid argument `", argument, b"' to `", word, b"'"])
    }

    /// A text (not quoted) and the error it led to.
    pub(crate) fn errno(text: &[u8], errno: i32) -> Self {
        Self {
            lines: vec![Line::Errno(text.to_vec(), errno)],
            ..Self::default()
        }
    }

    /// A file (quoted) and the error it led to.
    pub(crate) fn file(name: &[u8], errno: i32) -> Self {
        Self {
            lines: vec![Line::File(name.to_vec(), errno)],
            ..Self::default()
        }
    }

    /// Argument number `index`, typed as `word`, is no word of the language.
    pub(crate) fn unknown_word(index: usize, word: &[u8]) -> Self {
        Self {
            unknown_word: Some(index),
            ..Self::of(&[b"unknown predicate `", word, b"'"])
        }
    }

    /// A further line.
    #[must_use]
    pub(crate) fn and(mut self, parts: &[&[u8]]) -> Self {
        self.lines.push(Line::Plain(parts.concat()));
        self
    }

    /// A further line that tells where to find help.
    #[must_use]
    pub(crate) fn and_hint(mut self) -> Self {
        self.lines.push(Line::Hint);
        self
    }

    /// The lines as they are to be written.
    pub(crate) fn messages<'a>(
        &'a self,
        messages: &'a Messages,
    ) -> impl Iterator<Item = Vec<u8>> + 'a {
        self.lines.iter().map(|line| match line {
            Line::Plain(text) => messages.plain(text),
            Line::Hint => messages.hint(),
            Line::Errno(text, errno) => messages.errno(text, *errno),
            Line::File(name, errno) => messages.file(name, *errno),
        })
    }
}
