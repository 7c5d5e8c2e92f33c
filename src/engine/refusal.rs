//! Calls that are answered without being run: which, and what the model reads (SEMANTICS 6, 7).

use super::batch;
use super::calls::OpenCall;
use super::failure::Slug;
use super::result::Answer;
use super::run::{Phase, Run};
use super::success::{CallKind, Offer};

impl Run {
    /// Answers the calls that must not run. Called when calls come in: those of a reply, then those of a batch.
    pub(super) fn refuse_calls(&mut self) {
        let Phase::Tools(calls) = &self.phase else { return };
        let first_report = calls.open.iter().position(|c| c.kind == CallKind::Report && c.place.inner.is_none());
        let past_report = |index: usize| first_report.is_some_and(|at| index > at);
        let mut leaves = 0;
        let refusals: Vec<(usize, Answer)> = calls
            .open
            .iter()
            .enumerate()
            .map(|(index, open)| {
                let over = leaves >= self.config.limits.tool_calls_per_turn as usize;
                leaves += usize::from(open.kind != CallKind::Batch);
                (index, open, over)
            })
            .filter(|(_, open, _)| open.is_queued())
            .filter_map(|(index, open, over)| {
                let answer = if calls.truncated {
                    let text = "your reply was cut by its length limit, so this call was not run".to_owned();
                    Some(Answer::refused(Slug::TruncatedOutput, text))
                } else if past_report(index) {
                    Some(Answer::word("not run", None))
                } else if over {
                    Some(self.over_the_limit())
                } else {
                    self.refusal(open, calls.offer)
                };
                answer.map(|answer| (index, answer))
            })
            .collect();
        for (index, answer) in refusals {
            self.answer(index, answer);
        }
    }

    fn refusal(&self, open: &OpenCall, offer: Offer) -> Option<Answer> {
        let name = open.call.name.as_str();
        if open.place.inner.is_some() && !batch::allowed_inside(name) {
            let text = format!("{name} cannot stand inside a batch: call it by itself");
            return Some(Answer::refused(Slug::InvalidArguments, text));
        }
        if !self.config.tools.iter().any(|t| t.name == name) {
            return Some(Answer::unknown_tool(name, &self.config.tools));
        }
        if offer == Offer::ReportOnly && open.kind != CallKind::Report {
            let text = "not run: this is the last turn, and only final_report can be called".to_owned();
            return Some(Answer::refused(Slug::FinalReportMissing, text));
        }
        None
    }

    fn over_the_limit(&self) -> Answer {
        let limit = self.config.limits.tool_calls_per_turn;
        Answer::refused(Slug::ToolLimit, format!("not run: at most {limit} tool calls are run in one turn"))
    }
}
