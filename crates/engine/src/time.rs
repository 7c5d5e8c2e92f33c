//! The calendar: times as dates and as text, and back. The engine has no clock: it only writes down the times it is given.

use std::str::SplitN;

use super::ids::EpochMillis;

/// The pattern of [`rfc3339`]'s output, for the schema of records.
#[cfg(feature = "types")]
pub const RFC3339: &str = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$";

/// The pattern of [`run_id`]'s output, likewise.
#[cfg(feature = "types")]
pub const RUN_ID: &str = r"^run_\d{8}_\d{6}_[0-9a-f]{6}$";

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Of 1970-01-01 and the days after it.
const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
const DAY: u64 = 86_400_000;

/// A date and a time of day in UTC; the first month and the first day are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime {
    pub year: u64,
    pub month: u64,
    pub day: u64,
    pub hour: u64,
    pub minute: u64,
    pub second: u64,
    pub ms: u64,
}

impl From<EpochMillis> for DateTime {
    /// Uses the Gregorian calendar (Howard Hinnant's `civil_from_days`).
    fn from(at: EpochMillis) -> Self {
        let (z, ms) = (at.0 / DAY + 719_468, at.0 % DAY);
        let (era, doe) = (z / 146_097, z % 146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        DateTime {
            year: yoe + era * 400 + u64::from(month <= 2),
            month,
            day: doy - (153 * mp + 2) / 5 + 1,
            hour: ms / 3_600_000,
            minute: ms / 60_000 % 60,
            second: ms / 1000 % 60,
            ms: ms % 1000,
        }
    }
}

impl DateTime {
    /// `Jan` to `Dec`.
    #[must_use]
    pub fn month_name(self) -> &'static str {
        (1..).zip(MONTHS).find(|(month, _)| *month == self.month).map_or("", |(_, name)| name)
    }

    /// The same as a time; `None`: there is no such date or time of day, or it is not within the years 1970 to 9999.
    #[must_use]
    pub fn epoch(self) -> Option<EpochMillis> {
        let DateTime { year, month, day, hour, minute, second, ms } = self;
        // Second 60 is a leap second.
        let possible = (1970..10_000).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && (hour < 24 && minute < 60 && second <= 60 && ms < 1000);
        if !possible {
            return None;
        }
        // Years begin in March, so that the leap day comes last.
        let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719_469;
        let at = EpochMillis(days * DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + ms);
        // 30 February would be a day in March.
        (DateTime::from(EpochMillis(days * DAY)).day == day).then_some(at)
    }
}

/// RFC 3339 in UTC with milliseconds: `2026-11-21T22:16:00.000Z`.
#[must_use]
pub fn rfc3339(at: EpochMillis) -> String {
    let DateTime { year, month, day, hour, minute, second, ms } = at.into();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The time of a text like `2026-11-21T22:16:00.123456Z` (ISO 8601), also with an offset, with a space instead of the `T`, or
/// without a zone (then UTC); `None`: it is not such a text.
#[must_use]
pub fn parse(text: &str) -> Option<EpochMillis> {
    let (date, time) = text.trim().split_once(['T', 't', ' '])?;
    let (clock, offset) = zone(time)?;
    let (mut date, mut clock) = (date.splitn(3, '-'), clock.splitn(3, ':'));
    let number = |parts: &mut SplitN<'_, char>| parts.next()?.parse().ok();
    let (year, month, day) = (number(&mut date)?, number(&mut date)?, number(&mut date)?);
    let (hour, minute) = (number(&mut clock)?, number(&mut clock)?);
    let seconds = clock.next().unwrap_or("0");
    let (second, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    let second = second.parse().ok()?;
    let ms = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let local = DateTime { year, month, day, hour, minute, second, ms }.epoch()?;
    local.0.checked_add_signed(-offset).map(EpochMillis)
}

/// The time of day, and the zone's offset in milliseconds.
fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else { return Some((time, 0)) };
    let (clock, offset) = (time.get(..at)?, time.get(at + 1..)?);
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let hours = digits.get(..2)?.parse::<i64>().ok()?;
    let minutes = digits.get(2..4).map_or(Some(0), |m| m.parse::<i64>().ok())?;
    let sign = if time.get(at..=at) == Some("-") { -1 } else { 1 };
    Some((clock, sign * (hours * 60 + minutes) * 60_000))
}

/// The number of the month with this name of three letters, in upper or lower case.
#[must_use]
pub fn month(name: &str) -> Option<u64> {
    (1..).zip(MONTHS).find(|(_, month)| name.eq_ignore_ascii_case(month)).map(|(number, _)| number)
}

/// The English name.
#[must_use]
pub fn weekday(at: EpochMillis) -> &'static str {
    WEEKDAYS.get((at.0 / DAY % 7) as usize).copied().unwrap_or_default()
}

/// The run's id: `run_YYYYMMDD_HHMMSS_` + 6 hex digits, UTC (trajectory.md#what-is-in-it).
#[must_use]
pub fn run_id(at: EpochMillis, seed: u64) -> String {
    let DateTime { year, month, day, hour, minute, second, .. } = at.into();
    let hex = super::retry::Rng::new(seed ^ at.0).up_to(0xff_ffff);
    format!("run_{year:04}{month:02}{day:02}_{hour:02}{minute:02}{second:02}_{hex:06x}")
}
