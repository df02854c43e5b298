//! What the command lines of the binaries have in common.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use lexopt::{Arg, Parser, ValueExt};

use crate::tree::{self, Shape};

/// Any failure of a binary, to be printed.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The value of an option as a number above zero.
///
/// # Errors
/// There is none, or it does not parse, or it is zero.
pub fn positive<T: FromStr + PartialOrd + Default>(parser: &mut Parser) -> Result<T, lexopt::Error>
where
    T::Err: Display,
{
    let value = parser.value()?;
    let number = value.parse_with(|text| {
        let number: T = text.parse().map_err(|error: T::Err| error.to_string())?;
        if number > T::default() {
            Ok(number)
        } else {
            Err("must be above zero".to_owned())
        }
    })?;
    Ok(number)
}

/// The value of an option as numbers above zero with commas between.
///
/// # Errors
/// One of them is none; the message names the option.
pub fn numbers(option: &str, value: &str) -> Result<Vec<usize>, String> {
    value
        .split(',')
        .map(|number| match number.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("--{option}: {number:?} is no number above zero")),
        })
        .collect()
}

/// The error for an argument that the binary does not know, or the help text for `--help`.
pub fn other(arg: Arg<'_>, help: &str) -> Error {
    match arg {
        Arg::Long("help") | Arg::Short('h') => Help(help.to_owned()).into(),
        arg => arg.unexpected().into(),
    }
}

/// Not a failure: the help text was asked for.
#[derive(Debug)]
struct Help(String);

impl Display for Help {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Help {}

/// Turns a binary's result into its exit status and prints what is to be said.
pub fn finish(name: &str, result: Result<(), Error>) -> ExitCode {
    let Err(error) = result else {
        return ExitCode::SUCCESS;
    };
    if let Some(Help(text)) = error.downcast_ref() {
        return match io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    eprintln!("{name}: {error}");
    ExitCode::FAILURE
}

/// Where the tree is and how large: the options `--tree DIR` and `--scale F`.
#[derive(Debug, Clone)]
pub struct TreeArgs {
    /// The directory that holds it.
    pub directory: PathBuf,
    /// What it is like.
    pub shape: Shape,
}

impl Default for TreeArgs {
    fn default() -> Self {
        Self {
            directory: tree::default_directory(),
            shape: Shape::FULL,
        }
    }
}

impl TreeArgs {
    /// Lines for the help text of a binary that uses this.
    pub const HELP: &str = "\
  --tree DIR    directory for the tree (default: RINGFS_BENCH_DIR, else TMPDIR/ringfs-bench)
  --scale F     a tree of F × 500,000 entries (default: 1)
";

    /// Takes the option if it is one of these.
    ///
    /// # Errors
    /// Its value is missing or bad.
    pub fn take(&mut self, option: &str, parser: &mut Parser) -> Result<bool, lexopt::Error> {
        match option {
            "tree" => self.directory = parser.value()?.into(),
            "scale" => self.shape = Shape::scaled(positive(parser)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The tree's root; the tree is made if need be.
    ///
    /// # Errors
    /// See [`tree::ensure`].
    pub fn ensure(&self) -> io::Result<PathBuf> {
        tree::ensure(&self.directory, self.shape)
    }
}

/// A program of this workspace: it lies beside the running one.
///
/// # Errors
/// It is not there; the message says how to build it.
pub fn sibling(name: &str) -> Result<PathBuf, Error> {
    let me = std::env::current_exe()?;
    let directory = me.parent().unwrap_or(Path::new("."));
    let path = directory.join(name);
    if path.is_file() {
        return Ok(path);
    }
    let package = if name == "uringfind" {
        "uringfind"
    } else {
        "benches"
    };
    let release = if directory.ends_with("release") {
        " --release"
    } else {
        ""
    };
    Err(format!(
        "{}: not built; run: cargo build{release} -p {package}",
        path.display()
    )
    .into())
}

/// Options as arguments of a program.
pub fn os_args<S: AsRef<OsStr>>(args: &[S]) -> Vec<OsString> {
    args.iter().map(|arg| arg.as_ref().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_above_zero() {
        let parse = |text: &str| {
            positive::<usize>(&mut Parser::from_args([text])).map_err(|e| e.to_string())
        };
        assert_eq!(parse("7"), Ok(7));
        assert!(parse("0").unwrap_err().contains("above zero"));
        assert!(parse("x").is_err());
    }

    #[test]
    fn lists_of_numbers() {
        assert_eq!(numbers("tasks", "2,4"), Ok(vec![2, 4]));
        for wrong in ["", "2,", "0", "2;4"] {
            assert!(
                numbers("tasks", wrong)
                    .unwrap_err()
                    .starts_with("--tasks: ")
            );
        }
    }

    #[test]
    fn a_missing_sibling_says_how_to_build_it() {
        let error = sibling("no-such-program").unwrap_err().to_string();
        assert!(error.contains("run: cargo build"), "{error}");
    }

    #[test]
    fn unknown_options_are_refused_and_help_is_not_a_failure() {
        assert!(!other(Arg::Long("no-such"), "").is::<Help>());
        assert!(other(Arg::Long("help"), "text").is::<Help>());
    }
}
