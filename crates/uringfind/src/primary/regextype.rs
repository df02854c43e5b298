//! `-regextype`.

use super::{Doc, Entry, Parsed};
use crate::failure::Failure;
use crate::quote::quote;
use crate::regex::{Syntax, TYPES};

const NAMES: [&str; TYPES.len()] = {
    let mut names = [""; TYPES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = TYPES[at].0;
        at += 1;
    }
    names
};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "regextype",
    doc: Doc::positional("SYNTAX", "how -regex and -iregex read what follows")
        .in_bfs("fewer syntaxes; posix-basic is the default")
        .values(&NAMES)
        .tested_in("regex"),
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
