//! Where in the walk's order a directory lies, as a number.

/// The part of the line from the first to the last directory of a walk that belongs to one
/// directory and all below it. Comparing the beginnings of two spans tells which comes first.
///
/// Each directory hands out its span to its sub-directories, so a very deep or very wide tree uses
/// it up, and those below share a place: whoever goes by spans must not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    from: u128,
    to: u128,
}

impl Span {
    pub(crate) const ALL: Self = Self {
        from: 0,
        to: u128::MAX,
    };

    /// Its place among others.
    pub(crate) fn place(self) -> u128 {
        self.from
    }

    /// Splits off the first half, and leaves the other for what comes later.
    pub(crate) fn take_half(&mut self) -> Self {
        let middle = self.from + (self.to - self.from) / 2;
        let first = Self {
            from: self.from,
            to: middle,
        };
        self.from = middle;
        first
    }

    /// The `index`th of `count` equal parts.
    pub(crate) fn part(self, index: usize, count: usize) -> Self {
        let width = (self.to - self.from) / (count as u128).max(1);
        let from = self.from + width * index as u128;
        Self {
            from,
            to: from + width,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_in_order_within_the_whole() {
        let mut whole = Span::ALL;
        for _ in 0..200 {
            let first = whole.take_half();
            assert!(first.from <= first.to && first.to <= whole.from && whole.from <= whole.to);
            let parts: Vec<_> = (0..7).map(|index| first.part(index, 7)).collect();
            assert!(
                parts
                    .iter()
                    .all(|part| part.from >= first.from && part.to <= first.to)
            );
            assert!(parts.windows(2).all(|pair| pair[0].to <= pair[1].from));
            whole = parts[3];
        }
    }
}
