//! The man page.

use roff::{Inline, Roff, bold, italic, roman};
use uringfind::{Section, Word};

/// The page.
pub(super) fn page(words: &[Word]) -> String {
    let mut roff = Roff::new();
    roff.control("TH", ["URINGFIND", "1", "", "ringfs", "User Commands"]);
    section(&mut roff, "NAME");
    roff.text([roman(
        "uringfind - search for files in a directory hierarchy, in parallel",
    )]);
    section(&mut roff, "SYNOPSIS");
    roff.text([
        bold("uringfind"),
        roman(" ["),
        italic("OPTION"),
        roman("...] ["),
        italic("STARTING-POINT"),
        roman("...] ["),
        italic("EXPRESSION"),
        roman("]"),
    ]);
    section(&mut roff, "DESCRIPTION");
    paragraphs(&mut roff, DESCRIPTION);
    for (part, text) in SECTIONS {
        section(&mut roff, &part.title().to_uppercase());
        paragraphs(&mut roff, &[text]);
        about(&mut roff, words, part);
    }
    section(&mut roff, "EXIT STATUS");
    paragraphs(&mut roff, EXIT_STATUS);
    section(&mut roff, "ENVIRONMENT");
    for (name, text) in ENVIRONMENT {
        tagged(&mut roff, vec![bold(*name)], text);
    }
    section(&mut roff, "EXAMPLES");
    for (command, text) in EXAMPLES {
        tagged(&mut roff, vec![bold(*command)], text);
    }
    section(&mut roff, "SEE ALSO");
    roff.text(
        ["find", "xargs", "fnmatch", "regex", "statx", "io_uring"]
            .iter()
            .zip(["(1), ", "(1), ", "(3), ", "(7), ", "(2), ", "(7)"])
            .flat_map(|(page, part)| [bold(*page), roman(part)])
            .collect::<Vec<_>>(),
    );
    roff.to_roff()
}

const DESCRIPTION: &[&str] = &[
    "Walks each starting point, the current directory if there is none, and evaluates the expression for \
     every file, from left to right, until its value is known. If there is no action in it but -prune and \
     -quit, the paths for which it is true are printed.",
    "The language, the output and its order are those of GNU find 4.9. Directories are read and files are \
     asked for in parallel, by io_uring where the kernel has it; how many at once never shows in the \
     output.",
    "The starting points end at the first argument that begins with - or is ( or !.",
];

/// What is said of all words of a section.
const SECTIONS: [(Section, &str); 7] = [
    (
        Section::Leading,
        "These stand in front of the starting points. Of -H, -L and -P the last one holds.",
    ),
    (
        Section::Operator,
        "From those that bind most strongly to those that bind least.",
    ),
    (
        Section::Global,
        "These hold for the whole search wherever they stand, and are always true. They belong in front of \
         all tests.",
    ),
    (
        Section::Positional,
        "These hold for what stands behind them, and are always true.",
    ),
    (
        Section::Test,
        "A number N can be written +N for more than N, or -N for less.",
    ),
    (
        Section::Action,
        "An action is true unless something else is said.",
    ),
    (Section::Information, "Nothing behind these is read."),
];

const EXIT_STATUS: &[&str] = &[
    "0 if there was no error; 1 if there was one, after as much of the search as could be done. Broken \
     command lines are refused before the search begins.",
];

const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "LANG, LC_ALL, LC_CTYPE",
        "What a character is, in patterns and in names that are shown.",
    ),
    (
        "POSIXLY_CORRECT",
        "No warnings; -ls counts blocks of 512 bytes.",
    ),
    ("TZ", "The time zone of times that are shown or given."),
    (
        "RINGFS_BACKEND",
        "auto, ring or threads: how the kernel is asked.",
    ),
];

const EXAMPLES: &[(&str, &str)] = &[
    (
        "uringfind . -name '*.c' -newer Makefile",
        "C sources that were modified later than the Makefile was.",
    ),
    (
        "uringfind src -name .git -prune -o -type f -print0 | xargs -0 wc -l",
        "Lines of all files but those below .git.",
    ),
    (
        "uringfind /var -xdev -size +100M -ls",
        "Files of more than 100 MiB on the file system of /var.",
    ),
];

fn section(roff: &mut Roff, title: &str) {
    roff.control("SH", [title]);
}

fn paragraphs(roff: &mut Roff, texts: &[&str]) {
    for (number, text) in texts.iter().enumerate() {
        if number > 0 {
            roff.control("PP", []);
        }
        roff.text([roman(*text)]);
    }
}

fn tagged(roff: &mut Roff, tag: Vec<Inline>, text: &str) {
    roff.control("TP", []);
    roff.text(tag);
    roff.text([roman(text)]);
}

/// The words of a section.
fn about(roff: &mut Roff, words: &[Word], section: Section) {
    let mut words: Vec<_> = words
        .iter()
        .filter(|it| it.doc.section == section)
        .collect();
    // Both parentheses are told of at once.
    words.dedup_by_key(|word| word.form());
    for word in words {
        let doc = &word.doc;
        let mut text = format!("{}.", uppercase_first(doc.line));
        if section == Section::Positional && !doc.values.is_empty() {
            text = format!("{text} One of {}.", doc.values.join(", "));
        }
        if !doc.in_gnu {
            text.push_str(" Not in GNU find.");
        }
        tagged(roff, form(word), &text);
    }
}

/// The word in bold, what stands for something else in italics.
fn form(word: &Word) -> Vec<Inline> {
    let form = word.form();
    let mut inlines = Vec::new();
    for (number, part) in form.split(' ').enumerate() {
        if number > 0 {
            inlines.push(roman(" "));
        }
        match part.strip_prefix(&word.name) {
            // The argument is attached.
            Some(argument) if !argument.is_empty() => {
                inlines.extend([bold(&*word.name), italic(argument)]);
            }
            None if part.contains(char::is_uppercase) => inlines.push(italic(part)),
            _ => inlines.push(bold(part)),
        }
    }
    inlines
}

fn uppercase_first(text: &str) -> String {
    let mut characters = text.chars();
    // A word of the language keeps its case.
    match characters.next() {
        Some(first) if first != '-' => first.to_uppercase().chain(characters).collect(),
        _ => text.to_owned(),
    }
}
