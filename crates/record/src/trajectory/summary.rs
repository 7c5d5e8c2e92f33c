//! The figures of a run that lists and charts use instead of its document; they are the same for a run and its record.
//!
//! They cover the whole tree: the requests, usage and failures of sub-agents count for the run that started them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Trajectory;
use turnwise_engine::*;

/// The maximum length of a title, in characters.
const TITLE: usize = 120;

/// The figures of one run, including its sub-agents: a plain, JSON-safe object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct RunSummary {
    pub run_id: String,
    pub session_id: String,
    /// The first non-empty line of the task, at most 120 characters.
    pub title: String,
    /// The model of the first provider.
    pub model: String,
    pub provider: ProviderKind,
    pub preset: Preset,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub started_ms: u64,
    /// When the last segment ended; `null`: the run is in progress, or was when its record was written.
    pub finished_ms: Option<u64>,
    /// From the start to the end of the last segment, including waits for the user between segments.
    pub duration_ms: Option<u64>,
    pub termination_reason: Option<TerminationReason>,
    pub outcome: Option<Outcome>,
    pub answer_source: Option<AnswerSource>,
    pub max_turns: u32,
    /// The limit after collapse and grants.
    pub effective_max_turns: u32,
    /// As the trajectory counts them, including a numbered synthesis.
    pub total_turns: u32,
    /// The number of the last turn that was not a synthesis: the used part of `effective_max_turns`.
    pub turns_used: u32,
    pub requests: u32,
    /// Failed attempts, counted by their most significant slug: one per `WRN` record.
    pub failed_attempts: BTreeMap<String, u32>,
    /// Tool calls. Calls inside a batch count individually; the batch itself does not count.
    pub tool_calls: u32,
    /// Failed calls by slug. Stopped or cancelled calls did not fail.
    pub tool_failures: BTreeMap<String, u32>,
    pub tokens: Usage,
    /// US dollars; `null`: the price of a provider is unknown.
    pub cost: Option<f64>,
    /// Sub-agents that were started.
    pub children: u32,
}

/// The source of the figures, borrowed: a run and its sub-agents, live or recorded.
#[derive(Debug)]
pub struct RunTree<'a> {
    pub config: &'a RunConfig,
    pub turns: &'a [TurnRecord],
    pub logs: &'a [LogRecord],
    pub children: Vec<RunTree<'a>>,
}

/// Values of the run as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    pub run_id: &'a str,
    pub session_id: &'a str,
    pub input: &'a str,
    pub started_at: EpochMillis,
    /// The ending of the last segment, if it has ended.
    pub ending: Option<&'a Ending>,
    pub effective_max_turns: u32,
    pub requests: u32,
    pub tokens: Usage,
}

impl<'a> RunTree<'a> {
    fn of_run(run: &'a Run) -> Self {
        let children = run.child_runs().map(RunTree::of_run).collect();
        RunTree { config: run.config(), turns: run.turns(), logs: run.logs(), children }
    }

    fn of_document(document: &'a Trajectory) -> Self {
        let Trajectory { config, turns, logs, children, .. } = document;
        RunTree { config, turns, logs, children: children.iter().map(RunTree::of_document).collect() }
    }

    /// Like `Run::cost`: `None` if a price is missing.
    fn cost(&self) -> Option<f64> {
        let attempts = self.turns.iter().flat_map(|turn| &turn.attempts);
        let own = attempts.into_iter().try_fold(0.0, |sum, attempt| {
            let price = self.config.providers.get(attempt.provider)?.price?;
            Some(sum + attempt.usage.map_or(0.0, |usage| price.cost(usage)))
        })?;
        self.children.iter().try_fold(own, |sum, child| Some(sum + child.cost()?))
    }

    fn count(&self, into: &mut RunSummary) {
        // A warning without an attempt is about the settings.
        for log in self.logs.iter().filter(|log| log.level == LogLevel::Warn && log.attempt > 0) {
            let slug = log.slugs.first().copied().unwrap_or(Slug::ProviderError);
            add(&mut into.failed_attempts, slug);
        }
        for call in self.turns.iter().flat_map(|turn| &turn.tool_calls) {
            let each = if call.calls.is_empty() { std::slice::from_ref(call) } else { call.calls.as_slice() };
            for call in each {
                into.tool_calls = into.tool_calls.saturating_add(1);
                if let Some(slug) = call.slug.filter(|slug| !matches!(slug, Slug::Stopped | Slug::Cancelled)) {
                    add(&mut into.tool_failures, slug);
                }
            }
        }
        for child in &self.children {
            into.children = into.children.saturating_add(1);
            child.count(into);
        }
    }
}

fn add(counts: &mut BTreeMap<String, u32>, slug: Slug) {
    let count = counts.entry(slug.as_str().to_owned()).or_default();
    *count = count.saturating_add(1);
}

impl RunSummary {
    /// Returns the figures of a run in its current state.
    #[must_use]
    pub fn of_run(run: &Run) -> Self {
        let task = run.task();
        let whole = Whole {
            run_id: &task.run_id,
            session_id: &task.session_id,
            input: &task.input,
            started_at: task.started_at,
            ending: run.ending(),
            effective_max_turns: run.effective_max_turns(),
            requests: run.requests(),
            tokens: run.usage(),
        };
        RunSummary::of_tree(&RunTree::of_run(run), &whole)
    }

    /// Builds the same figures from the run's parts.
    #[must_use]
    pub fn of_tree(tree: &RunTree<'_>, whole: &Whole<'_>) -> Self {
        let Whole { run_id, session_id, input, started_at, ending, effective_max_turns, requests, tokens } = *whole;
        let first = tree.config.providers.first();
        RunSummary {
            run_id: run_id.to_owned(),
            session_id: session_id.to_owned(),
            model: first.map(|p| p.model.clone()).unwrap_or_default(),
            provider: first.map(|p| p.kind).unwrap_or_default(),
            termination_reason: ending.map(|e| e.termination_reason),
            outcome: ending.map(|e| e.outcome),
            answer_source: ending.map(|e| e.answer_source),
            effective_max_turns,
            requests,
            tokens,
            ..RunSummary::from_tree(tree, input, started_at, ending.map(|e| e.finished_at.as_str()))
        }
    }

    /// The figures that a run and a document give in the same way.
    fn from_tree(tree: &RunTree, input: &str, started_at: EpochMillis, finished_at: Option<&str>) -> Self {
        let finished_ms = finished_at.and_then(time::parse).map(|at| at.0);
        let mut summary = RunSummary {
            run_id: String::new(),
            session_id: String::new(),
            title: title(input),
            model: String::new(),
            provider: ProviderKind::default(),
            preset: tree.config.preset,
            started_ms: started_at.0,
            finished_ms,
            duration_ms: finished_ms.map(|ms| ms.saturating_sub(started_at.0)),
            termination_reason: None,
            outcome: None,
            answer_source: None,
            max_turns: tree.config.max_turns,
            effective_max_turns: tree.config.max_turns,
            total_turns: tree.turns.last().map_or(0, |turn| turn.turn),
            turns_used: tree.turns.iter().rev().find(|turn| !turn.synthesis).map_or(0, |turn| turn.turn),
            requests: 0,
            failed_attempts: BTreeMap::new(),
            tool_calls: 0,
            tool_failures: BTreeMap::new(),
            tokens: Usage::default(),
            cost: tree.cost(),
            children: 0,
        };
        tree.count(&mut summary);
        summary
    }
}

impl From<&Trajectory> for RunSummary {
    fn from(document: &Trajectory) -> Self {
        let tree = RunTree::of_document(document);
        RunSummary {
            run_id: document.run_id.clone(),
            session_id: document.session_id.clone(),
            model: document.model.clone(),
            provider: document.provider,
            termination_reason: document.termination_reason,
            outcome: document.outcome,
            answer_source: document.answer_source,
            effective_max_turns: document.effective_max_turns,
            requests: document.requests,
            tokens: document.tokens,
            ..RunSummary::from_tree(&tree, &document.input, document.started_ms, document.finished_at.as_deref())
        }
    }
}

fn title(input: &str) -> String {
    let line = input.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(TITLE) {
        // The ellipsis counts as a character.
        Some(_) => line.chars().take(TITLE - 1).chain(['…']).collect(),
        None => line.to_owned(),
    }
}
