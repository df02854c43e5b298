//! `-used`.

use fscall::{Statx, StatxMask, Timestamp};

use super::age::overflow;
use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate;
use crate::failure::Failure;
use crate::file::File;
use crate::parse::Parser;
use crate::window::{Misfit, Window};

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "used",
    doc: Doc::test("[+-]N", "accessed N days after its status changed").tested_in("times"),
    parse,
}];

fn parse(parser: &mut Parser<'_>, _typed: &[u8]) -> Result<Parsed, Refusal> {
    let argument = parser.argument()?;
    let window =
        Window::parse(argument, Timestamp::default(), 86_400.0).map_err(|misfit| match misfit {
            Misfit::Number => Failure::of(&[b"Invalid argument ", argument, b" to -used"]),
            Misfit::Overflow(number) => overflow(number, b"days"),
        })?;
    let chance = estimate::of_days(window.seconds() / 86_400);
    Ok(Parsed::Predicate(Predicate::test(
        Used(window),
        Needs::Stat(StatxMask::ATIME | StatxMask::CTIME),
        chance,
    )))
}

/// The file was read so long after its inode was changed.
#[derive(Debug)]
struct Used(Window);

impl Primary for Used {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let times = |answer: &Statx| {
            (
                answer.atime().unwrap_or_default(),
                answer.ctime().unwrap_or_default(),
            )
        };
        file.stat().map(times).is_some_and(|(read, changed)| {
            read >= changed && self.0.contains(difference(changed, read))
        })
    }
}

fn difference(left: Timestamp, right: Timestamp) -> Timestamp {
    let (nsec, borrowed) = match left.nsec.checked_sub(right.nsec) {
        Some(nsec) => (nsec, 0),
        None => (left.nsec + 1_000_000_000 - right.nsec, 1),
    };
    Timestamp {
        sec: left.sec.wrapping_sub(right.sec).wrapping_sub(borrowed),
        nsec,
    }
}
