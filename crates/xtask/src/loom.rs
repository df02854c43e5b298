//! `cargo xtask loom`: every crate's models, each in `tests/loom.rs` or a module `loom` of its
//! unit tests.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::step::{self, Failure};

/// What introduces models among a crate's unit tests.
const INSIDE: &str = "#[cfg(all(test, loom))]";

pub(crate) fn run() -> Result<(), Failure> {
    let mut crates: Vec<_> =
        fs::read_dir(step::root().join("crates"))?.collect::<Result<_, _>>()?;
    crates.sort_by_key(fs::DirEntry::file_name);
    for entry in crates {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.path().join("tests/loom.rs").exists() {
            models(&name, &["--test", "loom"])?;
        }
        // This file has it for another reason.
        if name != env!("CARGO_PKG_NAME") && mentions(&entry.path().join("src"), INSIDE)? {
            models(&name, &["--lib", "loom::"])?;
        }
    }
    Ok(())
}

fn models(package: &str, which: &[&str]) -> Result<(), Failure> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "--quiet", "--release", "--no-default-features"])
        .args(["--package", package])
        .args(which)
        .env("RUSTFLAGS", "--cfg loom");
    step::run(&format!("loom: {package}"), "loom", &mut cargo)
}

/// Whether a source file below `directory` contains `text`.
fn mentions(directory: &Path, text: &str) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let found = if entry.file_type()?.is_dir() {
            mentions(&entry.path(), text)?
        } else {
            fs::read_to_string(entry.path())?.contains(text)
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}
