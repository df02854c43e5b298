//! `cargo xtask fuzz`: the parser of directory entries under libFuzzer, as `cargo fuzz` would do
//! it, but without the need to install that.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;

use crate::step::{self, Failure, first_line};
use crate::toolchain::Toolchain;

/// The flags of `cargo fuzz`: libFuzzer is told of each edge and comparison.
const FLAGS: [&str; 8] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Zsanitizer=address",
    "-Cdebug-assertions",
    "-Ccodegen-units=1",
];

/// Directories whose records are the first input: of several file systems and with all types.
const SEEDS: [&str; 6] = ["/", "/dev", "/proc", "/sys", "/usr/include", "/tmp"];

pub(crate) fn run(seconds: u32) -> Result<(), Failure> {
    let toolchain = match Toolchain::with_asan() {
        Ok(toolchain) => toolchain,
        Err(reason) => {
            step::skip("fuzz", reason);
            return Ok(());
        }
    };
    if first_line(Command::new("c++").arg("--version")).is_none() {
        step::skip(
            "fuzz",
            "libFuzzer is built by a C++ compiler, and there is none",
        );
        return Ok(());
    }
    let host = toolchain
        .host()
        .ok_or("the compiler does not tell its host")?;
    let work = step::root().join("target/fuzz");
    let [corpus, artifacts] = ["corpus", "artifacts"].map(|name| work.join(name).join("dirents"));
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    write_seeds(&corpus);

    let mut cargo = toolchain.cargo();
    cargo
        .args(["run", "--quiet", "--release", "--bin", "dirents"])
        .args(["--manifest-path", "crates/fscall/fuzz/Cargo.toml"])
        // With a target named, build scripts are spared the flags.
        .args(["--target", &host, "--"])
        .arg(&corpus)
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-max_total_time={seconds}"))
        .args(["-max_len=4096", "-print_final_stats=1", "-verbosity=0"])
        .env("RUSTFLAGS", FLAGS.join(" "))
        // libFuzzer's own objects define some names twice.
        .env("ASAN_OPTIONS", "detect_odr_violation=0");
    let name = format!("fuzz: dirents, {seconds} s, by {toolchain:?}");
    step::run(&name, "fuzz", &mut cargo)
}

/// What real directories give. One that can't be read is no loss: the fuzzer finds its way from
/// any of them.
fn write_seeds(corpus: &Path) {
    for (number, directory) in SEEDS.iter().enumerate() {
        let mut records = Vec::with_capacity(1024);
        let read = File::open(directory)
            .and_then(|directory| fscall::getdents64(directory.as_fd(), &mut records));
        if read.is_ok_and(|bytes| bytes > 0) {
            let _ = fs::write(corpus.join(format!("seed-{number}")), records);
        }
    }
}
