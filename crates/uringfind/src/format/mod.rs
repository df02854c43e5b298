//! Formats of `-printf`: read once into pieces, written for each file.

mod directive;
mod mode;
mod path;
mod read;
mod spec;
mod time;
mod value;

pub(crate) use mode::write_mode;
pub(crate) use read::read;
pub(crate) use value::{blocks, write_name, write_number};

use directive::Directive;
use spec::Spec;
use value::Subject;

use crate::errno::EOVERFLOW;
use crate::file::File;
use crate::files::Opened;
use crate::output::Receiver;
use crate::primary::Needs;
use crate::quote::show_on_terminal;

/// A format.
#[derive(Debug, Default)]
pub(crate) struct Format {
    pieces: Vec<Piece>,
    /// It ends with `\c`: what was written so far is to be seen at once.
    pub(crate) flushes: bool,
}

#[derive(Debug, PartialEq)]
enum Piece {
    Text(Vec<u8>),
    Field {
        directive: Directive,
        /// `None`: as it comes.
        spec: Option<Spec>,
    },
    /// A field whose width or precision is no `int`.
    TooWide,
}

impl Format {
    /// What must be known of a file to write it.
    pub(crate) fn needs(&self) -> Needs {
        let fields = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field { directive, .. } => Some(directive.needs()),
            Piece::Text(_) | Piece::TooWide => None,
        });
        fields.fold(Needs::Nothing, Needs::and)
    }

    /// Writes it for `file`. Tells whether what it needs could be learnt; if not, nothing is written.
    pub(crate) fn write(
        &self,
        needs: Needs,
        file: &mut File<'_>,
        to: Option<Receiver>,
        opened: &Opened,
    ) -> bool {
        let Some(inode) = learn(needs, file) else {
            return false;
        };
        let mut subject = Subject::new(file, inode, to);
        let mut shown = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => subject.pen.bytes().extend_from_slice(text),
                Piece::Field { directive, spec } => {
                    if let Directive::LinkTarget { lead } = directive {
                        subject.read_link(*lead);
                    }
                    let start = subject.pen.bytes().len();
                    let trouble = subject.write(*directive, spec.as_ref());
                    let bytes = subject.pen.bytes();
                    if opened.is_terminal && directive.is_shown_with_care() {
                        shown.clear();
                        show_on_terminal(&bytes[start..], &mut shown);
                        bytes.truncate(start);
                        bytes.extend_from_slice(&shown);
                    }
                    if let Some(spec) = spec
                        && directive.is_text()
                    {
                        spec.fit(bytes, start);
                    }
                    subject.report(trouble);
                }
                Piece::TooWide => {
                    let message = subject.messages.file(&opened.name, EOVERFLOW);
                    subject.pen.message(&message);
                }
            }
        }
        true
    }
}

/// Asks for what a format needs, and gives the inode number if that is among it.
fn learn(needs: Needs, file: &mut File<'_>) -> Option<u64> {
    match needs {
        Needs::Nothing => Some(0),
        Needs::Type => file.file_type().map(|_| 0),
        Needs::Inode => file.inode(),
        Needs::Stat(_) => file.stat().map(|answer| answer.ino().unwrap_or(0)),
    }
}
