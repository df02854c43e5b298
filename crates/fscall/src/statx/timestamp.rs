//! A point in time, as exact and as far away as the kernel can say.

use std::time::{Duration, SystemTime};

use linux_raw_sys::general as sys;

/// A time of a file: `sec` seconds and `nsec` nanoseconds after 1970-01-01 00:00 UTC.
///
/// Before 1970 `sec` is negative, and `nsec` still counts forwards. Later is greater.
///
/// ```
/// use fscall::Timestamp;
///
/// let before = Timestamp { sec: -1, nsec: 999_999_999 };
/// assert!(before < Timestamp { sec: 0, nsec: 0 });
/// let distance = std::time::SystemTime::UNIX_EPOCH.duration_since(before.system_time().unwrap());
/// assert_eq!(distance.unwrap().as_nanos(), 1);
/// ```
#[doc(alias = "statx_timestamp")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds.
    pub sec: i64,
    /// Nanoseconds, below 1,000,000,000.
    pub nsec: u32,
}

impl Timestamp {
    /// The same as std's type; `None` if that cannot hold it, or if a broken file system answered
    /// more nanoseconds than a second has and they lead out of its range.
    pub fn system_time(self) -> Option<SystemTime> {
        let seconds = Duration::from_secs(self.sec.unsigned_abs());
        let whole = if self.sec < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(seconds)?
        } else {
            SystemTime::UNIX_EPOCH.checked_add(seconds)?
        };
        whole.checked_add(Duration::from_nanos(self.nsec.into()))
    }
}

impl From<sys::statx_timestamp> for Timestamp {
    fn from(time: sys::statx_timestamp) -> Self {
        Self {
            sec: time.tv_sec,
            nsec: time.tv_nsec,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_panics() {
        for sec in [
            i64::MIN,
            i64::MIN + 1,
            -1,
            0,
            1,
            9_223_372_036,
            13_569_465_600,
            i64::MAX,
        ] {
            for nsec in [0, 1, 999_999_999, 1_000_000_000, u32::MAX] {
                let time = Timestamp { sec, nsec }.system_time();
                assert!(
                    time.is_some() || sec.unsigned_abs() > 1 << 62,
                    "{sec} {nsec}"
                );
            }
        }
    }

    #[test]
    fn order_is_that_of_time() {
        let times = [
            (i64::MIN, 0),
            (-2, 5),
            (-1, 0),
            (-1, 1),
            (0, 0),
            (0, 1),
            (1, 0),
        ]
        .map(|(sec, nsec)| Timestamp { sec, nsec });
        assert!(times.is_sorted());
        let converted = times[1..].iter().map(|time| time.system_time().unwrap());
        assert!(converted.is_sorted());
    }
}
