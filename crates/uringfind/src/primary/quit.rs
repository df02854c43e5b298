//! `-quit`.

use super::{Doc, Effect, Entry, Needs, Parsed, Predicate, Primary};
use crate::file::File;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "quit",
    doc: Doc::action("", "end the search here").tested_in("walk"),
    parse: |_, _| {
        Ok(Parsed::Predicate(Predicate::action(
            Quit,
            Needs::Nothing,
            Effect::Quits,
        )))
    },
}];

/// Ends the search, with the exit status so far.
#[derive(Debug)]
struct Quit;

impl Primary for Quit {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        file.quit = true;
        true
    }
}
