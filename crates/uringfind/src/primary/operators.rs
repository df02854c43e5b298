//! Operators and parentheses.

use super::{Entry, Kind, Parse, Parsed};
use crate::expr::Operator;
use crate::parse::Symbol;

pub(super) const ENTRIES: &[Entry] = &[
    entry("!", |_, _| Ok(Parsed::Symbol(Symbol::Not))),
    entry("not", |_, _| Ok(Parsed::Symbol(Symbol::Not))),
    entry("(", |_, _| Ok(Parsed::Symbol(Symbol::Open))),
    entry(")", |_, _| Ok(Parsed::Symbol(Symbol::Close))),
    entry(",", |_, _| {
        Ok(Parsed::Symbol(Symbol::Binary(Operator::Comma)))
    }),
    entry("a", |_, _| {
        Ok(Parsed::Symbol(Symbol::Binary(Operator::And)))
    }),
    entry("and", |_, _| {
        Ok(Parsed::Symbol(Symbol::Binary(Operator::And)))
    }),
    entry("o", |_, _| Ok(Parsed::Symbol(Symbol::Binary(Operator::Or)))),
    entry("or", |_, _| {
        Ok(Parsed::Symbol(Symbol::Binary(Operator::Or)))
    }),
];

const fn entry(name: &'static str, parse: Parse) -> Entry {
    Entry {
        name,
        kind: Kind::Other,
        parse,
    }
}
