//! Times as text.

use fscall::Timestamp;
use hostproc::LocalTime;

use super::directive::Shape;
use super::write_number;

const WEEKDAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];

const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// Appends a time.
pub(super) fn write_time(time: Timestamp, shape: Shape, out: &mut Vec<u8>) {
    let local = match shape {
        Shape::Epoch => None,
        _ => LocalTime::new(time.sec),
    };
    let Some(local) = local else {
        // A year out of reach is shown as seconds, too.
        if time.sec < 0 {
            out.push(b'-');
        }
        write_number(time.sec.unsigned_abs(), out);
        if has_fraction(shape) {
            write_fraction(time, out);
        }
        return;
    };
    match shape {
        Shape::Epoch => {}
        Shape::Whole => write_whole(&local, time, out),
        Shape::DatePlusTime if has_plain_year(&local) => {
            write_year(&local, out);
            let two = |number: u8, out: &mut Vec<u8>| {
                out.push(b'-');
                write_two(number, out);
            };
            two(month(&local), out);
            two(local.day(), out);
            out.push(b'+');
            write_clock(&local, out);
            write_fraction(time, out);
        }
        Shape::DatePlusTime => write_by_c_library(&local, b"%Y-%m-%d+%T", Some(time), out),
        Shape::Letter(letter) => match letter {
            b'Y' if has_plain_year(&local) => write_year(&local, out),
            b'm' => write_two(month(&local), out),
            b'd' => write_two(local.day(), out),
            b'H' => write_two(local.hour(), out),
            b'M' => write_two(local.minute(), out),
            b'S' => {
                write_two(local.second(), out);
                write_fraction(time, out);
            }
            b'T' => {
                write_clock(&local, out);
                write_fraction(time, out);
            }
            _ => {
                let fraction = has_fraction(shape).then_some(time);
                write_by_c_library(&local, &[b'%', letter], fraction, out);
            }
        },
    }
}

/// Whether the seconds have a fraction.
fn has_fraction(shape: Shape) -> bool {
    match shape {
        Shape::Whole | Shape::Epoch | Shape::DatePlusTime => true,
        Shape::Letter(letter) => matches!(letter, b'S' | b'T' | b'X'),
    }
}

/// English, whatever the locale.
fn write_whole(local: &LocalTime, time: Timestamp, out: &mut Vec<u8>) {
    out.extend_from_slice(WEEKDAYS.get(local.weekday()).copied().unwrap_or(b"???"));
    out.push(b' ');
    out.extend_from_slice(MONTHS.get(local.month()).copied().unwrap_or(b"???"));
    out.push(b' ');
    let day = local.day();
    if day < 10 {
        out.push(b' ');
    }
    write_number(day.into(), out);
    out.push(b' ');
    write_clock(local, out);
    write_fraction(time, out);
    out.push(b' ');
    match local.year() {
        1000..=9999 => write_year(local, out),
        // Where years end, the C library begins again.
        10_000.. => local.format(c"%Y", out),
        year => out.extend_from_slice(format!("{year:04}").as_bytes()),
    }
}

/// What strftime(3) makes of `format`. Where seconds stand in it, which are found by trying others, the
/// fraction of `time` comes behind them.
fn write_by_c_library(
    local: &LocalTime,
    format: &[u8],
    time: Option<Timestamp>,
    out: &mut Vec<u8>,
) {
    let mut c_format = [0; 16];
    for (place, byte) in c_format.iter_mut().zip(format) {
        *place = *byte;
    }
    let Ok(format) = std::ffi::CStr::from_bytes_until_nul(&c_format) else {
        return;
    };
    let start = out.len();
    local.format(format, out);
    let Some(time) = time else { return };
    let second = local.second();
    // Both digits are other ones.
    let other = if second >= 11 {
        second - 11
    } else {
        second + 11
    };
    let mut others = Vec::new();
    local.with_second(other).format(format, &mut others);
    if let Some(end) = end_of_seconds(&out[start..], &others) {
        let behind = out.split_off(start + end);
        write_fraction(time, out);
        out.extend_from_slice(&behind);
    }
}

/// Where the two digits end that are all the difference between two texts.
fn end_of_seconds(one: &[u8], other: &[u8]) -> Option<usize> {
    if one.len() != other.len() {
        return None;
    }
    let differs = |&at: &usize| one[at] != other[at];
    let first = (0..one.len()).find(differs)?;
    let end = (first..one.len()).rfind(differs)? + 1;
    let digits = |text: &[u8]| text[first..end].iter().all(u8::is_ascii_digit);
    let stands_alone = one.get(end).is_none_or(|byte| !byte.is_ascii_digit());
    (end - first == 2 && digits(one) && digits(other) && stands_alone).then_some(end)
}

/// Whether the year has four digits, as `%Y` shows it.
fn has_plain_year(local: &LocalTime) -> bool {
    (1000..=9999).contains(&local.year())
}

fn write_year(local: &LocalTime, out: &mut Vec<u8>) {
    write_number(local.year().unsigned_abs(), out);
}

/// From 1.
fn month(local: &LocalTime) -> u8 {
    u8::try_from(local.month() + 1).unwrap_or(0)
}

fn write_clock(local: &LocalTime, out: &mut Vec<u8>) {
    write_two(local.hour(), out);
    out.push(b':');
    write_two(local.minute(), out);
    out.push(b':');
    write_two(local.second(), out);
}

fn write_two(number: u8, out: &mut Vec<u8>) {
    out.extend([b'0' + number / 10, b'0' + number % 10]);
}

/// A point, the nanoseconds, and a zero: GNU find keeps scripts from counting on nine digits.
fn write_fraction(time: Timestamp, out: &mut Vec<u8>) {
    let mut digits = *b".0000000000";
    let mut rest = time.nsec;
    for place in digits[1..10].iter_mut().rev() {
        *place = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    out.extend_from_slice(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sec: i64, nsec: u32, shape: Shape) -> String {
        let mut out = Vec::new();
        write_time(Timestamp { sec, nsec }, shape, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn seconds() {
        assert_eq!(text(0, 0, Shape::Epoch), "0.0000000000");
        assert_eq!(text(-2, 500_000_000, Shape::Epoch), "-2.5000000000");
        assert_eq!(
            text(i64::MIN, 1, Shape::Epoch),
            "-9223372036854775808.0000000010"
        );
        assert_eq!(
            text(i64::MAX, 7, Shape::Whole),
            "9223372036854775807.0000000070"
        );
        assert_eq!(
            text(i64::MAX, 7, Shape::Letter(b'Y')),
            "9223372036854775807"
        );
    }

    #[test]
    fn the_short_way_and_the_c_librarys_agree() {
        let local = |sec| LocalTime::new(sec).unwrap();
        for sec in [0, 1, 951_782_399, 1_700_000_059, -1] {
            let time = Timestamp { sec, nsec: 123 };
            for (letter, fraction) in [
                (b'Y', None),
                (b'm', None),
                (b'd', None),
                (b'H', None),
                (b'M', None),
                (b'S', Some(time)),
                (b'T', Some(time)),
            ] {
                let mut out = Vec::new();
                write_by_c_library(&local(sec), &[b'%', letter], fraction, &mut out);
                assert_eq!(text(sec, 123, Shape::Letter(letter)).as_bytes(), out);
            }
            let mut out = Vec::new();
            write_by_c_library(&local(sec), b"%Y-%m-%d+%T", Some(time), &mut out);
            assert_eq!(text(sec, 123, Shape::DatePlusTime).as_bytes(), out);
        }
    }

    #[test]
    fn seconds_are_found() {
        assert_eq!(end_of_seconds(b"10:20:30 PM", b"10:20:19 PM"), Some(8));
        assert_eq!(end_of_seconds(b"1030", b"1019"), Some(4));
        assert_eq!(end_of_seconds(b"30 30", b"19 19"), None);
        assert_eq!(end_of_seconds(b"300", b"190"), None);
        assert_eq!(end_of_seconds(b"same", b"same"), None);
    }
}
