//! Numbers with a sign that says how to compare.

/// How a number compares to the one given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `+N`
    More,
    /// `-N`
    Less,
    /// `N`
    Exactly,
}

impl Comparison {
    /// Whether `number` compares to `given` in this way.
    pub(crate) fn holds(self, number: u64, given: u64) -> bool {
        match self {
            Self::More => number > given,
            Self::Less => number < given,
            Self::Exactly => number == given,
        }
    }

    /// Takes the sign that says how to compare off a number.
    pub(crate) fn split(text: &[u8]) -> (Self, &[u8]) {
        match text {
            [b'+', rest @ ..] => (Self::More, rest),
            [b'-', rest @ ..] => (Self::Less, rest),
            _ => (Self::Exactly, text),
        }
    }

    /// Reads a number with its sign. As for C's `strtoumax`, white space and a plus may stand
    /// before the digits.
    pub(crate) fn parse(text: &[u8]) -> Option<(Self, u64)> {
        let (comparison, text) = Self::split(text);
        let start = text
            .iter()
            .position(|byte| !b" \t\n\x0b\x0c\r".contains(byte))?;
        let digits = text[start..].strip_prefix(b"+").unwrap_or(&text[start..]);
        if digits.is_empty() {
            return None;
        }
        let mut number = 0_u64;
        for digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number
                .checked_mul(10)?
                .checked_add(u64::from(digit - b'0'))?;
        }
        Some((comparison, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_blanks() {
        assert_eq!(Comparison::parse(b"5"), Some((Comparison::Exactly, 5)));
        assert_eq!(Comparison::parse(b"+05"), Some((Comparison::More, 5)));
        assert_eq!(Comparison::parse(b"-0"), Some((Comparison::Less, 0)));
        assert_eq!(Comparison::parse(b"+ +7"), Some((Comparison::More, 7)));
        assert_eq!(
            Comparison::parse(b"18446744073709551615"),
            Some((Comparison::Exactly, u64::MAX))
        );
        for bad in [
            &b""[..],
            b"+",
            b"+-5",
            b"--5",
            b"5x",
            b"18446744073709551616",
            b" ",
            b"++",
            b"+++5",
        ] {
            assert_eq!(Comparison::parse(bad), None, "{bad:?}");
        }
    }
}
