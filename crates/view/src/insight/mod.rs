//! Figures and series over the summaries of many runs, for people and for scripts. Data only.
//!
//! `chart` defines its charts, `draw` draws them.

pub mod chart;
pub mod draw;
pub mod filter;
pub mod page;
mod series;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use turnwise_engine::{Outcome, TerminationReason, Usage};
use turnwise_record::trajectory::RunSummary;

pub use chart::{InsightChart, charts};
pub use filter::{Filter, WantedOutcome};
pub use page::{InsightPage, Pick, Range, Tile};
pub use series::{Point, PointScope};
pub use words::reason_words;

/// One bin per tenth of the limit, and one more for the runs that used all of it.
pub const BINS: usize = 11;

/// Figures over the runs that pass a filter: a plain, JSON-safe object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct Insight {
    /// Runs that pass the filter.
    pub runs: u32,
    /// All runs.
    pub of: u32,
    /// Runs that have ended.
    pub ended: u32,
    /// Runs by outcome, `success`, `partial`, `failed`, `cancelled`, and `unfinished`.
    pub outcomes: BTreeMap<String, u32>,
    /// The share of ended runs whose outcome is `success`, 0 to 1; `null`: no run has ended.
    pub success_share: Option<f64>,
    /// Turns used, not counting the synthesis.
    pub turns: InsightFigure,
    /// Input plus output tokens per run.
    pub tokens: InsightFigure,
    /// Tokens of all runs.
    pub usage: Usage,
    /// US dollars, over the runs whose prices are known.
    pub cost: InsightFigure,
    /// Milliseconds, over the runs that have ended.
    pub duration_ms: InsightFigure,
    pub requests: u32,
    pub failed_attempts: u32,
    pub tool_calls: u32,
    pub sub_agents: u32,
    /// The most frequent first.
    pub reasons: Vec<Reason>,
    pub limit: AgainstLimit,
    /// Failed attempts, the most frequent first.
    pub retries: Vec<SlugCount>,
    /// Failed tool calls, the most frequent first.
    pub tool_failures: Vec<SlugCount>,
    /// The scope of a point of `series`.
    pub step: PointScope,
    pub series: Vec<Point>,
    /// The values that can be filtered by, over all runs.
    pub choices: Choices,
}

/// One number over several runs; percentiles by nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct InsightFigure {
    /// The number of runs for which it is known.
    pub known: u32,
    pub total: f64,
    /// The value of one of the runs; 0 if it is not known for any run.
    pub median: f64,
    pub p95: f64,
    pub max: f64,
}

/// The number of runs that ended for a reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightReason"))]
pub struct Reason {
    /// `null`: the runs have not ended, or their records were written before they ended.
    pub reason: Option<TerminationReason>,
    pub outcome: Option<Outcome>,
    pub count: u32,
    /// The share of the runs that pass the filter, 0 to 1.
    pub share: f64,
}

/// Turns used relative to the limit that was in force at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightLimit"))]
pub struct AgainstLimit {
    /// Runs that used all their turns.
    pub reached: u32,
    /// Runs by tenths of the limit used, below 10 % first; the last bin holds the runs that used all of it.
    pub bins: Vec<Bin>,
}

/// The runs of one bin, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightBin"))]
pub struct Bin {
    pub success: u32,
    pub partial: u32,
    pub failed: u32,
    /// Cancelled or not ended.
    pub other: u32,
}

/// The number of failures with one slug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightFailures"))]
pub struct SlugCount {
    pub slug: String,
    pub count: u32,
    /// Runs in which it happened.
    pub runs: u32,
}

/// The values that occur, with the number of runs that have each; the most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightChoices"))]
pub struct Choices {
    pub models: Vec<FilterChoice>,
    pub presets: Vec<FilterChoice>,
    pub outcomes: Vec<FilterChoice>,
    pub reasons: Vec<FilterChoice>,
}

/// A value and the number of runs that have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightChoice"))]
pub struct FilterChoice {
    pub value: String,
    pub count: u32,
}

impl Insight {
    /// Computes the figures of the runs that pass the filter.
    #[must_use]
    pub fn from_summaries(all: &[RunSummary], filter: &Filter) -> Self {
        let runs: Vec<&RunSummary> = all.iter().filter(|run| filter.passes(run)).collect();
        let ended = runs.iter().filter(|run| run.outcome.is_some()).count();
        let succeeded = runs.iter().filter(|run| run.outcome == Some(Outcome::Success)).count();
        let (step, series) = series::series(&runs);
        Insight {
            runs: count(runs.len()),
            of: count(all.len()),
            ended: count(ended),
            outcomes: outcomes(&runs),
            success_share: (ended > 0).then(|| succeeded as f64 / ended as f64),
            turns: InsightFigure::from_values(runs.iter().map(|run| f64::from(run.turns_used))),
            tokens: InsightFigure::from_values(runs.iter().map(|run| tokens(run) as f64)),
            usage: runs.iter().fold(Usage::default(), |sum, run| sum.plus(run.tokens)),
            cost: InsightFigure::from_values(runs.iter().filter_map(|run| run.cost)),
            duration_ms: InsightFigure::from_values(runs.iter().filter_map(|run| run.duration_ms).map(|ms| ms as f64)),
            requests: sum(runs.iter().map(|run| run.requests)),
            failed_attempts: sum(runs.iter().flat_map(|run| run.failed_attempts.values().copied())),
            tool_calls: sum(runs.iter().map(|run| run.tool_calls)),
            sub_agents: sum(runs.iter().map(|run| run.children)),
            reasons: reasons(&runs),
            limit: AgainstLimit::from_summaries(&runs),
            retries: slugs(runs.iter().map(|run| &run.failed_attempts)),
            tool_failures: slugs(runs.iter().map(|run| &run.tool_failures)),
            step,
            series,
            choices: Choices::from_summaries(all),
        }
    }
}

impl InsightFigure {
    fn from_values(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100);
            values.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        InsightFigure {
            known: count(values.len()),
            total: values.iter().sum(),
            median: at(50),
            p95: at(95),
            max: values.last().copied().unwrap_or_default(),
        }
    }
}

impl AgainstLimit {
    fn from_summaries(runs: &[&RunSummary]) -> Self {
        let mut bins = vec![Bin::default(); BINS];
        let mut reached = 0;
        for run in runs {
            let (used, limit) = (run.turns_used, run.effective_max_turns.max(1));
            let share = u64::from(used) * 10 / u64::from(limit);
            let bin = if used >= limit { BINS - 1 } else { usize::try_from(share).unwrap_or(BINS) };
            reached += u32::from(used >= limit);
            let Some(bin) = bins.get_mut(bin) else { continue };
            match run.outcome {
                Some(Outcome::Success) => bin.success += 1,
                Some(Outcome::Partial) => bin.partial += 1,
                Some(Outcome::Failed) => bin.failed += 1,
                Some(Outcome::Cancelled) | None => bin.other += 1,
            }
        }
        AgainstLimit { reached, bins }
    }
}

impl Choices {
    fn from_summaries(all: &[RunSummary]) -> Self {
        Choices {
            models: tally(all.iter().map(|run| run.model.clone())),
            presets: tally(all.iter().map(|run| run.preset.as_str().to_owned())),
            outcomes: tally(all.iter().map(|run| words::outcome(run.outcome).to_owned())),
            reasons: tally(all.iter().filter_map(|run| run.termination_reason).map(|reason| reason.to_string())),
        }
    }
}

fn reasons(runs: &[&RunSummary]) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for run in runs {
        let (reason, outcome) = (run.termination_reason, run.outcome);
        // A report after a wrap-up has the same reason as one before it, but a different outcome.
        match reasons.iter_mut().find(|known| known.reason == reason && known.outcome == outcome) {
            Some(known) => known.count += 1,
            None => reasons.push(Reason { reason, outcome, count: 1, share: 0.0 }),
        }
    }
    for reason in &mut reasons {
        reason.share = f64::from(reason.count) / runs.len().max(1) as f64;
    }
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    reasons
}

fn slugs<'a>(maps: impl Iterator<Item = &'a BTreeMap<String, u32>>) -> Vec<SlugCount> {
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (slug, count) in maps.flatten() {
        let (all, runs) = counts.entry(slug).or_default();
        (*all, *runs) = (all.saturating_add(*count), *runs + 1);
    }
    let each = counts.into_iter().map(|(slug, (count, runs))| SlugCount { slug: slug.to_owned(), count, runs });
    let mut counts: Vec<SlugCount> = each.collect();
    counts.sort_by_key(|slug| std::cmp::Reverse(slug.count));
    counts
}

fn outcomes(runs: &[&RunSummary]) -> BTreeMap<String, u32> {
    let each = tally(runs.iter().map(|run| words::outcome(run.outcome).to_owned()));
    each.into_iter().map(|choice| (choice.value, choice.count)).collect()
}

/// Counts how often each value occurs, the most frequent first.
fn tally(values: impl Iterator<Item = String>) -> Vec<FilterChoice> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<FilterChoice> =
        counts.into_iter().map(|(value, count)| FilterChoice { value, count }).collect();
    counts.sort_by_key(|choice| std::cmp::Reverse(choice.count));
    counts
}

fn tokens(run: &RunSummary) -> u64 {
    run.tokens.input.0.saturating_add(run.tokens.output.0)
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn sum(values: impl Iterator<Item = u32>) -> u32 {
    values.fold(0, u32::saturating_add)
}
