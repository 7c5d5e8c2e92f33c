//! The calendar: dates against those of Python's `datetime`, and texts in every form that is read.

use turnwise_engine::time::{DateTime, month, parse, rfc3339, weekday};
use turnwise_engine::*;

/// 22:16 UTC on 21 November 2026.
const EVENING: u64 = 1_795_299_360_000;
const DAY: u64 = 86_400_000;

fn ms(text: &str) -> Option<u64> {
    parse(text).map(|at| at.0)
}

#[test]
fn a_time_is_read_in_each_of_its_forms() {
    let evening = [
        "2026-11-21T22:16:00Z",
        "2026-11-21t22:16:00.000z",
        "2026-11-21 22:16",
        "2026-11-21T22:16:00",
        "2026-11-22T03:46:00+05:30",
        "2026-11-22T03:46:00+0530",
        "2026-11-21T18:46:00-03:30",
        "2026-11-21T19:16-03",
    ];
    for text in evening {
        assert_eq!(ms(text), Some(EVENING), "{text}");
    }
    let fractions = [(".5", 500), (".123456789", 123), (",04", 40), (".", 0)];
    for (fraction, after) in fractions {
        assert_eq!(ms(&format!("2026-11-21T22:16:00{fraction}Z")), Some(EVENING + after), "{fraction}");
    }
}

#[test]
fn what_is_no_time_is_not_read() {
    for text in [
        "",
        "2026-11-21",
        "T",
        "2026-11-21T",
        "2026-11-21T22",
        "2026-11-21T24:00Z",
        "2026-11-21T22:60Z",
        "2026-11-21T22:16:61Z",
        "2026-13-01T00:00Z",
        "2026-00-01T00:00Z",
        "2026-01-00T00:00Z",
        "2026-01-32T00:00Z",
        "2026-02-29T00:00Z",
        "2026-02-30T00:00Z",
        "1969-12-31T23:59Z",
        "10000-01-01T00:00Z",
        "2026-11-21T22:16+x",
        "2026-11-21T22:16+1",
        "1970-01-01T00:00+01:00",
    ] {
        assert_eq!(ms(text), None, "{text}");
    }
}

#[test]
fn dates_are_the_calendars() {
    // By Python's datetime.
    let known = [
        ("2000-02-29T23:59:59.000Z", 951_868_799_000, "Tuesday"),
        ("2024-02-29T00:00:00.000Z", 1_709_164_800_000, "Thursday"),
        ("2026-03-01T00:00:00.000Z", 1_772_323_200_000, "Sunday"),
        ("2026-11-25T00:00:00.000Z", 1_795_564_800_000, "Wednesday"),
        ("9999-12-31T23:59:59.000Z", 253_402_300_799_000, "Friday"),
        ("1970-01-01T00:00:00.000Z", 0, "Thursday"),
    ];
    for (text, at, day) in known {
        assert_eq!((ms(text), rfc3339(EpochMillis(at)).as_str(), weekday(EpochMillis(at))), (Some(at), text, day));
    }
    let at = |second, ms| DateTime { year: 2026, month: 1, day: 1, hour: 0, minute: 0, second, ms }.epoch();
    assert_eq!([at(61, 0), at(0, 1000)], [None, None]);
    assert!(at(60, 999).is_some());
    // A leap second is the one after it.
    assert_eq!(ms("2016-12-31T23:59:60Z"), ms("2017-01-01T00:00:00Z"));
    assert!(ms("2017-01-01T00:00:00Z").is_some());
    // Every day up to the year 2100, there and back.
    for at in (0..47_482).map(|day| EpochMillis(day * DAY)) {
        assert_eq!(DateTime::from(at).epoch(), Some(at));
    }
    assert_eq!(rfc3339(EpochMillis(47_482 * DAY)), "2100-01-01T00:00:00.000Z");
}

#[test]
fn months_have_their_english_names() {
    let at = |month| DateTime { year: 2026, month, day: 1, hour: 0, minute: 0, second: 0, ms: 0 };
    assert_eq!([1, 2, 12].map(|month| at(month).month_name()), ["Jan", "Feb", "Dec"]);
    assert_eq!(["jan", "FEB", "Dec", "Foo"].map(month), [Some(1), Some(2), Some(12), None]);
}

#[test]
fn runs_that_begin_at_the_same_time_have_different_ids() {
    let ids: std::collections::BTreeSet<String> =
        (0..64).map(|seed| time::run_id(EpochMillis(EVENING), seed)).collect();
    assert_eq!(ids.len(), 64);
    assert!(ids.iter().all(|id| id.starts_with("run_20261121_221600_") && id.len() == 26), "{ids:?}");
}
