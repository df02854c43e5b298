//! `-print`, `-print0`, and `-fprint`, `-fprint0`, which write to a file.

use super::{Doc, Effect, Entry, Needs, Parsed, Predicate, Primary};
use crate::file::File;
use crate::output::Receiver;
use crate::quote::show_on_terminal;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "print",
        doc: Doc::action("", "print the path and a newline").tested_in("output"),
        parse: |_, _| Ok(Parsed::Predicate(default_print())),
    },
    Entry {
        name: "print0",
        doc: Doc::action("", "print the path and a NUL").tested_in("printf"),
        parse: |_, _| Ok(Parsed::Predicate(action(Print { to: None, end: 0 }))),
    },
    Entry {
        name: "fprint",
        doc: Doc::action("FILE", "as -print, into FILE").tested_in("printf"),
        parse: |parser, _| {
            let opened = parser.open()?;
            let to = parser.receiver_of(opened.to);
            Ok(Parsed::Predicate(print(to, opened.is_terminal)))
        },
    },
    Entry {
        name: "fprint0",
        doc: Doc::action("FILE", "as -print0, into FILE").tested_in("printf"),
        parse: |parser, _| {
            let opened = parser.open()?;
            let to = parser.receiver_of(opened.to);
            Ok(Parsed::Predicate(action(Print { to, end: 0 })))
        },
    },
];

/// What is added to an expression that prints nothing.
pub(crate) fn default_print() -> Predicate {
    print(None, crate::output_is_terminal())
}

fn print(to: Option<Receiver>, on_terminal: bool) -> Predicate {
    if on_terminal {
        action(PrintOnTerminal(to))
    } else {
        action(Print { to, end: b'\n' })
    }
}

fn action(primary: impl Primary + 'static) -> Predicate {
    Predicate::action(primary, Needs::Nothing, Effect::Prints)
}

/// The path as it is, and a byte.
#[derive(Debug)]
struct Print {
    to: Option<Receiver>,
    end: u8,
}

impl Primary for Print {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let mut pen = file.out.pen(self.to);
        let bytes = pen.bytes();
        bytes.extend_from_slice(file.directory);
        bytes.extend_from_slice(file.name);
        bytes.push(self.end);
        true
    }
}

/// The path without control characters and a newline.
#[derive(Debug)]
struct PrintOnTerminal(Option<Receiver>);

impl Primary for PrintOnTerminal {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        // The whole path at once: a name may end within a character.
        let path = file.path();
        let mut pen = file.out.pen(self.0);
        show_on_terminal(&path, pen.bytes());
        pen.bytes().push(b'\n');
        true
    }
}
