//! Continuing after an interruption, such as a closed page, and branching off a turn of a recorded run (trajectory.md#after-a-closed-page, trajectory.md#branches).
//!
//! Both drop what was in flight, because nobody waits for it any more, and send the whole history to the shell again, which may
//! be another one. Invariant: a request that may have been sent counts as sent, so an interruption never widens the bound.

use serde_json::json;

use super::authority::Authority;
use super::config::RunConfig;
use super::correction::Learnt;
use super::failure::Slug;
use super::ids::EpochMillis;
use super::interface::{Abort, Branch, BranchChanges, Effect};
use super::judge::{AtLimit, Offer};
use super::message::{Message, Reply};
use super::permission::Consent;
use super::record::Trigger;
use super::run::{BranchOrigin, ChildState, ExchangeState, ModelExchange, Run, RunPhase, TurnStep};
use super::time;

/// The message of an attempt that failed because the page was closed.
const INTERRUPTED: &str = "the page was closed, or its worker ended, before the reply was complete";

impl Run {
    /// The run has a new driver. The attempt in flight is lost and the next one follows at once; tool calls in flight are run
    /// again, those with side effects only if the user agrees.
    pub(super) fn resume(&mut self, at: EpochMillis, authority: Option<&Authority>) {
        if let Some(authority) = authority {
            let dropped = self.adopt(authority);
            self.trace_adopted(&dropped);
            if self.phase == RunPhase::Ended {
                // The record has it, but nothing is told between two segments.
                self.out.clear();
            } else {
                self.limit_wall_time();
            }
        }
        self.history.start_over(&self.config);
        self.resume_children(at);
        if self.phase == RunPhase::Ended {
            return;
        }
        self.set_world_time(at);
        self.trace("resumed", json!({ "at": time::rfc3339(at) }));
        self.restart_wall_timer();
        match self.exchange().cloned() {
            Some(ModelExchange { attempt, notice, state: ExchangeState::Sent(_) | ExchangeState::Unsent }) => {
                self.fail_attempt(attempt, vec![Slug::Interrupted], INTERRUPTED.to_owned(), None);
                self.try_again(attempt, notice, INTERRUPTED);
            }
            Some(ModelExchange { state: ExchangeState::Backoff { timer, until, .. }, .. }) => {
                let ms = until.0.saturating_sub(self.clock.now.0);
                self.emit(Effect::Sleep { timer, ms });
            }
            None => self.run_round_again(),
        }
    }

    /// Restarts the open turn with the changes of the branch. Does nothing if anything has happened in the turn after its first
    /// request was sent.
    pub(super) fn branch(&mut self, branch: Branch) {
        let Some(ModelExchange { attempt: 1, notice, state: ExchangeState::Sent(request) }) = self.exchange().cloned()
        else {
            return;
        };
        self.emit(Effect::Abort(Abort::Request(request)));
        self.clear_wall_timer();
        self.book.turns.pop();
        self.phase = RunPhase::Opening;
        let changes = BranchChanges::from(&branch);
        let Branch {
            run_id,
            session_id,
            parent,
            at,
            providers,
            limits,
            authority,
            system,
            max_turns,
            say,
            reply,
            edited: _,
        } = branch;
        let mut branches = self.family.origin.take().map(|origin| origin.branches).unwrap_or_default();
        branches.push(changes);
        self.family.started_with.get_or_insert_with(|| Box::new(self.config.clone()));
        let turns_before = self.config.max_turns;
        if let Some(providers) = providers {
            self.config.providers = providers;
            self.forget_learnt();
        }
        if let Some(limits) = limits {
            self.config.limits = limits;
        }
        if let Some(max_turns) = max_turns {
            self.config.max_turns = max_turns;
        }
        self.set_world_time(at);
        let dropped = authority.map(|authority| self.adopt(&authority));
        let config = std::mem::take(&mut self.config);
        self.config =
            RunConfig { system: system.clone().unwrap_or_else(|| config.system.clone()), ..config }.normalized();
        // Grants and a collapse belong to the other run. A strict run always has a turn for its report.
        self.figures.effective_max_turns = match self.policy().at_limit {
            AtLimit::Synthesis => self.config.max_turns,
            AtLimit::ForcedFinal => self.config.max_turns.max(self.turn().saturating_add(1)),
        };
        // Only here, since each record says how many requests are left.
        if let Some(dropped) = dropped {
            self.trace_adopted(&dropped);
        }
        self.history.start_over(&self.config);
        if system.is_some() || self.config.max_turns != turns_before || max_turns.is_some() {
            self.history.set_system(self.config.system_text());
        }
        if let Some(say) = say {
            self.history.push(Message::user(say));
        }
        self.trace("branched", json!({ "parent": parent.run_id, "turn": parent.turn }));
        // Sub-agents of the turns that it keeps belong to this run.
        self.rename_children(&session_id);
        self.consent.forget();
        (self.task.run_id, self.task.session_id) = (run_id, session_id);
        self.family.origin = Some(BranchOrigin { parent, branches });
        self.start_wall_timer();
        match self.policy().at_limit {
            AtLimit::Synthesis if self.turn() >= self.figures.effective_max_turns => self.synthesize(Trigger::MaxTurns),
            AtLimit::Synthesis | AtLimit::ForcedFinal => self.begin_turn(notice),
        }
        if let Some(reply) = reply {
            self.replace_reply(reply);
        }
    }

    /// From here on, the adopter decides. The run remembers the configuration that it started with, for the replay. Returns the
    /// names of the tools that it loses.
    fn adopt(&mut self, authority: &Authority) -> Vec<String> {
        if self.family.started_with.is_none() {
            self.family.started_with = Some(Box::new(self.config.clone()));
        }
        let last = self.last_turn_due();
        let dropped = authority.apply(&mut self.config);
        self.forget_learnt();
        // An answer in the record was given to somebody else, or by somebody else.
        self.consent = Consent::new(self.config.permissions.clone());
        // Of granted turns, at most as many remain as a run of the adopter has.
        let granted = !self.book.segments.is_empty();
        let most = if granted { self.turn().saturating_add(authority.max_turns) } else { self.config.max_turns };
        let effective = &mut self.figures.effective_max_turns;
        *effective = (*effective).min(most.max(last));
        let of_child = authority.for_child();
        for child in &mut self.family.children {
            if let ChildState::Started(run) = &mut child.state
                && run.ending().is_none()
            {
                let dropped = run.adopt(&of_child);
                run.trace_adopted(&dropped);
                run.limit_wall_time();
                run.out.clear(); // its trace is the same news
            }
        }
        dropped
    }

    /// What was learnt is about other providers.
    fn forget_learnt(&mut self) {
        self.learnt = Learnt::default();
        (self.context.refused_at, self.context.takes_no_tools) = (None, false);
    }

    /// The turn that a strict run cannot do without: one that still has to take the report, if the open one cannot.
    fn last_turn_due(&self) -> u32 {
        let RunPhase::Turn(open) = &self.phase else { return 0 };
        let runs_tools = matches!(open.step, TurnStep::Tools(_)) && self.offer() == Offer::AllTools;
        match self.policy().at_limit {
            AtLimit::ForcedFinal if runs_tools || self.is_wrapping_up() => self.turn().saturating_add(1),
            AtLimit::ForcedFinal => self.turn(),
            AtLimit::Synthesis => 0,
        }
    }

    fn trace_adopted(&mut self, dropped: &[String]) {
        self.trace("adopted", json!({ "tools_dropped": dropped }));
    }

    /// Takes a reply instead of asking the model. What its request would have carried goes with the next one.
    fn replace_reply(&mut self, reply: Reply) {
        let Some(ExchangeState::Sent(request)) = self.exchange().map(|exchange| exchange.state) else { return };
        self.out.retain(|effect| !matches!(effect, Effect::CallModel(call) if call.request == request));
        self.history.start_over(&self.config);
        self.replied(1, reply, None, None);
    }

    /// The time without a driver does not count, but timestamps are those of the world.
    fn set_world_time(&mut self, at: EpochMillis) {
        self.clock.paused_ms = at.0.saturating_sub(self.task.started_at.0.saturating_add(self.clock.now.0));
    }
}
