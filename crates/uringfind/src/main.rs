//! find(1), in parallel.

use std::process::ExitCode;

fn main() -> ExitCode {
    uringfind::main(std::env::args_os().collect())
}
