//! `now`: formats the given time as text.

use crate::engine::{EpochMillis, time};

const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// Formats a time as `2026-11-21T22:29:00Z (Saturday, UTC)`.
#[must_use]
pub fn now(at: EpochMillis) -> String {
    let whole = time::rfc3339(at);
    let (seconds, _) = whole.split_once('.').unwrap_or((&whole, ""));
    let day = usize::try_from(at.0 / 86_400_000 % 7).ok();
    let weekday = day.and_then(|i| WEEKDAYS.get(i)).copied().unwrap_or_default();
    format!("{seconds}Z ({weekday}, UTC)")
}
