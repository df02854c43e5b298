//! `-newer`, and the names of its relatives `-newerXY`.

use fscall::{CWD, Statx, StatxFlags, StatxMask, Timestamp};

use super::{Entry, Kind, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate;
use crate::failure::Failure;
use crate::file::File;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "newer",
    kind: Kind::Other,
    parse: |parser, _| {
        let reference = modified(parser.argument()?)?;
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

/// When the reference file was modified. A symbolic link is not followed.
fn modified(reference: &[u8]) -> Result<Timestamp, Failure> {
    let answer = fscall::with_c_path(reference, |path| {
        fscall::statx(
            CWD,
            Some(path),
            StatxFlags::SYMLINK_NOFOLLOW,
            StatxMask::MTIME,
        )
    });
    let answer =
        answer.map_err(|error| Failure::file(reference, error.raw_os_error().unwrap_or(0)))?;
    // Every file system has this one; the kernel would give zeroes to find, too.
    Ok(answer.mtime().unwrap_or(Timestamp { sec: 0, nsec: 0 }))
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
