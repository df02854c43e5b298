//! Dates and times in words, as GNU find's `-newerXt` takes them: what `date -d` takes.
//!
//! Calendar dates, times of day, weekdays and zones are read by `parse_datetime`. What means
//! something else to GNU, or depends on the zone's daylight saving, is done here: the rule in front
//! (`zone`), seconds since 1970 (`epoch`), and distances such as `3 days ago`, which are taken out of
//! the text, added up and applied to what the rest says (`words`, `shift`).

mod epoch;
mod shift;
mod words;
mod zone;

use fscall::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use parse_datetime::{ParsedDateTime, parse_datetime_at_date};

use words::Reading;
use zone::{Abbreviation, LocalZone};

/// The moment that `text` means at the moment `now`, in the zone of the environment.
pub(crate) fn parse(text: &[u8], now: Timestamp) -> Option<Timestamp> {
    let text = str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
    let (zone, text) = zone::take_rule(text)?;
    let zone = zone.unwrap_or_else(zone::of_environment);
    match text.strip_prefix('@') {
        Some(seconds) => epoch::parse(seconds),
        None => resolve(text, &LocalZone::new(zone, moment(now)?)),
    }
}

/// Seconds since midnight in the zone of the environment.
pub(crate) fn seconds_of_day(now: Timestamp) -> i64 {
    let Some(now) = moment(now) else {
        return now.sec.rem_euclid(86_400);
    };
    let time = zone::of_environment().to_datetime(now).time();
    i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60 + i64::from(time.second())
}

/// An offset that no text can name, because it has a second: it marks that the text names none.
fn unnamed() -> Option<Offset> {
    Offset::from_seconds(1).ok()
}

/// What the text says apart from distances.
struct Start {
    civil: DateTime,
    /// That of the zone in the text.
    offset: Option<Offset>,
    /// Only distances were given: daylight saving time stays what it is now.
    from_now: bool,
}

fn resolve(text: &str, zone: &LocalZone) -> Option<Timestamp> {
    let reading = words::read(text, &zone.abbreviations())?;
    let start = match start(&reading, zone)? {
        Ok(start) => start,
        Err(far) => return reading.shift.exact_part().add_to(far),
    };
    if !start.from_now && !exists(&start, reading.abbreviation.as_ref(), zone) {
        return None;
    }
    let civil = reading.shift.add_calendar_part(start.civil)?;
    let whole = match start.offset {
        Some(offset) => offset.to_timestamp(civil).ok()?,
        None if start.from_now => zone.offset_like_now(civil).to_timestamp(civil).ok()?,
        None => zone.zone.to_ambiguous_timestamp(civil).compatible().ok()?,
    };
    reading.shift.exact_part().add_to(timestamp(whole)?)
}

/// Reads what is left without the distances. A year behind 9999 gives its moment right away.
fn start(reading: &Reading, zone: &LocalZone) -> Option<Result<Start, Timestamp>> {
    let now = zone.now();
    if reading.rest.is_empty() {
        let civil = if reading.shift_seen {
            now
        } else {
            now.date().to_datetime(Time::midnight())
        };
        return Some(Ok(Start {
            civil,
            offset: None,
            from_now: true,
        }));
    }
    // A distance keeps the time of day, even if none of it is left in the text.
    let rest = if reading.shift_seen {
        format!("{} now", reading.rest)
    } else {
        reading.rest.clone()
    };
    let base = now.to_zoned(TimeZone::fixed(unnamed()?)).ok()?;
    match parse_datetime_at_date(base, &rest).ok()? {
        ParsedDateTime::InRange(zoned) => Some(Ok(Start {
            civil: zoned.datetime(),
            offset: Some(zoned.offset()).filter(|_| Some(zoned.offset()) != unnamed()),
            from_now: false,
        })),
        ParsedDateTime::Extended(_) if reading.shift.changes_calendar() => None,
        ParsedDateTime::Extended(_) => {
            let base = now.to_zoned(zone.zone.clone()).ok()?;
            let far = parse_datetime_at_date(base, &rest).ok()?;
            Some(Err(Timestamp {
                sec: far.unix_epoch_second(),
                nsec: far.subsec_nanosecond().try_into().ok()?,
            }))
        }
    }
}

/// Whether the clock shows that time at all: not what it leaps over in spring, and no winter time in
/// summer.
fn exists(start: &Start, abbreviation: Option<&Abbreviation>, zone: &LocalZone) -> bool {
    match (start.offset, abbreviation) {
        (None, _) => !matches!(
            zone.zone.to_ambiguous_timestamp(start.civil).offset(),
            AmbiguousOffset::Gap { .. }
        ),
        (Some(offset), Some(abbreviation)) => offset
            .to_timestamp(start.civil)
            .is_ok_and(|at| zone.zone.to_offset_info(at).dst() == abbreviation.dst),
        (Some(_), None) => true,
    }
}

fn moment(at: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::new(at.sec, at.nsec.try_into().ok()?).ok()
}

fn timestamp(at: jiff::Timestamp) -> Option<Timestamp> {
    let nanoseconds = at.as_nanosecond();
    Some(Timestamp {
        sec: nanoseconds.div_euclid(1_000_000_000).try_into().ok()?,
        nsec: nanoseconds.rem_euclid(1_000_000_000).try_into().ok()?,
    })
}
