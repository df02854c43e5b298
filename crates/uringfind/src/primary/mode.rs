//! Modes as chmod(1) takes them, in octal or as a list like `u=rw,go+rX`, applied to no
//! permissions at all and without a umask.

/// A list of changes.
#[derive(Debug)]
pub(super) struct Mode {
    changes: Vec<Change>,
}

/// One operator with what is on both sides of it.
#[derive(Debug)]
struct Change {
    operator: Operator,
    /// Bits of those it is for; none if none are named.
    affected: u16,
    value: Value,
    /// Bits it speaks of. The others are left alone where they have a meaning of their own: the
    /// set-ID bits of directories.
    mentioned: u16,
}

#[derive(Clone, Copy, Debug)]
enum Operator {
    Set,
    Add,
    Remove,
}

/// The bits on the right.
#[derive(Clone, Copy, Debug)]
enum Value {
    Bits(u16),
    /// With execution and search, if the file is a directory or anybody has them.
    WithSearch(u16),
    /// Those that these have now.
    CopyOf(u16),
}

const ALL: u16 = 0o7777;
const SET_IDS: u16 = 0o6000;
const STICKY: u16 = 0o1000;
const READ: u16 = 0o444;
const WRITE: u16 = 0o222;
const EXECUTE: u16 = 0o111;
const EVERYBODY: u16 = READ | WRITE | EXECUTE;
const USER: u16 = 0o700;
const GROUP: u16 = 0o070;
const OTHERS: u16 = 0o007;

impl Mode {
    /// Reads a mode; `None` if it is none.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut rest = text;
        if let Some((number, digits)) = octal(&mut rest)? {
            if !rest.is_empty() {
                return None;
            }
            // Only a number with leading zeros speaks of set-ID bits that it does not have.
            let mentioned = if digits < 5 {
                number & SET_IDS | STICKY | EVERYBODY
            } else {
                ALL
            };
            let change = Change {
                operator: Operator::Set,
                affected: ALL,
                value: Value::Bits(number),
                mentioned,
            };
            return Some(Self {
                changes: vec![change],
            });
        }
        let mut changes = Vec::new();
        loop {
            clause(&mut rest, &mut changes)?;
            match rest {
                [] => return Some(Self { changes }),
                [b',', more @ ..] => rest = more,
                _ => return None,
            }
        }
    }

    /// The permissions that it makes of none.
    pub(super) fn of(&self, is_directory: bool) -> u16 {
        self.changes
            .iter()
            .fold(0, |mode, change| change.apply(mode, is_directory))
    }
}

impl Change {
    fn apply(&self, mode: u16, is_directory: bool) -> u16 {
        let kept = if is_directory {
            SET_IDS & !self.mentioned
        } else {
            0
        };
        let value = match self.value {
            Value::WithSearch(bits) if is_directory || mode & EXECUTE != 0 => bits | EXECUTE,
            Value::Bits(bits) | Value::WithSearch(bits) => bits,
            Value::CopyOf(whose) => [READ, WRITE, EXECUTE]
                .into_iter()
                .filter(|right| mode & whose & right != 0)
                .fold(mode & whose, |bits, right| bits | right),
        };
        let affected = if self.affected == 0 {
            ALL
        } else {
            self.affected
        };
        let value = value & affected & !kept;
        match self.operator {
            Operator::Set => mode & (!affected | kept) | value,
            Operator::Add => mode | value,
            Operator::Remove => mode & !value,
        }
    }
}

/// Reads `[ugoa]*` and operators with their right sides.
fn clause(rest: &mut &[u8], changes: &mut Vec<Change>) -> Option<()> {
    let mut affected = 0;
    let mut operator = loop {
        let (&letter, more) = rest.split_first()?;
        *rest = more;
        affected |= match letter {
            b'u' => 0o4000 | USER,
            b'g' => 0o2000 | GROUP,
            b'o' => STICKY | OTHERS,
            b'a' => ALL,
            other => break Operator::of(other)?,
        };
    };
    loop {
        changes.push(change(operator, affected, rest)?);
        match rest.split_first() {
            Some((&letter, more)) if let Some(next) = Operator::of(letter) => {
                operator = next;
                *rest = more;
            }
            _ => return Some(()),
        }
    }
}

/// Reads the right side of an operator.
fn change(operator: Operator, affected: u16, rest: &mut &[u8]) -> Option<Change> {
    if let Some((number, _)) = octal(rest)? {
        let ends = matches!(rest, [] | [b',', ..]);
        return (affected == 0 && ends).then_some(Change {
            operator,
            affected: ALL,
            value: Value::Bits(number),
            mentioned: ALL,
        });
    }
    let value = right_side(rest);
    let (Value::Bits(bits) | Value::WithSearch(bits) | Value::CopyOf(bits)) = value;
    let mentioned = if affected == 0 { bits } else { affected & bits };
    Some(Change {
        operator,
        affected,
        value,
        mentioned,
    })
}

fn right_side(rest: &mut &[u8]) -> Value {
    let whose = match rest.first() {
        Some(b'u') => USER,
        Some(b'g') => GROUP,
        Some(b'o') => OTHERS,
        _ => 0,
    };
    if whose != 0 {
        *rest = &rest[1..];
        return Value::CopyOf(whose);
    }
    let mut bits = 0;
    let mut with_search = false;
    while let Some((&letter, more)) = rest.split_first() {
        match letter {
            b'r' => bits |= READ,
            b'w' => bits |= WRITE,
            b'x' => bits |= EXECUTE,
            b'X' => with_search = true,
            b's' => bits |= SET_IDS,
            b't' => bits |= STICKY,
            _ => break,
        }
        *rest = more;
    }
    if with_search {
        Value::WithSearch(bits)
    } else {
        Value::Bits(bits)
    }
}

impl Operator {
    fn of(letter: u8) -> Option<Self> {
        Some(match letter {
            b'=' => Self::Set,
            b'+' => Self::Add,
            b'-' => Self::Remove,
            _ => return None,
        })
    }
}

/// Reads an octal number and tells how many digits it has; the outer `None` if it is too large.
#[expect(clippy::option_option, reason = "no number is no error")]
fn octal(rest: &mut &[u8]) -> Option<Option<(u16, usize)>> {
    let digits = rest
        .iter()
        .take_while(|it| matches!(it, b'0'..=b'7'))
        .count();
    if digits == 0 {
        return Some(None);
    }
    let (number, more) = rest.split_at(digits);
    *rest = more;
    let number = number.iter().try_fold(0, |number: u16, digit| {
        let number = number * 8 + u16::from(digit - b'0');
        (number <= ALL).then_some(number)
    })?;
    Some(Some((number, digits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(u16, u16)> {
        let mode = Mode::parse(text.as_bytes())?;
        Some((mode.of(false), mode.of(true)))
    }

    #[test]
    fn numbers() {
        for (text, mode) in [
            ("0", 0),
            ("644", 0o644),
            ("7777", 0o7777),
            ("000000644", 0o644),
            ("4755", 0o4755),
            ("=644", 0o644),
            ("+2000", 0o2000),
            ("-0", 0),
        ] {
            assert_eq!(of(text), Some((mode, mode)), "{text}");
        }
        for bad in ["10000", "8", "7778", "64x", "u=644", "=644+x", "644,u+x"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }

    #[test]
    fn lists() {
        for (text, file, directory) in [
            ("u=rw,go=r", 0o644, 0o644),
            ("a+r-r", 0, 0),
            ("g=u", 0, 0),
            ("u=rwx,g=u,o=g", 0o777, 0o777),
            ("u=rw,o=u-w", 0o604, 0o604),
            ("+X", 0, 0o111),
            ("u+x,+X", 0o111, 0o111),
            ("u+x,a=X", 0o111, 0o111),
            ("u+s,g+s,o+t", 0o7000, 0o7000),
            ("u+t,o+s", 0, 0),
            ("+st", 0o7000, 0o7000),
            ("u+s,=", 0, 0o4000),
            ("u=", 0, 0),
            ("=", 0, 0),
            ("ug+wX", 0o220, 0o330),
        ] {
            assert_eq!(of(text), Some((file, directory)), "{text}");
        }
        for bad in ["", "u", "u,g=r", "u=r,", ",u=r", "u=rq", "r", "x+r", "u=uw"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
