//! `-perm`.

use fscall::{FileType, StatxMask};

use super::mode::Mode;
use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::failure::Failure;
use crate::file::File;
use crate::parse::Parser;
use crate::quote::quote;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "perm",
    doc: Doc::test(
        "[-/]MODE",
        "its permissions are MODE, with - all of it, with / any of it",
    )
    .tested_in("stat_tests"),
    parse: |parser, _| parse(parser),
}];

fn parse(parser: &mut Parser<'_>) -> Result<Parsed, Refusal> {
    let argument = parser.argument()?;
    let (mut which, mut chance, text) = match argument {
        [b'-', text @ ..] => (Which::All, 0.2, text),
        [b'/', text @ ..] => (Which::Any, 0.3, text),
        _ => (Which::Exactly, 0.01, argument),
    };
    // To chmod a plus and a number is something else than it once was here.
    let is_obsolete = matches!(argument, [b'+', b'0'..=b'7', ..]);
    let Some(mode) = Mode::parse(text).filter(|_| !is_obsolete) else {
        return Err(Failure::of(&[b"invalid mode ", &quote(argument)]).into());
    };
    let (file, directory) = (mode.of(false), mode.of(true));
    if which == Which::Any && file == 0 && directory == 0 {
        parser.warn(&[
            b"warning: you have specified a mode pattern ",
            argument,
            b" (which is equivalent to /000). The meaning of -perm /000 has now been changed to be \
              consistent with -perm -000; that is, while it used to match no files, it now matches all files.",
        ]);
        (which, chance) = (Which::All, 0.9986);
    }
    let permissions = Permissions {
        which,
        file,
        directory,
    };
    Ok(Parsed::Predicate(Predicate::test(
        permissions,
        Needs::Stat(StatxMask::MODE.union(StatxMask::TYPE)),
        chance,
    )))
}

/// How many of the bits must be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// These and no others.
    Exactly,
    All,
    /// Any; all files if there are no bits.
    Any,
}

/// The permission bits are these.
#[derive(Debug)]
struct Permissions {
    which: Which,
    file: u16,
    directory: u16,
}

impl Primary for Permissions {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let Some(answer) = file.stat() else {
            return false;
        };
        let Some(bits) = answer.permission_bits() else {
            return false;
        };
        let wanted = if answer.file_type().is_some_and(FileType::is_dir) {
            self.directory
        } else {
            self.file
        };
        match self.which {
            Which::Exactly => bits == wanted,
            Which::All => bits & wanted == wanted,
            Which::Any => wanted == 0 || bits & wanted != 0,
        }
    }
}
