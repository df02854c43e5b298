//! `-inum` and `-links`.

use fscall::{Statx, StatxMask};

use super::number::comparison;
use super::{Doc, Entry, Needs, Parsed, Predicate, Primary};
use crate::file::File;
use crate::parse::Comparison;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "inum",
        doc: Doc::test("[+-]N", "the number of its inode is N").tested_in("stat_tests"),
        parse: |parser, typed| {
            let (comparison, number) = comparison(parser, typed)?;
            Ok(Parsed::Predicate(Predicate::test(
                Inode(comparison, number),
                Needs::Inode,
                1e-6,
            )))
        },
    },
    Entry {
        name: "links",
        doc: Doc::test("[+-]N", "has N names (hard links)").tested_in("stat_tests"),
        parse: |parser, typed| {
            let (comparison, number) = comparison(parser, typed)?;
            let chance = match number {
                1 => 0.99,
                2 => 0.01,
                _ => 1e-3,
            };
            Ok(Parsed::Predicate(Predicate::test(
                Links(comparison, number),
                Needs::Stat(StatxMask::NLINK),
                chance,
            )))
        },
    },
];

/// The inode's number compares to another.
#[derive(Debug)]
struct Inode(Comparison, u64);

impl Primary for Inode {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        file.inode()
            .is_some_and(|inode| self.0.holds(inode, self.1))
    }
}

/// The number of names of the inode compares to another.
#[derive(Debug)]
struct Links(Comparison, u64);

impl Primary for Links {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let links = file.stat().and_then(Statx::nlink);
        links.is_some_and(|links| self.0.holds(links.into(), self.1))
    }
}
