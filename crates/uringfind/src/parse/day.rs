//! The day that ages are counted from.

use fscall::Timestamp;

use crate::dates;

const SECONDS: i64 = 86_400;

/// The last 24 hours, or with `-daystart` today.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Day {
    pub(crate) start: Timestamp,
    is_calendar_day: bool,
}

impl Day {
    /// The 24 hours before `now`.
    pub(super) fn ending_at(now: Timestamp) -> Self {
        Self {
            start: Timestamp {
                sec: now.sec.saturating_sub(SECONDS),
                ..now
            },
            is_calendar_day: false,
        }
    }

    /// Midnight takes the start's place. Once is enough.
    pub(crate) fn start_at_midnight(&mut self) {
        if !self.is_calendar_day {
            let now = self.end();
            self.start = Timestamp {
                sec: now.sec.saturating_sub(dates::seconds_of_day(now)),
                nsec: 0,
            };
            self.is_calendar_day = true;
        }
    }

    /// 24 hours after the start.
    pub(crate) fn end(&self) -> Timestamp {
        self.later(SECONDS)
    }

    /// The moment that ages below a number of days are counted from: a second before the end.
    pub(crate) fn last_second(&self) -> Timestamp {
        self.later(SECONDS - 1)
    }

    fn later(&self, seconds: i64) -> Timestamp {
        Timestamp {
            sec: self.start.sec.saturating_add(seconds),
            ..self.start
        }
    }
}
