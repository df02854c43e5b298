//! `-daystart`.

use super::{Entry, Kind, Parsed};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "daystart",
    kind: Kind::PositionalOption,
    parse: |parser, _| {
        parser.day.start_at_midnight();
        Ok(Parsed::Nothing)
    },
}];
