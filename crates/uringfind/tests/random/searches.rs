//! Random command lines.

use std::ffi::OsString;

use fastrand::Rng;

use crate::common::draw::{one_in, pick};
use crate::trees::{LIST, ROOT};
use crate::words::Words;

fn expression(random: &mut Rng, depth: usize, words: &Words<'_>, out: &mut Vec<OsString>) {
    if depth == 0 || one_in(random, 3) {
        return words.draw(random, out);
    }
    match random.usize(..12) {
        0..=1 => {
            out.push(pick(random, &["!", "-not"]).into());
            expression(random, depth - 1, words, out);
        }
        2..=4 => {
            out.push("(".into());
            expression(random, depth - 1, words, out);
            out.push(")".into());
        }
        kind => {
            expression(random, depth - 1, words, out);
            match kind {
                5..=7 => {}
                8 => out.push(pick(random, &["-a", "-and"]).into()),
                9..=10 => out.push(pick(random, &["-o", "-or"]).into()),
                _ => out.push(",".into()),
            }
            expression(random, depth - 1, words, out);
        }
    }
}

fn starting_points(random: &mut Rng, words: &Words<'_>, line: &mut Vec<OsString>) {
    if one_in(random, 20) && words.knows("-files0-from") {
        let lists = ["-", LIST, LIST, LIST, "missing", ROOT];
        let list = pick(random, &lists[usize::from(!words.input)..]);
        line.extend(["-files0-from".into(), list.into()]);
        return;
    }
    for _ in 0..=random.usize(..2) {
        line.push(match random.usize(..8) {
            0 => words.path(random),
            1 => "missing".into(),
            2 => pick(random, &["r/", "./r", "r//", "", "."]).into(),
            _ => ROOT.into(),
        });
    }
}

/// A command line, mostly a right one.
pub(crate) fn command_line(random: &mut Rng, words: &Words<'_>) -> Vec<OsString> {
    let mut line = Vec::new();
    while one_in(random, 4) {
        let option = pick(
            random,
            &["-O0", "-O1", "-O2", "-O3", "-P", "-L", "-H", "-L"],
        );
        if words.knows(option) {
            line.push(option.into());
        }
    }
    starting_points(random, words, &mut line);
    if one_in(random, 5) {
        line.extend([
            pick(random, &["-maxdepth", "-mindepth"]).into(),
            OsString::from(random.usize(..4).to_string()),
        ]);
    }
    if one_in(random, 15) {
        line.push(pick(random, &["-warn", "-nowarn"]).into());
    }
    let start = line.len();
    if words.changing {
        // At least something that changes.
        expression(random, 1, words, &mut line);
    }
    if !one_in(random, 12) {
        let depth = random.usize(..5);
        expression(random, depth, words, &mut line);
    }
    if one_in(random, 20) && start < line.len() {
        // Something out of place, mostly an error.
        let at = random.usize(start..line.len());
        let wrong = [
            "(", ")", "!", "-a", "-o", ",", "x", "-foo", "-", "--", "-help!",
        ];
        line.insert(at, pick(random, &wrong).into());
    }
    line
}
