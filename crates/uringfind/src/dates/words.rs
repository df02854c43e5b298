//! Takes the distances out of a date, and rewrites what `parse_datetime` reads otherwise than GNU.

use fscall::Timestamp;

use super::epoch;
use super::shift::{Shift, Unit};
use super::zone::Abbreviation;

/// A text, taken apart.
#[derive(Debug)]
pub(super) struct Reading {
    /// What `parse_datetime` is to read, in lower case.
    pub(super) rest: String,
    pub(super) shift: Shift,
    /// There was a distance, perhaps of nothing (`now`).
    pub(super) shift_seen: bool,
    /// The local zone's name in the text, if there is one.
    pub(super) abbreviation: Option<Abbreviation>,
}

/// What separates words, as in C.
pub(super) fn is_blank(character: char) -> bool {
    " \t\n\x0b\x0c\r".contains(character)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Letters and periods.
    Word,
    /// Digits, perhaps with a fraction.
    Number,
    /// A number with its sign.
    Signed,
    /// Any other character.
    Mark,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    /// It follows the token before without a gap.
    glued: bool,
}

/// Takes `text` apart. `abbreviations` are those of the local zone.
pub(super) fn read(text: &str, abbreviations: &[Abbreviation]) -> Option<Reading> {
    let text = text.to_ascii_lowercase();
    let tokens = tokens(&text);
    let mut reading = Reading {
        rest: String::new(),
        shift: Shift::default(),
        shift_seen: false,
        abbreviation: None,
    };
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let length = reading.take_distance(&tokens, at)?;
        if length > 0 {
            reading.shift_seen = true;
            at += length;
            continue;
        }
        let text = match token.kind {
            Kind::Word => reading.rewrite(&tokens, at, abbreviations)?,
            Kind::Number if !token.glued => hyphenated(token.text),
            _ => token.text.to_owned(),
        };
        if !token.glued && !reading.rest.is_empty() {
            reading.rest.push(' ');
        }
        reading.rest.push_str(&text);
        at += 1;
    }
    Some(reading)
}

impl Reading {
    /// Takes up the distance at `at` and tells how many tokens it has: 0 if there is none.
    fn take_distance(&mut self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let token = tokens[at];
        let days = match token.text {
            "now" | "today" => Some(0),
            "tomorrow" => Some(1),
            "yesterday" => Some(-1),
            _ => None,
        };
        if let Some(days) = days {
            self.shift.add(days, Unit::Days(1))?;
            return Some(1);
        }
        let unit_at = |at: usize| {
            let word = tokens.get(at).filter(|token| token.kind == Kind::Word);
            word.and_then(|word| Unit::named(word.text))
        };
        let (unit, amount, mut length) = if let Some(unit) = unit_at(at) {
            (unit, "1", 1)
        } else if is_amount(tokens, at)
            && let Some(unit) = unit_at(at + 1)
        {
            (unit, ordinal(token.text).unwrap_or(token.text), 2)
        } else {
            return Some(0);
        };
        let mut backwards = false;
        if let Some(next) = tokens.get(at + length)
            && matches!(next.text, "ago" | "hence")
        {
            backwards = next.text == "ago";
            length += 1;
        }
        let (sign, digits) = match amount.as_bytes()[0] {
            b'-' => (-1, amount[1..].trim_start_matches(is_blank)),
            b'+' => (1, amount[1..].trim_start_matches(is_blank)),
            _ => (1, amount),
        };
        if unit == Unit::Seconds(1) {
            // The sign belongs to the number, which is rounded down before it is turned.
            let amount: Timestamp = epoch::seconds(digits, sign < 0)?;
            self.shift.add_fraction(amount, backwards)?;
        } else {
            let sign = if backwards { -sign } else { sign };
            self.shift.add(digits.parse::<i64>().ok()? * sign, unit)?;
        }
        Some(length)
    }

    /// A word that is left, as `parse_datetime` is to see it.
    fn rewrite(
        &mut self,
        tokens: &[Token<'_>],
        at: usize,
        abbreviations: &[Abbreviation],
    ) -> Option<String> {
        let word = tokens[at].text;
        let is_local = |it: &&Abbreviation| it.name == word && !is_universal(word);
        if let Some(local) = abbreviations.iter().find(is_local) {
            let minutes = local.offset.seconds() / 60;
            let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.abs());
            self.abbreviation = Some(local.clone());
            return Some(format!("utc{sign}{:02}{:02}", minutes / 60, minutes % 60));
        }
        let begins_like_another = ["now", "today", "tomorrow", "yesterday"]
            .iter()
            .any(|known| word.starts_with(known));
        // Not known to GNU find 4.9, or something else to it: military J, `nowadays`, `+1 monday`.
        if word == "j" || begins_like_another || is_weekday(word) && has_sign_before(tokens, at) {
            return None;
        }
        Some(match word {
            "met" => "cet".to_owned(),
            "t" if is_military_t(tokens, at) => " mst ".to_owned(),
            // `sep.`
            _ if word.len() == 4 && word.ends_with('.') && !word.starts_with(['a', 'p']) => {
                word[..3].to_owned()
            }
            _ => word.to_owned(),
        })
    }
}

/// Whether the number or ordinal at `at` can be the amount of the unit behind it.
fn is_amount(tokens: &[Token<'_>], at: usize) -> bool {
    let token = tokens[at];
    let before = at.checked_sub(1).map(|before| tokens[before]);
    let is_mark = |token: Token<'_>| token.kind == Kind::Mark;
    match token.kind {
        Kind::Word => ordinal(token.text).is_some(),
        // Part of a time (`10:00`), of a date (`1/2`, `Jan 1`).
        Kind::Number => !before.is_some_and(|it| is_mark(it) || is_month(it.text)),
        // The zone of a time (`10:00 +2`), part of a date (`2020-01-02`).
        Kind::Signed => {
            let ends_time = at > 1 && tokens[at - 2].text == ":";
            let follows_number = before.is_some_and(|it| it.kind != Kind::Word && !is_mark(it));
            !(follows_number && (ends_time || token.glued))
        }
        Kind::Mark => false,
    }
}

/// Behind a date without hyphens, T is not ISO 8601's but the zone of Denver.
fn is_military_t(tokens: &[Token<'_>], at: usize) -> bool {
    tokens[at].glued && at > 0 && tokens[at - 1].kind == Kind::Number
}

fn has_sign_before(tokens: &[Token<'_>], at: usize) -> bool {
    at > 0 && tokens[at - 1].kind == Kind::Signed && is_amount(tokens, at - 1)
}

/// `YYYYMMDD` with hyphens; other numbers as they are.
fn hyphenated(number: &str) -> String {
    if number.len() == 8 && number.bytes().all(|digit| digit.is_ascii_digit()) {
        [&number[..4], &number[4..6], &number[6..]].join("-")
    } else {
        number.to_owned()
    }
}

/// Names of universal time, which are the same everywhere and may have a correction behind them.
fn is_universal(word: &str) -> bool {
    matches!(word, "utc" | "ut" | "gmt")
}

fn is_month(word: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    word.len() >= 3 && MONTHS.iter().any(|month| month.starts_with(word))
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let word = word.trim_end_matches('.');
    word.len() >= 3 && DAYS.iter().any(|day| day.starts_with(word))
}

fn ordinal(word: &str) -> Option<&'static str> {
    Some(match word {
        "last" => "-1",
        "this" => "0",
        "next" | "first" => "1",
        "third" => "3",
        "fourth" => "4",
        "fifth" => "5",
        "sixth" => "6",
        "seventh" => "7",
        "eighth" => "8",
        "ninth" => "9",
        "tenth" => "10",
        "eleventh" => "11",
        "twelfth" => "12",
        _ => return None,
    })
}

/// Splits a text. Comments in parentheses and signs without a number are left out.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut glued = false;
    while let Some(first) = rest.chars().next() {
        let signed = rest[1..].trim_start_matches(is_blank);
        let (kind, length) = match first {
            '(' => {
                rest = &rest[comment(rest)..];
                glued = false;
                continue;
            }
            '+' | '-' if signed.starts_with(|it: char| it.is_ascii_digit()) => {
                (Kind::Signed, rest.len() - signed.len() + number(signed))
            }
            _ if is_blank(first) || first == '+' || first == '-' => {
                rest = &rest[1..];
                glued = false;
                continue;
            }
            '0'..='9' => (Kind::Number, number(rest)),
            'a'..='z' => {
                let is_other = |it: char| !it.is_ascii_lowercase() && it != '.';
                (Kind::Word, rest.find(is_other).unwrap_or(rest.len()))
            }
            _ => (Kind::Mark, 1),
        };
        let (text, tail) = rest.split_at(length);
        tokens.push(Token { kind, text, glued });
        rest = tail;
        glued = true;
    }
    tokens
}

/// The length of the number at the start of `text`.
fn number(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let fraction = text[whole..].strip_prefix(['.', ',']).map_or(0, digits);
    if fraction == 0 {
        whole
    } else {
        whole + 1 + fraction
    }
}

/// The length of the comment at the start of `text`. One that is not closed goes to the end.
fn comment(text: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(text: &str) -> String {
        read(text, &[]).unwrap().rest
    }

    #[test]
    fn distances_are_taken_out() {
        assert_eq!(
            rest("2020-01-15 1 day 2 hours ago 10:00"),
            "2020-01-15 10:00"
        );
        assert_eq!(rest("Last MONDAY next week"), "last monday");
        assert_eq!(rest("- + now (a (comment)) 3 weeks (open"), "");
        assert_eq!(rest("10:00 hour"), "10:00");
        assert_eq!(rest("jan 1 day"), "jan 1");
    }

    #[test]
    fn a_sign_behind_a_time_is_its_zone() {
        assert_eq!(rest("10:00 +2 hours"), "10:00 +2");
        assert_eq!(rest("2020-01-15 +2 hours"), "2020-01-15");
        assert_eq!(rest("10am -2 hours"), "10am");
    }

    #[test]
    fn other_words_are_refused() {
        assert!(read("yesterdays", &[]).is_none());
        assert!(read("99999999999999999999 days", &[]).is_none());
        assert!(read("1.5 days", &[]).is_none());
    }
}
