//! `-j N` and `-jN`: how much may be in flight at once. Never changes the output. Not in GNU find;
//! bfs has it.

use std::num::NonZeroUsize;

use super::{Doc, Entry, Parsed};
use crate::failure::Failure;
use crate::quote::quote;

const DOC: Doc = Doc::global(
    "N",
    "at most N calls in flight; may also stand in front of the starting points, \
     and without a space",
)
.added()
.tested_in("parse_errors");

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "j",
    doc: DOC,
    parse: |parser, _| {
        parser.options.jobs = Some(parse_jobs(parser.argument()?)?);
        Ok(Parsed::Option)
    },
}];

/// The form with the number in the same argument.
pub(super) const ATTACHED: Entry = Entry {
    name: "jN",
    doc: DOC,
    parse: |parser, typed| {
        parser.options.jobs = Some(parse_jobs(typed.strip_prefix(b"-j").unwrap_or(typed))?);
        Ok(Parsed::Option)
    },
};

/// Whether `name` (without its dash) is meant as [`ATTACHED`].
pub(super) fn is_attached(name: &[u8]) -> bool {
    name.len() > 1 && name[0] == b'j'
}

/// Reads the number.
pub(crate) fn parse_jobs(number: &[u8]) -> Result<NonZeroUsize, Failure> {
    let digits = number.iter().all(u8::is_ascii_digit).then_some(number);
    digits
        .and_then(|digits| str::from_utf8(digits).ok()?.parse().ok())
        .ok_or_else(|| {
            Failure::of(&[
                b"Expected a positive decimal integer argument to -j, but got ",
                &quote(number),
            ])
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_numbers() {
        assert_eq!(parse_jobs(b"12").unwrap().get(), 12);
        for bad in [
            &b""[..],
            b"0",
            b"+1",
            b"-1",
            b"1x",
            b"99999999999999999999999",
            b"\xff",
        ] {
            assert!(parse_jobs(bad).is_err(), "{bad:?}");
        }
    }
}
