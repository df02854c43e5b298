//! The sum of all distances in a text.

use fscall::Timestamp;
use jiff::ToSpan;
use jiff::civil::{Date, DateTime};

/// How far, and on which scale: months and days go by the calendar, the rest by the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shift {
    months: i64,
    days: i64,
    exact: Exact,
}

/// Seconds and nanoseconds, both with their own sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exact {
    seconds: i64,
    nanoseconds: i64,
}

/// What a distance is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Months(i64),
    Days(i64),
    Seconds(i64),
}

impl Unit {
    /// The unit that is called `word`, in lower case.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word.strip_suffix('s').unwrap_or(word) {
            "year" => Self::Months(12),
            "month" => Self::Months(1),
            "fortnight" => Self::Days(14),
            "week" => Self::Days(7),
            "day" => Self::Days(1),
            "hour" => Self::Seconds(3600),
            "minute" | "min" => Self::Seconds(60),
            "second" | "sec" => Self::Seconds(1),
            _ => return None,
        })
    }
}

impl Shift {
    /// Adds `amount` times the unit.
    pub(super) fn add(&mut self, amount: i64, unit: Unit) -> Option<()> {
        let (sum, size) = match unit {
            Unit::Months(size) => (&mut self.months, size),
            Unit::Days(size) => (&mut self.days, size),
            Unit::Seconds(size) => (&mut self.exact.seconds, size),
        };
        *sum = sum.checked_add(amount.checked_mul(size)?)?;
        Some(())
    }

    /// Adds, or takes away, seconds with a fraction.
    pub(super) fn add_fraction(&mut self, amount: Timestamp, backwards: bool) -> Option<()> {
        let sign = if backwards { -1 } else { 1 };
        self.add(amount.sec.checked_mul(sign)?, Unit::Seconds(1))?;
        self.exact.nanoseconds = self
            .exact
            .nanoseconds
            .checked_add(sign * i64::from(amount.nsec))?;
        Some(())
    }

    /// There are months or days in it.
    pub(super) fn changes_calendar(&self) -> bool {
        self.months != 0 || self.days != 0
    }

    /// Months and days later. A day that the month has not is counted into the next one.
    pub(super) fn add_calendar_part(&self, start: DateTime) -> Option<DateTime> {
        if !self.changes_calendar() {
            return Some(start);
        }
        let months = i64::from(start.year())
            .checked_mul(12)?
            .checked_add(i64::from(start.month()) - 1)?
            .checked_add(self.months)?;
        let year = months.div_euclid(12).try_into().ok()?;
        let month = i8::try_from(months.rem_euclid(12)).ok()? + 1;
        let days = self.days.checked_add(i64::from(start.day()) - 1)?;
        let first = Date::new(year, month, 1).ok()?;
        let date = first.checked_add(0.days().try_days(days).ok()?).ok()?;
        Some(date.to_datetime(start.time()))
    }

    /// What goes by the clock.
    pub(super) fn exact_part(&self) -> Exact {
        self.exact
    }
}

impl Exact {
    /// So much later.
    pub(super) fn add_to(self, start: Timestamp) -> Option<Timestamp> {
        let nanoseconds = self.nanoseconds + i64::from(start.nsec);
        let seconds = start
            .sec
            .checked_add(self.seconds)?
            .checked_add(nanoseconds.div_euclid(1_000_000_000))?;
        Some(Timestamp {
            sec: seconds,
            nsec: nanoseconds.rem_euclid(1_000_000_000).try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_without_that_day_runs_over() {
        let mut shift = Shift::default();
        shift.add(1, Unit::Months(1)).unwrap();
        let later = |year, month, day| {
            let start = Date::new(year, month, day).unwrap().at(10, 0, 0, 0);
            shift.add_calendar_part(start).unwrap().date()
        };
        assert_eq!(later(2020, 1, 31), Date::constant(2020, 3, 2));
        assert_eq!(later(2019, 12, 31), Date::constant(2020, 1, 31));
    }

    #[test]
    fn units() {
        assert_eq!(Unit::named("fortnights"), Some(Unit::Days(14)));
        assert_eq!(Unit::named("sec"), Some(Unit::Seconds(1)));
        assert_eq!(Unit::named("s"), None);
        assert_eq!(Unit::named("dayss"), None);
    }
}
