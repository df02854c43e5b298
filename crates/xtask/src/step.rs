//! What all commands do: run programs of the workspace, and say so.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Why a command failed.
pub(crate) type Failure = Box<dyn Error>;

/// The top of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// Runs `command` in the workspace, with what it builds in a directory of its own, so that other
/// flags do not make the next ordinary build start again.
///
/// # Errors
///
/// It could not be run, or failed.
pub(crate) fn run(name: &str, target_dir: &str, command: &mut Command) -> Result<(), Failure> {
    println!("xtask: {name}");
    let begin = Instant::now();
    let status = command
        .current_dir(root())
        .env("CARGO_TARGET_DIR", root().join("target").join(target_dir))
        .status()
        .map_err(|error| format!("{name}: {}: {error}", command.get_program().display()))?;
    if !status.success() {
        return Err(format!("{name}: {status}").into());
    }
    println!("xtask: {name}: ok ({} s)", begin.elapsed().as_secs());
    Ok(())
}

/// Says that something was not done, and why.
pub(crate) fn skip(name: &str, reason: &str) {
    println!("skipped: {name}: {reason}");
}

/// The first line that a program prints, if it runs and succeeds.
pub(crate) fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(())?;
    text.lines().next().map(str::to_owned)
}
