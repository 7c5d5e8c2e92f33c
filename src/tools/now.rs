//! `now`: the time it is given, in words.

use crate::engine::EpochMillis;

const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// `2026-11-21T22:29:00Z (Saturday, UTC)`
#[must_use]
pub fn now(at: EpochMillis) -> String {
    let seconds = at.0 / 1000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let weekday = usize::try_from(days % 7).ok().and_then(|i| WEEKDAYS.get(i)).copied().unwrap_or_default();
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z ({weekday}, UTC)")
}

/// Year, month, day of a day counted from 1970-01-01 (Hinnant's `civil_from_days`, for days after 1970).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}
