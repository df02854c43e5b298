//! The examples do what they say, on real input.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory that the examples are built into, beside that of this test.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.ancestors().nth(2).expect("target/PROFILE/deps/TEST");
    profile.join("examples").join(name)
}

#[test]
fn uringfind_2021_lists_what_find_lists() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join("crates");
    let output = Command::new(example("uringfind_2021"))
        .arg(&tree)
        .output()
        .expect("it starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = |bytes: &[u8]| {
        bytes
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<BTreeSet<_>>()
    };
    let find = Command::new("find")
        .arg(&tree)
        .args(["-mindepth", "1"])
        .output()
        .expect("find is there");
    assert_eq!(lines(&output.stdout), lines(&find.stdout));
}

#[test]
fn uringfind_2021_tells_what_it_cannot_list() {
    let output = Command::new(example("uringfind_2021"))
        .arg("/no/such/place")
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("/no/such/place: No such file"));
}
