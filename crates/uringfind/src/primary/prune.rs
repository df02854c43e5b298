//! `-prune`.

use fscall::{FileType, StatxMask};

use super::{Effect, Entry, Kind, Needs, Parsed, Predicate, Primary};
use crate::file::File;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "prune",
    kind: Kind::Other,
    parse: |_, _| {
        Ok(Parsed::Predicate(Predicate::action(
            Prune,
            Needs::Stat(StatxMask::TYPE),
            Effect::Prunes,
        )))
    },
}];

/// Keeps the walk out of a directory. True, unless the file cannot be stat'ed: GNU find does so for
/// any file that gets here.
#[derive(Debug)]
struct Prune;

impl Primary for Prune {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let Some(answer) = file.stat() else {
            return false;
        };
        if answer.file_type().is_some_and(FileType::is_dir) {
            file.prune = true;
        }
        true
    }
}
