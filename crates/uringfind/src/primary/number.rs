//! Numbers as arguments.

use super::Refusal;
use crate::errno::ERANGE;
use crate::failure::Failure;
use crate::parse::{Comparison, Parser};

/// Reads the argument of a test that compares a number.
pub(super) fn comparison(
    parser: &mut Parser<'_>,
    typed: &[u8],
) -> Result<(Comparison, u64), Refusal> {
    // GNU find takes the word itself for the bad argument if there is none.
    let argument = parser.argument().unwrap_or(typed);
    Comparison::parse(argument).ok_or_else(|| Failure::invalid_argument(argument, typed).into())
}

/// Reads an argument of digits only as a C `int` that is not negative.
pub(super) fn int(digits: &[u8]) -> Result<u32, Failure> {
    // A number that is one for a C `long` but not for an `int` is out of range as well; the
    // greatest `long` alone is refused without a reason.
    let number = digits.iter().try_fold(0_i64, |sum, digit| {
        sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
    });
    match number {
        Some(i64::MAX) => Err(Failure::new(digits)),
        Some(number) => match i32::try_from(number) {
            Ok(number) => Ok(number.cast_unsigned()),
            Err(_) => Err(Failure::errno(digits, ERANGE)),
        },
        None => Err(Failure::errno(digits, ERANGE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_an_int() {
        assert_eq!(int(b"000000000000000000007").unwrap(), 7);
        assert_eq!(int(b"2147483647").unwrap(), 2_147_483_647);
        for bad in [
            &b"2147483648"[..],
            b"9223372036854775807",
            b"9223372036854775808",
        ] {
            assert!(int(bad).is_err(), "{bad:?}");
        }
    }
}
