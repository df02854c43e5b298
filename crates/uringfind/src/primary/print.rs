//! `-print` and `-print0`.

use super::{Effect, Entry, Kind, Needs, Parsed, Predicate, Primary};
use crate::file::File;
use crate::quote::show_on_terminal;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "print",
        kind: Kind::Other,
        parse: |_, _| Ok(Parsed::Predicate(default_print())),
    },
    Entry {
        name: "print0",
        kind: Kind::Other,
        parse: |_, _| Ok(Parsed::Predicate(action(Print0))),
    },
];

/// What is added to an expression that prints nothing.
pub(crate) fn default_print() -> Predicate {
    if crate::output_is_terminal() {
        action(PrintOnTerminal)
    } else {
        action(Print)
    }
}

fn action(primary: impl Primary + 'static) -> Predicate {
    Predicate::action(primary, Needs::Nothing, Effect::Prints)
}

/// The path and a newline.
#[derive(Debug)]
struct Print;

impl Primary for Print {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        file.write_path();
        file.out.text().push(b'\n');
        true
    }
}

/// The path without control characters and a newline.
#[derive(Debug)]
struct PrintOnTerminal;

impl Primary for PrintOnTerminal {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        // The whole path at once: a name may end within a character.
        show_on_terminal(&[file.directory, file.name].concat(), file.out.text());
        file.out.text().push(b'\n');
        true
    }
}

/// The path as it is and a NUL.
#[derive(Debug)]
struct Print0;

impl Primary for Print0 {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        file.write_path();
        file.out.text().push(0);
        true
    }
}
