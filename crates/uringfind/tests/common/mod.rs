//! What these tests share beyond testkit.

#![allow(dead_code)] // Each test program uses a part.

pub(crate) mod zoo;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use testkit::oracle::Place;

/// A place to run uringfind in.
pub(crate) fn place() -> Place {
    Place::new(env!("CARGO_BIN_EXE_uringfind"))
}

/// An argument of these bytes.
pub(crate) fn bytes(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// The arguments in `line`, separated by spaces.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    line.split(' ')
        .filter(|it| !it.is_empty())
        .map(|it| OsStr::from_bytes(it.as_bytes()).to_owned())
        .collect()
}
