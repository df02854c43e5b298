//! Time zones: the environment's, and the rule that may stand in front of a date.

use std::fs;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Dst, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// The zone of `TZ`, or the system's without it.
pub(super) fn of_environment() -> TimeZone {
    match std::env::var_os("TZ") {
        Some(rule) => rule.to_str().map_or(TimeZone::UTC, by_rule),
        None => TimeZone::try_system().unwrap_or(TimeZone::UTC),
    }
}

/// Takes `TZ="RULE"` off the front of a date. `None` if the quotation mark is not closed, or a
/// backslash stands before anything but itself or a mark.
pub(super) fn take_rule(text: &str) -> Option<(Option<TimeZone>, &str)> {
    let text = text.trim_start_matches(super::words::is_blank);
    let Some(quoted) = text.strip_prefix("TZ=\"") else {
        return Some((None, text));
    };
    let mut rule = String::new();
    let mut characters = quoted.char_indices();
    loop {
        match characters.next()? {
            (at, '"') => {
                let rest = quoted[at + 1..].trim_start_matches(super::words::is_blank);
                return Some((Some(by_rule(&rule)), rest));
            }
            (_, '\\') => rule.push(
                characters
                    .next()
                    .map(|(_, escaped)| escaped)
                    .filter(|escaped| "\\\"".contains(*escaped))?,
            ),
            (_, other) => rule.push(other),
        }
    }
}

/// The zone of a rule as POSIX has it for `TZ`. UTC if it cannot be understood, as in the C
/// library.
fn by_rule(rule: &str) -> TimeZone {
    // What the C library assumes if a rule has daylight saving time but does not say when.
    const AMERICAN: &str = ",M3.2.0,M11.1.0";
    let rule = rule.strip_prefix(':').unwrap_or(rule);
    if rule.is_empty() {
        return TimeZone::UTC;
    }
    if rule.starts_with('/') {
        let zone = fs::read(rule).map(|data| TimeZone::tzif(rule, &data));
        return zone.ok().and_then(Result::ok).unwrap_or(TimeZone::UTC);
    }
    TimeZone::get(rule)
        .or_else(|_| TimeZone::posix(rule))
        .or_else(|_| TimeZone::posix(&[rule, AMERICAN].concat()))
        .unwrap_or(TimeZone::UTC)
}

/// The zone that dates are meant in, at the present moment.
pub(super) struct LocalZone {
    pub(super) zone: TimeZone,
    now: Timestamp,
}

/// What a zone calls an offset.
#[derive(Clone, Debug)]
pub(super) struct Abbreviation {
    /// In lower case.
    pub(super) name: String,
    pub(super) offset: Offset,
    pub(super) dst: Dst,
}

impl LocalZone {
    pub(super) fn new(zone: TimeZone, now: Timestamp) -> Self {
        Self { zone, now }
    }

    /// What clocks show now.
    pub(super) fn now(&self) -> DateTime {
        self.zone.to_datetime(self.now)
    }

    /// The names in use around now. They mean this zone's offsets, whatever they mean elsewhere.
    pub(super) fn abbreviations(&self) -> Vec<Abbreviation> {
        const QUARTER: SignedDuration = SignedDuration::from_hours(90 * 24);
        let quarters = (0..4).filter_map(|count| self.now.checked_add(QUARTER * count).ok());
        let mut found: Vec<Abbreviation> = Vec::new();
        for info in quarters.map(|at| self.zone.to_offset_info(at)) {
            let name = info.abbreviation().to_ascii_lowercase();
            if found.iter().all(|other| other.name != name) {
                found.push(Abbreviation {
                    name,
                    offset: info.offset(),
                    dst: info.dst(),
                });
            }
        }
        found
    }

    /// The offset to read `civil` with if daylight saving time is to be what it is now: in summer, a
    /// day of winter is read on the summer's clock.
    pub(super) fn offset_like_now(&self, civil: DateTime) -> Offset {
        let now = self.zone.to_offset_info(self.now);
        let candidates = match self.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => [offset, offset],
            AmbiguousOffset::Gap { before, after } | AmbiguousOffset::Fold { before, after } => {
                [before, after]
            }
        };
        let fits = |candidate: &Offset| {
            candidate.to_timestamp(civil).is_ok_and(|at| {
                let then = self.zone.to_offset_info(at);
                then.offset() == *candidate && then.dst() == now.dst()
            })
        };
        candidates.into_iter().find(fits).unwrap_or(now.offset())
    }
}
