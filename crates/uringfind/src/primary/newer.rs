//! `-newer`, and the names of its relatives `-newerXY`.

use fscall::{Statx, StatxMask, Timestamp};

use super::{Entry, Kind, Needs, Parsed, Predicate, Primary, Refusal, reference};
use crate::estimate;
use crate::file::File;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "newer",
    kind: Kind::Other,
    parse: |parser, _| {
        let path = parser.argument()?;
        let reference = modified(&reference::stat(parser, path, StatxMask::MTIME)?);
        let chance = estimate::of_age(reference.sec, parser.now.sec);
        Ok(Parsed::Predicate(Predicate::test(
            Newer(reference),
            Needs::Stat(StatxMask::MTIME),
            chance,
        )))
    },
}];

/// `-newerXY`, whatever the two letters are.
pub(super) const XY: Entry = Entry {
    name: "newerXY",
    kind: Kind::Other,
    parse: |_, typed| match typed {
        [
            ..,
            b'a' | b'c' | b'm' | b'B',
            b'a' | b'c' | b'm' | b'B' | b't',
        ] => Err(super::not_yet::refusal(typed).into()),
        _ => Err(Refusal::Invalid),
    },
};

fn modified(reference: &Statx) -> Timestamp {
    // Every file system has this one; the kernel would give zeroes to find, too.
    reference.mtime().unwrap_or(Timestamp { sec: 0, nsec: 0 })
}

/// Modified later than the reference.
#[derive(Debug)]
struct Newer(Timestamp);

impl Primary for Newer {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        file.stat()
            .and_then(Statx::mtime)
            .is_some_and(|modified| modified > self.0)
    }
}
