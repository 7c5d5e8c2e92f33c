//! How a run concludes and ends: stop and limits, the synthesis, every way to end, and the grant that continues a run
//! (semantics.md#when-a-run-reaches-its-turn-limit, semantics.md#stop-cancel-continue-follow-up, semantics.md#how-a-run-ends).
//!
//! Invariant: `leave_phase` and `close_segment`, always together, are the only way to `Ended`; they emit one `final`, then one terminal record, then `Finish`.

use serde_json::{Value, json};

use super::config::{SynthesisFallback, SynthesisRole};
use super::failure::Slug;
use super::interface::{Abort, Effect};
use super::judge::{AtLimit, Offer, Policy, declined, judge_synthesis};
use super::message::{Message, RawResponse, Reply};
use super::own_tools::AcceptedReport;
use super::prompts;
use super::record::{AnswerSource, Ending, LogLevel, Outcome, RecordKind, TerminationReason, Trigger, TurnRecord};
use super::request::join;
use super::run::{ExchangeState, ModelExchange, Run, RunPhase, Synthesis, WrapUp};

/// Wrapping up: the run is asked to conclude before its turns are used up.
impl Run {
    /// Ends what is open and goes to the conclusion: synthesis, or in `strict` a forced-final next turn. Does nothing if the run
    /// is concluding already, or has ended.
    pub(super) fn wrap_up(&mut self, trigger: Trigger) {
        if self.is_concluding() {
            return;
        }
        self.mark_last_turn(trigger);
        let Some(ModelExchange { attempt, notice, state }) = self.exchange().cloned() else {
            return self.wrap_up_round(trigger);
        };
        match state {
            ExchangeState::Unsent => {}
            ExchangeState::Sent(request) => {
                // Not a failed attempt: nothing is logged, and its text stays out of the history.
                self.emit(Effect::Abort(Abort::Request(request)));
                self.close_attempt(|a| a.slugs = vec![Slug::Stopped]);
                let message = "stopped before the reply was complete".to_owned();
                self.record(RecordKind::AttemptFailed { attempt, slugs: vec![Slug::Stopped], message });
            }
            ExchangeState::Backoff { timer, .. } => self.emit(Effect::Abort(Abort::Timer(timer))),
        }
        self.turn_over(notice);
    }

    /// The same if nothing is open, and no further attempt is to be made.
    pub(super) fn conclude(&mut self, trigger: Trigger, notice: Option<String>) {
        self.mark_last_turn(trigger);
        self.turn_over(notice);
    }

    /// Makes the open turn the last one before the conclusion.
    pub(super) fn mark_last_turn(&mut self, trigger: Trigger) {
        if let RunPhase::Turn(open) = &mut self.phase {
            open.wrap_up = WrapUp::LastTurn(trigger);
        }
        if self.policy().at_limit == AtLimit::ForcedFinal {
            // Only ever shrinks: the next turn is the last.
            let next = self.turn().saturating_add(1);
            self.figures.effective_max_turns = self.figures.effective_max_turns.min(next);
        }
    }

    /// Whether the run was asked to wrap up in the open turn.
    pub(super) fn is_wrapping_up(&self) -> bool {
        matches!(self.wrap_up_state(), WrapUp::LastTurn(_))
    }

    /// Whether the run is on its way to its conclusion already, or has ended.
    pub(super) fn is_concluding(&self) -> bool {
        match &self.phase {
            RunPhase::Opening => false,
            RunPhase::Turn(open) => open.wrap_up != WrapUp::NotAsked || self.offer() == Offer::ReportOnly,
            RunPhase::Synthesis(_) | RunPhase::Ended => true,
        }
    }

    pub(super) fn wrap_up_state(&self) -> WrapUp {
        match &self.phase {
            RunPhase::Turn(open) => open.wrap_up,
            RunPhase::Opening | RunPhase::Synthesis(_) | RunPhase::Ended => WrapUp::NotAsked,
        }
    }

    pub(super) fn policy(&self) -> Policy {
        Policy::for_preset(self.config.preset)
    }

    /// The tools that the open turn offers.
    pub(super) fn offer(&self) -> Offer {
        match self.policy().at_limit {
            AtLimit::ForcedFinal if self.turn() >= self.figures.effective_max_turns => Offer::ReportOnly,
            _ => Offer::AllTools,
        }
    }
}

impl WrapUp {
    /// The state of the turn that follows. Only `strict` has a turn after one that wraps up.
    pub(super) fn of_next_turn(self) -> Self {
        match self {
            WrapUp::NotAsked => WrapUp::NotAsked,
            WrapUp::LastTurn(trigger) | WrapUp::ReportTurn(trigger) => WrapUp::ReportTurn(trigger),
        }
    }
}

/// Synthesis: one reply without tools.
impl Run {
    /// A limit is reached: the model is asked for its conclusion, or the run ends if synthesis is switched off.
    pub(super) fn synthesize(&mut self, trigger: Trigger) {
        let Some(config) = self.config.synthesis.clone().filter(|config| config.attempts > 0) else {
            return self.end_without_synthesis(trigger);
        };
        let (turn, content, name) = (self.turn(), self.aggregated_text(), trigger.as_str());
        self.trace(&format!("{name}_reached"), json!({ "turns": turn, "content": content }));
        self.open_turn_record(turn.saturating_add(u32::from(config.numbered)));
        if let Some(turn) = self.book.turns.last_mut() {
            (turn.synthesis, turn.is_final) = (true, true);
        }
        self.phase =
            RunPhase::Synthesis(Synthesis { trigger, fallback: String::new(), exchange: ModelExchange::first(None) });
        self.record(RecordKind::SynthesisStarted { trigger });
        self.record(RecordKind::TurnStarted { synthesis: true });
        self.trace(&format!("{name}_prompt_injected"), Value::Null);
        if config.role == SynthesisRole::System {
            self.trace_moved_system();
        }
        self.send(1, None, None);
    }

    pub(super) fn synthesis_replied(&mut self, attempt: u32, reply: Reply, raw: Option<RawResponse>) {
        if let Some(slug) = declined(&reply) {
            return self.synthesis_declined(attempt, slug, reply, raw);
        }
        match judge_synthesis(&reply) {
            Ok(()) => self.synthesized(reply),
            Err(slugs) => {
                if let RunPhase::Synthesis(synthesis) = &mut self.phase
                    && !reply.content.trim().is_empty()
                {
                    synthesis.fallback = reply.content;
                }
                self.reply_unusable(attempt, slugs, raw);
            }
        }
    }

    /// No attempt is left: the report is the text of a failed one if there is any, else the fallback of the preset.
    pub(super) fn synthesis_failed(&mut self, error: &str) {
        let RunPhase::Synthesis(Synthesis { trigger, fallback, .. }) = self.phase.clone() else { return };
        if !fallback.is_empty() {
            return self.synthesized(Reply { content: fallback, ..Reply::default() });
        }
        let aggregated = self.aggregated_text();
        let on_error = self.config.synthesis.as_ref().map(|s| s.on_error);
        let (source, report) = match on_error {
            Some(SynthesisFallback::AggregatedText) if !aggregated.is_empty() => (AnswerSource::Model, aggregated),
            _ => (AnswerSource::System, prompts::synthesis_failed_report(trigger, error)),
        };
        self.end(Conclusion::failed(TerminationReason::SynthesisFailed(trigger), source, report, error));
    }

    /// The words are kept as the report. Without any, it is as if no attempt were left.
    fn synthesis_declined(&mut self, attempt: u32, slug: Slug, reply: Reply, raw: Option<RawResponse>) {
        let RunPhase::Synthesis(Synthesis { trigger, .. }) = self.phase else { return };
        let error = prompts::declined(slug, &reply.content);
        self.fail_attempt(attempt, vec![slug], error.clone(), raw);
        if reply.content.trim().is_empty() {
            return self.synthesis_failed(&error);
        }
        let output = self.enter_synthesis(trigger, reply);
        self.end(Conclusion::failed(TerminationReason::SynthesisFailed(trigger), AnswerSource::Model, output, &error));
    }

    /// Enters the prompt and the reply into the history. Returns its text.
    fn enter_synthesis(&mut self, trigger: Trigger, reply: Reply) -> String {
        if let Some(config) = &self.config.synthesis {
            self.history.push(prompts::synthesis_prompt(self.config.preset, config, trigger));
        }
        let output = reply.content.clone();
        self.enter(reply, Vec::new());
        output
    }

    fn synthesized(&mut self, reply: Reply) {
        let RunPhase::Synthesis(Synthesis { trigger, .. }) = self.phase else { return };
        let output = self.enter_synthesis(trigger, reply);
        let reason = TerminationReason::Synthesized(trigger);
        self.end(Conclusion {
            outcome: Outcome::Partial,
            ..Conclusion::success(reason, AnswerSource::Synthesis, output)
        });
    }
}

/// The end of a segment, in addition to what the run itself knows.
struct Conclusion {
    reason: TerminationReason,
    outcome: Outcome,
    source: AnswerSource,
    output: String,
    error: Option<String>,
    final_result_data: Option<Value>,
    report_data: Option<Value>,
}

impl Conclusion {
    fn success(reason: TerminationReason, source: AnswerSource, output: String) -> Self {
        let outcome = Outcome::Success;
        Conclusion { reason, outcome, source, output, error: None, final_result_data: None, report_data: None }
    }

    fn failed(reason: TerminationReason, source: AnswerSource, output: String, error: &str) -> Self {
        let (outcome, error) = (Outcome::Failed, Some(error.to_owned()));
        Conclusion { outcome, error, ..Conclusion::success(reason, source, output) }
    }
}

/// Every way to end.
impl Run {
    /// The model finished by itself.
    pub(super) fn end_complete(&mut self, reply: Reply) {
        let output = reply.content.clone();
        self.enter(reply, Vec::new());
        self.end(Conclusion::success(TerminationReason::LlmComplete, AnswerSource::Model, output));
    }

    /// A tool's result ended the run.
    pub(super) fn end_final_result(&mut self, text: String, data: Value) {
        let conclusion = Conclusion::success(TerminationReason::FinalResult, AnswerSource::Tool, text);
        self.end(Conclusion { final_result_data: Some(data), ..conclusion });
    }

    /// A final report was accepted.
    pub(super) fn end_report(&mut self, AcceptedReport { text, data: report_data }: AcceptedReport) {
        let outcome = if self.wrap_up_state() == WrapUp::NotAsked { Outcome::Success } else { Outcome::Partial };
        let conclusion = Conclusion::success(TerminationReason::FinalReport, AnswerSource::Model, text);
        self.end(Conclusion { outcome, report_data, ..conclusion });
    }

    /// A strict run fails: the system writes the report.
    pub(super) fn end_without_report(&mut self, last_failure: &str) {
        let reason = match self.offer() {
            Offer::ReportOnly => TerminationReason::MaxTurnsExhausted,
            Offer::AllTools => TerminationReason::RetriesExhausted,
        };
        let (completed, attempts) = (self.turn().saturating_sub(1), self.figures.report_attempts);
        let report = prompts::strict_failure_report(reason, completed, attempts, last_failure, &self.aggregated_text());
        self.end(Conclusion::failed(reason, AnswerSource::System, report, last_failure));
    }

    /// No attempt is left, or none makes sense. What was found so far is not lost.
    pub(super) fn end_llm_error(&mut self, error: &str) {
        let report = prompts::llm_error_report(error, &self.aggregated_text());
        self.end(Conclusion::failed(TerminationReason::LlmError, AnswerSource::System, report, error));
    }

    /// The model refused, or a filter stopped its reply: that is no success, and no other attempt follows. Its words are the report;
    /// its calls are not run.
    pub(super) fn end_declined(&mut self, attempt: u32, slug: Slug, reply: Reply, raw: Option<RawResponse>) {
        let error = prompts::declined(slug, &reply.content);
        self.fail_attempt(attempt, vec![slug], error.clone(), raw);
        if reply.content.trim().is_empty() {
            return self.end_llm_error(&error);
        }
        let output = reply.content.clone();
        self.enter(reply, Vec::new());
        self.end(Conclusion::failed(TerminationReason::LlmError, AnswerSource::Model, output, &error));
    }

    /// A limit was reached after the last turn ended, and synthesis is switched off.
    fn end_without_synthesis(&mut self, trigger: Trigger) {
        let reason = match trigger {
            Trigger::MaxTurns => TerminationReason::MaxTurnsExhausted,
            other => TerminationReason::SynthesisFailed(other),
        };
        let report = prompts::no_synthesis_report(trigger);
        let conclusion = Conclusion::failed(reason, AnswerSource::System, report.clone(), &report);
        let wrap_up = self.leave_phase();
        self.close_segment(conclusion, wrap_up);
    }

    /// Cancel ends at once: what is open is aborted and answered. The report is the text that had arrived; it stays out of the history.
    pub(super) fn cancel(&mut self, keeps_text: bool) {
        if self.phase == RunPhase::Ended {
            return;
        }
        match self.exchange().map(|exchange| exchange.state) {
            Some(ExchangeState::Sent(request)) => {
                self.emit(Effect::Abort(Abort::Request(request)));
                self.close_attempt(|a| a.slugs = vec![Slug::Cancelled]);
            }
            Some(ExchangeState::Backoff { timer, .. }) => self.emit(Effect::Abort(Abort::Timer(timer))),
            Some(ExchangeState::Unsent) => {}
            None => self.cancel_round(keeps_text),
        }
        let (source, report) = match self.streamed_text() {
            _ if !keeps_text => (AnswerSource::System, prompts::CANCELLED_REPORT.to_owned()),
            Some(text) => (AnswerSource::Model, text),
            None => (AnswerSource::System, prompts::NOTHING_ARRIVED_REPORT.to_owned()),
        };
        let conclusion = Conclusion::success(TerminationReason::Cancelled, source, report);
        self.end(Conclusion { outcome: Outcome::Cancelled, ..conclusion });
    }

    /// The text that the request which is aborted had streamed.
    fn streamed_text(&self) -> Option<String> {
        let partial = self.book.turns.last()?.attempts.last()?.partial.as_ref()?;
        (!partial.content.trim().is_empty()).then(|| partial.content.clone())
    }

    /// Ends the segment in its open turn.
    fn end(&mut self, conclusion: Conclusion) {
        let wrap_up = self.leave_phase();
        let is_answer = matches!(conclusion.source, AnswerSource::Model | AnswerSource::Tool);
        if let Some(turn) = self.book.turns.last_mut() {
            turn.is_final |= is_answer && matches!(conclusion.outcome, Outcome::Success | Outcome::Partial);
        }
        self.finish_turn();
        self.close_segment(conclusion, wrap_up);
    }

    /// Stops the clock of the segment. Returns what the run was asked to wrap up for.
    fn leave_phase(&mut self) -> Option<Trigger> {
        let wrap_up = self.wrap_up_trigger();
        self.clear_wall_timer();
        self.phase = RunPhase::Ended;
        wrap_up
    }

    fn close_segment(&mut self, conclusion: Conclusion, wrap_up: Option<Trigger>) {
        let Conclusion { reason, outcome, source, output, error, final_result_data, report_data } = conclusion;
        let ending = Ending {
            termination_reason: reason,
            outcome,
            answer_source: source,
            max_turns: self.config.max_turns,
            effective_max_turns: self.figures.effective_max_turns,
            total_turns: self.turn(),
            wrap_up,
            error: error.clone(),
            output: output.clone(),
            final_result_data: final_result_data.clone(),
            report_data,
            finished_at: self.timestamp(),
        };
        self.book.segments.push(ending.clone());
        if outcome == Outcome::Failed {
            self.log_failed_run(reason, error);
        }
        self.record(RecordKind::Final { output, answer_source: source, final_result_data });
        self.record(match outcome {
            Outcome::Success | Outcome::Partial => RecordKind::AgentFinished { ending },
            Outcome::Failed | Outcome::Cancelled => RecordKind::AgentFailed { ending },
        });
        self.emit(Effect::Finish);
    }

    /// The `ERR` record: why the run ended, then why its last attempt failed; a refusal and a filter come first.
    fn log_failed_run(&mut self, reason: TerminationReason, error: Option<String>) {
        let last = self.book.turns.last().and_then(|turn| turn.attempts.last());
        let (attempt, last) = last.map_or_else(Default::default, |a| (a.attempt, a.slugs.clone()));
        let message = format!("run failed: {reason} ({})", error.unwrap_or_else(|| join(&last)));
        let slugs = match last.first() {
            Some(Slug::Refusal | Slug::ContentFilter) => last.into_iter().chain(reason.slug()).collect(),
            _ => reason.slug().into_iter().chain(last).collect(),
        };
        self.log(LogLevel::Error, attempt, slugs, message, None);
    }

    /// Grants more turns: a new segment of the same run.
    pub(super) fn grant(&mut self, turns: u32) {
        if turns == 0 || !self.can_continue() {
            return;
        }
        self.figures.effective_max_turns = self.turn().saturating_add(turns);
        self.history.push(prompts::turns_granted(turns));
        self.start_wall_timer();
        self.begin_turn(None);
    }
}

/// Records of the run and its turns.
impl Run {
    /// Announces the run. Nothing has been sent, so `calls_left` is the whole bound.
    pub(super) fn announce(&mut self) {
        self.record(RecordKind::RunStarted {
            run_id: self.task.run_id.clone(),
            session_id: self.task.session_id.clone(),
            task: self.task.input.clone(),
            max_turns: self.config.max_turns,
        });
        let is_system = |message: &Message| matches!(message, Message::System { .. });
        if self.task.history.iter().skip(1).any(is_system) {
            self.trace_moved_system();
        }
        for message in self.config.adjusted.clone() {
            self.log(LogLevel::Warn, 0, Vec::new(), message, None);
        }
    }

    pub(super) fn open_turn_record(&mut self, turn: u32) {
        let started_at = self.timestamp();
        self.book.turns.push(TurnRecord { turn, started_at, ..TurnRecord::default() });
    }

    /// Announces the end of the open turn.
    pub(super) fn finish_turn(&mut self) {
        if let Some(record) = self.book.turns.last().cloned() {
            self.record(RecordKind::TurnFinished { record });
        }
    }

    /// Records that a system message is sent as a user message because the provider allows no other.
    fn trace_moved_system(&mut self) {
        let refusing = self.config.providers.iter().filter(|p| !p.kind.takes_system_midway());
        let kinds: Vec<&str> = refusing.map(|p| p.kind.as_str()).collect();
        if !kinds.is_empty() {
            self.trace("system_message_sent_as_user", json!({ "providers": kinds }));
        }
    }
}
