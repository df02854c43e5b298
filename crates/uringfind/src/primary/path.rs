//! `-path`, also called `-wholename`.

use super::{Entry, Kind, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate;
use crate::file::File;
use crate::parse::Parser;
use crate::pattern::{Pattern, matches_once};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "path",
        kind: Kind::Other,
        parse: |parser, _| path(parser, b"path"),
    },
    Entry {
        name: "wholename",
        kind: Kind::Other,
        parse: |parser, _| path(parser, b"wholename"),
    },
];

fn path(parser: &mut Parser<'_>, name: &[u8]) -> Result<Parsed, Refusal> {
    let pattern = parser.argument()?;
    let mut chance = estimate::of_pattern(pattern);
    if !parser.environment.posixly_correct && !is_feasible(pattern, &parser.starting_points()) {
        parser.warn(&[
            b"warning: -",
            name,
            b" ",
            pattern,
            b" will not match anything because it ends with /.",
        ]);
        chance = 1.0e-8;
    }
    let test = Predicate::test(Path(Pattern::new(pattern)), Needs::Nothing, chance);
    Ok(Parsed::Predicate(Predicate {
        by_name: true,
        ..test
    }))
}

/// A path ends with a slash only if it is a starting point.
fn is_feasible(pattern: &[u8], starting_points: &[&[u8]]) -> bool {
    !pattern.ends_with(b"/")
        || starting_points
            .iter()
            .any(|point| matches_once(pattern, point))
}

/// The whole path matches.
#[derive(Debug)]
struct Path(Pattern);

impl Primary for Path {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        self.0.matches(file.directory, file.name)
    }
}
