//! Local time, and dates as text in the locale's language.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::MaybeUninit;

/// A moment in the local time zone, in the parts that a calendar and a clock show.
#[doc(alias = "tm")]
#[derive(Clone, Copy, Debug)]
pub struct LocalTime(libc::tm);

impl LocalTime {
    /// The moment `seconds` after 1970-01-01 00:00 UTC. `None` where the year does not fit.
    ///
    /// The zone is that of `TZ`, or `/etc/localtime`, when this is first called.
    #[doc(alias = "localtime_r")]
    #[must_use]
    pub fn new(seconds: i64) -> Option<Self> {
        let mut parts = MaybeUninit::<libc::tm>::zeroed();
        // SAFETY: both pointers are to live objects of the right type. Whatever the C library sets
        // up for the zone is under its own lock.
        let result = unsafe { libc::localtime_r(&raw const seconds, parts.as_mut_ptr()) };
        if result.is_null() {
            return None;
        }
        // SAFETY: all of it is integers and a pointer, which are valid as zeroes, and localtime_r
        // has filled it in.
        Some(Self(unsafe { parts.assume_init() }))
    }

    /// The year, as in 2024.
    #[must_use]
    pub fn year(&self) -> i64 {
        i64::from(self.0.tm_year) + 1900
    }

    /// 0 for January to 11.
    #[must_use]
    pub fn month(&self) -> usize {
        small(self.0.tm_mon).into()
    }

    /// The day of the month, from 1.
    #[must_use]
    pub fn day(&self) -> u8 {
        small(self.0.tm_mday)
    }

    /// 0 for Sunday to 6.
    #[must_use]
    pub fn weekday(&self) -> usize {
        small(self.0.tm_wday).into()
    }

    /// 0 to 23.
    #[must_use]
    pub fn hour(&self) -> u8 {
        small(self.0.tm_hour)
    }

    /// 0 to 59.
    #[must_use]
    pub fn minute(&self) -> u8 {
        small(self.0.tm_min)
    }

    /// 0 to 60: zones that count leap seconds have minutes of 61.
    #[must_use]
    pub fn second(&self) -> u8 {
        small(self.0.tm_sec)
    }

    /// The same but for the second, whether or not there is such a moment.
    #[must_use]
    pub fn with_second(mut self, second: u8) -> Self {
        self.0.tm_sec = second.into();
        self
    }

    /// Appends what `strftime(3)` makes of `format`, which is short: of a result longer than 4 KiB
    /// nothing is appended.
    #[doc(alias = "strftime")]
    pub fn format(&self, format: &CStr, out: &mut Vec<u8>) {
        // 0 means that there is not enough room, or nothing to write.
        for room in [128, 4096] {
            out.reserve(room);
            let spare = out.spare_capacity_mut();
            // SAFETY: pointer and length are those of writable memory, the format is a C string, and
            // the broken-down time came from localtime_r: its zone's name lives as long as the zone,
            // which nobody changes.
            let written = unsafe {
                libc::strftime(
                    spare.as_mut_ptr().cast(),
                    spare.len(),
                    format.as_ptr(),
                    &raw const self.0,
                )
            };
            if written > 0 {
                let len = out.len() + written;
                // SAFETY: strftime has written so many bytes behind the old end, less than there was
                // room for.
                unsafe { out.set_len(len) };
                return;
            }
        }
    }
}

/// A part that the C library keeps within 0 and 60.
fn small(part: i32) -> u8 {
    u8::try_from(part).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_text_agree() {
        let time = LocalTime::new(1_000_000_000).unwrap();
        let mut text = b"at ".to_vec();
        time.format(c"%Y-%m-%d %H:%M:%S %w", &mut text);
        let parts = format!(
            "at {}-{:02}-{:02} {:02}:{:02}:{:02} {}",
            time.year(),
            time.month() + 1,
            time.day(),
            time.hour(),
            time.minute(),
            time.second(),
            time.weekday()
        );
        assert_eq!(String::from_utf8(text).unwrap(), parts);
        assert_eq!(time.with_second(7).second(), 7);
    }

    #[test]
    fn empty_and_impossible() {
        assert!(LocalTime::new(i64::MAX).is_none());
        let mut text = Vec::new();
        LocalTime::new(0).unwrap().format(c"", &mut text);
        assert!(text.is_empty());
    }
}
