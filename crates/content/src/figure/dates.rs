//! Dates on an axis, as days since 1970 with fractions.

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads `2026-11`, `2026-11-26` and `2026-11-26T08:30`, also with seconds and an offset, which is ignored.
pub(super) fn read(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(['T', ' ']).map_or((text, None), |(date, time)| (date, Some(time)));
    let mut parts = date.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?.parse::<i64>().ok()?;
    let month = two(parts.next()?)?;
    let day = match parts.next() {
        Some(day) => two(day)?,
        None => 1,
    };
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut hours = 0.0;
    if let Some(time) = time {
        let mut parts = time.get(..time.len().min(8))?.split(':');
        let (hour, minute) = (two(parts.next()?)?, two(parts.next()?.get(..2)?)?);
        let second = parts.next().and_then(|second| two(second.get(..2)?)).unwrap_or(0);
        hours = hour as f64 + minute as f64 / 60.0 + second as f64 / 3_600.0;
    }
    Some(days(year, month, day) as f64 + hours / 24.0)
}

fn two(text: &str) -> Option<i64> {
    (text.len() == 2 && text.bytes().all(|c| c.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Days since 1970 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns at most about `most` round dates between two, each with its label.
pub(super) fn ticks(from: f64, to: f64, most: usize) -> Vec<(f64, String)> {
    let most = most.max(2) as f64;
    let span = (to - from).max(1e-6);
    let first = civil(from.floor() as i64);
    let last = civil(to.floor() as i64);
    let month_name = |month: i64| usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("");
    let mut ticks = Vec::new();
    if span / 365.0 > most / 2.0 {
        let step = [1, 2, 5, 10, 20, 50, 100].into_iter().find(|step| span / 365.0 / f64::from(*step) <= most);
        let step = i64::from(step.unwrap_or(500));
        let start = first.0.div_euclid(step) * step;
        let mut year = start;
        while year <= last.0 {
            ticks.push((days(year, 1, 1) as f64, year.to_string()));
            year += step;
        }
    } else if span > 62.0 || span / 14.0 > most {
        let step = [1, 2, 3, 6, 12].into_iter().find(|step| span / 30.4 / f64::from(*step) <= most);
        let step = i64::from(step.unwrap_or(12));
        let mut month = (first.0 * 12 + first.1 - 1).div_euclid(step) * step;
        while month < last.0 * 12 + last.1 {
            let (year, of_year) = (month.div_euclid(12), month.rem_euclid(12) + 1);
            let at = days(year, of_year, 1) as f64;
            if at >= from && at <= to {
                let with_year = of_year == 1 || ticks.is_empty();
                let name = month_name(of_year);
                ticks.push((at, if with_year { format!("{name} {year}") } else { name.to_owned() }));
            }
            month += step;
        }
    } else if span > 2.0 {
        let step = [1.0, 2.0, 7.0, 14.0].into_iter().find(|step| span / step <= most).unwrap_or(14.0);
        let mut at = from.ceil();
        while at <= to {
            let (_, month, day) = civil(at as i64);
            ticks.push((at, format!("{day} {}", month_name(month))));
            at += step;
        }
    } else {
        let step =
            [0.25, 0.5, 1.0, 2.0, 3.0, 6.0, 12.0].into_iter().find(|step| span * 24.0 / step <= most).unwrap_or(12.0);
        let mut hour = (from * 24.0 / step).ceil() * step;
        while hour <= to * 24.0 + 1e-6 {
            let of_day = hour.rem_euclid(24.0);
            ticks.push((hour / 24.0, format!("{:02}:{:02}", of_day as i64, ((of_day % 1.0) * 60.0).round() as i64)));
            hour += step;
        }
    }
    ticks.retain(|(at, _)| *at >= from - 1e-6 && *at <= to + 1e-6);
    ticks
}
