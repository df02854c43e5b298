//! Names as they occur in a kernel's sources: words of letters joined by `-`
//! or `_`, with the endings of C, device trees and documentation.

use std::collections::HashSet;

use fastrand::Rng;

const ONSETS: [&str; 16] = [
    "b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "st", "x",
];
const NUCLEI: [&str; 8] = ["a", "e", "i", "o", "u", "io", "1", "8"];
/// Endings, as often as they are to occur.
const ENDINGS: [&str; 16] = [
    ".c", ".c", ".c", ".c", ".c", ".h", ".h", ".h", ".h", ".dts", ".dtsi", ".rst", ".yaml", ".S",
    ".sh", "",
];

/// Gives out names, each once: one for every directory.
#[derive(Default)]
pub(super) struct Names {
    used: HashSet<String>,
}

impl Names {
    pub(super) fn directory(&mut self, rng: &mut Rng) -> String {
        self.unique(rng, "", 3)
    }

    pub(super) fn file(&mut self, rng: &mut Rng) -> String {
        let ending = ENDINGS[rng.usize(..ENDINGS.len())];
        self.unique(rng, ending, 5)
    }

    fn unique(&mut self, rng: &mut Rng, ending: &str, syllables: usize) -> String {
        let mut stem = stem(rng, syllables);
        loop {
            let name = format!("{stem}{ending}");
            if self.used.insert(name.clone()) {
                return name;
            }
            stem.push(char::from(rng.digit(10) as u8));
        }
    }
}

/// A stem of about `syllables` syllables, at least two.
fn stem(rng: &mut Rng, syllables: usize) -> String {
    let mut stem = String::new();
    for i in 0..rng.usize(2..=syllables * 2 - 2) {
        if i > 0 && rng.u8(..5) == 0 {
            stem.push(if rng.bool() { '-' } else { '_' });
        }
        stem.push_str(ONSETS[rng.usize(..ONSETS.len())]);
        stem.push_str(NUCLEI[rng.usize(..NUCLEI.len())]);
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_as_long_as_a_kernels() {
        let mut rng = Rng::with_seed(7);
        let mut names = Names::default();
        let files: HashSet<_> = (0..5_000).map(|_| names.file(&mut rng)).collect();
        assert_eq!(files.len(), 5_000);
        let mean = files.iter().map(String::len).sum::<usize>() / files.len();
        assert!((11..=15).contains(&mean), "{mean}");
    }
}
