//! Makes the tree that the other binaries measure on and prints its path.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use benches::cli::{self, Error, TreeArgs};
use lexopt::prelude::*;

fn main() -> ExitCode {
    cli::finish("bench-tree", run())
}

fn run() -> Result<(), Error> {
    let mut tree = TreeArgs::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        let option = match arg {
            Long(option) => option.to_owned(),
            arg => return Err(cli::other(arg, &help())),
        };
        if !tree.take(&option, &mut parser)? {
            return Err(cli::other(Long(&option), &help()));
        }
    }
    let root = tree.ensure()?;
    let mut stdout = io::stdout();
    stdout.write_all(root.as_os_str().as_bytes())?;
    stdout.write_all(b"\n")?;
    Ok(())
}

fn help() -> String {
    let tree = TreeArgs::HELP;
    format!(
        "Usage: bench-tree [OPTIONS]\nMakes the tree for benchmarks and prints its path.\n\n{tree}"
    )
}
