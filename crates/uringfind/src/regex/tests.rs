//! Patterns and what they match, by hand.

use super::*;
use Encoding::{Bytes, Utf8};

fn compile(pattern: &[u8], syntax: &str, encoding: Encoding) -> Result<Regex, Error> {
    Regex::new(
        pattern,
        Syntax::named(syntax.as_bytes()).unwrap(),
        encoding,
        false,
    )
}

fn matches(pattern: &str, syntax: &str, encoding: Encoding, text: &[u8]) -> bool {
    compile(pattern.as_bytes(), syntax, encoding)
        .unwrap_or_else(|error| panic!("{pattern}: {error:?}"))
        .matches(text)
        .unwrap()
}

#[test]
fn patterns() {
    for (syntax, pattern, yes, no) in [
        ("emacs", "a.c", "abc", "a\nc"),
        ("findutils-default", "a.c", "a\nc", "abcd"),
        ("emacs", r"\(a\|b\)+", "abba", "c"),
        ("emacs", "*a", "*a", "a"),
        ("emacs", "a{2}", "a{2}", "aa"),
        ("posix-basic", r"a\{2\}", "aa", "a{2}"),
        ("posix-basic", r"a\+\?", "aa", "a+"),
        ("posix-minimal-basic", r"a\+", "a+", "aa"),
        ("posix-extended", "(a|b){2,}", "aba", "a"),
        ("posix-extended", "a{,2}", "", "aaa"),
        ("posix-extended", "a**", "aa", "b"),
        ("posix-extended", "a)", "a)", "a"),
        ("egrep", "*a", "a", "*a"),
        ("egrep", "a{x", "a{x", "a"),
        ("egrep", "a\nb", "b", "a\nb"),
        ("gnu-awk", r"[a\]]", "]", "\\"),
        ("awk", "^*a", "*a", "a"),
        ("awk", r"\w", "w", "x"),
        ("emacs", r"[a\]]", "\\]", "a"),
        ("emacs", r"\(a*\)b\1", "aabaa", "aaba"),
        ("posix-extended", r"(a|b)*\1", "abb", "aba"),
        ("posix-extended", r"(a){0}b", "b", "ab"),
        ("emacs", "[]a]", "]", "a]"),
        ("emacs", "[^]a]", "b", "]"),
        ("emacs", "[a-]", "-", "b"),
        ("emacs", "[z-a]b", "", "zb"),
        ("posix-extended", "[[:digit:][.a.][=b=]]+", "1ab", "c"),
        ("posix-extended", r"\<a\>-\bb\b", "a-b", "a-bb"),
        ("posix-extended", r"a\Bb\w\W\s\S\`*", "", "b"),
        ("posix-extended", "a$\n^b", "a\nb", "a\n\nb"),
        ("posix-extended", r"\`a\'", "a", "b"),
    ] {
        for encoding in [Bytes, Utf8] {
            let Ok(regex) = compile(pattern.as_bytes(), syntax, encoding) else {
                assert!(yes.is_empty(), "{pattern}");
                continue;
            };
            if !yes.is_empty() {
                assert_eq!(regex.matches(yes.as_bytes()), Ok(true), "{pattern} {yes}");
            }
            assert_eq!(regex.matches(no.as_bytes()), Ok(false), "{pattern} {no}");
        }
    }
}

#[test]
fn characters_by_encoding() {
    for (pattern, in_bytes, in_utf8) in [
        (".", false, true),
        ("..", true, false),
        ("é", true, true),
        ("[é]", false, true),
        ("[^a]", false, true),
        ("[^a]{2}", true, false),
        (r"\w", false, true),
        (r"\W\W", true, false),
        (r"\<.*\>", false, true),
        (r"(.*)\1?", true, true),
        ("[[:alpha:]]", false, true),
        ("[[:lower:]]", false, true),
        ("[[:upper:]]", false, false),
    ] {
        let text = "é".as_bytes();
        assert_eq!(
            matches(pattern, "posix-extended", Bytes, text),
            in_bytes,
            "{pattern}"
        );
        assert_eq!(
            matches(pattern, "posix-extended", Utf8, text),
            in_utf8,
            "{pattern}"
        );
    }
    for pattern in [".", "[^a]", r"\W", r"(.)\1?", "[\u{80}\u{ff}]"] {
        assert!(
            !matches(pattern, "posix-extended", Utf8, b"\xff"),
            "{pattern}"
        );
    }
    assert!(matches(".", "emacs", Bytes, b"\xff"));
    assert!(
        compile(b"\xff\\(\xc3\\)", "emacs", Utf8)
            .unwrap()
            .matches(b"\xff\xc3")
            .unwrap()
    );
}

#[test]
fn copies_forget_anchors() {
    for (pattern, yes, no) in [
        ("(^a)+", "aa", "b"),
        (r"(\<[^a].*){,2}", "+", "a"),
        (r"(a\>){2}", "", "aa"),
        ("(^(a)){2}", "", "aa"),
        (r"(^a)*", "a", "aa"),
    ] {
        for encoding in [Bytes, Utf8] {
            assert!(
                matches(pattern, "posix-extended", encoding, yes.as_bytes()) || yes.is_empty(),
                "{pattern}"
            );
            assert!(
                !matches(pattern, "posix-extended", encoding, no.as_bytes()),
                "{pattern}"
            );
        }
    }
    let nested = format!("{}^a{}", "(".repeat(90), "){2,3}".repeat(90));
    let result = compile(nested.as_bytes(), "posix-extended", Utf8).map(|_| ());
    assert_eq!(result, Err(Error::TooBig));
}

#[test]
fn errors() {
    for (syntax, pattern, error) in [
        ("emacs", "a\\", Error::TrailingBackslash),
        ("emacs", "[", Error::Bracket),
        ("emacs", "[a", Error::UnmatchedBracket),
        ("emacs", "[[.ab.]]", Error::Collation),
        ("emacs", r"\(a", Error::UnmatchedOpen),
        ("emacs", r"a\)", Error::UnmatchedClose),
        ("emacs", r"\1\(a\)", Error::BackReference),
        ("emacs", r"\(a\)\|\1", Error::BackReference),
        ("posix-basic", "[[:nothing:]]", Error::Class),
        ("posix-basic", "[z-a]", Error::Range),
        ("posix-basic", "[[:alpha:]-z]", Error::Range),
        ("posix-basic", r"a\{1", Error::UnmatchedBrace),
        ("posix-basic", r"a\{2,1\}", Error::Interval),
        ("posix-basic", r"a\{x\}", Error::Interval),
        ("posix-basic", r"a\{32768\}", Error::TooBig),
        ("posix-basic", "a**", Error::Repetition),
        ("posix-basic", r"\{1\}", Error::Repetition),
        ("posix-extended", "*a", Error::Repetition),
        ("posix-extended", "(*a)", Error::Repetition),
        ("egrep", "a{}", Error::Interval),
    ] {
        let result = compile(pattern.as_bytes(), syntax, Utf8).map(|_| ());
        assert_eq!(result, Err(error), "{pattern}");
    }
    assert_eq!(
        compile("[à-é]".as_bytes(), "emacs", Utf8).err(),
        Some(Error::Collation)
    );
    assert_eq!(compile("[à-é]".as_bytes(), "emacs", Bytes).err(), None);
}

#[test]
fn case() {
    let matches = |pattern: &str, text: &str| {
        Regex::new(
            pattern.as_bytes(),
            Syntax::named(b"posix-extended").unwrap(),
            Utf8,
            true,
        )
        .map(|regex| regex.matches(text.as_bytes()).unwrap())
    };
    assert_eq!(matches("aÉ[b-c]", "Aéb"), Ok(true));
    assert_eq!(matches("[[:lower:]]", "A"), Ok(true));
    assert_eq!(matches(r"(a)\1", "aA"), Ok(true));
    assert_eq!(matches(r"\a", "a"), Ok(false));
    assert_eq!(matches("[Z-a]", "a"), Err(Error::Range));
}

#[test]
fn what_is_too_big_is_refused() {
    let nested = |depth: usize| ["(".repeat(depth), "a".into(), ")*".repeat(depth)].concat();
    for (pattern, good) in [
        (nested(100), true),
        (nested(101), false),
        (nested(100_000), false),
        (format!("a{}", "*".repeat(100_000)), true),
        (format!("{}a", "a|b*".repeat(10_000)), true),
        (format!("a{}", "{2}".repeat(1000)), false),
        (format!("a{}", "{2}".repeat(50)), false),
        ("(.{32767}){32767}".to_owned(), false),
        ("a{32767}".to_owned(), true),
        (format!(r"{}\1", nested(100)), false),
    ] {
        let result = compile(pattern.as_bytes(), "posix-extended", Utf8).map(|_| ());
        let expected = if good { Ok(()) } else { Err(Error::TooBig) };
        assert_eq!(result, expected, "{}", &pattern[..40.min(pattern.len())]);
    }
}
