//! `-size`.

use fscall::{Statx, StatxMask};

use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate::Chance;
use crate::failure::Failure;
use crate::file::File;
use crate::parse::{Comparison, Parser};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "size",
    doc: Doc::test(
        "[+-]N[bckMGw]",
        "takes N blocks of 512 bytes, or bytes, KiB, MiB, GiB, words of 2 bytes; \
         a part counts as a whole",
    )
    .in_bfs("T and P as well")
    .tested_in("walk"),
    parse,
}];

fn parse(parser: &mut Parser<'_>, _typed: &[u8]) -> Result<Parsed, Refusal> {
    let argument = parser.argument()?;
    let Some((&last, without_unit)) = argument.split_last() else {
        return Err(Failure::new(&b"invalid null argument to -size"[..]).into());
    };
    let (unit, number) = match last {
        b'b' => (512, without_unit),
        b'c' => (1, without_unit),
        b'w' => (2, without_unit),
        b'k' => (1024, without_unit),
        b'M' => (1024 * 1024, without_unit),
        b'G' => (1024 * 1024 * 1024, without_unit),
        b'0'..=b'9' => (512, argument),
        other => return Err(Failure::of(&[b"invalid -size type `", &[other], b"'"]).into()),
    };
    let Some((comparison, count)) = Comparison::parse(number) else {
        return Err(Failure::of(&[b"Invalid argument `", argument, b"' to -size"]).into());
    };
    let size = Size {
        comparison,
        unit,
        count,
    };
    let chance = size.chance();
    Ok(Parsed::Predicate(Predicate::test(
        size,
        Needs::Stat(StatxMask::SIZE),
        chance,
    )))
}

/// The size, in units rounded up, compares to a number.
#[derive(Debug)]
struct Size {
    comparison: Comparison,
    /// Bytes.
    unit: u64,
    count: u64,
}

impl Size {
    fn chance(&self) -> Chance {
        let large = self.count.wrapping_mul(self.unit) > 20_480;
        match (self.comparison, large) {
            (Comparison::Exactly, _) => 0.01,
            (Comparison::More, true) | (Comparison::Less, false) => 0.1,
            (Comparison::More, false) | (Comparison::Less, true) => 0.9,
        }
    }
}

impl Primary for Size {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let size = file.stat().and_then(Statx::size);
        size.is_some_and(|bytes| self.comparison.holds(bytes.div_ceil(self.unit), self.count))
    }
}
