//! Lists a tree with bare threads and kernel calls; see [`benches::floor`].

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use benches::cli::{self, Error};
use benches::floor::{self, Open, Options};
use lexopt::prelude::*;

const HELP: &str = "\
Usage: floor [OPTIONS] ROOT
Prints the path of everything below ROOT, in no order.

  --threads N          threads (default: 1)
  --open HOW           open directories by `relative` (default) or full `path`
  --size-over-kib N    only regular files of more than N KiB, like find's -type f -size +Nk
  --buffer KIB         size of the getdents64 buffer in KiB (default: 64)
";

fn main() -> ExitCode {
    cli::finish("floor", run())
}

fn run() -> Result<(), Error> {
    let mut root = None;
    let mut options = Options {
        threads: 1,
        open: Open::Relative,
        size_over_kib: None,
        buffer: Options::BUFFER,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("threads") => options.threads = cli::positive(&mut parser)?,
            Long("open") => options.open = open(&parser.value()?.string()?)?,
            Long("size-over-kib") => options.size_over_kib = Some(parser.value()?.parse()?),
            Long("buffer") => options.buffer = cli::positive::<usize>(&mut parser)? * 1024,
            Value(path) if root.is_none() => root = Some(PathBuf::from(path)),
            arg => return Err(cli::other(arg, HELP)),
        }
    }
    let root = root.ok_or("a root is needed; see --help")?;
    Ok(floor::run_to_stdout(&root, options)?)
}

fn open(word: &str) -> Result<Open, String> {
    [Open::Relative, Open::Path]
        .into_iter()
        .find(|open| open.as_str() == word)
        .ok_or_else(|| format!("--open: {word:?} is neither `relative` nor `path`"))
}
