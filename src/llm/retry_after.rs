//! Reads `Retry-After`: seconds or an HTTP date (RFC 9110, 10.2.3), and `retry-after-ms`.

use crate::engine::EpochMillis;

use super::classify::RetryHeaders;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The requested wait in milliseconds; a date in the past means no wait. The more precise header takes precedence.
#[must_use]
pub fn wait_ms(headers: RetryHeaders, now: EpochMillis) -> Option<u64> {
    let RetryHeaders { retry_after, retry_after_ms, .. } = headers;
    let fine = retry_after_ms.and_then(|text| millis(&text, 1.0));
    fine.or_else(|| {
        let text = retry_after?;
        millis(&text, 1000.0).or_else(|| Some(http_date(&text)?.0.saturating_sub(now.0)))
    })
}

fn millis(text: &str, unit: f64) -> Option<u64> {
    let number: f64 = text.trim().parse().ok()?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked, and `as` saturates
    (number.is_finite() && number >= 0.0).then_some((number * unit).ceil() as u64)
}

/// Reads all three forms of an HTTP date: in each, the day comes before the year, and no other part is a plain number.
#[must_use]
pub fn http_date(text: &str) -> Option<EpochMillis> {
    let (mut month, mut time, mut numbers) = (None, None, Vec::new());
    for word in text.split([' ', ',', '-']).filter(|word| !word.is_empty()) {
        if let Ok(number) = word.parse::<i64>() {
            numbers.push(number);
        } else if word.contains(':') {
            time = seconds_of_day(word);
        } else if let Some(at) = MONTHS.iter().position(|name| word.eq_ignore_ascii_case(name)) {
            month = i64::try_from(at + 1).ok();
        }
    }
    let ([day, year], Some(month), Some(time)) = (numbers.as_slice(), month, time) else { return None };
    let year = match *year {
        short @ 0..70 => 2000 + short,
        short @ 70..100 => 1900 + short,
        year @ 1970..10_000 => year,
        _ => return None,
    };
    if !(1..=31).contains(day) {
        return None;
    }
    let seconds = days_since_epoch(year, month, *day) * 86_400 + time;
    u64::try_from(seconds * 1000).ok().map(EpochMillis)
}

fn seconds_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':').map(|part| part.parse::<i64>().ok().filter(|n| (0..=60).contains(n)));
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    (hours < 24 && parts.next().is_none()).then_some(hours * 3600 + minutes * 60 + seconds)
}

/// Uses the Gregorian calendar, with years counted from March so that the leap day comes last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
}
