//! Where two answers part, for a person.

use std::fmt;

use super::{Answer, Case};

/// Lines shown before the first that differs.
const CONTEXT: usize = 3;

/// The first difference of two answers.
#[derive(Debug)]
pub struct Difference {
    command_line: String,
    seed: Option<u64>,
    what: What,
    /// Standard error of the program under test, which often says why.
    stderr: Vec<u8>,
}

#[derive(Debug)]
enum What {
    Lines(Lines),
    Status { expected: String, actual: String },
}

/// Two outputs that differ from line number `at` (counted from 0) on.
#[derive(Debug)]
struct Lines {
    stream: &'static str,
    at: usize,
    before: Vec<Vec<u8>>,
    expected: Option<Vec<u8>>,
    actual: Option<Vec<u8>>,
    totals: (usize, usize),
}

pub(super) fn between(
    case: &Case,
    expected: &Answer,
    actual: &Answer,
) -> Result<(), Box<Difference>> {
    let lines = |stream, expected: &[u8], actual: &[u8]| {
        first_line(stream, expected, actual, case.unordered).map(What::Lines)
    };
    let status = || {
        (expected.status != actual.status).then(|| What::Status {
            expected: expected.status.to_string(),
            actual: actual.status.to_string(),
        })
    };
    let what = lines("standard output", &expected.stdout, &actual.stdout)
        .or_else(|| lines("standard error", &expected.stderr, &actual.stderr))
        .or_else(status);
    match what {
        None => Ok(()),
        Some(what) => Err(Box::new(Difference {
            command_line: case.command_line(),
            seed: case.seed,
            what,
            stderr: actual.stderr.clone(),
        })),
    }
}

fn first_line(
    stream: &'static str,
    expected: &[u8],
    actual: &[u8],
    unordered: bool,
) -> Option<Lines> {
    if expected == actual {
        return None;
    }
    let lines = |bytes: &[u8]| {
        let mut lines: Vec<Vec<u8>> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        if unordered {
            lines.sort_unstable();
        }
        lines
    };
    let (expected, actual) = (lines(expected), lines(actual));
    let longest = expected.len().max(actual.len());
    let at = (0..longest).find(|&at| expected.get(at) != actual.get(at))?;
    Some(Lines {
        stream,
        at,
        before: expected[at.saturating_sub(CONTEXT)..at].to_vec(),
        expected: expected.get(at).cloned(),
        actual: actual.get(at).cloned(),
        totals: (expected.len(), actual.len()),
    })
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the answers differ: {}", self.command_line)?;
        if let Some(seed) = self.seed {
            writeln!(f, "seed: {seed}")?;
        }
        match &self.what {
            What::Status { expected, actual } => {
                writeln!(f, "the outputs are equal, the status is not")?;
                writeln!(f, "  expected: {expected}\n    actual: {actual}")?;
            }
            What::Lines(lines) => {
                let (expected, actual) = lines.totals;
                let at = lines.at + 1;
                writeln!(
                    f,
                    "{}, line {at} (of {expected} and {actual}):",
                    lines.stream
                )?;
                for line in &lines.before {
                    writeln!(f, "            {}", line.escape_ascii())?;
                }
                let end = |line: &Option<Vec<u8>>| match line {
                    Some(line) => line.escape_ascii().to_string(),
                    None => "(the end)".to_owned(),
                };
                writeln!(f, "  expected: {}", end(&lines.expected))?;
                writeln!(f, "    actual: {}", end(&lines.actual))?;
            }
        }
        if !self.stderr.is_empty() {
            writeln!(
                f,
                "standard error:\n{}",
                String::from_utf8_lossy(&self.stderr)
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Difference {}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn answer(stdout: &str, stderr: &str, code: i32) -> Answer {
        let status = ExitStatus::from_raw(code << 8);
        Answer {
            stdout: stdout.into(),
            stderr: stderr.into(),
            status,
        }
    }

    fn report(case: &Case, expected: &Answer, actual: &Answer) -> Option<String> {
        case.compare(expected, actual)
            .err()
            .map(|difference| difference.to_string())
    }

    #[test]
    fn equal_answers_have_none() {
        let case = Case::new("/", ["x"]);
        let expected = answer("a\nb\n", "e\n", 1);
        assert_eq!(report(&case, &expected, &expected), None);
        let turned = answer("b\na\n", "e\n", 1);
        assert!(report(&case, &expected, &turned).is_some());
        assert_eq!(report(&case.unordered(), &expected, &turned), None);
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let case = Case::new("/", ["x"]).seed(42);
        let text = report(
            &case,
            &answer("a\nb\n", "", 0),
            &answer("a\nc\nd\n", "oh\n", 0),
        );
        let expected = "\
            the answers differ: cd / && find x\n\
            seed: 42\n\
            standard output, line 2 (of 2 and 3):\n\
            \u{20}           a\\n\n\
            \u{20} expected: b\\n\n\
            \u{20}   actual: c\\n\n\
            standard error:\n\
            oh\n\n";
        assert_eq!(text.unwrap(), expected);
    }

    #[test]
    fn an_output_that_ends_early_and_a_missing_line_end_are_seen() {
        let case = Case::new("/", ["x"]);
        let text = report(&case, &answer("a\nb\n", "", 0), &answer("a\n", "", 0)).unwrap();
        assert!(text.contains("actual: (the end)"), "{text}");
        let text = report(&case, &answer("a\n", "", 0), &answer("a", "", 0)).unwrap();
        assert!(text.contains("actual: a\n"), "{text}");
    }

    #[test]
    fn messages_and_status_count() {
        let case = Case::new("/", ["x"]);
        let text = report(&case, &answer("", "a\n", 0), &answer("", "b\n", 0)).unwrap();
        assert!(text.contains("standard error, line 1"), "{text}");
        let text = report(&case, &answer("", "", 0), &answer("", "", 1)).unwrap();
        assert!(text.contains("actual: exit status: 1"), "{text}");
    }
}
