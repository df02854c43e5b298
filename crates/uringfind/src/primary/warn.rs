//! `-warn` and `-nowarn`.

use super::{Entry, Kind, Parsed};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "warn",
        kind: Kind::PositionalOption,
        parse: |parser, _| {
            parser.options.warnings = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "nowarn",
        kind: Kind::PositionalOption,
        parse: |parser, _| {
            parser.options.warnings = false;
            Ok(Parsed::Option)
        },
    },
];
