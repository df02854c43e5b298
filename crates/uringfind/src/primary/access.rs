//! `-readable`, `-writable` and `-executable`.

use fscall::Access;

use super::{Cost, Doc, Entry, Needs, Parsed, Predicate, Primary};
use crate::estimate::Chance;
use crate::file::File;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "readable",
        doc: Doc::test("", "may be read by this user").tested_in("stat_tests"),
        parse: |_, _| Ok(test(Access::READ, 0.9)),
    },
    Entry {
        name: "writable",
        doc: Doc::test("", "may be written by this user").tested_in("stat_tests"),
        parse: |_, _| Ok(test(Access::WRITE, 0.9)),
    },
    Entry {
        name: "executable",
        doc: Doc::test("", "may be executed or searched by this user").tested_in("stat_tests"),
        parse: |_, _| Ok(test(Access::EXECUTE, 0.2)),
    },
];

fn test(access: Access, chance: Chance) -> Parsed {
    Parsed::Predicate(Predicate {
        least_cost: Cost::Access,
        only_in_turn: true,
        ..Predicate::test(May(access), Needs::Nothing, chance)
    })
}

/// The real user may do this with the file, or with what it leads to.
#[derive(Debug)]
struct May(Access);

impl Primary for May {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        // That it cannot be found is an answer, too.
        file.reach(|dir, name| fscall::faccessat(dir, name, self.0))
            .is_ok()
    }
}
