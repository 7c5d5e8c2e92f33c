//! Parses the times in other agents' files: ISO 8601 to milliseconds.

use crate::engine::EpochMillis;

/// Parses `2026-11-21T22:16:00.123456Z`, also with an offset, with a space instead of the `T`, or without a zone (then UTC).
pub fn parse(text: &str) -> Option<EpochMillis> {
    let (date, time) = text.trim().split_once(['T', 't', ' '])?;
    let mut parts = date.splitn(3, '-').map(str::parse::<u64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    if !((1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day)) {
        return None;
    }
    let (clock, offset) = zone(time)?;
    let mut parts = clock.splitn(3, ':');
    let (hours, minutes) = (parts.next()?.parse::<u64>().ok()?, parts.next()?.parse::<u64>().ok()?);
    let (seconds, fraction) = parts.next().map_or(("0", ""), |s| s.split_once(['.', ',']).unwrap_or((s, "")));
    let seconds = seconds.parse::<u64>().ok()?;
    let thousandths = format!("{fraction:0<3}").get(..3)?.parse::<u64>().ok()?;
    // Second 60 is a leap second.
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let local = ((days(year, month, day) * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1_000 + thousandths;
    local.checked_add_signed(-offset).map(EpochMillis)
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

/// The number of days in a month.
fn days_of(year: u64, month: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant's `days_from_civil`).
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, yoe) = (year / 400, year % 400);
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}
