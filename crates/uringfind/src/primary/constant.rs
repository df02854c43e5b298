//! `-true` and `-false`.

use super::{Doc, Entry, Needs, Parsed, Predicate, Primary};
use crate::file::File;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "true",
        doc: Doc::test("", "always true").tested_in("walk"),
        parse: |_, _| Ok(Parsed::Predicate(constant(true))),
    },
    Entry {
        name: "false",
        doc: Doc::test("", "never true").tested_in("walk"),
        parse: |_, _| Ok(Parsed::Predicate(constant(false))),
    },
];

/// Always the same.
#[derive(Debug)]
struct Constant(bool);

impl Primary for Constant {
    fn evaluate(&self, _file: &mut File<'_>) -> bool {
        self.0
    }
}

/// A test that is always the same.
pub(super) fn constant(value: bool) -> Predicate {
    Predicate::test(Constant(value), Needs::Nothing, f32::from(u8::from(value)))
}

/// What an option is within an expression: true.
pub(crate) fn option_predicate() -> Predicate {
    constant(true)
}
