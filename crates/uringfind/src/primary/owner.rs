//! `-uid`, `-gid`, `-user`, `-group`, `-nouser` and `-nogroup`.

use fscall::{Statx, StatxMask};
use hostproc::names;

use super::number::{comparison, int};
use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate::Chance;
use crate::failure::Failure;
use crate::file::File;
use crate::parse::{Comparison, Parser};
use crate::quote::quote;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "uid",
        doc: Doc::test("[+-]N", "the number of its owner is N").tested_in("stat_tests"),
        parse: |parser, typed| by_number(parser, typed, Who::User),
    },
    Entry {
        name: "gid",
        doc: Doc::test("[+-]N", "the number of its group is N").tested_in("stat_tests"),
        parse: |parser, typed| by_number(parser, typed, Who::Group),
    },
    Entry {
        name: "user",
        doc: Doc::test("USER", "belongs to USER, a name or a number").tested_in("stat_tests"),
        parse: |parser, _| {
            let uid = user(parser.argument()?)?;
            Ok(Who::User.test(Comparison::Exactly, uid.into(), likely(uid.into())))
        },
    },
    Entry {
        name: "group",
        doc: Doc::test("GROUP", "belongs to GROUP, a name or a number").tested_in("stat_tests"),
        parse: |parser, _| {
            let gid = group(parser.argument()?)?;
            // GNU find looks at the wrong number for its estimate, which is always 0.
            Ok(Who::Group.test(Comparison::Exactly, gid.into(), likely(0)))
        },
    },
    Entry {
        name: "nouser",
        doc: Doc::test("", "its owner has no name").tested_in("stat_tests"),
        parse: |_, _| Ok(nameless(Who::User, 1e-3)),
    },
    Entry {
        name: "nogroup",
        doc: Doc::test("", "its group has no name").tested_in("stat_tests"),
        parse: |_, _| Ok(nameless(Who::Group, 1e-4)),
    },
];

/// One of a file's two owners.
#[derive(Clone, Copy, Debug)]
enum Who {
    User,
    Group,
}

impl Who {
    fn needs(self) -> Needs {
        Needs::Stat(match self {
            Self::User => StatxMask::UID,
            Self::Group => StatxMask::GID,
        })
    }

    /// The owner's number.
    fn of(self, file: &mut File<'_>) -> Option<u32> {
        let of = match self {
            Self::User => Statx::uid,
            Self::Group => Statx::gid,
        };
        file.stat().and_then(of)
    }

    fn test(self, comparison: Comparison, id: u64, chance: Chance) -> Parsed {
        let owner = Owner {
            who: self,
            comparison,
            id,
        };
        Parsed::Predicate(Predicate::test(owner, self.needs(), chance))
    }
}

fn likely(id: u64) -> Chance {
    if id < 100 { 0.99 } else { 0.2 }
}

fn by_number(parser: &mut Parser<'_>, typed: &[u8], who: Who) -> Result<Parsed, Refusal> {
    let (comparison, id) = comparison(parser, typed)?;
    Ok(who.test(comparison, id, likely(id)))
}

fn nameless(who: Who, chance: Chance) -> Parsed {
    Parsed::Predicate(Predicate::test(Nameless(who), who.needs(), chance))
}

/// The number of the user with this name, or, if there is none, this number.
fn user(name: &[u8]) -> Result<u32, Failure> {
    match names::user_id(name) {
        Some(uid) => Ok(uid),
        None if name.is_empty() => Err(Failure::new(
            &b"The argument to -user should not be empty"[..],
        )),
        None if name.iter().all(u8::is_ascii_digit) => int(name),
        None => Err(Failure::of(&[
            &quote(name),
            b" is not the name of a known user",
        ])),
    }
}

/// The number of the group with this name, or, if there is none, this number.
fn group(name: &[u8]) -> Result<u32, Failure> {
    if let Some(gid) = names::group_id(name) {
        return Ok(gid);
    }
    if name.is_empty() {
        return Err(Failure::new(
            &b"argument to -group is empty, but should be a group name"[..],
        ));
    }
    let unknown = [&quote(name), &b" is not the name of an existing group"[..]].concat();
    let digits = name.iter().take_while(|it| it.is_ascii_digit()).count();
    match name.split_at(digits) {
        (_, []) => int(name),
        ([], _) => Err(Failure::new(unknown)),
        (_, suffix) => Err(Failure::of(&[
            &unknown,
            b" and it does not look like a numeric group ID because it has the unexpected suffix ",
            &quote(suffix),
        ])),
    }
}

/// The owner's number compares to another.
#[derive(Debug)]
struct Owner {
    who: Who,
    comparison: Comparison,
    id: u64,
}

impl Primary for Owner {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let id = self.who.of(file);
        id.is_some_and(|id| self.comparison.holds(id.into(), self.id))
    }
}

/// The owner has no name.
#[derive(Debug)]
struct Nameless(Who);

impl Primary for Nameless {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let name = match self.0 {
            Who::User => names::user_name,
            Who::Group => names::group_name,
        };
        self.0.of(file).is_some_and(|id| name(id).is_none())
    }
}
