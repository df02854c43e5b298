//! `-warn` and `-nowarn`.

use super::{Doc, Entry, Parsed};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "warn",
        doc: Doc::positional("", "point out dubious usage").tested_in("parse_errors"),
        parse: |parser, _| {
            parser.options.warnings = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "nowarn",
        doc: Doc::positional("", "do not point out dubious usage").tested_in("parse_errors"),
        parse: |parser, _| {
            parser.options.warnings = false;
            Ok(Parsed::Option)
        },
    },
];
