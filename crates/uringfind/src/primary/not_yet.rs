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
    "delete" "exec" "execdir" "ok" "okdir"
};
