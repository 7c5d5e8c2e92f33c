//! Reads the headers that say whether and when to retry: `Retry-After`, in seconds or as an HTTP date (RFC 9110, 10.2.3), and
//! `retry-after-ms`.

use turnwise_engine::EpochMillis;
use turnwise_engine::time::{self, DateTime};

/// The headers that say whether and when to retry, if the browser exposes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetryHeaders {
    pub retry_after: Option<String>,
    pub retry_after_ms: Option<String>,
    /// `x-should-retry` (Anthropic, OpenAI): `true` or `false`.
    pub should_retry: Option<String>,
}

/// The requested wait in milliseconds; a date in the past means no wait. The more precise header takes precedence.
#[must_use]
pub fn wait_ms(headers: &RetryHeaders, now: EpochMillis) -> Option<u64> {
    let RetryHeaders { retry_after, retry_after_ms, .. } = headers;
    let fine = retry_after_ms.as_ref().and_then(|text| millis(text, 1.0));
    fine.or_else(|| {
        let text = retry_after.as_ref()?;
        millis(text, 1000.0).or_else(|| Some(http_date(text)?.0.saturating_sub(now.0)))
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
    let (mut month, mut clock, mut numbers) = (None, None, Vec::new());
    for word in text.split([' ', ',', '-']).filter(|word| !word.is_empty()) {
        if let Ok(number) = word.parse::<u64>() {
            numbers.push(number);
        } else if word.contains(':') {
            clock = word.split(':').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>();
        } else {
            month = month.or_else(|| time::month(word));
        }
    }
    let (&[day, year], Some(month), Some(&[hour, minute, second])) = (&*numbers, month, clock.as_deref()) else {
        return None;
    };
    // RFC 850 has two digits.
    let year = match year {
        0..70 => 2000 + year,
        70..100 => 1900 + year,
        _ => year,
    };
    DateTime { year, month, day, hour, minute, second, ms: 0 }.epoch()
}
