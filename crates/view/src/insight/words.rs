//! Texts and axis labels of the charts.

use turnwise_engine::time::DateTime;
use turnwise_engine::{EpochMillis, Outcome, TerminationReason, Trigger};

use super::series::PointScope;

/// Returns the filter value of an outcome; a run that has not ended is `unfinished`.
pub(super) fn outcome(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Success) => "success",
        Some(Outcome::Partial) => "partial",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Cancelled) => "cancelled",
        None => "unfinished",
    }
}

/// Returns a short description of a termination reason.
#[must_use]
pub fn reason_words(reason: Option<TerminationReason>) -> String {
    let Some(reason) = reason else { return "Not ended".to_owned() };
    match reason {
        TerminationReason::LlmComplete => "Finished on its own".to_owned(),
        TerminationReason::FinalResult => "Final result of a tool".to_owned(),
        TerminationReason::FinalReport => "Report accepted".to_owned(),
        TerminationReason::Synthesized(trigger) => format!("{}, synthesized", limit(trigger)),
        TerminationReason::SynthesisFailed(trigger) => format!("{}, synthesis failed", limit(trigger)),
        TerminationReason::LlmError => "Model did not answer".to_owned(),
        TerminationReason::RetriesExhausted => "No attempt left".to_owned(),
        TerminationReason::MaxTurnsExhausted => "Turn limit, no report".to_owned(),
        TerminationReason::Cancelled => "Stopped".to_owned(),
    }
}

fn limit(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::MaxTurns => "Turn limit",
        Trigger::Stop => "Wrapped up",
        Trigger::Context => "Context full",
        Trigger::WallTime => "Time up",
        Trigger::Tokens => "Token budget",
        Trigger::Cost => "Cost budget",
    }
}

/// `18.2k`, `1.3M`: a number on an axis.
pub(super) fn short(value: f64) -> String {
    let tenths = |value: f64, unit: &str| {
        let text = format!("{value:.1}");
        format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match value {
        v if v >= 1e6 => tenths(v / 1e6, "M"),
        v if v >= 1e3 => tenths(v / 1e3, "k"),
        v => tenths(v, ""),
    }
}

/// `$0.02`, `$1.5`: dollars on an axis.
pub(super) fn short_dollars(value: f64) -> String {
    if value >= 1000.0 {
        return format!("${}", short(value));
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    // $0.10 next to $0.05, and $2 next to $1.
    let cents = text.split_once('.').map_or(2, |(_, cents)| cents.len());
    format!("${text}{}", if cents < 2 { "0" } else { "" })
}

/// `20 s`, `1.5 min`: a duration on an axis.
pub(super) fn short_duration(ms: f64) -> String {
    match ms {
        v if v >= 3_600_000.0 => format!("{} h", short(v / 3_600_000.0)),
        v if v >= 60_000.0 => format!("{} min", short(v / 60_000.0)),
        v if v >= 1_000.0 => format!("{} s", short(v / 1_000.0)),
        v => format!("{} ms", short(v)),
    }
}

/// A moment on the time axis: `09:30`, `21 Nov`, `2026`. `days`: the axis is longer than a day.
pub(super) fn moment(at_ms: u64, step: PointScope, days: bool) -> String {
    let at = DateTime::from(EpochMillis(at_ms));
    match step {
        PointScope::Year => at.year.to_string(),
        PointScope::Day | PointScope::Week | PointScope::FourWeeks => day(at),
        _ if days => day(at),
        PointScope::Run | PointScope::Minute | PointScope::TenMinutes | PointScope::Hour | PointScope::SixHours => {
            clock(at)
        }
    }
}

/// A moment in full: `21 Nov 2026, 09:30 UTC`.
pub(super) fn whole_moment(at_ms: u64) -> String {
    let at = DateTime::from(EpochMillis(at_ms));
    format!("{} {}, {} UTC", day(at), at.year, clock(at))
}

fn day(at: DateTime) -> String {
    format!("{} {}", at.day, at.month_name())
}

fn clock(at: DateTime) -> String {
    format!("{:02}:{:02}", at.hour, at.minute)
}
