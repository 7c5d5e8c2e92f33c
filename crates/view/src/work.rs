//! What a run did before its answer, in one line: a page that shows the answer first folds the rest behind it.

use turnwise_engine::{AnswerSource, Outcome, TerminationReason, own_tools};

use super::report::ReportView;
use super::source::RunSource;
use turnwise_content::format::{counted, duration};

/// The work of a run that has an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkView {
    /// `3 turns · 2 tool calls · 1.2 s`
    pub words: String,
    /// The index of the turn whose text is the answer; `None`: the answer is the report below the turns.
    pub answer: Option<usize>,
}

impl WorkView {
    /// Returns the work; `None`: the run is under way, or it ended without an answer, so that its turns are what there is to read.
    #[must_use]
    pub fn from_source(source: &RunSource<'_>) -> Option<Self> {
        let spans = source.spans();
        let ending = source.segments.last().filter(|_| spans.len() == source.segments.len())?;
        if !matches!(ending.outcome, Outcome::Success | Outcome::Partial) {
            return None;
        }
        let (at, last) = source.turns.iter().enumerate().next_back()?;
        let is_text = matches!(ending.answer_source, AnswerSource::Model | AnswerSource::Synthesis)
            && ending.termination_reason != TerminationReason::FinalReport
            && !last.content.trim().is_empty();
        let has_report = || ReportView::for_ending(source.config, ending).is_some();
        if !is_text && !has_report() {
            return None;
        }
        Some(WorkView { words: words(source), answer: is_text.then_some(at) })
    }
}

/// What the model tells the user, and the report itself, are no tool calls to a reader.
fn words(source: &RunSource<'_>) -> String {
    let is_tool = |name: &str| !matches!(name, own_tools::PROGRESS | own_tools::REPORT);
    let calls = source.turns.iter().flat_map(|turn| &turn.tool_calls).filter(|call| is_tool(&call.name)).count();
    let elapsed = source.elapsed_ms();
    let facts = [
        Some(counted(u64::from(source.turns_used()), "turn")),
        (calls > 0).then(|| counted(calls as u64, "tool call")),
        (elapsed > 0).then(|| duration(elapsed)),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
