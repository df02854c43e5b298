//! `docs/find-compat.md`: each word in GNU find, in bfs and here.

use std::fmt::{self, Write};

use uringfind::{InBfs, Section, Word};

const HEAD: &str = "\
# uringfind and find

Made from the program's table of words by `cargo xtask docs`; do not edit.

The measure is GNU find 4.9. Unless the last column says something else, standard output, standard
error, their order and the exit status are the same, byte for byte. `tests` is the program in
`crates/uringfind/tests` that compares the two, or, for what is only here, holds what it does.

The other differences:

- On a terminal, the message about an unknown word is followed by the word that was perhaps meant.
- `--help`, `--version` and `-D help` print texts of this program.
- Parentheses and negations are nested 400 deep at most.
";

/// The page.
pub(super) fn page(words: &[Word]) -> String {
    let mut out = HEAD.to_owned();
    for section in Section::ALL {
        let words: Vec<_> = words
            .iter()
            .filter(|it| it.doc.section == section)
            .collect();
        // Writing to a string does not fail.
        let _ = table(&mut out, section, &words);
    }
    out
}

fn table(out: &mut String, section: Section, words: &[&Word]) -> fmt::Result {
    writeln!(out, "\n## {}\n", section.title())?;
    writeln!(out, "| word | GNU | bfs | here | tests | deviation |")?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for word in words {
        let doc = &word.doc;
        let yes = |yes| if yes { "yes" } else { "–" };
        let bfs = match doc.in_bfs {
            InBfs::Same => "yes",
            InBfs::Otherwise(difference) => difference,
            InBfs::Missing => "–",
        };
        let here = if doc.is_here { "yes" } else { "not yet" };
        let deviation = doc
            .deviation
            .unwrap_or(if doc.in_gnu { "" } else { "added" });
        let form = match section {
            Section::Operator => word.name.clone(),
            _ => word.form().replace('|', "\\|"),
        };
        writeln!(
            out,
            "| `{form}` | {} | {bfs} | {here} | {} | {deviation} |",
            yes(doc.in_gnu),
            doc.tests,
        )?;
    }
    Ok(())
}
