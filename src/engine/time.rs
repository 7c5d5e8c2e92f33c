//! Times as text. The engine has no clock: it only writes down the times it is given.

use super::ids::EpochMillis;

/// RFC 3339 in UTC with milliseconds: `2026-11-21T22:16:00.000Z`.
#[must_use]
pub fn rfc3339(at: EpochMillis) -> String {
    let (y, mo, d) = civil(at.0 / 86_400_000);
    let ms = at.0 % 86_400_000;
    let (h, mi, s) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{y:04}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}.{:03}Z", ms % 1000)
}

/// The run's id: `run_YYYYMMDD_HHMMSS_` + 6 hex digits, UTC (SEMANTICS 10).
#[must_use]
pub fn run_id(at: EpochMillis, seed: u64) -> String {
    let (y, mo, d) = civil(at.0 / 86_400_000);
    let s = at.0 / 1000 % 86_400;
    let hex = super::retry::Rng::new(seed ^ at.0).up_to(0xff_ffff);
    format!("run_{y:04}{mo:02}{d:02}_{:02}{:02}{:02}_{hex:06x}", s / 3600, s / 60 % 60, s % 60)
}

/// Days since 1970-01-01 to year, month, day of the Gregorian calendar (Howard Hinnant's `civil_from_days`).
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + u64::from(month <= 2), month, day)
}
