//! Selects the runs of an insight.

use serde::{Deserialize, Serialize};

use super::words;
use turnwise_engine::{Preset, TerminationReason};
use turnwise_record::trajectory::RunSummary;

/// Selects runs: a run must match every field that is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightFilter"))]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Filter {
    /// Started at this time or later; milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<u64>,
    /// Started before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<u64>,
    /// The full name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<WantedOutcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub termination_reason: Option<TerminationReason>,
    /// Part of the title, the model or an id; letter case is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// An outcome, or `unfinished` if there is none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InsightOutcome"))]
#[serde(rename_all = "snake_case")]
pub enum WantedOutcome {
    Success,
    Partial,
    Failed,
    Cancelled,
    Unfinished,
}

impl WantedOutcome {
    pub const ALL: [WantedOutcome; 5] = [
        WantedOutcome::Success,
        WantedOutcome::Partial,
        WantedOutcome::Failed,
        WantedOutcome::Cancelled,
        WantedOutcome::Unfinished,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            WantedOutcome::Success => "success",
            WantedOutcome::Partial => "partial",
            WantedOutcome::Failed => "failed",
            WantedOutcome::Cancelled => "cancelled",
            WantedOutcome::Unfinished => "unfinished",
        }
    }
}

impl Filter {
    /// Returns whether the run is selected.
    #[must_use]
    pub fn passes(&self, run: &RunSummary) -> bool {
        self.from_ms.is_none_or(|from| run.started_ms >= from)
            && self.to_ms.is_none_or(|to| run.started_ms < to)
            && self.model.as_ref().is_none_or(|model| run.model == *model)
            && self.preset.is_none_or(|preset| run.preset == preset)
            && self.outcome.is_none_or(|wanted| words::outcome(run.outcome) == wanted.as_str())
            && self.termination_reason.is_none_or(|reason| run.termination_reason == Some(reason))
            && self.text.as_ref().is_none_or(|text| has(run, text))
    }

    /// Returns whether the filter selects all runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }
}

fn has(run: &RunSummary, text: &str) -> bool {
    let text = text.trim().to_lowercase();
    [&run.title, &run.model, &run.run_id, &run.session_id].iter().any(|field| field.to_lowercase().contains(&text))
}
