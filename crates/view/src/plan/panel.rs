//! The panel of a plan run: steps done, calls left, tokens, how it ended.

use turnwise_engine::{EpochMillis, Outcome, TokenCount, Usage};
use turnwise_record::plan::{PlanEnding, StepStatus};

use super::super::ending::Tone;
use super::super::meter::Meter;
use super::super::panel::calls_bound;
use super::super::source::SourceOrigin;
use super::StepView;
use turnwise_content::format::{counted, thousands};

/// The state of the plan as a whole.
#[derive(Clone, Copy, Debug)]
pub struct PlanProgress<'a> {
    pub started_at: EpochMillis,
    pub calls_left: u32,
    pub ending: Option<&'a PlanEnding>,
    pub origin: SourceOrigin,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlanPanelView {
    /// Steps that have completed.
    pub done: u32,
    pub of: u32,
    pub running: bool,
    /// Another tab drives it.
    pub elsewhere: bool,
    /// It was interrupted, and can go on.
    pub can_resume: bool,
    /// Whether it can be asked to wrap up, which is possible once.
    pub can_wrap_up: bool,
    /// Whether a step can be run again.
    pub can_rerun: bool,
    /// One tick per step.
    pub meter: Meter,
    pub note: String,
    /// The requests so far.
    pub calls: String,
    /// `at most 48 in all`, while the plan is in progress.
    pub calls_bound: Option<String>,
    pub tokens_in: String,
    pub tokens_out: String,
    pub estimated: bool,
    pub started_at: u64,
    pub elapsed_ms: Option<u64>,
    pub ending: Option<PlanEndingView>,
    pub title: String,
    pub announcement: String,
}

/// How the plan ended, as text and as code.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanEndingView {
    pub tone: Tone,
    pub headline: String,
    pub outcome: &'static str,
    /// `6 completed, 1 failed`
    pub steps: String,
    /// The result; `output_step` is the step that produced it.
    pub output: String,
    pub output_step: Option<u32>,
}

impl PlanPanelView {
    #[must_use]
    pub fn new(steps: &[StepView], progress: &PlanProgress<'_>) -> Self {
        let of = length(steps.len());
        let done = length(steps.iter().filter(|step| step.status == StepStatus::Completed).count());
        let at_work = steps.iter().filter(|step| step.status == StepStatus::Running).count();
        let interrupted = progress.ending.is_none() && progress.origin == SourceOrigin::Interrupted;
        let elsewhere = progress.origin == SourceOrigin::Elsewhere;
        let running = progress.ending.is_none() && (elsewhere || progress.origin == SourceOrigin::Session);
        let usage = steps.iter().fold(Usage::default(), |sum, step| sum.plus(step.usage));
        let requests = steps.iter().fold(0, |sum: u32, step| sum.saturating_add(step.requests));
        let tokens = |count: TokenCount| {
            if usage.estimated { format!("≈ {}", thousands(count.0)) } else { thousands(count.0) }
        };
        let ending = progress.ending.map(PlanEndingView::from_ending);
        let text = format!("{done} of {}", counted(u64::from(of), "step"));
        PlanPanelView {
            done,
            of,
            running,
            elsewhere,
            can_resume: interrupted,
            can_wrap_up: running && steps.iter().all(|step| step.status != StepStatus::Cancelled),
            can_rerun: !running && progress.origin != SourceOrigin::Interrupted,
            meter: Meter { ticks: steps.iter().map(StepView::tick).collect(), label: format!("{text} completed") },
            note: note(progress, at_work),
            calls: thousands(u64::from(requests)),
            calls_bound: running.then(|| calls_bound(requests, progress.calls_left)),
            tokens_in: tokens(usage.input),
            tokens_out: tokens(usage.output),
            estimated: usage.estimated,
            started_at: progress.started_at.0,
            elapsed_ms: (!running).then(|| elapsed(steps, progress.started_at.0)),
            title: match &ending {
                Some(ending) if ending.tone == Tone::Failed => "Failed".to_owned(),
                Some(_) => "Done".to_owned(),
                None => format!("{done}/{of} steps"),
            },
            announcement: match &ending {
                Some(ending) => format!("Plan ended: {} {}.", ending.headline, ending.steps),
                None if interrupted => format!("Plan interrupted: {text} completed."),
                None => format!("{text} completed, {at_work} running."),
            },
            ending,
        }
    }
}

impl PlanEndingView {
    pub(super) fn from_ending(ending: &PlanEnding) -> Self {
        let stopped = ending.wrap_up.is_some();
        let (tone, outcome, headline) = match ending.outcome {
            Outcome::Success if stopped => {
                (Tone::Complete, "success", "You asked it to wrap up, when nothing was left to start.")
            }
            Outcome::Success => (Tone::Complete, "success", "Every step completed."),
            Outcome::Partial if stopped => {
                (Tone::Synthesized, "partial", "You asked it to wrap up; some steps completed.")
            }
            Outcome::Partial => (Tone::Synthesized, "partial", "Some steps did not complete."),
            Outcome::Failed => (Tone::Failed, "failed", "No step completed."),
            Outcome::Cancelled => (Tone::Cancelled, "cancelled", "You stopped the plan."),
        };
        let counts = [
            (ending.completed, "completed"),
            (ending.failed, "failed"),
            (ending.blocked, "blocked"),
            (ending.cancelled, "stopped"),
        ];
        let steps = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
        PlanEndingView {
            tone,
            headline: headline.to_owned(),
            outcome,
            steps: steps.collect::<Vec<_>>().join(", "),
            output: ending.output.clone(),
            output_step: ending.output_step,
        }
    }
}

fn note(progress: &PlanProgress<'_>, at_work: usize) -> String {
    match (progress.ending, progress.origin) {
        (Some(_), SourceOrigin::Session | SourceOrigin::Elsewhere) => {
            "Any step can be run again: select it in the graph.".to_owned()
        }
        (_, SourceOrigin::Interrupted) => {
            let left = counted(u64::from(progress.calls_left), "request");
            format!(
                "Interrupted when the tab closed. Resume to continue: finished steps keep their results, up to {left}."
            )
        }
        (None, SourceOrigin::Elsewhere) => "It runs in another tab; this one follows.".to_owned(),
        (Some(_), SourceOrigin::Document) => {
            "Opened from a file. Running a step again does not change the file.".to_owned()
        }
        (None, SourceOrigin::Document) => {
            "Opened from a file that was written while the plan was in progress.".to_owned()
        }
        (None, SourceOrigin::Session) => {
            let left = counted(u64::from(progress.calls_left), "request");
            format!("{} running, up to {left} more.", counted(at_work as u64, "step"))
        }
    }
}

/// Returns the time from the start of the plan to the end of its last step.
fn elapsed(steps: &[StepView], started_at: u64) -> u64 {
    let ends = steps.iter().filter_map(|step| Some(step.started_at?.saturating_add(step.elapsed_ms?)));
    ends.max().unwrap_or(started_at).saturating_sub(started_at)
}

fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
