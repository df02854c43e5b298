//! The syntaxes that `-regextype` knows.

/// What is special in a pattern. A field is one of the C library's `RE_…` bits; those that make no
/// difference to a path (`RE_DOT_NOT_NULL`), or that none of the syntaxes has, are not here.
#[allow(clippy::struct_excessive_bools)] // They are the bits of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Syntax {
    /// In brackets a backslash makes the next character ordinary.
    pub(super) backslash_in_lists: bool,
    /// `\+` and `\?` are operators instead of `+` and `?`.
    pub(super) backslash_plus: bool,
    /// `[:alpha:]` and so on are known.
    pub(super) char_classes: bool,
    /// `^` and `$` are anchors wherever they stand.
    pub(super) anchors_anywhere: bool,
    /// A repetition of nothing is passed over instead of being ordinary.
    pub(super) operators_anywhere: bool,
    /// A repetition of nothing is an error.
    pub(super) no_empty_repetition: bool,
    /// `.` matches a newline.
    pub(super) dot_newline: bool,
    /// There are intervals.
    pub(super) intervals: bool,
    /// `+`, `?` and `|` are not operators, with a backslash or without.
    pub(super) limited_operators: bool,
    /// A newline separates alternatives.
    pub(super) newline_alternates: bool,
    /// `{` instead of `\{`.
    pub(super) plain_braces: bool,
    /// `(` instead of `\(`.
    pub(super) plain_parens: bool,
    /// `\1` is a digit.
    pub(super) no_references: bool,
    /// `|` instead of `\|`.
    pub(super) plain_bar: bool,
    /// A range whose end comes before its start is an error instead of empty.
    pub(super) no_empty_ranges: bool,
    /// A closing parenthesis too many is ordinary.
    pub(super) close_is_ordinary: bool,
    /// `\w`, `\<`, `` \` `` and so on are ordinary.
    pub(super) no_gnu_operators: bool,
    /// An interval that is none is ordinary.
    pub(super) bad_interval_is_ordinary: bool,
    /// An interval of nothing is an error, and so is `*` or an interval behind a repetition.
    pub(super) no_repeated_interval: bool,
}

/// The default.
const EMACS: Syntax = Syntax {
    backslash_in_lists: false,
    backslash_plus: false,
    char_classes: false,
    anchors_anywhere: false,
    operators_anywhere: false,
    no_empty_repetition: false,
    dot_newline: false,
    intervals: false,
    limited_operators: false,
    newline_alternates: false,
    plain_braces: false,
    plain_parens: false,
    no_references: false,
    plain_bar: false,
    no_empty_ranges: false,
    close_is_ordinary: false,
    no_gnu_operators: false,
    bad_interval_is_ordinary: false,
    no_repeated_interval: false,
};

const FINDUTILS: Syntax = Syntax {
    dot_newline: true,
    ..EMACS
};

const AWK: Syntax = Syntax {
    backslash_in_lists: true,
    plain_parens: true,
    no_references: true,
    plain_bar: true,
    no_empty_ranges: true,
    dot_newline: true,
    anchors_anywhere: true,
    char_classes: true,
    close_is_ordinary: true,
    no_gnu_operators: true,
    ..EMACS
};

const POSIX_MINIMAL_BASIC: Syntax = Syntax {
    limited_operators: true,
    ..POSIX_COMMON
};

const POSIX_COMMON: Syntax = Syntax {
    char_classes: true,
    dot_newline: true,
    intervals: true,
    no_empty_ranges: true,
    ..EMACS
};

const POSIX_BASIC: Syntax = Syntax {
    backslash_plus: true,
    no_repeated_interval: true,
    ..POSIX_COMMON
};

const GREP: Syntax = Syntax {
    newline_alternates: true,
    no_repeated_interval: false,
    ..POSIX_BASIC
};

const POSIX_EXTENDED: Syntax = Syntax {
    anchors_anywhere: true,
    operators_anywhere: true,
    plain_braces: true,
    plain_parens: true,
    plain_bar: true,
    no_empty_repetition: true,
    close_is_ordinary: true,
    ..POSIX_COMMON
};

const EGREP: Syntax = Syntax {
    bad_interval_is_ordinary: true,
    newline_alternates: true,
    no_empty_repetition: false,
    ..POSIX_EXTENDED
};

const GNU_AWK: Syntax = Syntax {
    backslash_in_lists: true,
    bad_interval_is_ordinary: true,
    operators_anywhere: false,
    no_empty_repetition: false,
    ..POSIX_EXTENDED
};

const POSIX_AWK: Syntax = Syntax {
    backslash_in_lists: true,
    no_gnu_operators: true,
    bad_interval_is_ordinary: true,
    ..POSIX_EXTENDED
};

/// Names and syntaxes, in the order in which find lists them.
pub(crate) const TYPES: &[(&str, Syntax)] = &[
    ("findutils-default", FINDUTILS),
    ("ed", POSIX_BASIC),
    ("emacs", EMACS),
    ("gnu-awk", GNU_AWK),
    ("grep", GREP),
    ("posix-awk", POSIX_AWK),
    ("awk", AWK),
    ("posix-basic", POSIX_BASIC),
    ("posix-egrep", EGREP),
    ("egrep", EGREP),
    ("posix-extended", POSIX_EXTENDED),
    ("posix-minimal-basic", POSIX_MINIMAL_BASIC),
    ("sed", POSIX_BASIC),
];

impl Syntax {
    /// The one of this name.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        TYPES
            .iter()
            .find(|(known, _)| known.as_bytes() == name)
            .map(|&(_, syntax)| syntax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_emacs() {
        assert_eq!(Some(Syntax::default()), Syntax::named(b"emacs"));
        assert_ne!(Some(Syntax::default()), Syntax::named(b"findutils-default"));
        assert_eq!(Syntax::named(b"help"), None);
    }
}
