//! Operators and parentheses.

use super::{Doc, Entry, Parse, Parsed, Refusal};
use crate::expr::Operator;
use crate::parse::Symbol;

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        "(",
        "( EXPR )",
        "what stands inside belongs together",
        |_, _| symbol(Symbol::Open),
    ),
    entry(
        ")",
        "( EXPR )",
        "what stands inside belongs together",
        |_, _| symbol(Symbol::Close),
    ),
    entry("!", "! EXPR", "true where EXPR is false", |_, _| {
        symbol(Symbol::Not)
    }),
    entry("not", "-not EXPR", "the same as !", |_, _| {
        symbol(Symbol::Not)
    }),
    entry(
        "a",
        "EXPR1 -a EXPR2",
        "EXPR2 only where EXPR1 is true; -a may be left out",
        |_, _| symbol(Symbol::Binary(Operator::And)),
    ),
    entry("and", "EXPR1 -and EXPR2", "the same as -a", |_, _| {
        symbol(Symbol::Binary(Operator::And))
    }),
    entry(
        "o",
        "EXPR1 -o EXPR2",
        "EXPR2 only where EXPR1 is false",
        |_, _| symbol(Symbol::Binary(Operator::Or)),
    ),
    entry("or", "EXPR1 -or EXPR2", "the same as -o", |_, _| {
        symbol(Symbol::Binary(Operator::Or))
    }),
    entry(
        ",",
        "EXPR1 , EXPR2",
        "both, with the value of EXPR2",
        |_, _| symbol(Symbol::Binary(Operator::Comma)),
    ),
];

const fn entry(name: &'static str, form: &'static str, line: &'static str, parse: Parse) -> Entry {
    Entry {
        name,
        doc: Doc::operator(form, line).tested_in("parse_errors"),
        parse,
    }
}

#[expect(clippy::unnecessary_wraps)] // It is what a `Parse` gives.
fn symbol(symbol: Symbol) -> Result<Parsed, Refusal> {
    Ok(Parsed::Symbol(symbol))
}
