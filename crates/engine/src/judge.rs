//! Judges a reply: does it complete the run, let it continue, or fail the attempt? Pure functions of policy, reply and
//! tool outcomes. The model never states its own success (semantics.md#how-a-run-ends, strict.md#the-contract).

use super::config::Preset;
use super::failure::Slug;
use super::message::{FinishReason, Reply};

/// The differences between the presets. A preset is a policy of one engine, not a fork of its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    pub completion: Completion,
    pub turn_success: TurnSuccess,
    pub at_limit: AtLimit,
}

/// What completes a run, other than a final result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// A reply with text and no tool calls.
    Text,
    /// An accepted `final_report`.
    Report,
}

/// What makes a turn with tool calls succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnSuccess {
    AnyReply,
    /// A tool other than progress and batch was really executed, or a report was accepted.
    ExecutedTool,
}

/// What happens when the turns are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtLimit {
    Synthesis,
    /// The last turn inside `max_turns` offers nothing but `final_report`.
    ForcedFinal,
}

impl Policy {
    #[must_use]
    pub fn for_preset(preset: Preset) -> Self {
        match preset {
            Preset::Research | Preset::Orchestrator => Policy {
                completion: Completion::Text,
                turn_success: TurnSuccess::AnyReply,
                at_limit: AtLimit::Synthesis,
            },
            Preset::Strict => Policy {
                completion: Completion::Report,
                turn_success: TurnSuccess::ExecutedTool,
                at_limit: AtLimit::ForcedFinal,
            },
        }
    }
}

/// Whether the turn must end in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    AllTools,
    ReportOnly,
}

/// The verdict on a reply without tool calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Complete,
    /// The turn succeeded, the run continues; the slugs say why it did not complete.
    GoOn(Vec<Slug>),
    /// The attempt failed; most telling slug first.
    Failed(Vec<Slug>),
}

/// Why a reply is none, whatever it holds: the model refused, or a filter stopped it. To ask again would be refused again.
#[must_use]
pub fn declined(reply: &Reply) -> Option<Slug> {
    match reply.finish {
        FinishReason::Refusal => Some(Slug::Refusal),
        FinishReason::ContentFilter => Some(Slug::ContentFilter),
        FinishReason::Stop | FinishReason::Length | FinishReason::ToolCalls | FinishReason::Paused => None,
    }
}

/// Judges a turn's reply that calls no tools.
#[must_use]
pub fn judge_text(policy: Policy, offer: Offer, reply: &Reply) -> Verdict {
    let cut = reply.finish == FinishReason::Length;
    match (policy.completion, textless(reply)) {
        (_, None) if reply.finish == FinishReason::Paused && offer == Offer::AllTools => Verdict::GoOn(Vec::new()),
        (Completion::Text, None) if cut => Verdict::GoOn(vec![Slug::TruncatedOutput]),
        (Completion::Text, None) => Verdict::Complete,
        (completion, textless) => {
            let mut slugs = vec![textless.unwrap_or(Slug::TextOnly)];
            if cut {
                slugs.push(Slug::TruncatedOutput);
            }
            if completion == Completion::Report {
                slugs.push(Slug::NoTools);
            }
            if offer == Offer::ReportOnly {
                slugs.push(Slug::FinalReportMissing);
            }
            Verdict::Failed(by_rank(slugs))
        }
    }
}

/// The outcome of one tool call, for judging its turn. Calls inside a batch count one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFact {
    pub kind: CallKind,
    /// The tool was really run; its own failure still counts.
    pub executed: bool,
    pub slug: Option<Slug>,
}

/// Tools that the engine handles itself, and all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    Tool,
    Report,
    Progress,
    Batch,
    /// Counts where a sub-agent was started.
    Spawn,
    /// `run_code`: only the calls that the program makes count.
    Program,
    /// A script of a skill: a program that counts as a tool.
    Script,
    /// `read_skill`.
    Skill,
}

impl CallKind {
    /// Whether it runs in the sandbox and can make calls.
    #[must_use]
    pub fn is_program(self) -> bool {
        matches!(self, CallKind::Program | CallKind::Script)
    }
}

/// Judges a turn's tool calls, none of which ended the run: `Err` says why the attempt failed.
pub fn judge_calls(policy: Policy, offer: Offer, facts: &[CallFact]) -> Result<(), Vec<Slug>> {
    let executed = facts
        .iter()
        .any(|f| f.executed && matches!(f.kind, CallKind::Tool | CallKind::Spawn | CallKind::Script | CallKind::Skill));
    if executed || policy.turn_success == TurnSuccess::AnyReply {
        return Ok(());
    }
    let mut slugs: Vec<Slug> = facts.iter().filter_map(|f| f.slug).collect();
    if offer == Offer::ReportOnly && facts.iter().all(|f| f.kind != CallKind::Report) {
        slugs.push(Slug::FinalReportMissing);
    }
    if slugs.is_empty() {
        let progress = facts.iter().any(|f| f.kind == CallKind::Progress);
        slugs.push(if progress { Slug::ProgressOnly } else { Slug::NoTools });
    }
    Err(by_rank(slugs))
}

/// Judges a synthesis reply: `Err` says why it is not accepted.
pub fn judge_synthesis(reply: &Reply) -> Result<(), Vec<Slug>> {
    let mut slugs = Vec::new();
    if !reply.tool_calls.is_empty() {
        slugs.push(Slug::SynthesisToolCall);
    } else if let Some(slug) = textless(reply) {
        slugs.push(slug);
    }
    if matches!(reply.finish, FinishReason::Length | FinishReason::Paused) {
        slugs.push(Slug::TruncatedOutput);
    }
    if slugs.is_empty() { Ok(()) } else { Err(slugs) }
}

/// The slugs that a model can act on best come first; each slug once.
fn by_rank(slugs: Vec<Slug>) -> Vec<Slug> {
    let mut once: Vec<Slug> = Vec::new();
    for slug in slugs {
        if !once.contains(&slug) {
            once.insert(once.partition_point(|other| other.rank() <= slug.rank()), slug);
        }
    }
    once
}

fn textless(reply: &Reply) -> Option<Slug> {
    match (reply.content.trim().is_empty(), reply.reasoning.trim().is_empty()) {
        (false, _) => None,
        (true, false) => Some(Slug::ReasoningOnly),
        (true, true) => Some(Slug::EmptyResponse),
    }
}
