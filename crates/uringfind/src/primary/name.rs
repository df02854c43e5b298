//! `-name` and `-iname`.

use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate;
use crate::file::File;
use crate::parse::Parser;
use crate::pattern::{Case, Pattern};
use crate::quote::quote;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "name",
        doc: Doc::test(
            "PATTERN",
            "the last part of the path matches a shell pattern",
        )
        .tested_in("walk"),
        parse: |parser, _| name(parser, Case::Matters, [b"-name", b"-wholename"]),
    },
    Entry {
        name: "iname",
        doc: Doc::test("PATTERN", "as -name, in upper or lower case").tested_in("stat_tests"),
        parse: |parser, _| name(parser, Case::Ignored, [b"-iname", b"-iwholename"]),
    },
];

/// `for_path` is the test that takes slashes.
fn name(
    parser: &mut Parser<'_>,
    case: Case,
    [word, for_path]: [&[u8]; 2],
) -> Result<Parsed, Refusal> {
    let pattern = parser.argument()?;
    if parser.warns() && pattern.contains(&b'/') {
        parser.warn(&[
            b"warning: ",
            &quote(word),
            b" matches against basenames only, but the given pattern contains a directory separator (",
            &quote(b"/"),
            b"), thus the expression will evaluate to false all the time.  Did you mean ",
            &quote(for_path),
            b"?",
        ]);
    }
    let test = Predicate::test(
        Name(Pattern::new(pattern, case)),
        Needs::Nothing,
        estimate::of_pattern(pattern),
    );
    Ok(Parsed::Predicate(Predicate {
        by_name: true,
        ..test
    }))
}

/// The last component matches.
#[derive(Debug)]
struct Name(Pattern);

impl Primary for Name {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        self.0.matches(b"", file.base_name())
    }
}
