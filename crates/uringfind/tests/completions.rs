//! The completions work in the shells that are there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testkit::{Skip, or_skip};

/// A file of the completions.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("completions")
        .join(name)
}

/// Runs `script` in a shell, in a directory with a file called `a file`.
fn run(shell: &str, script: &str, file: &Path) -> Result<Output, Skip> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a file"), "").unwrap();
    Command::new(shell)
        .args(["-c", script])
        .env("FILE", file)
        .current_dir(directory.path())
        .output()
        .map_err(|error| Skip::missing(shell, error.to_string()))
}

/// What bash offers for the last word of `line`.
fn bash(line: &str) -> Result<Vec<String>, Skip> {
    let script = format!(
        "source \"$FILE\" || exit
         COMP_WORDS=({line})
         COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
         _uringfind && printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = run("bash", &script, &file("uringfind.bash"))?;
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{line}: {output:?}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    Ok(text
        .lines()
        .map(str::to_owned)
        .filter(|it| !it.is_empty())
        .collect())
}

#[test]
fn bash_completes_words_and_their_arguments() {
    or_skip!(bash("uringfind ."));
    for (line, expected) in [
        ("uringfind . -nam", &["-name"][..]),
        ("uringfind . -mind", &["-mindepth"]),
        (
            "uringfind . -newerB",
            &["-newerBa", "-newerBB", "-newerBc", "-newerBm", "-newerBt"],
        ),
        ("uringfind -D ra", &["rates"]),
        (
            "uringfind . -regextype posix-e",
            &["posix-egrep", "posix-extended"],
        ),
        ("uringfind . -type ''", &["b", "c", "d", "f", "l", "p", "s"]),
        ("uringfind . -newer ''", &["a file"]),
        ("uringfind . -newermm a", &["a file"]),
        ("uringfind . -user roo", &["root"]),
        ("uringfind . -name a", &[]),
        ("uringfind a", &["a file"]),
        ("uringfind ''", &["a file"]),
    ] {
        assert_eq!(bash(line).unwrap(), expected, "{line}");
    }
    assert!(bash("uringfind -").unwrap().len() > 60);
}

/// Whether `shell` takes the file for a script.
fn parses(shell: &str, name: &str) -> Result<(), Skip> {
    let output = run(shell, &format!("{shell} -n \"$FILE\""), &file(name))?;
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{shell}: {output:?}"
    );
    Ok(())
}

#[test]
fn zsh_reads_its_file() {
    or_skip!(parses("zsh", "_uringfind"));
}

#[test]
fn fish_reads_its_file() {
    or_skip!(parses("fish", "uringfind.fish"));
}

#[test]
fn fish_completes_words() {
    let script = "source $FILE; complete -C 'uringfind . -nam'";
    let output = or_skip!(run("fish", script, &file("uringfind.fish")));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("-name\t"), "{text}");
}
