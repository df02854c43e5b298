//! `-help` and `-version`, also with two dashes.

use super::{Doc, Entry, Parsed};

const OWN_TEXT: &str = "the text is this program's";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "help",
        doc: Doc::information("the same as --help")
            .tested_in("parse_errors")
            .differs(OWN_TEXT),
        parse: |_, _| Ok(Parsed::Help),
    },
    Entry {
        name: "-help",
        doc: Doc::information("print this text and end")
            .tested_in("parse_errors")
            .differs(OWN_TEXT),
        parse: |_, _| Ok(Parsed::Help),
    },
    Entry {
        name: "version",
        doc: Doc::information("the same as --version")
            .tested_in("parse_errors")
            .differs(OWN_TEXT),
        parse: |_, _| Ok(Parsed::Version),
    },
    Entry {
        name: "-version",
        doc: Doc::information("print the version and end")
            .tested_in("parse_errors")
            .differs(OWN_TEXT),
        parse: |_, _| Ok(Parsed::Version),
    },
];
