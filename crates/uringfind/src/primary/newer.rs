//! `-newer` and its relatives: later than a file's time, or than a date.

use fscall::{StatxMask, Timestamp};

use super::stamp::Stamp;
use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::dates;
use crate::estimate;
use crate::failure::Failure;
use crate::file::File;
use crate::parse::Parser;
use crate::quote::quote;

macro_rules! newer {
    ($($name:literal $parse:ident $stamp:ident $doc:expr;)*) => {
        &[$(Entry {
            name: $name,
            doc: $doc.tested_in("times"),
            parse: |parser, _| $parse(parser, Stamp::$stamp),
        }),*]
    };
}

pub(super) const ENTRIES: &[Entry] = newer! {
    "newer" than_modification Modification Doc::test("FILE", "modified later than FILE was");
    "anewer" than_modification Access Doc::test("FILE", "accessed later than FILE was modified");
    "cnewer" than_modification Change Doc::test("FILE", "its status changed later than FILE was modified");
    "Bnewer" than_modification Birth Doc::test("FILE", "born later than FILE was modified").added();
    "since" since Modification Doc::test("DATE", "modified later than DATE").added();
    "msince" since Modification Doc::test("DATE", "the same as -since").added();
    "asince" since Access Doc::test("DATE", "accessed later than DATE").added();
    "csince" since Change Doc::test("DATE", "its status changed later than DATE").added();
    "Bsince" since Birth Doc::test("DATE", "born later than DATE").added();
};

/// `-newerXY`, whatever the two letters are.
pub(super) const XY: Entry = Entry {
    name: "newerXY",
    doc: Doc::test(
        "REFERENCE",
        "its time X is later than the time Y of REFERENCE; X and Y are of a (access), B (birth), \
         c (status change), m (modification); with Y = t, REFERENCE is a date",
    )
    .differs("B is known")
    .tested_in("times"),
    parse: xy,
};

fn than_modification(parser: &mut Parser<'_>, stamp: Stamp) -> Result<Parsed, Refusal> {
    let reference = parser.argument()?;
    let than = of_reference(parser, reference, Stamp::Modification)?;
    Ok(test(parser, stamp, than))
}

fn since(parser: &mut Parser<'_>, stamp: Stamp) -> Result<Parsed, Refusal> {
    let text = parser.argument()?;
    let than = date(parser, text)?;
    Ok(test(parser, stamp, than))
}

fn xy(parser: &mut Parser<'_>, typed: &[u8]) -> Result<Parsed, Refusal> {
    let [.., x, y] = *typed else {
        return Err(Refusal::Invalid);
    };
    let stamp = Stamp::of_letter(x).ok_or(Refusal::Invalid)?;
    let of = Stamp::of_letter(y);
    if of.is_none() && y != b't' {
        return Err(Refusal::Invalid);
    }
    let argument = parser
        .argument()
        .map_err(|_| Failure::of(&[b"The ", &quote(typed), b" test needs an argument"]))?;
    let than = match of {
        Some(of) => of_reference(parser, argument, of)?,
        None => date(parser, argument)?,
    };
    Ok(test(parser, stamp, than))
}

/// A time of a file in an argument.
fn of_reference(parser: &Parser<'_>, name: &[u8], stamp: Stamp) -> Result<Timestamp, Failure> {
    let answer = parser.stat_reference(name, stamp.mask())?;
    stamp
        .of(&answer)
        .ok_or_else(|| Failure::of(&[b"Cannot obtain birth time of file ", &quote(name)]))
}

fn date(parser: &Parser<'_>, text: &[u8]) -> Result<Timestamp, Failure> {
    dates::parse(text, parser.now).ok_or_else(|| {
        Failure::of(&[
            b"I cannot figure out how to interpret ",
            &quote(text),
            b" as a date or time",
        ])
    })
}

fn test(parser: &Parser<'_>, stamp: Stamp, than: Timestamp) -> Parsed {
    let chance = estimate::of_age(than.sec, parser.day.start.sec);
    let needs: StatxMask = stamp.mask();
    Parsed::Predicate(Predicate::test(
        Newer { stamp, than },
        Needs::Stat(needs),
        chance,
    ))
}

/// One of the file's times is later.
#[derive(Debug)]
struct Newer {
    stamp: Stamp,
    than: Timestamp,
}

impl Primary for Newer {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        self.stamp
            .of_file(file)
            .is_some_and(|moment| moment > self.than)
    }
}
