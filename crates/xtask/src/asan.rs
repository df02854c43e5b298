//! `cargo xtask asan`: what touches memory that the kernel writes to, under `AddressSanitizer`.

use crate::step::{self, Failure};
use crate::toolchain::Toolchain;

/// Futures dropped and forgotten at any moment, servers that die, and as much at once as there
/// may be.
const TESTS: [&str; 6] = [
    "drops",
    "dead_mounts",
    "fuse",
    "fuse_hostile",
    "crowd",
    "sandbox",
];

/// What would say nothing here, and why.
const LEFT_OUT: [(&str, &str); 1] = [(
    "a_million_calls_at_once_starve_nobody",
    "it measures time, which checked code takes more of",
)];

pub(crate) fn run() -> Result<(), Failure> {
    let toolchain = match Toolchain::with_asan() {
        Ok(toolchain) => toolchain,
        Err(reason) => {
            step::skip("asan", reason);
            return Ok(());
        }
    };
    let host = toolchain
        .host()
        .ok_or("the compiler does not tell its host")?;
    let mut cargo = toolchain.cargo();
    cargo.args(["test", "--quiet", "--package", "tests", "--target", &host]);
    for test in TESTS {
        cargo.args(["--test", test]);
    }
    cargo.arg("--");
    for (test, reason) in LEFT_OUT {
        step::skip(&format!("{test} under asan"), reason);
        cargo.args(["--skip", test]);
    }
    let leaks = step::root().join("crates/xtask/leaks.txt");
    cargo.env("RUSTFLAGS", "-Zsanitizer=address").env(
        "LSAN_OPTIONS",
        format!("suppressions={}:print_suppressions=0", leaks.display()),
    );
    step::run(&format!("asan, by {toolchain:?}"), "asan", &mut cargo)
}
