//! Exports a trajectory to other file formats. PURE: a document in, text out.
//!
//! Data that a format has no field for goes into its `extra`, or is lost if the format has none; `docs/trajectory.md`
//! lists what is lost. The two human-readable formats, Markdown and HTML, need the texts of `view` and are written there.

pub mod atif;
mod conversation;
pub mod mini_swe;
pub mod openai;
pub mod otlp;
mod otlp_attributes;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Trajectory;
use turnwise_engine::{AttemptRecord, Usage};

macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $name:tt {
        suffix: $suffix:literal,
        media_type: $media_type:literal,
        label: $label:literal,
        note: $note:literal,
        write: $write:expr,
    })*) => {
        /// The formats a trajectory can be exported to. `docs/trajectory.md` describes each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ExportFormat"))]
        pub enum ExportFormat { $($(#[$doc])* #[serde(rename = $name)] $format,)* }

        impl ExportFormat {
            /// In the order of the download menu, the most used first.
            pub const ALL: &'static [ExportFormat] = &[$(ExportFormat::$format,)*];

            /// Its name in the JavaScript API.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(ExportFormat::$format => $name,)* }
            }

            /// The part of the file name after the run id.
            #[must_use]
            pub fn suffix(self) -> &'static str {
                match self { $(ExportFormat::$format => $suffix,)* }
            }

            #[must_use]
            pub fn media_type(self) -> &'static str {
                match self { $(ExportFormat::$format => $media_type,)* }
            }

            /// Its name in the download menu.
            #[must_use]
            pub fn label(self) -> &'static str {
                match self { $(ExportFormat::$format => $label,)* }
            }

            /// What the format is for; the menu shows it next to the label.
            #[must_use]
            pub fn note(self) -> &'static str {
                match self { $(ExportFormat::$format => $note,)* }
            }

            /// The function that writes it; `None` for formats for people, which `view/export` writes.
            #[must_use]
            pub fn writer(self) -> Option<fn(&Trajectory) -> String> {
                match self { $(ExportFormat::$format => $write,)* }
            }
        }
    };
}

formats! {
    /// The document itself, indented.
    Native = "native" {
        suffix: ".json",
        media_type: "application/json",
        label: "Turnwise trajectory",
        note: "JSON with everything in it; opens here again",
        write: Some(native),
    }
    /// One self-contained page.
    Html = "html" {
        suffix: ".html",
        media_type: "text/html",
        label: "Report",
        note: "one HTML page to read, print and pass on",
        write: None,
    }
    Markdown = "markdown" {
        suffix: ".md",
        media_type: "text/markdown",
        label: "Markdown",
        note: "for issues, chats and notes",
        write: None,
    }
    /// Agent Trajectory Interchange Format 1.7.
    Atif = "atif" {
        suffix: ".atif.json",
        media_type: "application/json",
        label: "ATIF 1.7",
        note: "the interchange format of agents (Harbor)",
        write: Some(atif::write),
    }
    /// OpenTelemetry spans as OTLP/JSON.
    Otlp = "otlp" {
        suffix: ".otlp.json",
        media_type: "application/json",
        label: "OpenTelemetry",
        note: "GenAI spans as OTLP/JSON",
        write: Some(otlp::write),
    }
    /// OpenAI's chat format, one line per run.
    OpenaiJsonl = "openai-jsonl" {
        suffix: ".openai.jsonl",
        media_type: "application/jsonl",
        label: "OpenAI chat",
        note: "messages and tools as JSON Lines",
        write: Some(openai::write),
    }
    /// `.traj.json` of mini-swe-agent 1.1.
    MiniSweAgent = "mini-swe-agent" {
        suffix: ".traj.json",
        media_type: "application/json",
        label: "mini-swe-agent",
        note: "its trajectory file, version 1.1",
        write: Some(mini_swe::write),
    }
}

impl ExportFormat {
    /// Returns the format with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<ExportFormat> {
        ExportFormat::ALL.iter().copied().find(|format| format.as_str() == name)
    }

    /// `run_20261121_220000_abcdef.atif.json`
    #[must_use]
    pub fn file_name(self, run_id: &str) -> String {
        format!("{run_id}{}", self.suffix())
    }
}

/// The document itself, indented by two spaces.
#[must_use]
pub fn native(document: &Trajectory) -> String {
    pretty(document)
}

/// Plain data with string keys: serializing cannot fail.
fn pretty(part: &impl Serialize) -> String {
    serde_json::to_string_pretty(part).unwrap_or_default()
}

fn value(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

/// Builds an object without `null` fields, empty lists and empty objects.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let there = |value: &Value| match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let kept = fields.into_iter().filter(|(_, value)| there(value));
    Value::Object(kept.map(|(key, value)| (key.to_owned(), value)).collect::<Map<String, Value>>())
}

/// A run and all its descendants, parents before their children.
fn tree(document: &Trajectory) -> Vec<&Trajectory> {
    let below = document.children.iter().flat_map(tree);
    std::iter::once(document).chain(below).collect()
}

/// The cost of a run's own requests in US dollars, rounded to a billionth; `None` if a price is unknown.
fn cost<'a>(run: &Trajectory, mut attempts: impl Iterator<Item = &'a AttemptRecord>) -> Option<f64> {
    let sum = attempts.try_fold(0.0, |sum, attempt| {
        let price = run.config.providers.get(attempt.provider)?.price?;
        Some(sum + price.cost(attempt.usage.unwrap_or_default()))
    })?;
    Some((sum * 1e9).round() / 1e9)
}

/// The cost of a run and all its sub-agents in US dollars; `None` if a price is unknown.
#[must_use]
pub fn whole_cost(run: &Trajectory) -> Option<f64> {
    let runs = tree(run);
    let mut all = runs.iter().map(|run| cost(run, run.turns.iter().flat_map(|turn| &turn.attempts)));
    let sum = all.try_fold(0.0, |sum, cost| Some(sum + cost?))?;
    Some((sum * 1e9).round() / 1e9)
}

/// The total usage of several requests; `None` if no request reports usage.
fn usage<'a>(attempts: impl Iterator<Item = &'a AttemptRecord>) -> Option<Usage> {
    attempts.filter_map(|attempt| attempt.usage).reduce(Usage::plus)
}
