//! Long listings: the lines of `-ls`.
//!
//! Columns grow when something does not fit, and stay so for the lines that follow. How wide they are
//! is known only when lines come in order; so workers make records, of everything but the blanks, and
//! the thread that writes makes lines of them.

use std::sync::{Arc, Mutex, PoisonError};

use fscall::Statx;
use hostproc::{LocalTime, locale, names};

use crate::files::Destination;
use crate::format::{blocks, write_mode, write_name, write_number};
use crate::receiver::Receive;
use crate::writer::Writer;

/// What a record is, and which of its fields are unusual: its first byte.
mod flag {
    /// The rest of a line.
    pub(super) const REST: u8 = 1;
    /// It has a major and a minor number in the place of the size.
    pub(super) const DEVICE: u8 = 2;
    /// The user has no name.
    pub(super) const NO_USER: u8 = 4;
    /// The group has no name.
    pub(super) const NO_GROUP: u8 = 8;
}

/// Between the fields of a record.
const END: u8 = 0;

/// Decides between the two forms of a date.
#[derive(Debug)]
pub(crate) struct Clock {
    /// Between these, in seconds since 1970, the time of the day is shown, otherwise the year.
    recent: std::ops::RangeInclusive<i64>,
}

impl Clock {
    /// As of `now`.
    pub(crate) fn new(now: i64) -> Self {
        const HALF_A_YEAR: i64 = 6 * 30 * 24 * 60 * 60;
        // Clocks of servers differ a little.
        const FUTURE: i64 = 60 * 60;
        Self {
            recent: now.saturating_sub(HALF_A_YEAR)..=now.saturating_add(FUTURE),
        }
    }

    fn write(&self, seconds: i64, out: &mut Vec<u8>) {
        let Some(local) = LocalTime::new(seconds) else {
            return out.extend_from_slice(format!("{seconds:>12}").as_bytes());
        };
        let format = if self.recent.contains(&seconds) {
            c"%b %e %H:%M"
        } else {
            c"%b %e  %Y"
        };
        local.format(format, out);
    }
}

/// Appends the record of a file, in blocks of `block_size` bytes; the path is to follow.
pub(crate) fn write_record(file: &Statx, block_size: u64, clock: &Clock, out: &mut Vec<u8>) {
    let kind = file.file_type();
    let is_device = kind.is_some_and(|kind| kind.is_block_device() || kind.is_char_device());
    let (uid, gid) = (file.uid().unwrap_or(0), file.gid().unwrap_or(0));
    let user = names::user_name(uid).filter(|name| !name.is_empty());
    let group = names::group_name(gid).filter(|name| !name.is_empty());
    let mut flags = 0;
    for (flag, set) in [
        (flag::DEVICE, is_device),
        (flag::NO_USER, user.is_none()),
        (flag::NO_GROUP, group.is_none()),
    ] {
        if set {
            flags |= flag;
        }
    }
    out.push(flags);
    let number = |number: u64, out: &mut Vec<u8>| {
        write_number(number, out);
        out.push(END);
    };
    number(file.ino().unwrap_or(0), out);
    number(blocks(file.blocks().unwrap_or(0), block_size), out);
    write_mode(kind, file.permission_bits().unwrap_or(0), out);
    out.push(END);
    number(file.nlink().unwrap_or(0).into(), out);
    for (name, id) in [(user, uid), (group, gid)] {
        write_name(name, id, out);
        out.push(END);
    }
    if is_device {
        let (major, minor) = file.rdev_numbers();
        number(major.into(), out);
        number(minor.into(), out);
    } else {
        number(file.size().unwrap_or(0), out);
    }
    clock.write(file.mtime().unwrap_or_default().sec, out);
    out.push(b' ');
}

/// Begins a record of the rest of a line.
pub(crate) fn write_rest(out: &mut Vec<u8>) {
    out.push(flag::REST);
}

/// Appends a name that takes no more than one word of ASCII.
pub(crate) fn write_escaped(name: &[u8], out: &mut Vec<u8>) {
    for &byte in name {
        let letter = match byte {
            b'\n' => b'n',
            0x08 => b'b',
            b'\r' => b'r',
            b'\t' => b't',
            0x0c => b'f',
            b'\\' | b' ' | b'"' => byte,
            b'!'..=b'~' => {
                out.push(byte);
                continue;
            }
            _ => {
                let digit = |shift: u8| b'0' + ((byte >> shift) & 7);
                out.extend([b'\\', digit(6), digit(3), digit(0)]);
                continue;
            }
        };
        out.extend([b'\\', letter]);
    }
}

/// Widths of columns so far, shared by all listings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns(Arc<Mutex<Widths>>);

#[derive(Debug)]
struct Widths {
    inode: usize,
    blocks: usize,
    links: usize,
    user: usize,
    group: usize,
    major: usize,
    minor: usize,
    size: usize,
}

impl Default for Widths {
    fn default() -> Self {
        Self {
            inode: 9,
            blocks: 6,
            links: 3,
            user: 8,
            group: 8,
            major: 3,
            minor: 3,
            size: 8,
        }
    }
}

/// Makes lines of records.
#[derive(Debug)]
pub(crate) struct Listing {
    to: Destination,
    columns: Columns,
    line: Vec<u8>,
}

impl Listing {
    /// A listing written to `to`.
    pub(crate) fn new(to: Destination, columns: Columns) -> Self {
        Self {
            to,
            columns,
            line: Vec::new(),
        }
    }
}

impl Receive for Listing {
    fn receive(&mut self, record: &[u8], writer: &mut Writer) {
        self.line.clear();
        match record.split_first() {
            Some((&flag::REST, rest)) => self.line.extend_from_slice(rest),
            Some((&flags, fields)) => {
                let mut widths = self
                    .columns
                    .0
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                widths.line(flags, fields, &mut self.line);
            }
            None => {}
        }
        writer.write(self.to, &self.line);
    }
}

impl Widths {
    fn line(&mut self, flags: u8, fields: &[u8], line: &mut Vec<u8>) {
        let has = |flag| flags & flag != 0;
        let mut rest = fields;
        let mut next = || {
            let end = memchr::memchr(END, rest).unwrap_or(rest.len());
            let (field, tail) = rest.split_at(end);
            rest = tail.get(1..).unwrap_or_default();
            field
        };
        to_the_right(next(), &mut self.inode, line);
        line.push(b' ');
        to_the_right(next(), &mut self.blocks, line);
        line.push(b' ');
        line.extend_from_slice(next());
        line.push(b' ');
        to_the_right(next(), &mut self.links, line);
        line.push(b' ');
        let user = next();
        if has(flag::NO_USER) {
            // GNU find counts the blank behind the number as well.
            let end = line.len();
            to_the_left(user, 8, line);
            line.push(b' ');
            self.user = self.user.max(line.len() - end);
        } else {
            self.user = self.user.max(locale::width(user));
            to_the_left(user, self.user, line);
            line.push(b' ');
        }
        let group = next();
        if has(flag::NO_GROUP) {
            self.group = self.group.max(group.len());
        } else {
            self.group = self.group.max(locale::width(group));
        }
        to_the_left(group, self.group, line);
        line.push(b' ');
        if has(flag::DEVICE) {
            to_the_right(next(), &mut self.major, line);
            line.extend_from_slice(b", ");
            to_the_right(next(), &mut self.minor, line);
        } else {
            to_the_right(next(), &mut self.size, line);
        }
        line.push(b' ');
        line.extend_from_slice(rest);
    }
}

/// Appends `text` behind blanks. The column grows to what it takes.
fn to_the_right(text: &[u8], width: &mut usize, line: &mut Vec<u8>) {
    *width = text.len().max(*width);
    line.resize(line.len() + *width - text.len(), b' ');
    line.extend_from_slice(text);
}

/// Appends `text` and blanks.
fn to_the_left(text: &[u8], width: usize, line: &mut Vec<u8>) {
    line.extend_from_slice(text);
    line.resize(line.len() + width.saturating_sub(text.len()), b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(widths: &mut Widths, flags: u8, fields: &str) -> String {
        let mut line = Vec::new();
        widths.line(flags, fields.replace('|', "\0").as_bytes(), &mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn columns_grow_and_stay_so() {
        let mut widths = Widths::default();
        let first = "17|4|-rw-r--r--|1|root|root|12|Jan  1 00:00 a";
        let narrow = "       17      4 -rw-r--r--   1 root     root           12 Jan  1 00:00 a";
        assert_eq!(line(&mut widths, 0, first), narrow);
        let wide = "12345678901|1|-|1|a long name|other|1|x";
        let expected = "12345678901      1 -   1 a long name other           1 x";
        assert_eq!(line(&mut widths, 0, wide), expected);
        let now = "         17      4 -rw-r--r--   1 root        root           12 Jan  1 00:00 a";
        assert_eq!(line(&mut widths, 0, first), now);
    }

    #[test]
    fn numbers_for_names() {
        let mut widths = Widths::default();
        let flags = flag::NO_USER | flag::NO_GROUP | flag::DEVICE;
        let device = "1|0|c|1|77|88|1|3|x";
        let expected = "        1      0 c   1 77       88         1,   3 x";
        assert_eq!(line(&mut widths, flags, device), expected);
        let named = line(&mut widths, 0, "1|0|-|1|root|root|0|x");
        assert_eq!(
            named,
            "        1      0 -   1 root      root            0 x"
        );
    }

    #[test]
    fn names_are_escaped() {
        let mut out = Vec::new();
        write_escaped(b"a b\\\"\n\t\r\x0c\x08\x07\x7f\xc3\xa9~", &mut out);
        assert_eq!(out, br#"a\ b\\\"\n\t\r\f\b\007\177\303\251~"#);
    }

    #[test]
    fn dates_near_and_far() {
        let clock = Clock::new(1_000_000_000);
        let text = |seconds| {
            let mut out = Vec::new();
            clock.write(seconds, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert!(text(1_000_000_000).contains(':'));
        assert!(text(1_000_003_600).contains(':') && !text(1_000_003_601).contains(':'));
        assert!(text(0).ends_with("  1970") || text(0).ends_with("  1969"));
        assert_eq!(text(i64::MAX), "9223372036854775807");
        assert_eq!(text(i64::MIN), "-9223372036854775808");
    }
}
