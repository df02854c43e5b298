//! `-name`.

use super::{Entry, Kind, Needs, Parsed, Predicate, Primary};
use crate::estimate;
use crate::file::File;
use crate::pattern::Pattern;
use crate::quote::quote;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "name",
    kind: Kind::Other,
    parse: |parser, _| {
        let pattern = parser.argument()?;
        if parser.warns() && pattern.contains(&b'/') {
            parser.warn(&[
                b"warning: ",
                &quote(b"-name"),
                b" matches against basenames only, but the given pattern contains a directory separator (",
                &quote(b"/"),
                b"), thus the expression will evaluate to false all the time.  Did you mean ",
                &quote(b"-wholename"),
                b"?",
            ]);
        }
        let test = Predicate::test(
            Name(Pattern::new(pattern)),
            Needs::Nothing,
            estimate::of_pattern(pattern),
        );
        Ok(Parsed::Predicate(Predicate {
            by_name: true,
            ..test
        }))
    },
}];

/// The last component matches.
#[derive(Debug)]
struct Name(Pattern);

impl Primary for Name {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        self.0.matches(b"", file.base_name())
    }
}
