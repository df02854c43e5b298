//! `-regextype`.

use super::{Entry, Kind, Parsed};
use crate::failure::Failure;
use crate::quote::quote;
use crate::regex::{Syntax, TYPES};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "regextype",
    kind: Kind::PositionalOption,
    parse: |parser, _| {
        let name = parser.argument()?;
        parser.options.regex_syntax = Syntax::named(name).ok_or_else(|| unknown(name))?;
        Ok(Parsed::Option)
    },
}];

fn unknown(name: &[u8]) -> Failure {
    let types: Vec<_> = TYPES
        .iter()
        .map(|(name, _)| quote(name.as_bytes()))
        .collect();
    Failure::of(&[
        b"Unknown regular expression type ",
        &quote(name),
        b"; valid types are ",
        &types.join(&b", "[..]),
        b".",
    ])
}
