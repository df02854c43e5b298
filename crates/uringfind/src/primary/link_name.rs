//! `-lname` and `-ilname`.

use fscall::{FileType, Statx, StatxMask};

use super::{Cost, Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate;
use crate::file::File;
use crate::parse::Parser;
use crate::pattern::{Case, Pattern};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "lname",
        doc: Doc::test(
            "PATTERN",
            "a symbolic link whose target matches a shell pattern",
        )
        .tested_in("links"),
        parse: |parser, _| parse(parser, Case::Matters),
    },
    Entry {
        name: "ilname",
        doc: Doc::test("PATTERN", "as -lname, in upper or lower case").tested_in("stat_tests"),
        parse: |parser, _| parse(parser, Case::Ignored),
    },
];

fn parse(parser: &mut Parser<'_>, case: Case) -> Result<Parsed, Refusal> {
    let pattern = parser.argument()?;
    let test = Predicate::test(
        LinkName(Pattern::new(pattern, case)),
        Needs::Stat(StatxMask::TYPE),
        0.1 * estimate::of_pattern(pattern),
    );
    Ok(Parsed::Predicate(Predicate {
        least_cost: Cost::Link,
        ..test
    }))
}

/// A symbolic link whose text matches.
#[derive(Debug)]
struct LinkName(Pattern);

impl Primary for LinkName {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let file_type = file.stat().and_then(Statx::file_type);
        if !file_type.is_some_and(FileType::is_symlink) {
            return false;
        }
        match file.reach(fscall::readlinkat) {
            Ok(text) => self.0.matches(b"", &text),
            Err(error) => {
                file.report_error(&error);
                false
            }
        }
    }
}
