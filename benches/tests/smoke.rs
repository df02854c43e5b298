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
fn stat_bench_prints_a_row_for_each_route_and_each_depth() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_stat-bench");
    let args = ["--smoke", "--tasks", "2,3", "--tree", tree];
    let output = run(program, &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    for row in [
        "statx ",
        "openat2(RESOLVE_CACHED) ",
        "tokio::fs::symlink_metadata ",
        "tokio-uring statx ",
        "compio symlink_metadata ",
        "2 tasks, wall time ",
        "3 tasks, wall time ",
        "statx, 3 threads ",
        "lookup by depth ",
        "10 ",
    ] {
        assert!(report.contains(&format!("\n| {row}")), "{row}: {report}");
    }
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        0,
        "the files are removed"
    );
    let output = run(program, &["--tasks", "2,none"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--tasks: \"none\""));
}

#[test]
fn dir_bench_prints_a_table_for_each_size() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_dir-bench");
    let output = run(program, &["--smoke", "--tree", tree]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    for title in [
        "whole directory, 500 entries ",
        "whole directory, 3000 entries ",
        "until the first entry of 3000 ",
    ] {
        assert!(report.contains(&format!("\n| {title}")), "{report}");
    }
    assert_eq!(report.matches("\n| getdents64, ").count(), 13, "{report}");
    assert_eq!(report.matches("\n| ringfs ").count(), 6, "{report}");
}

#[test]
fn slow_bench_prints_a_table_for_each_scenario() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_slow-bench");
    let output = run(program, &["--smoke", "--tree", tree]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    if report.starts_with("skipped: ") {
        testkit::skip!("slow-bench", "{}", report.trim_end());
    }
    assert_eq!(report.matches("\n| 80 files, ").count(), 5, "{report}");
    assert_eq!(report.matches("\n| tokio-uring ").count(), 5, "{report}");
    assert!(report.contains("\n| lateness of 1ms ticks "), "{report}");
}

#[test]
fn first_call_tells_what_it_leaves() {
    let program = env!("CARGO_BIN_EXE_first-call");
    let output = run(program, &["--smoke"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    assert_eq!(report.matches("\n| ringfs").count(), 4, "{report}");
    let cached = report
        .lines()
        .find(|line| line.starts_with("| ringfs::metadata, cached "))
        .unwrap();
    let left: Vec<_> = cached.split('|').rev().skip(1).map(str::trim).collect();
    assert_eq!(left[..2], ["0", "1"], "neither ring nor thread: {cached}");
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

#[test]
fn walk_bench_prints_a_table_for_each_kind_of_tree() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_walk-bench");
    let run = |only| {
        let output = run(program, &["--smoke", "--tree", tree, "--only", only]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let report = run("warm");
    for title in ["names, warm ", "with sizes, warm ", "2000 warm entries "] {
        assert!(report.contains(title), "{title}: {report}");
    }
    assert_eq!(report.matches("\n| async-walkdir ").count(), 2, "{report}");
    let report = run("per answer");
    if report.contains("skipped: ") {
        testkit::skip!("walk-bench", "{}", report.trim_end());
    }
    assert_eq!(report.matches("\n| 48 entries, ").count(), 4, "{report}");
    assert_eq!(report.matches("\n| walkdir ").count(), 4, "{report}");
    assert!(report.contains("\n| one directory of 80, "), "{report}");
}

#[test]
fn walk_bench_alone_walks_once() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_walk-bench");
    let alone = |name, root| run(program, &["--alone", name, "names", root]);
    assert!(alone("ringwalk visitor", root).status.success());
    for (name, root) in [("a way of its own", root), ("walkdir", "/no/such")] {
        assert_eq!(alone(name, root).status.code(), Some(1), "{name}");
    }
}

#[test]
fn queue_bench_prints_a_table_for_each_kind_of_work() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_queue-bench");
    let args = ["--smoke", "--threads", "1,2,3", "--tree", tree];
    let output = run(program, &args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    for (row, count) in [
        ("two cores and one line ", 1),
        ("names, per directory ", 1),
        ("with sizes, per directory ", 1),
        ("nothing to do, per directory ", 1),
        ("touches per 1,000 directories, ", 4),
        // Two distances for each of two kinds of work.
        ("speed-up on many cores, ", 4),
    ] {
        assert_eq!(
            report.matches(&format!("\n| {row}")).count(),
            count,
            "{row}: {report}"
        );
    }
    assert!(report.contains("\n| deques, crossbeam "), "{report}");
    let output = run(program, &["--threads", "2,1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--threads: must begin with 1,2"));
}
