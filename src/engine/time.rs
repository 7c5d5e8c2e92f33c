//! Times as text. The engine has no clock: it only writes down the times it is given.

use super::ids::EpochMillis;

/// The pattern of [`rfc3339`]'s output, for the schema of records.
#[cfg(feature = "types")]
pub const RFC3339: &str = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$";

/// The pattern of [`run_id`]'s output, likewise.
#[cfg(feature = "types")]
pub const RUN_ID: &str = r"^run_\d{8}_\d{6}_[0-9a-f]{6}$";

/// RFC 3339 in UTC with milliseconds: `2026-11-21T22:16:00.000Z`.
#[must_use]
pub fn rfc3339(at: EpochMillis) -> String {
    let (y, mo, d) = civil(at.0 / 86_400_000);
    let ms = at.0 % 86_400_000;
    let (h, mi, s) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{y:04}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}.{:03}Z", ms % 1000)
}

/// The time of an RFC 3339 text in UTC (`Z`), to the millisecond; `None`: it is not such a text.
#[must_use]
pub fn epoch_ms(text: &str) -> Option<EpochMillis> {
    let (date, clock) = text.strip_suffix(['Z', 'z'])?.split_once(['T', 't', ' '])?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [y, mo, d] = numbers(date, '-')?;
    let [h, mi, s] = numbers(clock, ':')?;
    let (days, ok) = (days(y, mo, d)?, h < 24 && mi < 60 && s < 61);
    let ms: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    ok.then(|| EpochMillis(((days * 24 + h) * 60 + mi) * 60_000 + s * 1000 + ms))
}

fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let mut parts = text.split(separator).map(|part| part.parse().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// The days since 1970-01-01 of a date, the other way round than [`civil`].
fn days(y: u64, mo: u64, d: u64) -> Option<u64> {
    let ok = (1970..10_000).contains(&y) && (1..=12).contains(&mo) && (1..=31).contains(&d);
    let (y, mo) = if mo > 2 { (y, mo - 3) } else { (y.checked_sub(1)?, mo + 9) };
    let (era, yoe) = (y / 400, y % 400);
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + (153 * mo + 2) / 5 + d.checked_sub(1)?;
    (era * 146_097 + doe).checked_sub(719_468).filter(|_| ok)
}

/// The run's id: `run_YYYYMMDD_HHMMSS_` + 6 hex digits, UTC (trajectory.md#what-is-in-it).
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
