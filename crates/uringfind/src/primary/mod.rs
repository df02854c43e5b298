//! The primaries: one file each, and the one table that the parser works by.

mod access;
mod age;
mod constant;
mod context;
mod daystart;
mod delete;
mod depth;
mod doc;
mod empty;
mod exec;
mod fstype;
mod information;
mod inode;
mod jobs;
mod link_name;
mod ls;
mod mode;
mod name;
mod newer;
mod not_yet;
mod number;
mod operators;
mod owner;
mod path;
mod permissions;
mod print;
mod printf;
mod prune;
mod quit;
mod regex;
mod regextype;
mod same_file;
mod size;
mod stamp;
mod target;
mod r#type;
mod used;
mod walking;
mod warn;

use std::fmt::Debug;

use fscall::StatxMask;

use crate::estimate::Chance;
use crate::failure::Failure;
use crate::file::File;
use crate::options::LEADING;
use crate::parse::{Parser, Symbol};

pub(crate) use constant::option_predicate;
pub use doc::{Doc, InBfs, Section, Word};
pub(crate) use jobs::parse_jobs;
pub(crate) use print::default_print;
pub(crate) use stamp::Stamp;

/// What a primary does with a file.
pub(crate) trait Primary: Debug + Send + Sync {
    /// Its value for `file`. May be called from many threads at once. Without an [`Effect`] it
    /// changes nothing but may report that the file cannot be stat'ed.
    fn evaluate(&self, file: &mut File<'_>) -> bool;
}

/// A primary in an expression.
#[derive(Debug)]
pub(crate) struct Predicate {
    pub(crate) primary: Box<dyn Primary>,
    pub(crate) needs: Needs,
    pub(crate) effect: Effect,
    /// How often it is expected to be true.
    pub(crate) chance: Chance,
    /// It costs at least this, whatever it needs.
    pub(crate) least_cost: Cost,
    /// It is a plain test of the name or path, moved to the front even with `-O0`.
    pub(crate) by_name: bool,
    /// It is not to be tried beforehand to find out whether the tests behind it will be reached: it makes
    /// calls of its own, takes long, or may have something to report that it reports only once.
    pub(crate) only_in_turn: bool,
}

impl Predicate {
    /// A test that needs `needs` and is true with this chance.
    pub(crate) fn test(primary: impl Primary + 'static, needs: Needs, chance: Chance) -> Self {
        Self {
            primary: Box::new(primary),
            needs,
            effect: Effect::None,
            chance,
            least_cost: Cost::Nothing,
            by_name: false,
            only_in_turn: false,
        }
    }

    /// An action.
    pub(crate) fn action(primary: impl Primary + 'static, needs: Needs, effect: Effect) -> Self {
        Self {
            effect,
            ..Self::test(primary, needs, 1.0)
        }
    }
}

/// What must be known of a file beyond its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The inode's number, which the directory entry tells but of directories.
    Inode,
    /// The type, which the directory entry mostly tells.
    Type,
    /// These fields of `statx`.
    Stat(StatxMask),
}

/// What evaluating a primary does besides having a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    None,
    /// It prints: there is no default `-print`.
    Prints,
    /// It keeps the walk out of a directory.
    Prunes,
    /// It ends everything.
    Quits,
    /// It runs a command or changes files: each file is evaluated in its turn, and a directory is opened
    /// only after its own evaluation. There is no default `-print`.
    Acts,
}

/// How dear an evaluation is, as GNU find orders it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cost {
    Nothing,
    Inode,
    Type,
    Stat,
    /// Where a link leads.
    Link,
    /// What may be done with the file.
    Access,
}

impl Cost {
    /// All, the cheapest first.
    pub(crate) const ALL: [Self; 6] = [
        Self::Nothing,
        Self::Inode,
        Self::Type,
        Self::Stat,
        Self::Link,
        Self::Access,
    ];
}

/// A word of the language.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The name without its dash, which is also taken away from `-!` and the like.
    pub(crate) name: &'static str,
    /// What is told of it, and where it may stand.
    pub(crate) doc: Doc,
    pub(crate) parse: Parse,
}

/// How the words behind an [`Entry`]'s own are read. The name as it was typed comes along.
pub(crate) type Parse = fn(&mut Parser<'_>, &[u8]) -> Result<Parsed, Refusal>;

/// What a word turned out to be.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// A test or an action.
    Predicate(Predicate),
    /// An option, already noted; in an expression it is always true.
    Option,
    /// An option, already noted, that is no part of the expression: GNU find takes it out.
    Nothing,
    /// An operator or a parenthesis.
    Symbol(Symbol),
    /// `-help`: nothing behind it is read.
    Help,
    /// `-version`: nothing behind it is read.
    Version,
}

/// Why a word cannot be read.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// There is no argument behind it.
    MissingArgument,
    /// It looks like a known word but is none.
    Invalid,
    /// For a reason of its own.
    Because(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Because(failure)
    }
}

/// All words.
const TABLE: &[&[Entry]] = &[
    operators::ENTRIES,
    access::ENTRIES,
    age::ENTRIES,
    constant::ENTRIES,
    context::ENTRIES,
    daystart::ENTRIES,
    delete::ENTRIES,
    depth::ENTRIES,
    empty::ENTRIES,
    exec::ENTRIES,
    fstype::ENTRIES,
    information::ENTRIES,
    inode::ENTRIES,
    jobs::ENTRIES,
    link_name::ENTRIES,
    ls::ENTRIES,
    name::ENTRIES,
    newer::ENTRIES,
    owner::ENTRIES,
    path::ENTRIES,
    permissions::ENTRIES,
    print::ENTRIES,
    printf::ENTRIES,
    prune::ENTRIES,
    quit::ENTRIES,
    r#type::ENTRIES,
    regex::ENTRIES,
    regextype::ENTRIES,
    same_file::ENTRIES,
    size::ENTRIES,
    used::ENTRIES,
    walking::ENTRIES,
    warn::ENTRIES,
    not_yet::ENTRIES,
];

/// Finds the word that was typed as `typed`.
pub(crate) fn find(typed: &[u8]) -> Option<&'static Entry> {
    if typed.starts_with(b"-newer") && typed.len() == 8 {
        return Some(&newer::XY);
    }
    let name = typed.strip_prefix(b"-").unwrap_or(typed);
    let known = TABLE
        .iter()
        .copied()
        .flatten()
        .find(|entry| entry.name.as_bytes() == name);
    known.or_else(|| jobs::is_attached(name).then_some(&jobs::ATTACHED))
}

/// All words, by section; in each by name, but operators by their strength.
pub fn words() -> Vec<Word> {
    let leading = LEADING.iter().map(|&(name, doc)| Word::new(name, doc));
    let others = TABLE.iter().copied().flatten().chain([&newer::XY]);
    let others = others.map(|entry| Word::new(entry.name, entry.doc));
    let mut words: Vec<_> = leading.chain(others).collect();
    words.sort_by_cached_key(|word| match word.doc.section {
        Section::Operator => (Section::Operator, String::new()),
        section => (section, word.name.to_lowercase()),
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_there_twice() {
        let mut names: Vec<_> = TABLE
            .iter()
            .copied()
            .flatten()
            .map(|entry| entry.name)
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn dashes() {
        assert_eq!(find(b"-name").map(|entry| entry.name), Some("name"));
        assert_eq!(find(b"-!").map(|entry| entry.name), Some("!"));
        assert_eq!(find(b"--help").map(|entry| entry.name), Some("-help"));
        assert!(find(b"--name").is_none());
        assert!(find(b"-j4").is_some());
        assert!(find(b"-jx").is_some());
        assert!(find(b"-").is_none());
    }
}
