//! Seconds since 1970, as behind `@`.

use fscall::Timestamp;

/// Reads `[+-]SECONDS[.FRACTION]`.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim_matches(super::words::is_blank);
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    seconds(digits.trim_start_matches(super::words::is_blank), negative)
}

/// Reads digits with a fraction behind a point or comma. What is finer than a nanosecond is rounded
/// down.
pub(super) fn seconds(text: &str, negative: bool) -> Option<Timestamp> {
    let (whole, fraction) = match text.split_once(['.', ',']) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !all_digits(whole) || !fraction.is_none_or(all_digits) {
        return None;
    }
    let fraction = fraction.unwrap_or_default();
    let (shown, finer) = fraction.split_at(fraction.len().min(9));
    let nanoseconds: i128 = format!("{shown:0<9}").parse().ok()?;
    let total = whole
        .parse::<u64>()
        .map(i128::from)
        .ok()?
        .checked_mul(1_000_000_000)?
        + nanoseconds;
    let total = if negative {
        -total - i128::from(finer.bytes().any(|digit| digit != b'0'))
    } else {
        total
    };
    Some(Timestamp {
        sec: total.div_euclid(1_000_000_000).try_into().ok()?,
        nsec: total.rem_euclid(1_000_000_000).try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_round_down() {
        let at = |sec, nsec| Some(Timestamp { sec, nsec });
        assert_eq!(parse("1.5"), at(1, 500_000_000));
        assert_eq!(parse(" -0,25 "), at(-1, 750_000_000));
        assert_eq!(parse("-1.0000000001"), at(-2, 999_999_999));
        assert_eq!(parse("1.0000000019"), at(1, 1));
        assert_eq!(parse("-9223372036854775808"), at(i64::MIN, 0));
        for bad in [
            "",
            "-",
            ".5",
            "5.",
            "9223372036854775808",
            "1e3",
            "1 day",
            "--1",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
