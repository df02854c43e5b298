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
        parse: |parser, typed| parse(parser, typed, Action::new("-exec")),
    },
    Entry {
        name: "execdir",
        doc: Doc::action(
            "COMMAND... ;|{} +",
            "as -exec, in the directory of the file",
        )
        .tested_in("exec"),
        parse: |parser, typed| parse(parser, typed, Action::new("-execdir").in_directory()),
    },
    Entry {
        name: "ok",
        doc: Doc::action("COMMAND... ;", "as -exec, after asking").tested_in("exec"),
        parse: |parser, typed| parse(parser, typed, Action::new("-ok").asking()),
    },
    Entry {
        name: "okdir",
        doc: Doc::action("COMMAND... ;", "as -execdir, after asking").tested_in("exec"),
        parse: |parser, typed| parse(parser, typed, Action::new("-okdir").in_directory().asking()),
    },
];
