//! Drawing lots.

use fastrand::Rng;

/// One time out of so many.
pub(crate) fn one_in(random: &mut Rng, count: usize) -> bool {
    random.usize(..count) == 0
}

/// One of them.
pub(crate) fn pick<'a, T: ?Sized>(random: &mut Rng, from: &[&'a T]) -> &'a T {
    from[random.usize(..from.len())]
}
