//! What is said, on a terminal, of a word that is not one: the word that was perhaps meant, and where
//! in the command line it is.

use hostproc::locale;
use unicode_width::UnicodeWidthStr;

use crate::primary::{Section, Word, words};

/// Columns of the command line that are shown.
const WIDTH: usize = 68;

/// Columns of it in front of the word.
const BEFORE: usize = 36;

const INDENT: &str = "    ";

/// A hint about argument number `unknown`, without the program's name and the last newline. `None` if
/// no word resembles it.
pub(crate) fn hint(program: &[u8], arguments: &[Vec<u8>], unknown: usize) -> Option<Vec<u8>> {
    let typed = str::from_utf8(arguments.get(unknown)?).ok()?;
    let mut words = words();
    words.retain(|word| word.doc.is_here);
    let leading = |word: &&Word| word.doc.section == Section::Leading;
    let text = if words.iter().filter(leading).any(|word| word.name == typed) {
        format!("{typed} belongs in front of the starting points")
    } else {
        format!("did you mean {}?", nearest(typed, &words)?.name)
    };
    let line: Vec<_> = [program]
        .into_iter()
        .chain(arguments.iter().map(Vec::as_slice))
        .map(shell_word)
        .collect();
    Some(
        [text, underlined(&line, unknown + 1)]
            .join("\n")
            .into_bytes(),
    )
}

/// The word that is most like `typed`, if any is much like it.
fn nearest<'a>(typed: &str, words: &'a [Word]) -> Option<&'a Word> {
    let letters = bare(typed);
    words
        .iter()
        .filter(|word| word.doc.section != Section::Leading)
        .filter_map(|word| Some((distance_if_near(&letters, &bare(&word.name))?, word)))
        // With as many dashes as were typed, if there is a choice.
        .min_by_key(|(distance, word)| (*distance, word.name.len().abs_diff(typed.len())))
        .map(|(_, word)| word)
}

/// What a slip may not change: the letters, without dashes.
fn bare(word: &str) -> Vec<u8> {
    word.trim_start_matches('-')
        .to_ascii_lowercase()
        .into_bytes()
}

/// The number of slips that make one of the other, if it is at most two and at most half the letters.
fn distance_if_near(one: &[u8], other: &[u8]) -> Option<usize> {
    let limit = (one.len().min(other.len()) / 2).min(2);
    if one.is_empty() || one.len().abs_diff(other.len()) > limit {
        return None;
    }
    let distance = distance(one, other);
    (distance <= limit).then_some(distance)
}

/// How many letters must be inserted, left out, replaced or exchanged with their neighbour to make one
/// of the other (Damerau and Levenshtein's optimal string alignment).
fn distance(one: &[u8], other: &[u8]) -> usize {
    // Row i has the distances of the first i letters of `one` to each beginning of `other`.
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let above = &rows[i];
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let replaced = above[j] + usize::from(a != b);
            let mut best = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && one[i - 1] == *b && *a == other[j - 1] {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

/// The words of the line around number `target`, and a line that underlines it.
fn underlined(line: &[String], target: usize) -> String {
    let width = |word: &String| word.width();
    let mut first = target;
    let mut before = 0;
    while first > 0 && before + width(&line[first - 1]) < BEFORE {
        first -= 1;
        before += width(&line[first]) + 1;
    }
    let mut end = target + 1;
    let mut all = before + width(&line[target]);
    while end < line.len() && all + 1 + width(&line[end]) <= WIDTH {
        all += 1 + width(&line[end]);
        end += 1;
    }
    let cut = if first > 0 { "... " } else { "" };
    let rest = if end < line.len() { " ..." } else { "" };
    let shown = line[first..end].join(" ");
    let blank = " ".repeat(cut.len() + before);
    let tail = "~".repeat(width(&line[target]).saturating_sub(1));
    format!("{INDENT}{cut}{shown}{rest}\n{INDENT}{blank}^{tail}")
}

/// `argument` as a shell would take it, without control characters.
fn shell_word(argument: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:=+@%^".contains(&byte);
    match str::from_utf8(argument) {
        Ok(text) if !text.is_empty() && text.bytes().all(is_plain) => text.to_owned(),
        Ok(text)
            if !text.contains('\'')
                && !text.chars().any(char::is_control)
                && (text.is_ascii() || locale::is_utf8()) =>
        {
            format!("'{text}'")
        }
        _ => format!("$'{}'", argument.escape_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinted(line: &str) -> Option<String> {
        let arguments: Vec<_> = line.split(' ').map(|it| it.as_bytes().to_vec()).collect();
        let hint = hint(b"find", &arguments, 1)?;
        Some(String::from_utf8(hint).unwrap().lines().next()?.to_owned())
    }

    #[test]
    fn distances() {
        for (one, other, expected) in [
            ("name", "name", 0),
            ("nmae", "name", 1),
            ("nam", "name", 1),
            ("namee", "name", 1),
            ("nbme", "name", 1),
            ("naem", "nmae", 2),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one.as_bytes(), other.as_bytes()), expected);
            assert_eq!(distance(other.as_bytes(), one.as_bytes()), expected);
        }
    }

    #[test]
    fn every_word_is_found_behind_one_slip() {
        let words = words();
        let letters = |word: &&Word| word.name.len() >= 5 && word.doc.section != Section::Leading;
        for word in words.iter().filter(letters) {
            let mut typed = word.name.clone().into_bytes();
            typed.swap(2, 3);
            let typed = String::from_utf8(typed).unwrap();
            let found = nearest(&typed, &words).map(|word| bare(&word.name));
            let found = found.unwrap_or_default();
            assert!(distance(&found, &bare(&typed)) <= 1, "{typed}");
        }
    }

    #[test]
    fn near_misses() {
        for (typed, meant) in [
            ("-nmae", "-name"),
            ("-mxdepth", "-maxdepth"),
            ("-NAME", "-name"),
            ("--name", "-name"),
            ("-szie", "-size"),
            ("-tpye", "-type"),
            ("-lss", "-ls"),
            ("--hlep", "--help"),
            ("-hlep", "-help"),
        ] {
            let expected = format!("did you mean {meant}?");
            assert_eq!(hinted(&format!(". {typed} x")), Some(expected), "{typed}");
        }
        for typed in ["-foo", "-z", "-", "---", "-qwertyuiop"] {
            assert_eq!(hinted(&format!(". {typed}")), None, "{typed}");
        }
        assert_eq!(
            hinted(". -L").as_deref(),
            Some("-L belongs in front of the starting points")
        );
        assert_eq!(hint(b"find", &[b"-nam\xff".to_vec()], 0), None);
    }

    #[test]
    fn the_word_is_underlined() {
        let line = ["find", "a b", "-nmae", "*.c"].map(|it| shell_word(it.as_bytes()));
        assert_eq!(
            underlined(&line, 2),
            "    find 'a b' -nmae '*.c'\n               ^~~~~"
        );
        assert_eq!(underlined(&line, 0), "    find 'a b' -nmae '*.c'\n    ^~~~");
    }

    #[test]
    fn long_lines_are_cut_on_both_sides() {
        let mut line = vec![String::from("0123456789"); 41];
        line[20] = String::from("-nmae");
        let text = underlined(&line, 20);
        let (line, mark) = text.split_once('\n').unwrap();
        assert!(line.len() <= 80 && line.starts_with("    ... 0") && line.ends_with("9 ..."));
        assert_eq!(line.find("-nmae"), mark.find('^'));
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(shell_word(b"-name"), "-name");
        assert_eq!(shell_word(b""), "''");
        assert_eq!(shell_word(b"*.c"), "'*.c'");
        assert_eq!(shell_word(b"it's"), r"$'it\'s'");
        assert_eq!(shell_word(b"a\n\x1b\xff\\"), r"$'a\n\x1b\xff\\'");
    }
}
