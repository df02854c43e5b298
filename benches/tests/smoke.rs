//! The binaries run and print what they promise, on small trees.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::{Command, Output};

fn run(program: &str, args: &[&str]) -> Output {
    Command::new(program).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn find_bench_prints_a_table_for_each_scenario_and_sink() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    // uringfind is another package's: it may not be built.
    let args = ["--smoke", "--pipe", "--skip", "uringfind", "--tree", tree];
    let output = run(env!("CARGO_BIN_EXE_find-bench"), &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    assert_eq!(report.matches("\n## Warm, ").count(), 4, "{report}");
    assert_eq!(
        report.matches("| floor T=2 relative ").count(),
        4,
        "{report}"
    );
    assert!(
        report.contains("n = 3; in brackets the 75 % interval"),
        "{report}"
    );
}

#[test]
fn find_bench_needs_uringfind_unless_told_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let args = [
        "--scale",
        "0.0001",
        "-n",
        "1",
        "--uringfind",
        "/no/such",
        "--tree",
        tree,
    ];
    let output = run(env!("CARGO_BIN_EXE_find-bench"), &args);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("find-bench: uringfind: /no/such: "));
}

#[test]
fn a_rival_that_prints_other_lines_is_found_out() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let args = [
        "--scale",
        "0.0001",
        "--skip",
        "uringfind",
        "--rival",
        "/bin/echo",
        "--tree",
        tree,
    ];
    let output = run(env!("CARGO_BIN_EXE_find-bench"), &args);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("echo prints 1, and they differ"));
}

#[test]
fn floor_and_bench_tree_as_programs() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let output = run(
        env!("CARGO_BIN_EXE_bench-tree"),
        &["--scale", "0.001", "--tree", tree],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let root = text(&output.stdout).trim_end();
    assert!(Path::new(root).starts_with(tree));

    let floor = env!("CARGO_BIN_EXE_floor");
    let output = run(floor, &["--threads", "2", "--open", "path", root]);
    assert_eq!(
        text(&output.stdout).lines().count(),
        501,
        "500 entries and the root"
    );
    assert_eq!(
        run(floor, &["--open", "sideways", root]).status.code(),
        Some(1)
    );
    assert_eq!(run(floor, &[]).status.code(), Some(1));
    assert!(run(floor, &["--help"]).status.success());
}

#[test]
fn stat_bench_prints_a_row_for_each_route() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let output = run(
        env!("CARGO_BIN_EXE_stat-bench"),
        &["--smoke", "--tree", tree],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    for route in [
        "statx ",
        "openat2(RESOLVE_CACHED) ",
        "tokio::fs::symlink_metadata ",
    ] {
        assert!(report.contains(&format!("\n| {route}")), "{report}");
    }
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        0,
        "the files are removed"
    );
}

#[test]
fn batch_bench_prints_a_table_for_each_number_in_flight() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_batch-bench");
    let output = run(program, &["--smoke", "--tree", tree]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    for title in [
        "in batches",
        "1 in flight",
        "64 in flight",
        "by descriptor, one by one",
    ] {
        assert!(report.contains(&format!("\n| {title} ")), "{report}");
    }
    assert_eq!(report.matches("\n| compio ").count(), 6, "{report}");
    let output = run(
        program,
        &["--smoke", "--tree", tree, "--only", "descriptor"],
    );
    let report = text(&output.stdout);
    assert_eq!(report.matches(" ns per call ").count(), 1, "{report}");
}
