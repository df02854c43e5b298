//! Random expressions on random trees: the same bytes in the same order, the same messages, the
//! same status, the same changes.
//!
//! `URINGFIND_CASES` (200) and `URINGFIND_SEED` (204) choose how many and which; a failure prints its
//! seed.

#[path = "../common/mod.rs"]
mod common;
mod compare;
mod searches;
mod trees;
mod words;

use std::time::SystemTime;

use common::draw::{number, one_in, pick};
use common::place;
use compare::{Search, View};
use fastrand::Rng;
use testkit::or_skip;
use testkit::oracle::{LOCALES, NOBODY, Place, gnu_find};
use testkit::skip::needs_root;
use trees::Plan;
use words::Known;

/// Searches in one tree.
const SEARCHES: u64 = 20;

/// Searches that leave the tree as it is.
fn look(random: &mut Rng, place: &mut Place, known: &Known, privileged: bool, large: bool) {
    let plan = Plan {
        seed: random.u64(..),
        now: SystemTime::now(),
        depth: random.usize(1..5),
        large,
        locked: privileged && one_in(random, 2),
        owned: privileged && one_in(random, 4),
    };
    let paths = plan.build(place);
    place.user = plan.locked.then_some(NOBODY);
    for _ in 0..SEARCHES {
        place.locale = LOCALES[random.usize(..LOCALES.len())];
        let view = View::draw(random);
        let mut words = known.words(place, &paths);
        words.input = view != View::Terminal;
        let line = searches::command_line(random, &words);
        search(random, line, view, false).assert_same(place, &plan);
    }
}

/// Searches each of which has a tree of its own to change. Never by root: what they run is to reach
/// nothing else.
fn change(random: &mut Rng, place: &mut Place, known: &Known, privileged: bool) {
    for _ in 0..SEARCHES {
        let plan = Plan {
            seed: random.u64(..),
            now: SystemTime::now(),
            depth: random.usize(1..3),
            large: false,
            locked: privileged && one_in(random, 3),
            owned: privileged,
        };
        place.user = privileged.then_some(NOBODY);
        place.locale = LOCALES[random.usize(..LOCALES.len())];
        let paths = plan.build(place);
        let view = View::draw(random);
        let mut words = known.words(place, &paths);
        words.changing = true;
        words.input = view != View::Terminal;
        let line = searches::command_line(random, &words);
        search(random, line, view, true).assert_same(place, &plan);
    }
}

fn search(random: &mut Rng, line: Vec<std::ffi::OsString>, view: View, changing: bool) -> Search {
    let answers: &[&[u8]] = &[b"y\n", b"n\n", b"yes\n", b"Y\n", b"\n", b"no\n", b" y\n"];
    let stdin = (0..random.usize(..30)).flat_map(|_| pick(random, answers).to_vec());
    Search {
        line,
        stdin: stdin.collect(),
        view,
        backend: pick(random, &["auto", "ring", "threads"]),
        jobs: [None, Some("-j1"), Some("-j2"), Some("-j8")][random.usize(..4)],
        changing,
    }
}

#[test]
fn random_expressions_on_random_trees() {
    or_skip!(gnu_find());
    let cases = number("URINGFIND_CASES", 200);
    let seed = number("URINGFIND_SEED", 204);
    let privileged = match needs_root("another user") {
        Ok(()) => true,
        Err(skip) => {
            skip.report();
            false
        }
    };
    println!("URINGFIND_SEED={seed} URINGFIND_CASES={cases}");
    let known = Known::of(&place());
    let mut random = Rng::with_seed(seed);
    for round in 0..cases.div_ceil(SEARCHES) {
        let mut place = place();
        match round % 5 {
            1 | 3 if known.can_change() => change(&mut random, &mut place, &known, privileged),
            kind => look(&mut random, &mut place, &known, privileged, kind == 4),
        }
    }
}
