//! `-samefile`.

use std::os::fd::OwnedFd;

use fscall::{CWD, OFlags, Statx, StatxFlags, StatxMask};

use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::file::File;
use crate::parse::Parser;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "samefile",
    doc: Doc::test("FILE", "is FILE, by this or another name").tested_in("links"),
    parse: |parser, _| parse(parser),
}];

fn parse(parser: &mut Parser<'_>) -> Result<Parsed, Refusal> {
    let path = parser.argument()?;
    let mut reference = parser.stat_reference(path, StatxMask::INO)?;
    let held = hold(path, parser.options.follow.at(0));
    if let Some((_, now)) = &held {
        // Another file may have taken the name meanwhile.
        reference = *now;
    }
    let same = SameFile {
        dev: reference.dev(),
        inode: reference.ino().unwrap_or(0),
        _held: held.map(|(file, _)| file),
    };
    Ok(Parsed::Predicate(Predicate::test(
        same,
        Needs::Stat(StatxMask::INO),
        0.01,
    )))
}

/// Keeps hold of the file, so that its inode cannot be removed and become another file's.
fn hold(path: &[u8], follows: bool) -> Option<(OwnedFd, Statx)> {
    let flags = if follows {
        OFlags::PATH
    } else {
        OFlags::PATH | OFlags::NOFOLLOW
    };
    let file = fscall::with_c_path(path, |path| fscall::openat(CWD, path, flags)).ok()?;
    let mask = StatxMask::INO | StatxMask::TYPE;
    let answer = fscall::statx_fd(std::os::fd::AsFd::as_fd(&file), StatxFlags::empty(), mask);
    Some((file, answer.ok()?))
}

/// Another name of the same file.
#[derive(Debug)]
struct SameFile {
    dev: u64,
    inode: u64,
    _held: Option<OwnedFd>,
}

impl Primary for SameFile {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let is_same = |it: &Statx| it.ino() == Some(self.inode) && it.dev() == self.dev;
        file.stat().is_some_and(is_same)
    }
}
