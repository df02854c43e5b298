//! Flags, width and precision of a field, as printf(3) has them.

use hostproc::number::{self, NumberFlags};

/// How a field is made to fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    flags: NumberFlags,
    /// At least so many bytes.
    width: usize,
    /// At most so many bytes of a text, at least so many digits.
    precision: Option<usize>,
}

/// What fits into C's `int`.
const MOST: usize = 0x7fff_ffff;

impl Spec {
    /// Reads what stands between a percent sign and its letter, and its length. `None` if there is
    /// nothing.
    pub(super) fn read(text: &[u8]) -> (Option<Self>, usize) {
        let mut spec = Self::default();
        let count = |at: usize, wanted: fn(&u8) -> bool| {
            text[at..].iter().take_while(|&byte| wanted(byte)).count()
        };
        let mut at = count(0, |byte| b"-+ #".contains(byte));
        for flag in &text[..at] {
            match flag {
                b'-' => spec.flags.left = true,
                b'+' => spec.flags.plus = true,
                b' ' => spec.flags.space = true,
                _ => spec.flags.alternate = true,
            }
        }
        let digits = count(at, u8::is_ascii_digit);
        spec.flags.zero = text[at..].first() == Some(&b'0');
        spec.width = number_of(&text[at..at + digits]);
        at += digits;
        if text.get(at) == Some(&b'.') {
            at += 1;
            let digits = count(at, u8::is_ascii_digit);
            spec.precision = Some(number_of(&text[at..at + digits]));
            at += digits;
        }
        ((at > 0).then_some(spec), at)
    }

    /// Nothing is printed with such a width or precision.
    pub(super) fn is_too_wide(&self) -> bool {
        self.width > MOST || self.precision.is_some_and(|precision| precision > MOST)
    }

    /// Makes the text from `start` on fit.
    pub(super) fn fit(&self, bytes: &mut Vec<u8>, start: usize) {
        if let Some(precision) = self.precision {
            bytes.truncate(start.saturating_add(precision));
        }
        self.pad(bytes, start);
    }

    /// Appends a decimal number.
    pub(super) fn decimal(&self, number: u64, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        match self.flags {
            NumberFlags { plus: true, .. } => bytes.push(b'+'),
            NumberFlags { space: true, .. } => bytes.push(b' '),
            _ => {}
        }
        let sign = bytes.len();
        if number != 0 || self.precision != Some(0) {
            super::write_number(number, bytes);
        }
        self.fill_with_zeros(bytes, start, sign);
        self.pad(bytes, start);
    }

    /// Appends an octal number.
    pub(super) fn octal(&self, number: u16, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        if number != 0 || self.precision != Some(0) {
            bytes.extend_from_slice(format!("{number:o}").as_bytes());
        }
        let digits = self.precision.unwrap_or(1);
        if self.flags.alternate && bytes.get(start) != Some(&b'0') && bytes.len() - start >= digits
        {
            bytes.insert(start, b'0');
        }
        self.fill_with_zeros(bytes, start, start);
        self.pad(bytes, start);
    }

    /// Appends a number that may have a fraction, as `%g`.
    pub(super) fn general(&self, number: f64, bytes: &mut Vec<u8>) {
        let int = |size: usize| i32::try_from(size).unwrap_or(i32::MAX);
        let precision = self.precision.map(int);
        number::general(self.flags, int(self.width), precision, number, bytes);
    }

    /// Puts zeros in front of the digits, which begin at `digits`.
    fn fill_with_zeros(&self, bytes: &mut Vec<u8>, start: usize, digits: usize) {
        let wanted = match self.precision {
            Some(precision) => precision,
            None if self.flags.zero && !self.flags.left => {
                self.width.saturating_sub(digits - start)
            }
            None => 0,
        };
        fill(bytes, digits, wanted, b'0');
    }

    fn pad(&self, bytes: &mut Vec<u8>, start: usize) {
        if self.flags.left {
            let wanted = start.saturating_add(self.width);
            if bytes.len() < wanted {
                bytes.resize(wanted, b' ');
            }
        } else {
            fill(bytes, start, self.width, b' ');
        }
    }
}

/// Makes what begins at `start` as long as `wanted` by putting `byte` in front of it.
fn fill(bytes: &mut Vec<u8>, start: usize, wanted: usize, byte: u8) {
    let missing = wanted.saturating_sub(bytes.len() - start);
    if missing > 0 {
        let end = bytes.len();
        bytes.resize(end + missing, byte);
        bytes.copy_within(start..end, start + missing);
        bytes[start..start + missing].fill(byte);
    }
}

/// The number in some digits, more than [`MOST`] if it is too large.
fn number_of(digits: &[u8]) -> usize {
    digits.iter().fold(0_usize, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Spec {
        let (spec, len) = Spec::read(text.as_bytes());
        assert_eq!(len, text.len() - 1, "{text}");
        spec.unwrap_or_default()
    }

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = b":".to_vec();
        write(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn texts() {
        for (text, expected) in [
            ("s", ":abc"),
            ("5s", ":  abc"),
            ("-5s", ":abc  "),
            ("05s", ":  abc"),
            (".2s", ":ab"),
            ("4.1s", ":   a"),
            (".s", ":"),
            ("+ #s", ":abc"),
        ] {
            let found = written(|bytes| {
                bytes.extend_from_slice(b"abc");
                spec(text).fit(bytes, 1);
            });
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn numbers() {
        for (text, decimal, octal) in [
            ("d", ":7", ":7"),
            ("05d", ":00007", ":00007"),
            ("-05d", ":7    ", ":7    "),
            ("+5d", ":   +7", ":    7"),
            ("+05d", ":+0007", ":00007"),
            (" d", ": 7", ":7"),
            (".3d", ":007", ":007"),
            ("05.3d", ":  007", ":  007"),
            ("#d", ":7", ":07"),
            ("#.3d", ":007", ":007"),
            ("#.1d", ":7", ":07"),
        ] {
            assert_eq!(written(|it| spec(text).decimal(7, it)), decimal, "{text}");
            assert_eq!(written(|it| spec(text).octal(7, it)), octal, "{text}");
        }
        for (text, decimal, octal) in [("d", ":0", ":0"), (".0d", ":", ":"), ("#.0d", ":", ":0")] {
            assert_eq!(written(|it| spec(text).decimal(0, it)), decimal, "{text}");
            assert_eq!(written(|it| spec(text).octal(0, it)), octal, "{text}");
        }
    }
}
