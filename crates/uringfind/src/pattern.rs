//! Shell patterns.
//!
//! The C library's `fnmatch` is the reference: it is what GNU find calls. The shapes people use
//! most are compared directly, which gives the same answers many times faster.

use std::cell::RefCell;
use std::ffi::{CStr, CString};

use hostproc::{FnmatchFlags, fnmatch, locale};
use memchr::memmem::Finder;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: CString,
    case: Case,
    shape: Shape,
}

/// Whether upper and lower case differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Matters,
    Ignored,
}

/// What a pattern comes down to.
#[derive(Debug)]
enum Shape {
    /// `*`
    Anything,
    /// No special character.
    Literal(Vec<u8>),
    /// `literal*`
    Prefix(Vec<u8>),
    /// `*literal`
    Suffix(Vec<u8>),
    /// `*literal*`
    Infix(Box<Finder<'static>>),
    /// Anything else: asked of the C library.
    Other,
}

impl Pattern {
    /// Compiles `pattern` for the present locale. An argument of a program holds no NUL; what
    /// follows one is ignored.
    pub(crate) fn new(pattern: &[u8], case: Case) -> Self {
        let end = memchr::memchr(0, pattern).unwrap_or(pattern.len());
        let text = CString::new(&pattern[..end]).unwrap_or_default();
        let shape = Shape::of(text.as_bytes(), case);
        Self { text, case, shape }
    }

    /// Whether `head` followed by `tail` matches. `head` is the directory's path for a test of
    /// whole paths, or empty.
    pub(crate) fn matches(&self, head: &[u8], tail: &[u8]) -> bool {
        let ignores_case = self.case == Case::Ignored;
        match &self.shape {
            Shape::Anything => true,
            Shape::Other => self.library(head, tail),
            // Other characters may be ASCII letters in another case: there is a sign for kelvin.
            _ if ignores_case && !(head.is_ascii() && tail.is_ascii()) => self.library(head, tail),
            Shape::Suffix(literal) if literal.len() <= tail.len() => {
                let end = &tail[tail.len() - literal.len()..];
                self.case.equal(end, literal)
            }
            Shape::Literal(literal) => {
                literal.len() == head.len() + tail.len()
                    && self.case.equal(&literal[head.len()..], tail)
                    && self.case.equal(&literal[..head.len()], head)
            }
            shape if head.is_empty() => shape.matches(tail, self.case),
            shape => joined(head, tail, |text| shape.matches(text.to_bytes(), self.case)),
        }
    }

    /// The C library's answer.
    fn library(&self, head: &[u8], tail: &[u8]) -> bool {
        let flags = match self.case {
            Case::Matters => FnmatchFlags::empty(),
            Case::Ignored => FnmatchFlags::CASEFOLD,
        };
        joined(head, tail, |text| fnmatch(&self.text, text, flags))
    }
}

impl Case {
    fn equal(self, left: &[u8], right: &[u8]) -> bool {
        match self {
            Self::Matters => left == right,
            Self::Ignored => left.eq_ignore_ascii_case(right),
        }
    }

    fn finds(self, finder: &Finder<'_>, text: &[u8]) -> bool {
        let literal = finder.needle();
        match self {
            Self::Matters => finder.find(text).is_some(),
            Self::Ignored => {
                let Some(&first) = literal.first() else {
                    return true;
                };
                let last = (text.len() + 1).saturating_sub(literal.len());
                let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
                memchr::memchr2_iter(lower, upper, &text[..last])
                    .any(|at| text[at..at + literal.len()].eq_ignore_ascii_case(literal))
            }
        }
    }
}

impl Shape {
    fn of(pattern: &[u8], case: Case) -> Self {
        // In UTF-8 no character is part of another, so bytes compare like characters; and where
        // pattern or name are not UTF-8 the C library compares bytes itself. Other multi-byte
        // encodings have no such property.
        if !locale::is_utf8() && !locale::is_single_byte() {
            return Self::Other;
        }
        let (leading, rest) = match pattern.strip_prefix(b"*") {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let (trailing, literal) = match rest.strip_suffix(b"*") {
            Some(literal) => (true, literal),
            None => (false, rest),
        };
        if literal
            .iter()
            .any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\'))
        {
            return Self::Other;
        }
        if case == Case::Ignored && !(literal.is_ascii() && locale::folds_ascii()) {
            return Self::Other;
        }
        match (leading, trailing) {
            (true, _) if literal.is_empty() => Self::Anything,
            (false, false) => Self::Literal(literal.to_vec()),
            (false, true) => Self::Prefix(literal.to_vec()),
            (true, false) => Self::Suffix(literal.to_vec()),
            (true, true) => Self::Infix(Box::new(Finder::new(literal).into_owned())),
        }
    }

    /// Whether the whole `text` matches.
    fn matches(&self, text: &[u8], case: Case) -> bool {
        match self {
            Self::Anything => true,
            Self::Literal(literal) => case.equal(text, literal),
            Self::Prefix(literal) => {
                let start = text.get(..literal.len());
                start.is_some_and(|start| case.equal(start, literal))
            }
            Self::Suffix(literal) => {
                let end = text.len().checked_sub(literal.len()).map(|at| &text[at..]);
                end.is_some_and(|end| case.equal(end, literal))
            }
            Self::Infix(finder) => case.finds(finder, text),
            Self::Other => false,
        }
    }
}

/// Calls `test` with `head` and `tail` in one NUL-terminated piece.
pub(crate) fn joined<T>(head: &[u8], tail: &[u8], test: impl FnOnce(&CStr) -> T) -> T {
    thread_local! {
        static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    TEXT.with_borrow_mut(|text| {
        text.clear();
        text.extend_from_slice(head);
        text.extend_from_slice(tail);
        text.push(0);
        // Paths hold no NUL: the kernel's names have none.
        test(CStr::from_bytes_until_nul(text).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small deterministic generator (xorshift), so that a failure can be repeated.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 33).unwrap_or(0) % bound
        }

        fn text(&mut self, pieces: &[&[u8]], longest: usize) -> Vec<u8> {
            (0..self.below(longest + 1))
                .flat_map(|_| pieces[self.below(pieces.len())].to_vec())
                .collect()
        }
    }

    const PIECES: &[&[u8]] = &[
        b"a",
        b"b",
        b"A",
        b".",
        b"/",
        b"\xc3\xa9",
        b"\xc3",
        b"\xa9",
        b"\xff",
        b"\xe2\x80",
        b" ",
        b"k",
        b"K",
        b"\xe2\x84\xaa",
        b"\xc3\x89",
    ];

    /// Compares with the C library in the present locale.
    fn agrees_with_the_library(seed: u64) {
        let mut random = Random(seed);
        let mut matched = [0; 2];
        for _ in 0..60_000 {
            let mut pattern = random.text(PIECES, 3);
            match random.below(5) {
                0 => pattern.insert(0, b'*'),
                1 => pattern.push(b'*'),
                2 => {
                    pattern.insert(0, b'*');
                    pattern.push(b'*');
                }
                3 => {
                    let at = random.below(pattern.len() + 1);
                    pattern.insert(at, b"*?[]\\"[random.below(5)]);
                }
                _ => {}
            }
            let (head, tail) = (random.text(PIECES, 2), random.text(PIECES, 4));
            let case = [Case::Matters, Case::Ignored][random.below(2)];
            let compiled = Pattern::new(&pattern, case);
            let library = compiled.library(&head, &tail);
            let ours = compiled.matches(&head, &tail);
            assert_eq!(
                ours, library,
                "pattern {pattern:?}, name {head:?} + {tail:?}, case {case:?}"
            );
            matched[usize::from(ours)] += 1;
        }
        assert!(
            matched[1] > 3000 && matched[0] > 3000,
            "{matched:?} is no test"
        );
    }

    #[test]
    fn shapes_agree_with_the_library_in_the_c_locale() {
        agrees_with_the_library(0x9e37_79b9_7f4a_7c15);
    }

    /// The locale belongs to the process, so this runs itself again as one of its own.
    #[test]
    fn shapes_agree_with_the_library_in_utf8() {
        if std::env::var_os("URINGFIND_PATTERN_CHILD").is_some() {
            locale::init();
            if !locale::is_utf8() {
                println!("skipped: shapes_agree_with_the_library_in_utf8: no C.UTF-8 locale");
                return;
            }
            return agrees_with_the_library(0x0123_4567_89ab_cdef);
        }
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "pattern::tests::shapes_agree_with_the_library_in_utf8",
                "--nocapture",
            ])
            .envs([("URINGFIND_PATTERN_CHILD", "1"), ("LC_ALL", "C.UTF-8")])
            .output()
            .unwrap();
        print!("{}", String::from_utf8_lossy(&child.stdout));
        assert!(
            child.status.success(),
            "{}",
            String::from_utf8_lossy(&child.stderr)
        );
    }

    #[test]
    fn everyday_patterns_need_no_library() {
        for pattern in [
            &b"*"[..],
            b"**",
            b"Makefile",
            b"*.c",
            b"lib*",
            b"*test*",
            b"",
        ] {
            for case in [Case::Matters, Case::Ignored] {
                let shape = Shape::of(pattern, case);
                assert!(!matches!(shape, Shape::Other), "{pattern:?}");
            }
        }
        for pattern in [&b"a?"[..], b"[ab]*", b"a*b", b"\\a", b"*\\"] {
            let shape = Shape::of(pattern, Case::Matters);
            assert!(matches!(shape, Shape::Other), "{pattern:?}");
        }
        let shape = Shape::of("É*".as_bytes(), Case::Ignored);
        assert!(matches!(shape, Shape::Other));
    }
}
