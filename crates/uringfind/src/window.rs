//! Spans of time on the command line: numbers of minutes or days, with GNU find's arithmetic.
//!
//! Numbers may have fractions, and are C's floating-point numbers. The arithmetic is done in them as
//! well, so that the edges lie where GNU's do, to the nanosecond.

use fscall::Timestamp;

use crate::parse::Comparison;

/// Before, after or within a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    /// As it was typed: more is older.
    age: Comparison,
    edge: Edge,
    /// Seconds.
    width: f64,
}

/// Why an argument is no [`Window`].
#[derive(Debug, PartialEq)]
pub(crate) enum Misfit<'a> {
    Number,
    /// This number leads out of the range of times.
    Overflow(&'a [u8]),
}

/// A moment. The nanoseconds may be more than a second's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    sec: i64,
    nsec: i64,
}

impl Window {
    /// Reads `[+-]NUMBER` of units of `unit` seconds, counted back from `origin`.
    #[expect(clippy::cast_precision_loss, reason = "GNU's arithmetic is this")]
    #[expect(clippy::cast_possible_truncation, reason = "a fraction of a second")]
    pub(crate) fn parse(text: &[u8], origin: Timestamp, unit: f64) -> Result<Self, Misfit<'_>> {
        let (age, number) = Comparison::split(text);
        let units = float(number).ok_or(Misfit::Number)?;
        let seconds = (units * unit).trunc();
        let nanoseconds = if (units * unit).is_infinite() {
            0.0
        } else {
            (units * unit - seconds) * 1.0e9
        };
        let mut edge = Edge {
            sec: to_integer(origin.sec as f64 - seconds),
            nsec: (f64::from(origin.nsec) - nanoseconds) as i64,
        };
        if (origin.sec < edge.sec) != (seconds < 0.0) {
            return Err(Misfit::Overflow(number));
        }
        if f64::from(origin.nsec) < nanoseconds {
            edge.nsec += 1_000_000_000;
            edge.sec = edge.sec.wrapping_sub(1);
        }
        Ok(Self {
            age,
            edge,
            width: unit,
        })
    }

    /// Its edge, in seconds since 1970.
    pub(crate) fn seconds(&self) -> i64 {
        self.edge.sec
    }

    /// Whether it has `moment`.
    #[expect(clippy::cast_precision_loss, reason = "GNU's arithmetic is this")]
    pub(crate) fn contains(&self, moment: Timestamp) -> bool {
        let moment = Edge {
            sec: moment.sec,
            nsec: moment.nsec.into(),
        };
        let distance = moment.sec as f64 - self.edge.sec as f64
            + 1.0e-9 * (moment.nsec - self.edge.nsec) as f64;
        match self.age {
            Comparison::More => distance < 0.0,
            Comparison::Less => moment != self.edge && distance >= 0.0,
            Comparison::Exactly => distance > 0.0 && distance <= self.width,
        }
    }
}

/// As machines convert in C: what does not fit is the least integer.
#[expect(clippy::cast_possible_truncation, reason = "checked")]
fn to_integer(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

/// Reads a number as C's `strtod`, in decimal or hexadecimal, which must fit. What is not a number
/// (`nan`) is refused.
fn float(text: &[u8]) -> Option<f64> {
    let text = str::from_utf8(text).ok()?;
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(hexadecimal) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        let value = hexadecimal_float(hexadecimal)?;
        return Some(if text.starts_with('-') { -value } else { value });
    }
    let value: f64 = text.parse().ok()?;
    let is_named = digits.starts_with(['i', 'I']);
    let fits = value == 0.0 || value.is_normal() || is_named;
    (fits && !value.is_nan()).then_some(value)
}

/// Reads `HEX[.HEX][pEXPONENT]`. More digits than an integer has are refused.
#[expect(clippy::cast_precision_loss, reason = "as many bits as there are")]
fn hexadecimal_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let value = u64::from_str_radix(&digits, 16).ok()? as f64;
    let shift = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    let value = value * f64::from(exponent.checked_sub(shift)?).exp2();
    (value == 0.0 || value.is_normal()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    fn at(sec: i64, nsec: u32) -> Timestamp {
        Timestamp { sec, nsec }
    }

    #[test]
    fn edges_of_a_day() {
        let origin = at(1_000_000, 500);
        let day = Window::parse(b"1", origin, DAY).unwrap();
        assert!(!day.contains(at(913_600, 500)));
        assert!(day.contains(at(913_600, 501)));
        assert!(day.contains(origin));
        assert!(!day.contains(at(1_000_000, 501)));
        let older = Window::parse(b"+1", origin, DAY).unwrap();
        assert!(older.contains(at(913_600, 499)) && !older.contains(at(913_600, 500)));
        let newer = Window::parse(b"-1", origin, DAY).unwrap();
        assert!(newer.contains(at(913_600, 501)) && !newer.contains(at(913_600, 500)));
    }

    #[test]
    fn numbers() {
        for (text, value) in [
            ("1.5", 1.5),
            (" -.5", -0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("0x1.8p1", 3.0),
            ("-0x10", -16.0),
            ("inf", f64::INFINITY),
        ] {
            assert_eq!(float(text.as_bytes()), Some(value), "{text}");
        }
        for bad in [
            "", "x", "1x", "1e999", "nan", "-nan", "1e", "0x", "0xp1", "1 ", "+-1",
        ] {
            assert_eq!(float(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn out_of_range() {
        let parse = |text| Window::parse(text, at(0, 0), DAY);
        assert_eq!(parse(b"--1e30"), Err(Misfit::Overflow(b"-1e30")));
        assert!(parse(b"+1e30").is_ok());
    }
}
