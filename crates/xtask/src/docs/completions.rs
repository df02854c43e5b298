//! Completions for bash, zsh and fish.

use uringfind::{Section, Word};

/// What an argument names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    File,
    User,
    Group,
    Command,
    /// One of the values in the table.
    Value,
    /// Nothing a shell could complete.
    Other,
}

/// What the argument right behind the word names; `None` if it has none.
fn names(word: &Word) -> Option<Names> {
    let doc = &word.doc;
    if doc.arguments.is_empty() || doc.attached || doc.section == Section::Operator {
        return None;
    }
    if !doc.values.is_empty() {
        return Some(Names::Value);
    }
    let first = doc.arguments.split(' ').next().unwrap_or_default();
    Some(match first {
        "FILE" | "REFERENCE" => Names::File,
        "USER" => Names::User,
        "GROUP" => Names::Group,
        "COMMAND..." => Names::Command,
        _ => Names::Other,
    })
}

/// A branch of `case` for each kind of argument that `words` have: `branch` makes it of a pattern and
/// what the argument names.
fn branches(words: &[Word], branch: impl Fn(&str, Names) -> String) -> String {
    let kinds = [
        Names::User,
        Names::Group,
        Names::Command,
        Names::File,
        Names::Other,
    ];
    let branches = kinds.into_iter().filter_map(|kind| {
        let words = words.iter().filter(|word| names(word) == Some(kind));
        let patterns: Vec<_> = words.map(shell_pattern).collect();
        (!patterns.is_empty()).then(|| branch(&patterns.join("|"), kind))
    });
    branches.collect()
}

/// The word as a pattern of `case`.
fn shell_pattern(word: &Word) -> String {
    match word.name.as_str() {
        "-newerXY" => "-newer[aBcm][aBcmt]".to_owned(),
        name => name.to_owned(),
    }
}

/// A branch of `case` for each word whose arguments can be listed.
fn values(words: &[Word], branch: impl Fn(&str, &str) -> String) -> String {
    let listed = words.iter().filter(|word| !word.doc.values.is_empty());
    listed
        .map(|word| branch(&word.name, &word.doc.values.join(" ")))
        .collect()
}

/// The names that can be offered: those with a dash.
fn offered(words: &[Word]) -> impl Iterator<Item = (String, &Word)> {
    let dashed = words.iter().filter(|word| word.name.starts_with('-'));
    dashed.flat_map(|word| match word.name.as_str() {
        "-newerXY" => ["a", "B", "c", "m"]
            .iter()
            .flat_map(|x| ["a", "B", "c", "m", "t"].map(|y| (format!("-newer{x}{y}"), word)))
            .collect(),
        name => vec![(name.to_owned(), word)],
    })
}

/// For bash.
pub(super) fn bash(words: &[Word]) -> String {
    let values = values(words, |name, values| {
        format!("        {name}) _uringfind_compgen -W '{values}' ;;\n")
    });
    let branches = branches(words, |pattern, names| match names {
        Names::User => format!("        {pattern}) _uringfind_compgen -u ;;\n"),
        Names::Group => format!("        {pattern}) _uringfind_compgen -g ;;\n"),
        Names::Command => format!("        {pattern}) _uringfind_compgen -c ;;\n"),
        Names::File => format!("        {pattern}) _uringfind_files ;;\n"),
        Names::Value | Names::Other => format!("        {pattern}) ;;\n"),
    });
    let all: Vec<_> = offered(words).map(|(name, _)| name).collect();
    format!(
        "\
# Completion of uringfind for bash. Made by `cargo xtask docs`; do not edit.

_uringfind() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    COMPREPLY=()
    case $previous in
{values}{branches}        *)
            if [[ $current == -* ]]; then
                _uringfind_compgen -W '{all}'
            else
                _uringfind_files
            fi
            ;;
    esac
}}

_uringfind_compgen() {{
    mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$current\")
}}

_uringfind_files() {{
    # Lets bash quote the names and add slashes.
    compopt -o filenames 2>/dev/null
    _uringfind_compgen -f
}}

complete -F _uringfind uringfind
",
        all = all.join(" "),
    )
}

/// For zsh.
pub(super) fn zsh(words: &[Word]) -> String {
    let values = values(words, |name, values| {
        format!("    ({name}) compadd -- {values} ;;\n")
    });
    let branches = branches(words, |pattern, names| {
        let action = match names {
            Names::User => "_users",
            Names::Group => "_groups",
            Names::Command => "_command_names -e",
            Names::File => "_files",
            Names::Value | Names::Other => "_message argument",
        };
        format!("    ({pattern}) {action} ;;\n")
    });
    let all: Vec<_> = offered(words)
        .map(|(name, word)| quoted(&format!("{name}:{}", word.doc.line)))
        .map(|word| format!("            {word}\n"))
        .collect();
    format!(
        "\
#compdef uringfind
# Completion of uringfind for zsh. Made by `cargo xtask docs`; do not edit.

local -a words_of_find
case $words[CURRENT-1] in
{values}{branches}    (*)
        words_of_find=(
{all}        )
        if [[ $PREFIX == -* ]]; then
            _describe -o 'word of the expression' words_of_find
        else
            _files
        fi
        ;;
esac
",
        all = all.concat(),
    )
}

/// For fish.
pub(super) fn fish(words: &[Word]) -> String {
    let lines: Vec<_> = offered(words).filter_map(fish_line).collect();
    format!(
        "# Completion of uringfind for fish. Made by `cargo xtask docs`; do not edit.\n\n{}",
        lines.concat()
    )
}

fn fish_line((name, word): (String, &Word)) -> Option<String> {
    let argument = match names(word) {
        None => String::new(),
        Some(Names::File) => " -r -F".to_owned(),
        Some(Names::User) => " -x -a '(__fish_complete_users)'".to_owned(),
        Some(Names::Group) => " -x -a '(__fish_complete_groups)'".to_owned(),
        Some(Names::Command) => " -x -a '(__fish_complete_command)'".to_owned(),
        Some(Names::Value) => format!(" -x -a '{}'", word.doc.values.join(" ")),
        Some(Names::Other) => " -x".to_owned(),
    };
    let option = match name.strip_prefix("--") {
        // fish has no option without a name.
        Some("") => return None,
        Some(long) => format!("-l {long}"),
        None => format!("-o {}", name.strip_prefix('-').unwrap_or(&name)),
    };
    let line = quoted(word.doc.line);
    Some(format!(
        "complete -c uringfind {option}{argument} -d {line}\n"
    ))
}

/// `text` in single quotes, for all three shells.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
