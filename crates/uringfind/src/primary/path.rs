//! `-path`, also called `-wholename`, and `-ipath`, also called `-iwholename`.

use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate;
use crate::file::File;
use crate::parse::Parser;
use crate::pattern::{Case, Pattern};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "path",
        doc: Doc::test("PATTERN", "the whole path matches a shell pattern").tested_in("walk"),
        parse: |parser, _| path(parser, b"path", Case::Matters),
    },
    Entry {
        name: "wholename",
        doc: Doc::test("PATTERN", "the same as -path").tested_in("walk"),
        parse: |parser, _| path(parser, b"wholename", Case::Matters),
    },
    Entry {
        name: "ipath",
        doc: Doc::test("PATTERN", "as -path, in upper or lower case").tested_in("stat_tests"),
        parse: |parser, _| path(parser, b"ipath", Case::Ignored),
    },
    Entry {
        name: "iwholename",
        doc: Doc::test("PATTERN", "the same as -ipath").tested_in("stat_tests"),
        parse: |parser, _| path(parser, b"iwholename", Case::Ignored),
    },
];

fn path(parser: &mut Parser<'_>, name: &[u8], case: Case) -> Result<Parsed, Refusal> {
    let pattern = parser.argument()?;
    let mut chance = estimate::of_pattern(pattern);
    let test = Path(Pattern::new(pattern, case));
    // A path ends with a slash only if it is a starting point.
    let is_feasible = |parser: &Parser<'_>| {
        let points = parser.starting_points();
        !pattern.ends_with(b"/") || points.iter().any(|point| test.0.matches(b"", point))
    };
    if !parser.environment.posixly_correct && !is_feasible(parser) {
        parser.warn(&[
            b"warning: -",
            name,
            b" ",
            pattern,
            b" will not match anything because it ends with /.",
        ]);
        chance = 1.0e-8;
    }
    let test = Predicate::test(test, Needs::Nothing, chance);
    Ok(Parsed::Predicate(Predicate {
        by_name: true,
        ..test
    }))
}

/// The whole path matches.
#[derive(Debug)]
struct Path(Pattern);

impl Primary for Path {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        self.0.matches(file.directory, file.name)
    }
}
