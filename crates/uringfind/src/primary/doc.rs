//! What is told of a word: by `--help`, the hint for a misspelt one, the man page, the completions and
//! the page of compatibility.

/// What is told of a word. Made by the function of its section and those that change one thing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Doc {
    /// What kind of word it is, and so where it may stand.
    pub section: Section,
    /// What stands behind the word; of an operator, all of it.
    pub arguments: &'static str,
    /// The argument is written without a space before it.
    pub attached: bool,
    /// What it does.
    pub line: &'static str,
    /// The arguments there are, if they can be listed.
    pub values: &'static [&'static str],
    /// GNU find 4.9 has it.
    pub in_gnu: bool,
    /// How bfs 4.1 has it.
    pub in_bfs: InBfs,
    /// In what it differs from GNU find's.
    pub deviation: Option<&'static str>,
    /// The test program (`tests/….rs`) that holds it.
    pub tests: &'static str,
    /// It can be used.
    pub is_here: bool,
}

/// The parts of the language, as `--help` groups it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Options before the starting points.
    Leading,
    /// Operators and parentheses.
    Operator,
    /// Options for the whole search, in front of all tests.
    Global,
    /// Options for what stands behind them.
    Positional,
    /// Tests.
    Test,
    /// Actions.
    Action,
    /// Texts about the program itself.
    Information,
}

impl Section {
    /// All, in the order in which they are told of.
    pub const ALL: [Self; 7] = [
        Self::Leading,
        Self::Operator,
        Self::Global,
        Self::Positional,
        Self::Test,
        Self::Action,
        Self::Information,
    ];

    /// Its heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Leading => "Options in front of the starting points",
            Self::Operator => "Operators, the strongest first",
            Self::Global => "Options for the whole search",
            Self::Positional => "Options for what follows",
            Self::Test => "Tests",
            Self::Action => "Actions",
            Self::Information => "Information",
        }
    }
}

/// How bfs has a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InBfs {
    /// By the same name.
    Same,
    /// With this difference.
    Otherwise(&'static str),
    /// Not at all.
    Missing,
}

impl Doc {
    const fn new(section: Section, arguments: &'static str, line: &'static str) -> Self {
        Self {
            section,
            arguments,
            attached: false,
            line,
            values: &[],
            in_gnu: true,
            in_bfs: InBfs::Same,
            deviation: None,
            tests: "",
            is_here: true,
        }
    }

    /// An option before the starting points.
    pub(crate) const fn leading(arguments: &'static str, line: &'static str) -> Self {
        Self::new(Section::Leading, arguments, line)
    }

    /// An operator, with its operands.
    pub(crate) const fn operator(form: &'static str, line: &'static str) -> Self {
        Self::new(Section::Operator, form, line)
    }

    /// An option for the whole search.
    pub(crate) const fn global(arguments: &'static str, line: &'static str) -> Self {
        Self::new(Section::Global, arguments, line)
    }

    /// An option for what stands behind it.
    pub(crate) const fn positional(arguments: &'static str, line: &'static str) -> Self {
        Self::new(Section::Positional, arguments, line)
    }

    /// A test.
    pub(crate) const fn test(arguments: &'static str, line: &'static str) -> Self {
        Self::new(Section::Test, arguments, line)
    }

    /// An action.
    pub(crate) const fn action(arguments: &'static str, line: &'static str) -> Self {
        Self::new(Section::Action, arguments, line)
    }

    /// A text about the program.
    pub(crate) const fn information(line: &'static str) -> Self {
        Self::new(Section::Information, "", line)
    }

    /// Held by this test program.
    pub(crate) const fn tested_in(self, tests: &'static str) -> Self {
        Self { tests, ..self }
    }

    /// With these arguments and no others.
    pub(crate) const fn values(self, values: &'static [&'static str]) -> Self {
        Self { values, ..self }
    }

    /// With the argument in the same word.
    pub(crate) const fn attached(self) -> Self {
        Self {
            attached: true,
            ..self
        }
    }

    /// GNU find does not have it.
    pub(crate) const fn added(self) -> Self {
        Self {
            in_gnu: false,
            ..self
        }
    }

    /// bfs has it with this difference.
    pub(crate) const fn in_bfs(self, difference: &'static str) -> Self {
        Self {
            in_bfs: InBfs::Otherwise(difference),
            ..self
        }
    }

    /// bfs does not have it.
    pub(crate) const fn not_in_bfs(self) -> Self {
        Self {
            in_bfs: InBfs::Missing,
            ..self
        }
    }

    /// It differs from GNU find's in this.
    pub(crate) const fn differs(self, deviation: &'static str) -> Self {
        Self {
            deviation: Some(deviation),
            ..self
        }
    }

    /// It is refused so far.
    pub(crate) const fn not_yet(self) -> Self {
        Self {
            is_here: false,
            ..self
        }
    }
}

/// A word as it is typed, and what is told of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Word {
    /// With its dash, if it has one.
    pub name: String,
    /// What is told of it.
    pub doc: Doc,
}

impl Word {
    /// The word called `name` in the table.
    pub(crate) fn new(name: &str, doc: Doc) -> Self {
        let dash = if matches!(name, "!" | "(" | ")" | ",") {
            ""
        } else {
            "-"
        };
        Self {
            name: format!("{dash}{name}"),
            doc,
        }
    }

    /// The word with its arguments or operands.
    #[must_use]
    pub fn form(&self) -> String {
        let Self { name, doc } = self;
        match doc.arguments {
            "" => name.clone(),
            form if doc.section == Section::Operator => form.to_owned(),
            argument if doc.attached => format!("{name}{argument}"),
            arguments => format!("{name} {arguments}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let form = |name, doc| Word::new(name, doc).form();
        assert_eq!(form("name", Doc::test("PATTERN", "")), "-name PATTERN");
        assert_eq!(form("O", Doc::leading("LEVEL", "").attached()), "-OLEVEL");
        assert_eq!(form("!", Doc::operator("! EXPR", "")), "! EXPR");
        assert_eq!(form("-help", Doc::information("")), "--help");
    }
}
