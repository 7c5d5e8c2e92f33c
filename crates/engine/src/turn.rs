//! The loop of a run, top to bottom: how a turn begins, what a reply leads to, how tool calls are answered, when the next
//! turn begins, and when the run concludes. The rules are called by name and are in the other files.

use super::failure::Slug;
use super::ids::CallId;
use super::interface::ToolOutcome;
use super::judge::{AtLimit, Verdict, declined, judge_calls, judge_text};
use super::limits::Guard;
use super::message::{RawResponse, Reply};
use super::prompts;
use super::record::{RecordKind, Trigger};
use super::run::{ModelExchange, OpenTurn, Run, RunPhase, TurnStep, WrapUp};
use super::tool_round::RoundOutcome;

impl Run {
    /// The first step of a run.
    pub(super) fn open(&mut self) {
        self.announce();
        self.start_wall_timer();
        self.begin_turn(None);
    }

    /// Opens a turn and asks the model. `notice` tells it about the failure of the turn before.
    pub(super) fn begin_turn(&mut self, notice: Option<String>) {
        let wrap_up = self.wrap_up_state().of_next_turn();
        self.open_turn_record(self.turn().saturating_add(1));
        self.phase = RunPhase::Turn(OpenTurn { wrap_up, step: TurnStep::Asking(ModelExchange::first(notice.clone())) });
        // A follow-up or a grant may bring more than fits; if not enough can be removed, the provider will say so.
        let _ = self.guard_context();
        self.record(RecordKind::TurnStarted { synthesis: false });
        self.send(1, notice, None);
    }

    /// The open request was answered with a whole reply: text ends the turn, tool calls are run, anything else failed.
    pub(super) fn replied(
        &mut self,
        attempt: u32,
        reply: Reply,
        raw: Option<RawResponse>,
        first_token_ms: Option<u64>,
    ) {
        let usage = self.count_reply(&reply, first_token_ms);
        let before = self.history.bytes();
        if self.is_synthesis() {
            self.synthesis_replied(attempt, reply, raw);
        } else if let Some(slug) = declined(&reply) {
            self.end_declined(attempt, slug, reply, raw);
        } else if !reply.tool_calls.is_empty() {
            self.begin_round(attempt, reply, raw);
        } else {
            match judge_text(self.policy(), self.offer(), &reply) {
                Verdict::Complete => self.end_complete(reply),
                Verdict::GoOn(slugs) => {
                    self.enter(reply, Vec::new());
                    self.turn_over(prompts::notice(self.policy(), self.offer(), &slugs));
                }
                Verdict::Failed(slugs) => self.reply_unusable(attempt, slugs, raw),
            }
        }
        self.count_context(usage, before, self.history.bytes());
    }

    /// A running call came back. A late or second answer finds no running call and does nothing.
    pub(super) fn tool_finished(&mut self, call: &CallId, outcome: ToolOutcome) {
        if self.with_round(|round, parts| round.finished(parts, call, outcome)) == Some(true) {
            self.advance_round();
        }
    }

    /// Every call is answered: the answers enter the history, and the turn is judged.
    pub(super) fn round_over(&mut self) {
        self.enter_answers_and_lines();
        let Some((outcome, attempt, offer)) = self.close_round() else { return };
        match outcome {
            RoundOutcome::FinalResult { text, data } => self.end_final_result(text, data),
            RoundOutcome::Report(report) => self.end_report(report),
            RoundOutcome::Answered { facts, truncated, raw } => match judge_calls(self.policy(), offer, &facts) {
                Err(slugs) if !self.is_wrapping_up() => self.reply_unusable(attempt, slugs, raw),
                _ if truncated => self.turn_over(prompts::notice(self.policy(), offer, &[Slug::TruncatedOutput])),
                _ => self.turn_over(None),
            },
        }
    }

    /// The open turn succeeded, or was cut short by a wrap-up: the next turn follows, or the conclusion.
    pub(super) fn turn_over(&mut self, notice: Option<String>) {
        self.finish_turn();
        let last = self.turn() >= self.figures.effective_max_turns;
        let full = (self.guard_context() == Guard::Full).then_some(Trigger::Context);
        if let Some(trigger) = self.spent().or(full).filter(|_| !last && !self.is_concluding()) {
            self.mark_last_turn(trigger);
        }
        match (self.policy().at_limit, self.wrap_up_state()) {
            (AtLimit::Synthesis, WrapUp::LastTurn(trigger)) => self.synthesize(trigger),
            (AtLimit::Synthesis, _) if last => self.synthesize(Trigger::MaxTurns),
            (AtLimit::Synthesis | AtLimit::ForcedFinal, _) => self.begin_turn(notice),
        }
    }
}
