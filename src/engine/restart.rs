//! Going on after a break: a page that was closed in the middle of a run, and a branch that takes another way from one of
//! its turns (SEMANTICS 10).
//!
//! Both drop what was in flight, because nobody waits for it any more, and give the shell the whole history again: it may be
//! another one. Invariant: a request that may have been sent counts as sent, so a break never widens the bound.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::calls::State;
use super::failure::Slug;
use super::limits::Limits;
use super::provider::ProviderConfig;
use super::run::{Phase, Run};
use super::success::AtLimit;
use super::*;

/// The message of an attempt that failed because the page was closed.
const INTERRUPTED: &str = "the page was closed, or its worker ended, before the reply was complete";

/// A branch: its origin, and what changes from here on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(inline),
    ts(rename = "TrajectoryBranch")
)]
#[serde(default)]
pub struct Branch {
    /// The new run's own ids: a branch is not a follow-up.
    pub run_id: String,
    pub session_id: String,
    pub parent: Parent,
    /// When it began.
    pub at: EpochMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub providers: Option<Vec<ProviderConfig>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Another system message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// A user message inserted before the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// Replaces the model's reply in the turn. It counts as a request, although none is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// The call before the turn whose result was changed by hand; the events before this one contain the new result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<CallId>,
}

/// The run a branch comes from, and its first own turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryParent"),
    ts(rename = "TrajectoryParent")
)]
pub struct Parent {
    pub run_id: String,
    pub turn: u32,
}

impl Run {
    /// The run that this one is a branch of.
    #[must_use]
    pub fn parent(&self) -> Option<&Parent> {
        self.parent.as_ref()
    }

    /// The original configuration, if a branch has changed it.
    #[must_use]
    pub fn started_with(&self) -> Option<&RunConfig> {
        self.started_with.as_deref()
    }

    /// Somebody else drives the run from here on. The attempt in flight is lost and the next one follows at once; tool
    /// calls in flight are run again, those with side effects only if the user agrees.
    pub(super) fn resumed(&mut self, at: EpochMillis) {
        self.history.start_over(&self.config);
        let now = self.now;
        for child in 0..self.children.len() {
            self.with_child(child, |run, started| {
                run.handle(Millis(now.0.saturating_sub(started.0)), Event::Resumed { at })
            });
        }
        if self.phase == Phase::Ended {
            return;
        }
        self.set_clock(at);
        self.trace("resumed", json!({ "at": time::rfc3339(at) }));
        self.rearm_clock();
        match &self.phase {
            Phase::Calling { attempt, .. } => {
                let attempt = *attempt;
                self.fail_attempt(attempt, vec![Slug::Interrupted], INTERRUPTED.to_owned(), None);
                self.try_again(attempt, INTERRUPTED);
            }
            Phase::Waiting { timer, until, .. } => {
                let ms = until.0.saturating_sub(self.now.0);
                self.emit(Effect::Sleep { timer: *timer, ms });
            }
            Phase::Tools(_) => self.run_calls_again(),
            Phase::Ended => {}
        }
    }

    /// Restarts the open turn with the changes of the branch. Only where its first request is all that happened in
    /// it: elsewhere there is nothing to branch from.
    pub(super) fn branch(&mut self, branch: Branch) {
        match &self.phase {
            Phase::Calling { attempt: 1, request } => self.emit(Effect::Abort(Abort::Request(*request))),
            _ => return,
        }
        self.stop_clock();
        self.turns.pop();
        self.turn_open = false;
        // Nothing of it is sent.
        self.phase = Phase::Waiting { attempt: 1, timer: TimerId(0), ms: 0, until: self.now };
        (self.synthesis, self.wrap_up, self.wrap_up_pending) = (None, None, None);
        let Branch { run_id, session_id, parent, at, providers, limits, system, max_turns, say, reply, edited: _ } =
            branch;
        self.started_with.get_or_insert_with(|| Box::new(self.config.clone()));
        if let Some(providers) = providers {
            self.config.providers = providers;
        }
        if let Some(limits) = limits {
            self.config.limits = limits;
        }
        if let Some(max_turns) = max_turns {
            self.config.max_turns = max_turns;
        }
        let config = std::mem::take(&mut self.config);
        self.config =
            RunConfig { system: system.clone().unwrap_or_else(|| config.system.clone()), ..config }.normalized();
        // The limit it was granted, or collapsed to, was the other run's. A strict run always has a turn for its report.
        self.effective_max_turns = match self.policy().at_limit {
            AtLimit::Synthesis => self.config.max_turns,
            AtLimit::ForcedFinal => self.config.max_turns.max(self.turn().saturating_add(1)),
        };
        self.history.start_over(&self.config);
        if system.is_some() || max_turns.is_some() {
            self.history.set_system(self.config.system_text());
        }
        if let Some(say) = say {
            self.history.push(Message::user(say));
        }
        self.set_clock(at);
        self.trace("branched", json!({ "parent": parent.run_id, "turn": parent.turn }));
        // Sub-agents of the turns it kept are this run's.
        self.rename_children(&session_id);
        (self.task.run_id, self.task.session_id, self.parent) = (run_id, session_id, Some(parent));
        self.start_clock();
        match self.policy().at_limit {
            AtLimit::Synthesis if self.turn() >= self.effective_max_turns => self.limit_reached(Trigger::MaxTurns),
            _ => self.begin_turn(self.turn().saturating_add(1)),
        }
        if let Some(reply) = reply {
            self.take_reply(reply);
        }
    }

    /// Instead of asking the model. What its request would have carried goes with the next one.
    fn take_reply(&mut self, reply: Reply) {
        let Phase::Calling { request, .. } = self.phase else { return };
        self.out.retain(|effect| !matches!(effect, Effect::CallModel(call) if call.request == request));
        self.history.start_over(&self.config);
        self.replied(1, reply, None, None);
    }

    /// The time in which nobody drove the run does not count, but timestamps are those of the world.
    fn set_clock(&mut self, at: EpochMillis) {
        self.paused_ms = at.0.saturating_sub(self.task.started_at.0.saturating_add(self.now.0));
    }

    fn run_calls_again(&mut self) {
        let Phase::Tools(calls) = &self.phase else { return };
        let running = calls.open.iter().filter(|open| open.state == State::Running);
        let effects: Vec<Effect> = running.map(|open| Effect::RunTool(open.again(&self.config))).collect();
        let grace = calls.grace;
        effects.into_iter().for_each(|effect| self.emit(effect));
        if let Some(timer) = grace {
            self.emit(Effect::Sleep { timer, ms: calls::STOP_GRACE_MS });
        }
        // The break may have ended sub-agents: others have their place now, or the call is answered.
        self.start_children();
        self.pump();
    }
}
