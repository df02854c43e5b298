//! How often tests are expected to be true, as GNU find 4.9 estimates it.
//!
//! Nothing here is tuned: the numbers decide in which order GNU evaluates tests of equal cost, and
//! this order shows where a file cannot be stat'ed.

/// The chance that a test is true.
pub(crate) type Chance = f32;

/// Into the range of a probability.
pub(crate) fn clamp(chance: Chance) -> Chance {
    chance.clamp(0.0, 1.0)
}

/// For a test by pattern.
pub(crate) fn of_pattern(pattern: &[u8]) -> Chance {
    if pattern.iter().any(|byte| b"*?[".contains(byte)) {
        0.8
    } else {
        0.1
    }
}

/// For a test by regular expression.
pub(crate) fn of_regex(pattern: &[u8]) -> Chance {
    if pattern.contains(&b'.') {
        0.8
    } else {
        of_pattern(pattern)
    }
}

/// For a test against a moment, `seconds` since 1970; the last day began at `day_start`.
pub(crate) fn of_age(seconds: i64, day_start: i64) -> Chance {
    of_days(day_start.saturating_sub(seconds) / 86_400)
}

/// For a test against an age.
pub(crate) fn of_days(days: i64) -> Chance {
    match days {
        ..=0 => 0.01,
        1..=100 => 0.39,
        _ => 0.3,
    }
}

/// For the types that `-type` knows.
pub(crate) fn of_type(letter: u8) -> Chance {
    match letter {
        b'b' => 0.000_888,
        b'c' => 0.000_443,
        b'd' => 0.0922,
        b'f' => 0.875,
        b'l' => 0.0311,
        b'p' => 7.554e-6,
        b's' => 1.59e-5,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        const START: i64 = 1_000_000_000;
        assert!(of_age(START - 86_399, START) < 0.02);
        assert!(of_age(START - 2 * 86_400, START) > 0.38);
        assert!((of_age(START - 400 * 86_400, START) - 0.3).abs() < 0.001);
        assert!(of_age(i64::MIN, START) > 0.0);
    }
}
