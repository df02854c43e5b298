//! `-exec`, `-execdir`, `-ok` and `-okdir`.

use super::Entry;
use super::Kind;
use crate::exec::{Action, parse};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "exec",
        kind: Kind::Other,
        parse: |parser, typed| {
            let action = Action {
                name: "-exec",
                in_directory: false,
                asks: false,
            };
            parse(parser, typed, action)
        },
    },
    Entry {
        name: "execdir",
        kind: Kind::Other,
        parse: |parser, typed| {
            let action = Action {
                name: "-execdir",
                in_directory: true,
                asks: false,
            };
            parse(parser, typed, action)
        },
    },
    Entry {
        name: "ok",
        kind: Kind::Other,
        parse: |parser, typed| {
            let action = Action {
                name: "-ok",
                in_directory: false,
                asks: true,
            };
            parse(parser, typed, action)
        },
    },
    Entry {
        name: "okdir",
        kind: Kind::Other,
        parse: |parser, typed| {
            let action = Action {
                name: "-okdir",
                in_directory: true,
                asks: true,
            };
            parse(parser, typed, action)
        },
    },
];
