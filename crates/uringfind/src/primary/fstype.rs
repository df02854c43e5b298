//! `-fstype`.

use fscall::mounts::FsTypes;
use fscall::{CWD, StatxFlags, StatxMask};

use super::constant::constant;
use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate::Chance;
use crate::failure::Failure;
use crate::file::File;
use crate::fs_type::fs_type;
use crate::order::Level;
use crate::parse::Parser;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "fstype",
    doc: Doc::test("FSTYPE", "on a file system of this type").tested_in("stat_tests"),
    parse: |parser, _| parse(parser),
}];

fn parse(parser: &mut Parser<'_>) -> Result<Parsed, Refusal> {
    let name = parser.argument()?;
    let Ok(types) = FsTypes::read() else {
        return Err(Failure::new(&b"Cannot read mounted file system list"[..]).into());
    };
    // AFS need not be in the list.
    if parser.options.level >= Level(2) && name != b"afs" && !types.contains(name) {
        return Ok(Parsed::Predicate(constant(false)));
    }
    Ok(Parsed::Predicate(Predicate::test(
        OnType(name.to_vec()),
        Needs::Stat(StatxMask::TYPE),
        chance(name),
    )))
}

/// Most files are expected where `/` is.
fn chance(name: &[u8]) -> Chance {
    let flags = StatxFlags::NO_AUTOMOUNT;
    match fscall::statx(CWD, Some(c"/"), flags, StatxMask::TYPE) {
        Ok(root) if fs_type(&root) == name => 0.7,
        Ok(_) => 0.3,
        Err(_) => 1.0,
    }
}

/// On a file system of this type.
#[derive(Debug)]
struct OnType(Vec<u8>);

impl Primary for OnType {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        file.stat().is_some_and(|it| fs_type(it) == self.0)
    }
}
