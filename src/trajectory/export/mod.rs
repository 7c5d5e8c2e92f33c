//! Exports a trajectory as the text of a file in other formats. PURE: a document in, text out.
//!
//! What a format cannot hold goes into its `extra` where it has one, and is lost where it has none; `docs/trajectory.md`
//! says which. The two human-readable formats, Markdown and HTML, need the words of `view` and are written there.

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
    /// OpenAI's chat format, one line a run.
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

    /// The format of that name.
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

    /// What follows the run's id in the name of the file.
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

/// An object of what is there: `null` fields, empty lists and empty objects are left out.
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

/// A run and all below it, parents before their children.
fn tree(document: &Trajectory) -> Vec<&Trajectory> {
    let below = document.children.iter().flat_map(tree);
    std::iter::once(document).chain(below).collect()
}

/// US dollars of a run's own requests, to a billionth, where the price of each is known.
fn cost<'a>(run: &Trajectory, mut attempts: impl Iterator<Item = &'a AttemptRecord>) -> Option<f64> {
    let sum = attempts.try_fold(0.0, |sum, attempt| {
        let price = run.config.providers.get(attempt.provider)?.price?;
        let usage = attempt.usage.unwrap_or_default();
        let of = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        let fresh = usage.input.0.saturating_sub(usage.cached.0);
        Some(sum + of(fresh, price.input) + of(usage.cached.0, price.cached) + of(usage.output.0, price.output))
    })?;
    Some((sum * 1e9).round() / 1e9)
}

/// US dollars of a run and all its sub-agents, where the price of each request is known.
#[must_use]
pub fn whole_cost(run: &Trajectory) -> Option<f64> {
    let runs = tree(run);
    let mut all = runs.iter().map(|run| cost(run, run.turns.iter().flat_map(|turn| &turn.attempts)));
    let sum = all.try_fold(0.0, |sum, cost| Some(sum + cost?))?;
    Some((sum * 1e9).round() / 1e9)
}

/// The sum of the usage of several requests; `None` if none of them reports any.
fn usage<'a>(attempts: impl Iterator<Item = &'a AttemptRecord>) -> Option<Usage> {
    attempts.filter_map(|attempt| attempt.usage).reduce(Usage::plus)
}
