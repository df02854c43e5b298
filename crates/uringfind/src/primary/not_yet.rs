//! Words of GNU find that are not here yet. Refused, never ignored.

use super::{Entry, Kind, Parse};
use crate::failure::Failure;

const PARSE: Parse = |_, typed| Err(refusal(typed).into());

/// The message for a word that is not here yet.
pub(super) fn refusal(typed: &[u8]) -> Failure {
    Failure::of(&[b"predicate `", typed, b"' is not supported yet"])
}

macro_rules! not_yet {
    ($($name:literal)*) => {
        &[$(Entry { name: $name, kind: Kind::PositionalOption, parse: PARSE }),*]
    };
}

pub(super) const ENTRIES: &[Entry] = not_yet! {
    "amin" "anewer" "atime" "cmin" "cnewer" "ctime" "daystart" "delete" "exec" "execdir" "fls" "fprint"
    "fprint0" "fprintf" "iregex" "ls" "mmin" "mtime" "ok" "okdir" "printf" "regex" "regextype" "used"
};
