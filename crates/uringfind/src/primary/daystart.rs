//! `-daystart`.

use super::{Doc, Entry, Parsed};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "daystart",
    doc: Doc::positional("", "count the ages that follow from the end of today").tested_in("times"),
    parse: |parser, _| {
        parser.day.start_at_midnight();
        Ok(Parsed::Nothing)
    },
}];
