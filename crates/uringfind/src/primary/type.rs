//! `-type` and `-xtype`.

use fscall::{FileType, Statx, StatxMask};

use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal, target};
use crate::estimate::{self, Chance};
use crate::failure::Failure;
use crate::file::File;
use crate::parse::Parser;

/// The letters as arguments.
const NAMES: &[&str] = &["b", "c", "d", "f", "l", "p", "s"];

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "type",
        doc: Doc::test(
            "TYPE[,TYPE...]",
            "is of a type: b (block device), c (character device), d (directory), f (file), \
             l (symbolic link), p (pipe), s (socket)",
        )
        .values(NAMES)
        .tested_in("walk"),
        parse: |parser, _| {
            let (types, chance) = argument(parser, b"-type")?;
            Ok(Parsed::Predicate(Predicate::test(
                Type(types),
                Needs::Type,
                chance,
            )))
        },
    },
    Entry {
        name: "xtype",
        doc: Doc::test(
            "TYPE[,TYPE...]",
            "as -type, of what a symbolic link leads to; with -L, of the link",
        )
        .values(NAMES)
        .tested_in("links"),
        parse: |parser, _| {
            let (types, chance) = argument(parser, b"-xtype")?;
            Ok(Parsed::Predicate(Predicate::test(
                OtherType(types),
                Needs::Stat(StatxMask::TYPE),
                chance,
            )))
        },
    },
];

fn argument(parser: &mut Parser<'_>, word: &[u8]) -> Result<(Types, Chance), Refusal> {
    let types = Types::parse(parser.argument()?, word)?;
    let chance = types.letters().map(estimate::of_type).sum();
    Ok((types, chance))
}

/// The letters of all types, each in the place of its bit in [`Types`].
const LETTERS: &[u8; 7] = b"bcdflps";

/// The place of a type in [`LETTERS`].
fn place(file_type: FileType) -> usize {
    if file_type.is_file() {
        3
    } else if file_type.is_dir() {
        2
    } else if file_type.is_symlink() {
        4
    } else if file_type.is_block_device() {
        0
    } else if file_type.is_char_device() {
        1
    } else if file_type.is_fifo() {
        5
    } else {
        6
    }
}

/// A set of types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Types(u8);

impl Types {
    /// Reads letters with commas between; `word` is whose argument it is.
    fn parse(list: &[u8], word: &[u8]) -> Result<Self, Failure> {
        let mut types = Self::default();
        if list.is_empty() {
            return Err(Failure::of(&[
                b"Arguments to ",
                word,
                b" should contain at least one letter",
            ]));
        }
        let mut rest = list;
        while let Some((&letter, tail)) = rest.split_first() {
            let Some(place) = LETTERS.iter().position(|&known| known == letter) else {
                return Err(match letter {
                    b'D' => Failure::of(&[
                        word,
                        b" D is not supported because Solaris doors are not supported on the platform \
                          find was compiled on.",
                    ]),
                    _ => Failure::of(&[b"Unknown argument to ", word, b": ", &[letter]]),
                });
            };
            if types.0 & 1 << place != 0 {
                return Err(Failure::of(&[
                    b"Duplicate file type '",
                    &[letter],
                    b"' in the argument list to ",
                    word,
                    b".",
                ]));
            }
            types.0 |= 1 << place;
            rest = match tail {
                [] => tail,
                [b','] => {
                    return Err(Failure::of(&[
                        b"Last file type in list argument to ",
                        word,
                        b" is missing, i.e., list is ending on: ','",
                    ]));
                }
                [b',', more @ ..] => more,
                _ => {
                    return Err(Failure::of(&[
                        b"Must separate multiple arguments to ",
                        word,
                        b" using: ','",
                    ]));
                }
            };
        }
        Ok(types)
    }

    fn letters(self) -> impl Iterator<Item = u8> {
        (0..)
            .zip(LETTERS)
            .filter(move |(place, _)| self.0 & 1 << place != 0)
            .map(|(_, &letter)| letter)
    }

    fn contains(self, file_type: FileType) -> bool {
        self.0 & 1 << place(file_type) != 0
    }
}

/// Of one of these types.
#[derive(Debug)]
struct Type(Types);

impl Primary for Type {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        file.file_type()
            .is_some_and(|file_type| self.0.contains(file_type))
    }
}

/// Of one of these types, if links that are followed are not, and the others are.
#[derive(Debug)]
struct OtherType(Types);

impl Primary for OtherType {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let Some(file_type) = file.stat().and_then(Statx::file_type) else {
            return false;
        };
        if file.followed {
            return self.0.contains(FileType::SYMLINK);
        }
        if file.follows || !file_type.is_symlink() {
            return self.0.contains(file_type);
        }
        match file.reach(|dir, name| target::target(dir, name, StatxMask::TYPE)) {
            Ok(answer) => answer.file_type().is_some_and(|it| self.0.contains(it)),
            Err(error) => {
                file.report_error(&error);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let regular = FileType::from_mode(0o100_644).unwrap();
        let socket = FileType::from_mode(0o140_644).unwrap();
        let types = Types::parse(b"d,f", b"-type").unwrap();
        assert!(types.contains(regular) && !types.contains(socket));
        assert!(Types::parse(b"s", b"-type").unwrap().contains(socket));
        for bad in [&b""[..], b",", b"f,", b"ff", b"f,f", b"x", b"D", b"f,,d"] {
            assert!(Types::parse(bad, b"-type").is_err(), "{bad:?}");
        }
    }
}
