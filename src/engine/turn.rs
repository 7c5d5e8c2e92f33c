//! Turns and what follows them: the next turn, the limit, the synthesis.

use serde_json::json;

use super::context::Guard;
use super::run::{Phase, Run};
use super::success::{AtLimit, Offer, judge_synthesis};
use super::synthesis::{self, Synthesis};
use super::*;

impl Run {
    pub(super) fn begin_turn(&mut self, turn: u32) {
        self.open_turn(turn);
        // A follow-up or a grant may bring more than fits; what cannot be removed, the provider will say.
        let _ = self.guard_context();
        self.record(RecordKind::TurnStarted { synthesis: false });
        self.send(1, None);
    }

    /// The open turn succeeded.
    pub(super) fn turn_done(&mut self) {
        self.finish_turn();
        let last = self.turn() >= self.effective_max_turns;
        let full = (self.guard_context() == Guard::Full).then_some(Trigger::Context);
        if !last && !self.concluding() {
            self.ask_wrap_up(self.spent().or(full));
        }
        match (self.wrap_up_pending.take(), self.policy().at_limit) {
            (Some(trigger), AtLimit::Synthesis) => self.limit_reached(trigger),
            (None, AtLimit::Synthesis) if last => self.limit_reached(Trigger::MaxTurns),
            _ => self.begin_turn(self.turn().saturating_add(1)),
        }
    }

    /// Wraps up: one synthesis, or the end where it is switched off.
    pub(super) fn limit_reached(&mut self, trigger: Trigger) {
        if self.config.synthesis_attempts() == 0 {
            return self.end_without_synthesis(trigger);
        }
        let numbered = self.config.synthesis.as_ref().is_some_and(|s| s.numbered);
        let (turns, content) = (self.turn(), self.aggregated_text());
        let name = trigger.as_str();
        self.trace(&format!("{name}_reached"), json!({ "turns": turns, "content": content }));
        self.notice = None;
        self.open_turn(turns.saturating_add(u32::from(numbered)));
        if let Some(turn) = self.turns.last_mut() {
            (turn.synthesis, turn.is_final) = (true, true);
        }
        self.synthesis = Some(Synthesis { trigger, fallback: String::new() });
        self.record(RecordKind::SynthesisStarted { trigger });
        self.record(RecordKind::TurnStarted { synthesis: true });
        self.trace(&format!("{name}_prompt_injected"), serde_json::Value::Null);
        if self.config.synthesis.as_ref().is_some_and(|s| s.role == SynthesisRole::System) {
            self.trace_moved_system();
        }
        self.send(1, None);
    }

    pub(super) fn synthesis_replied(&mut self, attempt: u32, reply: Reply, raw: Option<RawResponse>) {
        match judge_synthesis(&reply) {
            Ok(()) => self.synthesized(reply.content, reply.reasoning, reply.opaque),
            Err(slugs) => {
                if let Some(s) = &mut self.synthesis
                    && !reply.content.trim().is_empty()
                {
                    s.fallback = reply.content;
                }
                self.model_failed(attempt, slugs, raw);
            }
        }
    }

    /// No attempt is left: the text of a failed one if there is any, else the fallback of the preset.
    pub(super) fn synthesis_failed(&mut self, error: &str) {
        let Some(Synthesis { trigger, fallback }) = self.synthesis.clone() else { return };
        if !fallback.is_empty() {
            return self.synthesized(fallback, String::new(), None);
        }
        let aggregated = self.aggregated_text();
        let on_error = self.config.synthesis.as_ref().map(|s| s.on_error);
        let (source, report) = match on_error {
            Some(SynthesisFallback::AggregatedText) if !aggregated.is_empty() => (AnswerSource::Model, aggregated),
            _ => (AnswerSource::System, synthesis::failed_report(trigger, error)),
        };
        let reason = TerminationReason::SynthesisFailed(trigger);
        self.end(reason, Outcome::Failed, source, report, Some(error.to_owned()));
    }

    fn synthesized(&mut self, content: String, reasoning: String, opaque: Option<serde_json::Value>) {
        let Some(Synthesis { trigger, .. }) = self.synthesis else { return };
        if let Some(config) = &self.config.synthesis {
            self.history.push(synthesis::prompt(self.config.preset, config, trigger));
        }
        self.enter(Reply { content: content.clone(), reasoning, opaque, ..Reply::default() }, Vec::new());
        let reason = TerminationReason::Synthesized(trigger);
        self.end(reason, Outcome::Partial, AnswerSource::Synthesis, content, None);
    }

    /// Announces the end of the open turn, once.
    pub(super) fn finish_turn(&mut self) {
        if !std::mem::take(&mut self.turn_open) {
            return;
        }
        if let Some(record) = self.turns.last().cloned() {
            self.record(RecordKind::TurnFinished { record });
        }
    }

    /// Records that a system message is sent as a user message because the provider allows no other.
    pub(super) fn trace_moved_system(&mut self) {
        let refusing = self.config.providers.iter().filter(|p| !p.kind.takes_system_midway());
        let kinds: Vec<&str> = refusing.map(|p| p.kind.as_str()).collect();
        if !kinds.is_empty() {
            self.trace("system_message_sent_as_user", json!({ "providers": kinds }));
        }
    }

    /// The tools that the open turn offers.
    pub(super) fn offer(&self) -> Offer {
        match self.policy().at_limit {
            AtLimit::ForcedFinal if self.turn() >= self.effective_max_turns => Offer::ReportOnly,
            _ => Offer::AllTools,
        }
    }

    fn open_turn(&mut self, turn: u32) {
        let started_at = self.timestamp();
        self.turns.push(TurnRecord { turn, started_at, ..TurnRecord::default() });
        self.turn_open = true;
        // Nothing is sent yet: `calls_left` counts as before the first attempt.
        self.phase = Phase::Waiting { attempt: 1, timer: TimerId(0), ms: 0, until: self.now };
    }
}
