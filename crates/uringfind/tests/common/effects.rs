//! Searches that change what they find: both programs get the same tree, and what they leave is compared.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::oracle::{Answer, Case, FIND, Place};
use testkit::process::{LIMIT, run};

/// Runs GNU find and the program, each on what `fill` makes, with both outputs in one pipe; `arrange`
/// changes the case.
#[track_caller]
pub(crate) fn compare_effects(
    place: &Place,
    fill: impl Fn(&Place),
    args: impl IntoIterator<Item = OsString>,
    arrange: impl Fn(Case) -> Case,
) {
    let args: Vec<OsString> = args.into_iter().collect();
    let case = arrange(place.case(&args).merged());
    let run = |program: &Path| -> (Answer, BTreeMap<PathBuf, String>) {
        clear(place);
        fill(place);
        let answer = case.run(program).unwrap_or_else(|error| panic!("{error}"));
        (answer, listing(&place.path()))
    };
    let (expected, expected_tree) = run(Path::new(FIND));
    let program = place.program();
    let (actual, tree) = run(&program);
    case.assert_same(&expected, &actual);
    assert_eq!(tree, expected_tree, "what is left after {args:?}");
}

fn clear(place: &Place) {
    let mut rm = Command::new("rm");
    rm.args(["-rf", "--"]).arg(place.path());
    run(&mut rm, b"", LIMIT).unwrap().assert_passed();
    fs::create_dir(place.path()).unwrap();
}

/// All files below `root`, each with its type, mode and contents.
fn listing(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let stat = fs::symlink_metadata(&path).unwrap();
            let contents = if stat.is_dir() {
                String::new()
            } else if stat.is_symlink() {
                fs::read_link(&path).unwrap().display().to_string()
            } else {
                String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
            };
            if stat.is_dir() {
                pending.push(path.clone());
            }
            files.insert(path, format!("{:o} {contents}", stat.mode()));
        }
    }
    files
}
