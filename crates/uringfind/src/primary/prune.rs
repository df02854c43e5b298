//! `-prune`.

use fscall::{FileType, StatxMask};

use super::{Doc, Effect, Entry, Needs, Parsed, Predicate, Primary};
use crate::file::File;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "prune",
    doc: Doc::action("", "do not go into this directory").tested_in("walk"),
    parse: |parser, _| {
        // What comes after its contents is not looked at.
        let needs = if parser.options.contents_first {
            Needs::Nothing
        } else {
            Needs::Stat(StatxMask::TYPE)
        };
        let prune = Prune {
            stats: needs != Needs::Nothing,
        };
        Ok(Parsed::Predicate(Predicate::action(
            prune,
            needs,
            Effect::Prunes,
        )))
    },
}];

/// Keeps the walk out of a directory. True, unless the file cannot be stat'ed: GNU find does so for
/// any file that gets here.
#[derive(Debug)]
struct Prune {
    stats: bool,
}

impl Primary for Prune {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        if !self.stats {
            return true;
        }
        let Some(answer) = file.stat() else {
            return false;
        };
        if answer.file_type().is_some_and(FileType::is_dir) {
            file.prune = true;
        }
        true
    }
}
