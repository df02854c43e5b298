//! `-regex` and `-iregex`.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate;
use crate::failure::Failure;
use crate::file::File;
use crate::parse::Parser;
use crate::pattern::joined;
use crate::quote::quote;
use crate::regex::{Encoding, Regex};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "regex",
        doc: Doc::test("REGEX", "the whole path matches a regular expression").tested_in("regex"),
        parse: |parser, _| regex(parser, false),
    },
    Entry {
        name: "iregex",
        doc: Doc::test("REGEX", "as -regex, in upper or lower case").tested_in("regex"),
        parse: |parser, _| regex(parser, true),
    },
];

fn regex(parser: &mut Parser<'_>, ignores_case: bool) -> Result<Parsed, Refusal> {
    let pattern = parser.argument()?;
    let syntax = parser.options.regex_syntax;
    let regex = Regex::new(pattern, syntax, Encoding::of_locale(), ignores_case);
    let regex = regex.map_err(|error| {
        Failure::of(&[
            b"failed to compile regular expression '",
            pattern,
            b"': ",
            error.message().as_bytes(),
        ])
    })?;
    let only_in_turn = regex.can_give_up();
    let test = PathRegex {
        regex,
        gave_up: AtomicBool::new(false),
    };
    let test = Predicate::test(test, Needs::Nothing, estimate::of_regex(pattern));
    Ok(Parsed::Predicate(Predicate {
        by_name: true,
        only_in_turn,
        ..test
    }))
}

/// The whole path matches.
#[derive(Debug)]
struct PathRegex {
    regex: Regex,
    /// Some path was too hard, and that has been said.
    gave_up: AtomicBool,
}

impl Primary for PathRegex {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let matched = joined(file.directory, file.name, |path| {
            self.regex.matches(path.to_bytes())
        });
        matched.unwrap_or_else(|_| {
            if !self.gave_up.swap(true, Ordering::Relaxed) {
                let path = quote(&file.path());
                let text = [&path, &b": too long for this regular expression"[..]].concat();
                file.out.message(&file.messages.plain(&text));
            }
            false
        })
    }
}
