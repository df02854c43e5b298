//! Words that are not here yet. Refused, never ignored.

use super::{Doc, Entry, Parse};
use crate::failure::Failure;

const PARSE: Parse = |_, typed| Err(refusal(typed).into());

/// The message for a word that is not here yet.
pub(super) fn refusal(typed: &[u8]) -> Failure {
    Failure::of(&[b"predicate `", typed, b"' is not supported yet"])
}

macro_rules! not_yet {
    ($($name:literal $doc:expr;)*) => {
        &[$(Entry { name: $name, doc: $doc.not_yet(), parse: PARSE }),*]
    };
}

pub(super) const ENTRIES: &[Entry] = not_yet! {
    "limit" Doc::action("N", "end the search when this has been reached N times").added().tested_in("bfs_words");
    "printx" Doc::action("", "print the path and a newline, escaped for xargs").added().tested_in("bfs_words");
    "exclude" Doc::operator("-exclude EXPR", "neither evaluate nor enter what EXPR is true of").added().tested_in("bfs_words");
    "hidden" Doc::test("", "its name begins with a dot").added().tested_in("bfs_words");
    "nohidden" Doc::global("", "leave hidden files and directories out").added().tested_in("bfs_words");
    "unique" Doc::global("", "leave out files that have been seen by another path").added().tested_in("bfs_words");
    "noerror" Doc::global("", "do not report errors of the search").added().tested_in("bfs_words");
    "color" Doc::global("", "print paths in the colours of LS_COLORS").added().in_bfs("default on a terminal").tested_in("bfs_words");
    "nocolor" Doc::global("", "undo -color").added().tested_in("bfs_words");
    "status" Doc::global("", "show on a terminal how far the search is").added().tested_in("bfs_words");
    "unordered" Doc::global("", "visit files in any order").added().not_in_bfs().tested_in("bfs_words");
};
