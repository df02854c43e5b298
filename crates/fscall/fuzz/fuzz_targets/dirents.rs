//! Any bytes as a buffer of directory entries: `cargo xtask fuzz`, or `cargo fuzz run dirents`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/invariants/mod.rs"]
mod invariants;

fuzz_target!(|bytes: &[u8]| invariants::check_dirents(bytes));
