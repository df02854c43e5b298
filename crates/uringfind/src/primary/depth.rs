//! `-mindepth` and `-maxdepth`.

use super::{Entry, Kind, Parsed, Refusal};
use crate::failure::Failure;
use crate::parse::Parser;
use crate::quote::quote;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "mindepth",
        kind: Kind::GlobalOption,
        parse: |parser, typed| {
            parser.options.min_depth = depth(parser, typed)?;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "maxdepth",
        kind: Kind::GlobalOption,
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
    // A number that is one for a C `long` but not for an `int` is out of range as well; the
    // greatest `long` alone is refused without a reason.
    let number = argument.iter().try_fold(0_i64, |sum, digit| {
        sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
    });
    match number {
        Some(i64::MAX) => Err(Failure::new(argument).into()),
        Some(number) if i32::try_from(number).is_ok() => {
            Ok(usize::try_from(number).unwrap_or(usize::MAX))
        }
        _ => Err(Failure::errno(argument, ERANGE).into()),
    }
}

/// "Numerical result out of range".
const ERANGE: i32 = 34;
