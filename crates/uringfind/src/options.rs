//! Options: what stands before the starting points, and what holds for the whole search.

use std::io::IsTerminal;
use std::num::NonZeroUsize;

use crate::debug;
use crate::errno::ERANGE;
use crate::failure::Failure;
use crate::order::Level;
use crate::primary::{Doc, parse_jobs};
use crate::regex::Syntax;

/// What holds for the whole search.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// Files above this depth are passed through unseen. The starting point's is 0.
    pub(crate) min_depth: usize,
    /// Nothing below this depth is looked at.
    pub(crate) max_depth: Option<usize>,
    /// Which links are followed: `-P`, `-H` or `-L`.
    pub(crate) follow: Follow,
    /// A directory comes after its contents.
    pub(crate) contents_first: bool,
    /// Other file systems are not entered.
    pub(crate) one_file_system: bool,
    /// Files that vanish while the search runs are no error. Changes while arguments are read; a test
    /// keeps what it found.
    pub(crate) ignore_races: bool,
    /// The file that names the starting points, `-` for standard input.
    pub(crate) names_from: Option<Vec<u8>>,
    /// Some action asks the user, on standard input.
    pub(crate) asks_user: bool,
    /// How much may be in flight; the walker's own choice if `None`.
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Dubious usage is pointed out. Changes while arguments are read.
    pub(crate) warnings: bool,
    /// How `-regex` reads its pattern. Changes while arguments are read.
    pub(crate) regex_syntax: Syntax,
    /// How eagerly the expression is reordered.
    pub(crate) level: Level,
}

/// Which links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Follow {
    /// `-P`
    #[default]
    Never,
    /// `-H`: starting points that are links.
    StartingPoints,
    /// `-L`
    Always,
}

impl Follow {
    /// Whether links are followed at this depth.
    pub(crate) fn at(self, depth: usize) -> bool {
        match self {
            Self::Never => false,
            Self::StartingPoints => depth == 0,
            Self::Always => true,
        }
    }
}

/// What of the process's surroundings bears on the language.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Environment {
    /// `POSIXLY_CORRECT` is set: no warnings.
    pub(crate) posixly_correct: bool,
    /// Standard input is a terminal: warnings are on unless switched off.
    pub(crate) interactive: bool,
    /// `FIND_BLOCK_SIZE`, which find refuses, is set.
    pub(crate) block_size: bool,
}

impl Environment {
    /// This process's.
    pub(crate) fn of_process() -> Self {
        Self {
            posixly_correct: std::env::var_os("POSIXLY_CORRECT").is_some(),
            interactive: std::io::stdin().is_terminal(),
            block_size: std::env::var_os("FIND_BLOCK_SIZE").is_some(),
        }
    }
}

/// The words that [`leading`] reads. Those that may also stand in the expression are in the table of
/// primaries.
pub(crate) const LEADING: &[(&str, Doc)] = &[
    (
        "H",
        Doc::leading("", "follow symbolic links only if they are starting points")
            .tested_in("links"),
    ),
    (
        "L",
        Doc::leading("", "follow symbolic links").tested_in("options"),
    ),
    (
        "P",
        Doc::leading("", "do not follow symbolic links (the default)").tested_in("links"),
    ),
    (
        "D",
        Doc::leading(
            "WHAT",
            "accepted for the sake of old command lines; -D help tells more",
        )
        .in_bfs("other words")
        .values(&[
            "all", "exec", "help", "opt", "rates", "search", "stat", "time", "tree",
        ])
        .differs("the texts are this program's")
        .tested_in("options"),
    ),
    (
        "O",
        Doc::leading(
            "LEVEL",
            "how eagerly tests are reordered, 0 to 3; 2 is the default",
        )
        .attached()
        .in_bfs("3 is the default; 4 and fast as well")
        .tested_in("parse_errors"),
    ),
    (
        "E",
        Doc::leading("", "the same as -regextype posix-extended")
            .added()
            .tested_in("bfs_words")
            .not_yet(),
    ),
    (
        "s",
        Doc::leading(
            "",
            "visit the entries of a directory in the order of their bytes",
        )
        .added()
        .tested_in("bfs_words")
        .not_yet(),
    ),
    (
        "x",
        Doc::leading("", "the same as -xdev")
            .added()
            .tested_in("bfs_words")
            .not_yet(),
    ),
    (
        "-",
        Doc::leading("", "no further option follows").tested_in("parse_errors"),
    ),
];

/// What stands before the starting points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leading {
    /// So many arguments.
    Arguments(usize),
    /// Nothing behind `-D help` is read.
    DebugHelp,
}

/// Reads the options before the starting points.
pub(crate) fn leading(
    arguments: &[Vec<u8>],
    options: &mut Options,
    warnings: &mut Vec<Vec<u8>>,
) -> Result<Leading, Failure> {
    let mut next = 0;
    while let Some(argument) = arguments.get(next) {
        match argument.as_slice() {
            b"--" => return Ok(Leading::Arguments(next + 1)),
            b"-P" => options.follow = Follow::Never,
            b"-H" => options.follow = Follow::StartingPoints,
            b"-L" => options.follow = Follow::Always,
            b"-D" => {
                next += 1;
                let flags = arguments.get(next).map(Vec::as_slice);
                if debug::is_help(flags, warnings)? {
                    return Ok(Leading::DebugHelp);
                }
            }
            b"-j" => {
                next += 1;
                let number = arguments
                    .get(next)
                    .ok_or_else(|| Failure::new(&b"missing argument to `-j'"[..]))?;
                options.jobs = Some(parse_jobs(number)?);
            }
            [b'-', b'j', number @ ..] => options.jobs = Some(parse_jobs(number)?),
            [b'-', b'O', level @ ..] => options.level = parse_level(level)?,
            _ => break,
        }
        next += 1;
    }
    Ok(Leading::Arguments(next))
}

/// The number behind `-O`.
fn parse_level(text: &[u8]) -> Result<Level, Failure> {
    let Some(first) = text.first() else {
        return Err(Failure::new(
            &b"The -O option must be immediately followed by a decimal integer"[..],
        ));
    };
    if !first.is_ascii_digit() {
        return Err(Failure::new(
            &b"Please specify a decimal number immediately after -O"[..],
        ));
    }
    let invalid = [b"Invalid optimisation level ", text].concat();
    if !text.iter().all(u8::is_ascii_digit) {
        return Err(Failure::new(invalid));
    }
    let number: u64 = str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Failure::errno(&invalid, ERANGE))?;
    u16::try_from(number).map(Level).map_err(|_| {
        Failure::new(format!(
            "Optimisation level {number} is too high.  If you want to find files very quickly, \
             consider using GNU locate."
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(arguments: &[&str]) -> Option<usize> {
        let arguments: Vec<_> = arguments.iter().map(|it| it.as_bytes().to_vec()).collect();
        match leading(&arguments, &mut Options::default(), &mut Vec::new()) {
            Ok(Leading::Arguments(count)) => Some(count),
            _ => None,
        }
    }

    #[test]
    fn they_end_at_the_first_other_word() {
        assert_eq!(count(&["-P", "-P", "dir", "-P"]), Some(2));
        assert_eq!(count(&["--", "-P"]), Some(1));
        assert_eq!(count(&["-j", "3", "-O2", "-j4"]), Some(4));
        assert_eq!(count(&["-D", "tree,stat", "-D", "x", "-L"]), Some(5));
        assert_eq!(count(&["-print"]), Some(0));
        for bad in [
            &["-j"][..],
            &["-j0"],
            &["-O"],
            &["-Ox"],
            &["-O1x"],
            &["-O70000"],
        ] {
            assert_eq!(count(bad), None, "{bad:?}");
        }
    }
}
