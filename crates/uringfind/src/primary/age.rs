//! Tests by age: `-amin`, `-mtime` and their relatives.

use super::stamp::Stamp;
use super::{Doc, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::estimate;
use crate::failure::Failure;
use crate::file::File;
use crate::parse::{Comparison, Parser};
use crate::window::{Misfit, Window};

macro_rules! ages {
    ($($name:literal $parse:ident $stamp:ident $doc:expr;)*) => {
        &[$(Entry {
            name: $name,
            doc: $doc.tested_in("times"),
            parse: |parser, typed| $parse(parser, typed, Stamp::$stamp),
        }),*]
    };
}

pub(super) const ENTRIES: &[Entry] = ages! {
    "amin" minutes Access Doc::test("[+-]N", "accessed N minutes ago");
    "cmin" minutes Change Doc::test("[+-]N", "its status changed N minutes ago");
    "mmin" minutes Modification Doc::test("[+-]N", "modified N minutes ago");
    "Bmin" minutes Birth Doc::test("[+-]N", "born N minutes ago").added();
    "atime" days Access Doc::test("[+-]N", "accessed N days of 24 hours ago");
    "ctime" days Change Doc::test("[+-]N", "its status changed N days of 24 hours ago");
    "mtime" days Modification Doc::test("[+-]N", "modified N days of 24 hours ago");
    "Btime" days Birth Doc::test("[+-]N", "born N days of 24 hours ago").added();
};

fn minutes(parser: &mut Parser<'_>, typed: &[u8], stamp: Stamp) -> Result<Parsed, Refusal> {
    let argument = parser.argument()?;
    let window = Window::parse(argument, parser.day.end(), 60.0)
        .map_err(|misfit| refusal(&misfit, argument, typed, b"minutes"))?;
    Ok(test(parser, window, stamp))
}

fn days(parser: &mut Parser<'_>, typed: &[u8], stamp: Stamp) -> Result<Parsed, Refusal> {
    let argument = parser.argument()?;
    let origin = match Comparison::split(argument).0 {
        Comparison::Less => parser.day.last_second(),
        Comparison::More | Comparison::Exactly => parser.day.start,
    };
    let window = Window::parse(argument, origin, 86_400.0)
        .map_err(|misfit| refusal(&misfit, argument, typed, b"days"))?;
    Ok(test(parser, window, stamp))
}

fn test(parser: &Parser<'_>, window: Window, stamp: Stamp) -> Parsed {
    let chance = estimate::of_age(window.seconds(), parser.day.start.sec);
    Parsed::Predicate(Predicate::test(
        Age { stamp, window },
        Needs::Stat(stamp.mask()),
        chance,
    ))
}

fn refusal(misfit: &Misfit<'_>, argument: &[u8], typed: &[u8], units: &[u8]) -> Failure {
    match misfit {
        Misfit::Number => Failure::invalid_argument(argument, typed),
        Misfit::Overflow(number) => overflow(number, units),
    }
}

/// The message for a number that leads out of the range of times.
pub(super) fn overflow(number: &[u8], units: &[u8]) -> Failure {
    Failure::of(&[
        b"arithmetic overflow while converting ",
        number,
        b" ",
        units,
        b" to a number of seconds",
    ])
}

/// One of the file's times lies in the window.
#[derive(Debug)]
struct Age {
    stamp: Stamp,
    window: Window,
}

impl Primary for Age {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        self.stamp
            .of_file(file)
            .is_some_and(|moment| self.window.contains(moment))
    }
}
