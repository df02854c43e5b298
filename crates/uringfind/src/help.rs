//! The texts of `--help` and `--version`.

use crate::primary::{Section, Word, words};

/// What `--version` prints.
pub(crate) const VERSION: &str = concat!(
    "uringfind ",
    env!("CARGO_PKG_VERSION"),
    "\nSpeaks the language of GNU find 4.9.\n"
);

/// Columns.
const WIDTH: usize = 80;

/// Where the lines about words begin.
const COLUMN: usize = 28;

/// What `--help` prints; `program` is the program's name as it was typed.
pub(crate) fn help(program: &[u8]) -> Vec<u8> {
    let mut words = words();
    words.retain(|word| word.doc.is_here);
    let sections = Section::ALL.map(|section| about(section, &words));
    let text = [INTRODUCTION, &sections.concat(), ENVIRONMENT].concat();
    [b"Usage: ", program, text.as_bytes()].concat()
}

/// What there is of a section.
fn about(section: Section, words: &[Word]) -> String {
    let words = words.iter().filter(|it| it.doc.section == section);
    let mut lines: Vec<_> = words.map(line).collect();
    // Both parentheses are told of at once.
    lines.dedup();
    format!("\n{}:\n{}", section.title(), lines.concat())
}

const INTRODUCTION: &str = " [OPTION...] [STARTING-POINT...] [EXPRESSION]

Walks each starting point (the current directory if there is none) in find's
order and evaluates the expression for every file. Without an action in it, the
paths of which it is true are printed. Where a number may have a sign, +N is
more than N and -N is less.
";

const ENVIRONMENT: &str = "
RINGFS_BACKEND=auto|ring|threads chooses how the kernel is asked.
";

/// A word with what it does.
fn line(word: &Word) -> String {
    let form = format!("  {}", word.form());
    let what = wrapped(word.doc.line, WIDTH - COLUMN).join(&format!("\n{:COLUMN$}", ""));
    if form.len() + 2 > COLUMN {
        format!("{form}\n{:COLUMN$}{what}\n", "")
    } else {
        format!("{form:COLUMN$}{what}\n")
    }
}

/// `text` in lines of at most `width` columns, if no word of it is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_fits_and_every_word_is_there() {
        let text = String::from_utf8(help(b"find")).unwrap();
        assert!(text.starts_with("Usage: find ["), "{text}");
        for line in text.lines() {
            assert!(line.len() <= WIDTH, "{line}");
            assert_eq!(line, line.trim_end());
        }
        for word in words().iter().filter(|word| word.doc.is_here) {
            assert!(
                text.contains(&format!("  {}", word.form())),
                "{}",
                word.name
            );
        }
    }

    #[test]
    fn texts_are_wrapped_between_words() {
        assert_eq!(wrapped("a bc def g", 4), ["a bc", "def", "g"]);
        assert_eq!(wrapped("too-long a", 4), ["too-long", "a"]);
    }
}
