//! Options about the way through the tree: `-depth`, `-d`, `-xdev`, `-mount`, `-follow`, `-noleaf`,
//! `-ignore_readdir_race`, `-noignore_readdir_race` and `-files0-from`.

use super::{Entry, Kind, Parsed};
use crate::options::Follow;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "depth",
        kind: Kind::GlobalOption,
        parse: |parser, _| {
            parser.options.contents_first = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "d",
        kind: Kind::GlobalOption,
        parse: |parser, _| {
            if parser.warns() {
                parser.warn(&[
                    b"warning: the -d option is deprecated; please use -depth instead, because the latter \
                      is a POSIX-compliant feature.",
                ]);
            }
            parser.options.contents_first = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "xdev",
        kind: Kind::GlobalOption,
        parse: |parser, _| {
            parser.options.one_file_system = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "mount",
        kind: Kind::GlobalOption,
        parse: |parser, _| {
            parser.options.one_file_system = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "follow",
        kind: Kind::PositionalOption,
        parse: |parser, _| {
            parser.options.follow = Follow::Always;
            Ok(Parsed::Option)
        },
    },
    // No file system's link counts are relied on anyway.
    Entry {
        name: "noleaf",
        kind: Kind::GlobalOption,
        parse: |_, _| Ok(Parsed::Option),
    },
    Entry {
        name: "ignore_readdir_race",
        kind: Kind::GlobalOption,
        parse: |parser, _| {
            parser.options.ignore_races = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "noignore_readdir_race",
        kind: Kind::GlobalOption,
        parse: |parser, _| {
            parser.options.ignore_races = false;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "files0-from",
        kind: Kind::GlobalOption,
        parse: |parser, _| {
            parser.options.names_from = Some(parser.argument()?.to_vec());
            Ok(Parsed::Nothing)
        },
    },
];
