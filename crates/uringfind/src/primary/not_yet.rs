//! What is not here yet. Refused, never ignored.

use crate::failure::Failure;

/// The message for a word that is not here yet.
pub(super) fn refusal(typed: &[u8]) -> Failure {
    Failure::of(&[b"predicate `", typed, b"' is not supported yet"])
}
