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
use crate::engine::{AttemptRecord, Usage};

/// The formats a trajectory can be exported to. `docs/trajectory.md` describes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ExportFormat"))]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The document itself, indented.
    Native,
    /// Agent Trajectory Interchange Format 1.7.
    Atif,
    /// OpenTelemetry spans as OTLP/JSON.
    Otlp,
    /// OpenAI's chat format, one line per run.
    OpenaiJsonl,
    /// `.traj.json` of mini-swe-agent 1.1.
    MiniSweAgent,
    Markdown,
    /// One self-contained page.
    Html,
}

impl Format {
    pub const ALL: &'static [Format] = &[
        Format::Native,
        Format::Atif,
        Format::Otlp,
        Format::OpenaiJsonl,
        Format::MiniSweAgent,
        Format::Markdown,
        Format::Html,
    ];

    /// Its name in the JavaScript API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Native => "native",
            Format::Atif => "atif",
            Format::Otlp => "otlp",
            Format::OpenaiJsonl => "openai-jsonl",
            Format::MiniSweAgent => "mini-swe-agent",
            Format::Markdown => "markdown",
            Format::Html => "html",
        }
    }

    /// Returns the format with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.as_str() == name)
    }

    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Native | Format::Atif | Format::Otlp | Format::MiniSweAgent => "application/json",
            Format::OpenaiJsonl => "application/jsonl",
            Format::Markdown => "text/markdown",
            Format::Html => "text/html",
        }
    }

    /// The part of the file name after the run id.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Format::Native => ".json",
            Format::Atif => ".atif.json",
            Format::Otlp => ".otlp.json",
            Format::OpenaiJsonl => ".openai.jsonl",
            Format::MiniSweAgent => ".traj.json",
            Format::Markdown => ".md",
            Format::Html => ".html",
        }
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
        let usage = attempt.usage.unwrap_or_default();
        let price_of = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        let fresh = usage.input.0.saturating_sub(usage.cached.0);
        Some(
            sum + price_of(fresh, price.input)
                + price_of(usage.cached.0, price.cached)
                + price_of(usage.output.0, price.output),
        )
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
