//! What can be wrong with a pattern.

/// Why a pattern is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// `REG_BADPAT`
    Bracket,
    /// `REG_ECOLLATE`
    Collation,
    /// `REG_ECTYPE`
    Class,
    /// `REG_EESCAPE`
    TrailingBackslash,
    /// `REG_ESUBREG`
    BackReference,
    /// `REG_EBRACK`
    UnmatchedBracket,
    /// `REG_EPAREN`
    UnmatchedOpen,
    /// `REG_EBRACE`
    UnmatchedBrace,
    /// `REG_BADBR`
    Interval,
    /// `REG_ERANGE`
    Range,
    /// `REG_BADRPT`
    Repetition,
    /// `REG_ESIZE`, and what the engines refuse.
    TooBig,
    /// `REG_ERPAREN`
    UnmatchedClose,
}

impl Error {
    /// The C library's words.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Bracket => "Invalid regular expression",
            Self::Collation => "Invalid collation character",
            Self::Class => "Invalid character class name",
            Self::TrailingBackslash => "Trailing backslash",
            Self::BackReference => "Invalid back reference",
            Self::UnmatchedBracket => "Unmatched [, [^, [:, [., or [=",
            Self::UnmatchedOpen => r"Unmatched ( or \(",
            Self::UnmatchedBrace => r"Unmatched \{",
            Self::Interval => r"Invalid content of \{\}",
            Self::Range => "Invalid range end",
            Self::Repetition => "Invalid preceding regular expression",
            Self::TooBig => "Regular expression too big",
            Self::UnmatchedClose => r"Unmatched ) or \)",
        }
    }
}
