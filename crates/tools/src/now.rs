//! `now`: formats the given time as text.

use turnwise_engine::{EpochMillis, time};

/// Formats a time as `2026-11-21T22:29:00Z (Saturday, UTC)`.
#[must_use]
pub fn now(at: EpochMillis) -> String {
    let whole = time::rfc3339(at);
    let (seconds, _) = whole.split_once('.').unwrap_or((&whole, ""));
    format!("{seconds}Z ({}, UTC)", time::weekday(at))
}
