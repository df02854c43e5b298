//! Which compiler takes the flags that no stable compiler does.

use std::fs;
use std::process::Command;

use crate::step::first_line;

/// A compiler with `AddressSanitizer`.
#[derive(Debug)]
pub(crate) enum Toolchain {
    /// The installed nightly.
    Nightly,
    /// This workspace's own, told to take unstable flags.
    Stable,
}

impl Toolchain {
    /// The first that can do it, or why none can.
    pub(crate) fn with_asan() -> Result<Self, &'static str> {
        [Self::Nightly, Self::Stable]
            .into_iter()
            .find(Self::has_asan)
            .ok_or("no installed compiler comes with AddressSanitizer")
    }

    /// `program` of this toolchain.
    fn program(&self, program: &str) -> Command {
        match self {
            // Not `cargo +nightly`: within a run of cargo that is no longer rustup's.
            Self::Nightly => {
                let mut command = Command::new("rustup");
                command.args(["run", "nightly", program]);
                command
            }
            Self::Stable => {
                let mut command = Command::new(program);
                command.env("RUSTC_BOOTSTRAP", "1");
                command
            }
        }
    }

    pub(crate) fn cargo(&self) -> Command {
        self.program("cargo")
    }

    /// The platform that it builds for, and runs on.
    pub(crate) fn host(&self) -> Option<String> {
        first_line(self.program("rustc").args(["--print", "host-tuple"]))
    }

    fn has_asan(&self) -> bool {
        let libraries = first_line(self.program("rustc").args(["--print", "target-libdir"]));
        libraries
            .and_then(|directory| fs::read_dir(directory).ok())
            .into_iter()
            .flatten()
            .flatten()
            .any(|file| file.file_name().as_encoded_bytes().ends_with(b"_rt.asan.a"))
    }
}
