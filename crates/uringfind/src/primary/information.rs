//! `-help` and `-version`, also with two dashes.

use super::{Entry, Kind, Parsed};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "help",
        kind: Kind::Other,
        parse: |_, _| Ok(Parsed::Help),
    },
    Entry {
        name: "-help",
        kind: Kind::Other,
        parse: |_, _| Ok(Parsed::Help),
    },
    Entry {
        name: "version",
        kind: Kind::Other,
        parse: |_, _| Ok(Parsed::Version),
    },
    Entry {
        name: "-version",
        kind: Kind::Other,
        parse: |_, _| Ok(Parsed::Version),
    },
];
