//! The log of a run: failures (`WRN`, `ERR`) and traces (`TRC`) in the order they happened, for filtering and copying.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use turnwise_engine::{LogLevel, LogRecord, TraceRecord};

use super::slug::SlugView;
use super::source::RunSource;
use turnwise_content::format::{clock_exact, counted};

/// The number of entries that are shown at first (the newest), and added with each "show more".
pub const PORTION: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warning,
    Trace,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Its index in the log, which stays the same as long as the run is shown.
    pub index: usize,
    pub level: Level,
    pub at_ms: u64,
    /// `00:21.350` since the run started.
    pub at: String,
    /// `turn 2, attempt 1`
    pub place: String,
    pub slugs: Vec<SlugView>,
    pub message: String,
    /// `gpt-4.1-mini, openai`; empty if no model was called.
    pub model: String,
    pub raw: Option<Raw>,
    /// The form in which it is exported.
    line: Value,
}

/// The provider's response, verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    pub text: Arc<str>,
    /// `cut at 128 KiB`, if it was truncated.
    pub note: Option<&'static str>,
}

/// All entries so far. Records only ever grow, so a refresh only takes the new ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    pub entries: Vec<Arc<LogEntry>>,
    logs: usize,
    traces: usize,
}

/// The reader's selection of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter {
    pub levels: Vec<Level>,
    /// Only entries with this slug; empty: all.
    pub slug: String,
    /// Only entries with this text; letter case is ignored.
    pub text: String,
    pub most: usize,
}

/// A log as a filter shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct LogView {
    pub chips: Vec<Chip>,
    /// The slugs that occur, with their counts.
    pub slugs: Vec<(&'static str, usize)>,
    pub entries: Vec<Arc<LogEntry>>,
    /// `4 of 12 entries`
    pub words: String,
    /// Shown in place of an empty list.
    pub empty: Option<&'static str>,
    /// The label to show older entries that match the filter.
    pub more: Option<String>,
}

/// One level that can be switched on and off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    pub level: Level,
    pub words: String,
    pub on: bool,
}

impl Default for LogFilter {
    fn default() -> Self {
        LogFilter { levels: Level::ALL.to_vec(), slug: String::new(), text: String::new(), most: PORTION }
    }
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Error, Level::Warning, Level::Trace];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Error => "ERR",
            Level::Warning => "WRN",
            Level::Trace => "TRC",
        }
    }

    /// Returns a description for users who do not know the short names.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Level::Error => "failed runs",
            Level::Warning => "failed attempts and changed settings",
            Level::Trace => "steps of the engine",
        }
    }
}

impl Log {
    /// Takes the records that are new since the last call, and returns whether there were any.
    pub fn take(&mut self, source: &RunSource<'_>) -> bool {
        let logs = source.logs.get(self.logs..).unwrap_or_default();
        let traces = source.traces.get(self.traces..).unwrap_or_default();
        if logs.is_empty() && traces.is_empty() {
            return false;
        }
        let mut fresh: Vec<LogEntry> = traces.iter().map(of_trace).chain(logs.iter().map(of_log)).collect();
        fresh.sort_by_key(|entry| entry.at_ms);
        for (place, mut entry) in fresh.into_iter().enumerate() {
            entry.index = self.logs + self.traces + place;
            self.entries.push(Arc::new(entry));
        }
        (self.logs, self.traces) = (source.logs.len(), source.traces.len());
        true
    }

    /// `Log`, `Log (3)`: with the number of failures.
    #[must_use]
    pub fn title(&self) -> String {
        if self.logs == 0 { "Log".to_owned() } else { format!("Log ({})", self.logs) }
    }

    #[must_use]
    pub fn view(&self, filter: &LogFilter) -> LogView {
        let fitting: Vec<&Arc<LogEntry>> = self.entries.iter().filter(|entry| filter.fits(entry)).collect();
        let hidden = fitting.len().saturating_sub(filter.most);
        let all = counted(self.entries.len() as u64, "entry").replace("entrys", "entries");
        let empty = match (self.entries.is_empty(), fitting.is_empty()) {
            (true, _) => Some("Nothing was logged. Failed attempts, failed runs and notable steps appear here."),
            (false, true) => Some("No entry matches this filter."),
            (false, false) => None,
        };
        LogView {
            chips: Level::ALL.iter().map(|level| self.chip(*level, filter)).collect(),
            slugs: self.slugs(),
            entries: fitting.iter().skip(hidden).map(|entry| Arc::clone(entry)).collect(),
            words: if fitting.len() == self.entries.len() { all } else { format!("{} of {all}", fitting.len()) },
            empty,
            more: (hidden > 0).then(|| format!("Show {} earlier", hidden.min(PORTION))),
        }
    }

    /// Returns the entries that match, as JSON Lines.
    #[must_use]
    pub fn json_lines(&self, filter: &LogFilter) -> String {
        let fitting = self.entries.iter().filter(|entry| filter.fits(entry));
        fitting.map(|entry| format!("{}\n", entry.line)).collect()
    }

    fn chip(&self, level: Level, filter: &LogFilter) -> Chip {
        let count = self.entries.iter().filter(|entry| entry.level == level).count();
        Chip { level, words: format!("{} {count}", level.as_str()), on: filter.levels.contains(&level) }
    }

    fn slugs(&self) -> Vec<(&'static str, usize)> {
        let mut counts = BTreeMap::new();
        for slug in self.entries.iter().flat_map(|entry| &entry.slugs) {
            *counts.entry(slug.name).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}

impl LogFilter {
    /// Switches a level on or off.
    pub fn toggle(&mut self, level: Level) {
        match self.levels.iter().position(|on| *on == level) {
            Some(place) => drop(self.levels.remove(place)),
            None => self.levels.push(level),
        }
    }

    fn fits(&self, entry: &LogEntry) -> bool {
        let words = self.text.trim().to_lowercase();
        let said = |text: &str| text.to_lowercase().contains(&words);
        self.levels.contains(&entry.level)
            && (self.slug.is_empty() || entry.slugs.iter().any(|slug| slug.name == self.slug))
            && (words.is_empty()
                || said(&entry.message)
                || said(&entry.model)
                || said(&entry.place)
                || entry.slugs.iter().any(|slug| said(slug.name))
                || entry.raw.as_ref().is_some_and(|raw| said(&raw.text)))
    }
}

fn of_log(log: &LogRecord) -> LogEntry {
    LogEntry {
        index: 0,
        level: match log.level {
            LogLevel::Warn => Level::Warning,
            LogLevel::Error => Level::Error,
        },
        at_ms: log.at_ms,
        at: clock_exact(log.at_ms),
        place: place(log.turn, log.attempt),
        slugs: log.slugs.iter().map(|slug| SlugView::from(*slug)).collect(),
        message: without_slugs(log),
        model: [log.model.as_str(), log.provider.as_str()]
            .into_iter()
            .filter(|name| !name.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
        raw: log
            .raw
            .as_ref()
            .map(|raw| Raw { text: raw.text.as_str().into(), note: raw.truncated.then_some("cut at 128 KiB") }),
        line: serde_json::to_value(log).unwrap_or_default(),
    }
}

/// Returns the message without the slugs at its end: they are shown next to it.
fn without_slugs(log: &LogRecord) -> String {
    let slugs = log.slugs.iter().map(|slug| slug.as_str()).collect::<Vec<_>>().join(", ");
    let message = log.message.trim_end();
    let short = message.strip_suffix(&format!(" ({slugs})")).filter(|_| !slugs.is_empty());
    short.unwrap_or(message).to_owned()
}

fn of_trace(trace: &TraceRecord) -> LogEntry {
    let message = if trace.data.is_null() { trace.name.clone() } else { format!("{} {}", trace.name, trace.data) };
    let mut line = json!({ "level": Level::Trace.as_str() });
    if let (Value::Object(line), Ok(Value::Object(fields))) = (&mut line, serde_json::to_value(trace)) {
        line.extend(fields);
    }
    LogEntry {
        index: 0,
        level: Level::Trace,
        at_ms: trace.at_ms,
        at: clock_exact(trace.at_ms),
        place: place(trace.turn, 0),
        slugs: Vec::new(),
        message,
        model: String::new(),
        raw: None,
        line,
    }
}

fn place(turn: u32, attempt: u32) -> String {
    match (turn, attempt) {
        (0, _) => String::new(),
        (turn, 0) => format!("turn {turn}"),
        (turn, attempt) => format!("turn {turn}, attempt {attempt}"),
    }
}
