//! How a run ends, whoever wrote the report, and how it continues after a grant (SEMANTICS 4, 5).
//!
//! Invariant: `end` is the only way to `Ended`; it emits one `final`, then one terminal record, then `Finish`.

use serde_json::Value;

use super::attempt::join;
use super::report::{Failure, Report};
use super::run::{Phase, Run};
use super::success::Offer;
use super::synthesis::SWITCHED_OFF;
use super::*;

/// The optional data of an ending, in addition to its report.
#[derive(Default)]
struct Last {
    error: Option<String>,
    final_result_data: Option<Value>,
    report_data: Option<Value>,
}

impl Run {
    /// The model finished by itself.
    pub(super) fn complete(&mut self, reply: Reply) {
        let report = reply.content.clone();
        self.enter(reply, Vec::new());
        self.end(TerminationReason::LlmComplete, Outcome::Success, AnswerSource::Model, report, None);
    }

    /// A tool's result ended the run.
    pub(super) fn end_final_result(&mut self, text: String, data: Value) {
        let last = Last { final_result_data: Some(data), ..Last::default() };
        self.end_with(TerminationReason::FinalResult, Outcome::Success, AnswerSource::Tool, text, last);
    }

    /// A final report was accepted.
    pub(super) fn end_report(&mut self, report: Report) {
        let outcome = if self.wrap_up.is_some() { Outcome::Partial } else { Outcome::Success };
        let last = Last { report_data: report.data, ..Last::default() };
        self.end_with(TerminationReason::FinalReport, outcome, AnswerSource::Model, report.text, last);
    }

    /// A strict run fails: the system writes the report.
    pub(super) fn end_without_report(&mut self, last_failure: &str) {
        let reason = match self.offer() {
            Offer::ReportOnly => TerminationReason::MaxTurnsExhausted,
            Offer::AllTools => TerminationReason::RetriesExhausted,
        };
        let report = Failure {
            reason: &reason.to_string(),
            turns_completed: self.turn().saturating_sub(1),
            report_attempts: self.report_attempts,
            last: last_failure,
            found: &self.aggregated_text(),
        };
        let report = report.to_string();
        self.end(reason, Outcome::Failed, AnswerSource::System, report, Some(last_failure.to_owned()));
    }

    /// No attempt is left, or none makes sense. What was found so far is not lost.
    pub(super) fn end_llm_error(&mut self, error: &str) {
        let found = self.aggregated_text();
        let mut report = format!("The run ended because the model could not be used: {error}");
        if !found.is_empty() {
            report.push_str("\n\nWhat it had written until then:\n\n");
            report.push_str(&found);
        }
        self.end(TerminationReason::LlmError, Outcome::Failed, AnswerSource::System, report, Some(error.to_owned()));
    }

    pub(super) fn end_without_synthesis(&mut self, trigger: Trigger) {
        let reason = match trigger {
            Trigger::MaxTurns => TerminationReason::MaxTurnsExhausted,
            other => TerminationReason::SynthesisFailed(other),
        };
        let report = match trigger {
            Trigger::MaxTurns => SWITCHED_OFF.to_owned(),
            other => synthesis::failed_report(other, "synthesis is switched off"),
        };
        self.end(reason, Outcome::Failed, AnswerSource::System, report.clone(), Some(report));
    }

    /// Cancel ends at once: what is open is aborted and answered.
    pub(super) fn cancel(&mut self) {
        match &self.phase {
            Phase::Ended => return,
            Phase::Calling { request, .. } => {
                let request = *request;
                self.emit(Effect::Abort(Abort::Request(request)));
                self.close_attempt(|a| a.slugs = vec![Slug::Cancelled]);
            }
            Phase::Waiting { timer, .. } => {
                let timer = *timer;
                self.emit(Effect::Abort(Abort::Timer(timer)));
            }
            Phase::Tools(calls) => {
                let grace = calls.grace;
                self.cancel_calls();
                if let Some(timer) = grace {
                    self.emit(Effect::Abort(Abort::Timer(timer)));
                }
            }
        }
        let report = "The run was cancelled.".to_owned();
        self.end(TerminationReason::Cancelled, Outcome::Cancelled, AnswerSource::System, report, None);
    }

    /// The user grants more turns: a new segment of the same run.
    pub(super) fn grant(&mut self, turns: u32) {
        if turns == 0 || !self.can_continue() {
            return;
        }
        let used = self.turn();
        self.effective_max_turns = used.saturating_add(turns);
        (self.wrap_up, self.wrap_up_pending, self.synthesis, self.notice) = (None, None, None, None);
        let text = format!("You have been granted {turns} more turns. Continue with the task.");
        self.history.push(Message::user(text));
        self.start_clock();
        self.begin_turn(used.saturating_add(1));
    }

    pub(super) fn end(
        &mut self,
        reason: TerminationReason,
        outcome: Outcome,
        source: AnswerSource,
        output: String,
        error: Option<String>,
    ) {
        self.end_with(reason, outcome, source, output, Last { error, ..Last::default() });
    }

    fn end_with(
        &mut self,
        termination_reason: TerminationReason,
        outcome: Outcome,
        answer_source: AnswerSource,
        output: String,
        Last { error, final_result_data, report_data }: Last,
    ) {
        self.stop_clock();
        self.phase = Phase::Ended;
        let answered = matches!(answer_source, AnswerSource::Model | AnswerSource::Tool) && outcome != Outcome::Failed;
        if let Some(turn) = self.turns.last_mut() {
            turn.is_final |= answered;
        }
        self.finish_turn();
        let ending = Ending {
            termination_reason,
            outcome,
            answer_source,
            max_turns: self.config.max_turns,
            effective_max_turns: self.effective_max_turns,
            total_turns: self.turn(),
            wrap_up: self.synthesis.as_ref().map(|s| s.trigger).filter(|t| *t != Trigger::MaxTurns).or(self.wrap_up),
            error: error.clone(),
            output: output.clone(),
            final_result_data: final_result_data.clone(),
            report_data,
            finished_at: self.timestamp(),
        };
        self.segments.push(ending.clone());
        if outcome == Outcome::Failed {
            let (attempt, last) = self
                .turns
                .last()
                .and_then(|t| t.attempts.last())
                .map_or_else(Default::default, |a| (a.attempt, a.slugs.clone()));
            let message = format!("run failed: {termination_reason} ({})", error.unwrap_or_else(|| join(&last)));
            let slugs = termination_reason.slug().into_iter().chain(last).collect();
            self.log(LogLevel::Error, attempt, slugs, message, None);
        }
        self.record(RecordKind::Final { output, answer_source, final_result_data });
        self.record(match outcome {
            Outcome::Success | Outcome::Partial => RecordKind::AgentFinished { ending },
            Outcome::Failed | Outcome::Cancelled => RecordKind::AgentFailed { ending },
        });
        self.emit(Effect::Finish);
    }
}
