//! A run in the list of runs: its task, its ticks, its ending as text.

use serde::{Deserialize, Serialize};

use turnwise_engine::time::DateTime;
use turnwise_engine::{EpochMillis, Status};
use turnwise_protocol::app::Header;
use turnwise_record::trajectory::RunSummary;

use super::ending::{self, Tone};
use super::meter::{Meter, Tick, TickKind, TickState};
use super::source::{RunSource, SourceOrigin, task_title};
use turnwise_content::format::{counted, one_line};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RailView {
    pub title: String,
    /// `turn 3 of 15`, `4 turns, complete`
    pub words: String,
    /// `None`: it is running.
    pub tone: Option<Tone>,
    /// The turns so far, drawn small.
    pub ticks: Vec<Tick>,
}

const DAY_MS: u64 = 86_400_000;

/// The day of a moment, as a heading of the list: `Today`, `Yesterday`, `Monday`, `November 12`, `March 2025`. `offset_ms`: what has
/// to be added to UTC for the user's clock.
#[must_use]
pub fn day(at_ms: u64, now_ms: u64, offset_ms: i64) -> String {
    let (at, now) = (at_ms.saturating_add_signed(offset_ms), now_ms.saturating_add_signed(offset_ms));
    let (date, today) = (DateTime::from(EpochMillis(at)), DateTime::from(EpochMillis(now)));
    match (now / DAY_MS).saturating_sub(at / DAY_MS) {
        0 => "Today".to_owned(),
        1 => "Yesterday".to_owned(),
        2..7 => weekday(at / DAY_MS).to_owned(),
        _ if date.year == today.year => format!("{} {}", month(date), date.day),
        _ => format!("{} {}", month(date), date.year),
    }
}

/// The date of a moment: `November 12, 2026`.
#[must_use]
pub fn date(at_ms: u64, offset_ms: i64) -> String {
    let date = DateTime::from(EpochMillis(at_ms.saturating_add_signed(offset_ms)));
    format!("{} {}, {}", month(date), date.day, date.year)
}

/// A moment, short: `Today 14:02`, `November 12 14:02`.
#[must_use]
pub fn moment(at_ms: u64, now_ms: u64, offset_ms: i64) -> String {
    let at = DateTime::from(EpochMillis(at_ms.saturating_add_signed(offset_ms)));
    format!("{} {:02}:{:02}", day(at_ms, now_ms, offset_ms), at.hour, at.minute)
}

/// The time of a moment: `14:02`.
#[must_use]
pub fn clock(at_ms: u64, offset_ms: i64) -> String {
    let at = DateTime::from(EpochMillis(at_ms.saturating_add_signed(offset_ms)));
    format!("{:02}:{:02}", at.hour, at.minute)
}

/// The greeting of the start page, by the user's clock.
#[must_use]
pub fn greeting(now_ms: u64, offset_ms: i64) -> &'static str {
    match DateTime::from(EpochMillis(now_ms.saturating_add_signed(offset_ms))).hour {
        5..12 => "Good morning",
        12..18 => "Good afternoon",
        _ => "Good evening",
    }
}

/// A period to which the list of runs can be limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Period {
    #[default]
    Any,
    Today,
    /// The last seven days, today among them.
    Week,
    /// The last thirty days, today among them.
    Month,
}

impl Period {
    pub const ALL: [Period; 4] = [Period::Any, Period::Today, Period::Week, Period::Month];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Period::Any => "Any time",
            Period::Today => "Today",
            Period::Week => "Last 7 days",
            Period::Month => "Last 30 days",
        }
    }

    /// Returns whether a time is in the period; days begin at midnight of the user's clock.
    #[must_use]
    pub fn holds(self, at_ms: u64, now_ms: u64, offset_ms: i64) -> bool {
        let days = match self {
            Period::Any => return true,
            Period::Today => 1,
            Period::Week => 7,
            Period::Month => 30,
        };
        let day = |ms: u64| ms.saturating_add_signed(offset_ms) / DAY_MS;
        day(now_ms).saturating_sub(day(at_ms)) < days
    }
}

fn weekday(days: u64) -> &'static str {
    // 1 January 1970 was a Thursday.
    match days % 7 {
        0 => "Thursday",
        1 => "Friday",
        2 => "Saturday",
        3 => "Sunday",
        4 => "Monday",
        5 => "Tuesday",
        _ => "Wednesday",
    }
}

fn month(date: DateTime) -> &'static str {
    match date.month {
        1 => "January",
        2 => "February",
        3 => "March",
        4 => "April",
        5 => "May",
        6 => "June",
        7 => "July",
        8 => "August",
        9 => "September",
        10 => "October",
        11 => "November",
        _ => "December",
    }
}

impl RailView {
    /// Returns whether a synthesis is being written.
    #[must_use]
    pub fn is_concluding(&self) -> bool {
        self.tone.is_none() && self.ticks.last().is_some_and(|tick| tick.kind == TickKind::Synthesis)
    }
}

impl From<&RunSource<'_>> for RailView {
    fn from(source: &RunSource<'_>) -> Self {
        let ending = source.segments.last().filter(|_| source.status == Status::Ended);
        let turn = source.turns.last().map_or(0, |turn| turn.turn);
        let text = match (ending, source.status) {
            _ if source.origin == SourceOrigin::Interrupted => format!("interrupted, turn {}", turn.max(1)),
            (Some(ending), _) => ending::short(ending),
            (None, Status::Calling { synthesis: true, .. } | Status::Waiting { synthesis: true, .. }) => {
                "writing the synthesis".to_owned()
            }
            (None, Status::Waiting { .. }) => format!("turn {turn} of {}, waiting", source.effective_max_turns),
            (None, Status::Ended) if source.imported.is_some() => {
                format!("{}, imported", counted(source.turns.len() as u64, "turn"))
            }
            (None, Status::Ended) => format!("{turn} of {} turns, unfinished", source.effective_max_turns),
            (None, _) => format!("turn {turn} of {}", source.effective_max_turns),
        };
        // A run whose document was written before it ended is not running either.
        let over = (source.status == Status::Ended).then_some(Tone::Cancelled);
        let ticks = Meter::from(source).ticks.into_iter().filter(|tick| tick.state != TickState::Ahead).collect();
        RailView {
            title: one_line(task_title(source.input), 120),
            words: text,
            tone: ending.map(ending::tone).or(over),
            ticks,
        }
    }
}

impl RailView {
    /// Returns the entry of a run that had not ended when it was last stored.
    #[must_use]
    pub fn left_open(run: &RunSummary) -> Self {
        RailView { words: format!("interrupted, turn {}", run.turns_used.max(1)), ..RailView::from(run) }
    }
}

impl From<&Header> for RailView {
    /// Returns its entry in the list of stored runs.
    fn from(header: &Header) -> Self {
        let mut view = serde_json::from_value(header.rail.clone()).unwrap_or_else(|_| RailView::from(&header.summary));
        if let Some(name) = &header.name {
            view.title.clone_from(name);
        }
        view
    }
}

impl From<&RunSummary> for RailView {
    /// Builds the entry from the figures alone, without ticks.
    fn from(run: &RunSummary) -> Self {
        let text = match run.termination_reason {
            Some(reason) => ending::words_of(reason, run.total_turns),
            None => format!("{} of {} turns, unfinished", run.turns_used, run.effective_max_turns),
        };
        let tone = run.outcome.map_or(Tone::Cancelled, ending::tone_of);
        RailView { title: one_line(task_title(&run.title), 120), words: text, tone: Some(tone), ticks: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::{date, day};

    #[test]
    fn days_are_those_of_the_users_clock() {
        const HOUR: u64 = 3_600_000;
        let noon = 1_795_694_400_000; // 2026-11-26, 12:00 UTC, a Thursday
        let ago = |hours: u64| day(noon - hours * HOUR, noon, 0);
        assert_eq!(
            [ago(0), ago(12), ago(13), ago(36), ago(37)],
            ["Today", "Today", "Yesterday", "Yesterday", "Tuesday"]
        );
        assert_eq!([ago(6 * 24), ago(7 * 24), ago(330 * 24)], ["Friday", "November 19", "December 2025"]);
        assert_eq!(
            (date(noon, 0), date(noon, 13 * HOUR as i64)),
            ("November 26, 2026".into(), "November 27, 2026".into())
        );
        // Where it is 01:00 of the next day, two hours ago was yesterday.
        assert_eq!(day(noon, noon, 13 * HOUR as i64), "Today");
        assert_eq!(day(noon - 2 * HOUR, noon, 13 * HOUR as i64), "Yesterday");
    }
}
