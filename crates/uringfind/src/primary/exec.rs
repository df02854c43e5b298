//! `-exec`, `-execdir`, `-ok` and `-okdir`.

use super::{Doc, Entry};
use crate::exec::{Action, parse};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "exec",
        doc: Doc::action(
            "COMMAND... ;|{} +",
            "run a command with the path for {}; true if it succeeds; \
             with +, for many paths at once",
        )
        .tested_in("exec"),
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
        doc: Doc::action(
            "COMMAND... ;|{} +",
            "as -exec, in the directory of the file",
        )
        .tested_in("exec"),
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
        doc: Doc::action("COMMAND... ;", "as -exec, after asking").tested_in("exec"),
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
        doc: Doc::action("COMMAND... ;", "as -execdir, after asking").tested_in("exec"),
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
