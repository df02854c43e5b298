//! Drawing lots, and what chooses them.

use fastrand::Rng;

/// One time out of so many.
pub(crate) fn one_in(random: &mut Rng, count: usize) -> bool {
    random.usize(..count) == 0
}

/// One of them.
pub(crate) fn pick<'a, T: ?Sized>(random: &mut Rng, from: &[&'a T]) -> &'a T {
    from[random.usize(..from.len())]
}

/// The number in a variable of the environment, such as `URINGFIND_SEED`.
pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .map_or(default, |text| text.parse().expect(variable))
}
