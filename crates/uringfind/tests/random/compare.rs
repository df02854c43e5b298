//! Both programs at the same search.

use std::ffi::OsString;
use std::path::Path;

use fastrand::Rng;
use testkit::oracle::{Answer, Case, Difference, FIND, Place};

use crate::common::draw::one_in;
use crate::common::on_terminal;
use crate::trees::{Plan, remains};

/// How often a search that depends on the time is tried.
const ATTEMPTS: usize = 3;

/// A search, and what is looked at.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) line: Vec<OsString>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) view: View,
    /// For our program alone: back end and parallelism.
    pub(crate) backend: &'static str,
    pub(crate) jobs: Option<&'static str>,
    /// It may change the tree, which then is made for each of the programs.
    pub(crate) changing: bool,
}

/// How the outputs are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Apart,
    Merged,
    Terminal,
}

impl View {
    pub(crate) fn draw(random: &mut Rng) -> Self {
        if one_in(random, 8) {
            Self::Terminal
        } else if one_in(random, 2) {
            Self::Merged
        } else {
            Self::Apart
        }
    }
}

impl Search {
    /// Both programs answer alike and leave the same behind.
    pub(crate) fn assert_same(&self, place: &Place, plan: &Plan) {
        let Err(difference) = self.compare(place, plan) else {
            return;
        };
        let least = if self.changing {
            String::new()
        } else {
            format!("\nand with less: {}", self.shrunk(place, plan))
        };
        panic!("{difference}{least}\n{plan:?}\n{self:?}");
    }

    fn compare(&self, place: &Place, plan: &Plan) -> Result<(), Box<Difference>> {
        let case = self.case(place, &self.line);
        let ours = self.jobs.map(OsString::from);
        let ours: Vec<_> = ours.into_iter().chain(self.line.iter().cloned()).collect();
        let ours = self.case(place, &ours).env("RINGFS_BACKEND", self.backend);
        for _ in 0..ATTEMPTS {
            let before = self.answer(&case, FIND.as_ref(), place, plan);
            let actual = self.answer(&ours, &place.program(), place, plan);
            let difference = match ours.compare(&before, &actual) {
                Ok(()) => return Ok(()),
                Err(difference) => difference,
            };
            // Where time or chance decides, the oracle does not agree with itself.
            if before == self.answer(&case, FIND.as_ref(), place, plan) {
                return Err(difference);
            }
        }
        Ok(())
    }

    fn case(&self, place: &Place, line: &[OsString]) -> Case {
        let case = place.case(line).stdin(self.stdin.clone());
        if self.view == View::Merged {
            case.merged()
        } else {
            case
        }
    }

    fn answer(&self, case: &Case, program: &Path, place: &Place, plan: &Plan) -> Answer {
        if self.changing {
            plan.build(place);
        }
        let mut answer = match self.view {
            View::Terminal => on_terminal(case, program),
            _ => case
                .run(program)
                .unwrap_or_else(|error| panic!("{error}: {case:?}")),
        };
        if self.changing {
            answer.stdout.extend_from_slice(b"\nwhat is left:\n");
            answer.stdout.extend(remains(place));
        }
        answer
    }

    /// The same difference, or another one, with as few words as possible.
    fn shrunk(&self, place: &Place, plan: &Plan) -> Box<Difference> {
        let mut least = Self {
            line: self.line.clone(),
            stdin: self.stdin.clone(),
            ..*self
        };
        let mut difference = None;
        let mut at = 0;
        while at < least.line.len() {
            let word = least.line.remove(at);
            if let Err(smaller) = least.compare(place, plan) {
                difference = Some(smaller);
            } else {
                least.line.insert(at, word);
                at += 1;
            }
        }
        difference.unwrap_or_else(|| self.compare(place, plan).expect_err("a difference"))
    }
}
