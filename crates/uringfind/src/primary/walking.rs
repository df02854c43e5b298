//! Options about the way through the tree: `-depth`, `-d`, `-xdev`, `-mount`, `-follow`, `-noleaf`,
//! `-ignore_readdir_race`, `-noignore_readdir_race` and `-files0-from`.

use super::{Doc, Entry, Parsed};
use crate::options::Follow;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "depth",
        doc: Doc::global("", "what is in a directory comes before it").tested_in("options"),
        parse: |parser, _| {
            parser.options.contents_first = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "d",
        doc: Doc::global("", "the same as -depth; deprecated").tested_in("options"),
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
        doc: Doc::global("", "do not go into other file systems").tested_in("options"),
        parse: |parser, _| {
            parser.options.one_file_system = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "mount",
        doc: Doc::global("", "the same as -xdev")
            .in_bfs("leaves mount points out")
            .tested_in("options"),
        parse: |parser, _| {
            parser.options.one_file_system = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "follow",
        doc: Doc::positional("", "as -L, for what follows").tested_in("options"),
        parse: |parser, _| {
            parser.options.follow = Follow::Always;
            Ok(Parsed::Option)
        },
    },
    // No file system's link counts are relied on anyway.
    Entry {
        name: "noleaf",
        doc: Doc::global("", "no effect; for old command lines").tested_in("options"),
        parse: |_, _| Ok(Parsed::Option),
    },
    Entry {
        name: "ignore_readdir_race",
        doc: Doc::global("", "say nothing of files that vanish during the search")
            .tested_in("options"),
        parse: |parser, _| {
            parser.options.ignore_races = true;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "noignore_readdir_race",
        doc: Doc::global("", "undo -ignore_readdir_race").tested_in("options"),
        parse: |parser, _| {
            parser.options.ignore_races = false;
            Ok(Parsed::Option)
        },
    },
    Entry {
        name: "files0-from",
        doc: Doc::global(
            "FILE",
            "read the starting points from FILE, a NUL behind each; - is standard input",
        )
        .tested_in("options"),
        parse: |parser, _| {
            parser.options.names_from = Some(parser.argument()?.to_vec());
            Ok(Parsed::Nothing)
        },
    },
];
