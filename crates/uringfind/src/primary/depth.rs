//! `-mindepth` and `-maxdepth`.

use super::{Doc, Entry, Parsed, Refusal, number};
use crate::failure::Failure;
use crate::parse::Parser;
use crate::quote::quote;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "mindepth",
        doc: Doc::global(
            "N",
            "pass over what is less than N levels below a starting point",
        )
        .tested_in("walk"),
        parse: |parser, typed| {
            parser.options.min_depth = depth(parser, typed)?;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "maxdepth",
        doc: Doc::global("N", "look no deeper than N levels below a starting point")
            .tested_in("walk"),
        parse: |parser, typed| {
            parser.options.max_depth = Some(depth(parser, typed)?);
            Ok(Parsed::Option)
        },
    },
];

fn depth(parser: &mut Parser<'_>, typed: &[u8]) -> Result<usize, Refusal> {
    let argument = parser.argument()?;
    if argument.is_empty() || !argument.iter().all(u8::is_ascii_digit) {
        let text: [&[u8]; 4] = [
            b"Expected a positive decimal integer argument to ",
            typed,
            b", but got ",
            &quote(argument),
        ];
        return Err(Failure::of(&text).into());
    }
    let depth = number::int(argument)?;
    Ok(usize::try_from(depth).unwrap_or(usize::MAX))
}
