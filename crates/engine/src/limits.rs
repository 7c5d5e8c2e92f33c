//! The figures of a run: tokens, cost, the bound on requests, wall time, and the size of the context, with the limits that each
//! of them has (semantics.md#bound-on-requests, retries.md#context-window).

use serde_json::json;

use super::config::ToolSpec;
use super::history;
use super::ids::{Millis, TimerId};
use super::interface::{Abort, Effect};
use super::judge::{AtLimit, Offer, TurnSuccess};
use super::message::{Message, ToolMessage};
use super::own_tools;
use super::prompts;
use super::provider::ProviderKind;
use super::record::Trigger;
use super::run::{ChildRun, ChildState, OpenTurn, Run, RunBudget, RunDeadline, RunPhase, TurnStep, WrapUp};
use super::setup;
use super::usage::Usage;

/// Tokens and cost.
impl Run {
    /// Tokens of all replies so far, those of sub-agents included.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.child_runs().fold(self.figures.usage, |sum, child| sum.plus(child.usage()))
    }

    /// LLM requests sent so far, those of sub-agents included.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.child_runs().fold(self.figures.requests, |sum, child| sum.saturating_add(child.requests()))
    }

    /// US dollars spent so far, those of sub-agents included, if the price of every provider used is known.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        let used = self.book.turns.iter().flat_map(|t| &t.attempts).map(|a| a.provider);
        let mut providers = used.map(|i| self.config.providers.get(i));
        let own = providers.all(|p| p.is_some_and(|p| p.price.is_some())).then_some(self.figures.cost)?;
        self.child_runs().try_fold(own, |sum, child| Some(sum + child.cost()?))
    }

    fn tree_cost_known(&self) -> f64 {
        self.child_runs().fold(self.figures.cost, |sum, child| sum + child.tree_cost_known())
    }

    /// Adds the usage of the last request.
    pub(super) fn add_usage(&mut self, usage: Usage) {
        self.figures.usage = self.figures.usage.plus(usage);
        if let Some(price) = self.config.providers.get(self.last_provider()).and_then(|p| p.price) {
            self.figures.cost += price.cost(usage);
        }
    }

    /// The budget that the rest of the tree leaves for a sub-agent.
    pub(super) fn budget_for(&self, child: &Run) -> RunBudget {
        let limits = &self.config.limits;
        let others = total(self.usage()).saturating_sub(total(child.usage()));
        RunBudget {
            tokens: limits.tokens.map(|most| most.saturating_sub(others)),
            cost: limits.cost.map(|most| most - (self.tree_cost_known() - child.tree_cost_known())),
        }
    }

    /// The budget that is used up, if any.
    pub(super) fn spent(&self) -> Option<Trigger> {
        let limits = &self.config.limits;
        let budget = self.family.budget.unwrap_or(RunBudget { tokens: limits.tokens, cost: limits.cost });
        if budget.tokens.is_some_and(|most| total(self.usage()) >= most) {
            Some(Trigger::Tokens)
        } else if budget.cost.is_some_and(|most| self.tree_cost_known() >= most) {
            Some(Trigger::Cost)
        } else {
            None
        }
    }
}

/// The bound on requests.
impl Run {
    /// Maximum number of LLM requests still to come, including those of sub-agents not yet requested. It only
    /// shrinks, except when the user grants turns.
    #[must_use]
    pub fn calls_left(&self) -> u32 {
        self.own_calls_left().saturating_add(self.children_calls_left())
    }

    fn own_calls_left(&self) -> u32 {
        let policy = self.policy();
        let attempts = self.config.max_attempts;
        let synthesis = match policy.at_limit {
            AtLimit::Synthesis => self.config.synthesis_attempts(),
            AtLimit::ForcedFinal => 0,
        };
        let in_turn = match &self.phase {
            RunPhase::Ended => return 0,
            RunPhase::Synthesis(open) => return open.exchange.attempts_left(synthesis),
            RunPhase::Turn(OpenTurn { wrap_up: WrapUp::LastTurn(_), .. }) | RunPhase::Opening => 0,
            RunPhase::Turn(OpenTurn { step: TurnStep::Asking(exchange), .. }) => exchange.attempts_left(attempts),
            // If tool calls alone make a turn succeed, no further attempt of it can follow.
            RunPhase::Turn(_) if policy.turn_success == TurnSuccess::AnyReply => 0,
            RunPhase::Turn(OpenTurn { step: TurnStep::Tools(round), .. }) => attempts.saturating_sub(round.attempt),
        };
        let turns = match (policy.at_limit, self.wrap_up_state()) {
            (AtLimit::Synthesis, WrapUp::LastTurn(_)) => 0,
            _ => self.figures.effective_max_turns.saturating_sub(self.turn()),
        };
        turns.saturating_mul(attempts).saturating_add(in_turn).saturating_add(synthesis)
    }

    /// LLM requests that sub-agents can still make, including those that may yet be requested.
    fn children_calls_left(&self) -> u32 {
        if self.phase == RunPhase::Ended || !self.config.spawns() {
            return 0;
        }
        let requested = self.family.children.iter().map(|child| match &child.state {
            ChildState::Queued(task) => setup::child_requests(&self.config, task),
            ChildState::Started(run) => run.calls_left(),
            ChildState::Dropped(_) | ChildState::Refused(_) => 0,
        });
        let requested = requested.fold(0, u32::saturating_add);
        let can_spawn =
            !self.is_synthesis() && self.wrap_up_state() == WrapUp::NotAsked && self.offer() != Offer::ReportOnly;
        if !can_spawn {
            return requested;
        }
        let free = self.config.limits.children.saturating_sub(self.children_used());
        requested.saturating_add(free.saturating_mul(setup::most_child_requests(&self.config)))
    }

    /// The number of sub-agents that count towards the limit. Those that were dropped count: the bound only shrinks.
    pub(super) fn children_used(&self) -> u32 {
        let used = self.family.children.iter().filter(|child| !child.is_refused()).count();
        u32::try_from(used).unwrap_or(u32::MAX)
    }

    /// The runs of the sub-agents that have started.
    pub fn child_runs(&self) -> impl Iterator<Item = &Run> {
        self.family.children.iter().filter_map(ChildRun::run)
    }
}

/// Wall time.
impl Run {
    /// Starts the clock of a segment.
    pub(super) fn start_wall_timer(&mut self) {
        let Some(ms) = self.config.limits.wall_ms else { return };
        let at = Millis(self.clock.now.0.saturating_add(ms));
        self.clock.wall = Some(RunDeadline { timer: self.sleep(ms), at });
    }

    /// The open segment ends no later than its limit says from now on: an adopter may have another limit.
    pub(super) fn limit_wall_time(&mut self) {
        let Some(ms) = self.config.limits.wall_ms else { return };
        let at = Millis(self.clock.now.0.saturating_add(ms));
        if let Some(wall) = &mut self.clock.wall {
            wall.at = wall.at.min(at);
        } else if !self.is_concluding() {
            self.clock.timers += 1;
            let timer = TimerId::numbered(self.task.child, self.clock.timers);
            self.clock.wall = Some(RunDeadline { timer, at });
        }
    }

    /// Starts the same clock for another driver.
    pub(super) fn restart_wall_timer(&mut self) {
        if let Some(RunDeadline { timer, at }) = self.clock.wall {
            let ms = at.0.saturating_sub(self.clock.now.0);
            self.emit(Effect::Sleep { timer, ms });
        }
    }

    pub(super) fn clear_wall_timer(&mut self) {
        if let Some(RunDeadline { timer, .. }) = self.clock.wall.take() {
            self.emit(Effect::Abort(Abort::Timer(timer)));
        }
    }

    /// Whether this timer is the wall time of the run or of one of its sub-agents.
    pub(super) fn is_wall_timer(&self, timer: TimerId) -> bool {
        let own = self.clock.wall.is_some_and(|wall| wall.timer == timer);
        own || self.child_runs().any(|child| child.is_wall_timer(timer))
    }
}

/// Room kept for the reply if the provider's configuration names none.
const RESERVE: u64 = 1_024;

/// The default of Ollama, in tokens (TradingAgents#169).
const OLLAMA_WINDOW: u64 = 4_096;

const CUT: &str = "context_cut_by_server";

/// The result of the context guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    Fits,
    /// Nothing more can be removed, and it is still too much.
    Full,
}

/// The context guard: the size of the next request, and what is removed if it is too large.
impl Run {
    /// Records the provider's count of a request and its reply. `before` and `after` are the bytes of the history around it.
    pub(super) fn count_context(&mut self, usage: Usage, before: u64, after: u64) {
        if usage.estimated {
            return;
        }
        // Only a reply that entered the history is part of the next request.
        let reply = if after > before { usage.output.0 } else { 0 };
        (self.context.counted, self.context.at_bytes) = (usage.input.0 + reply, after);
        self.notice_cut(usage, before);
    }

    /// Says once if the server read much less than was sent to it. Servers that cut a conversation off do not say so.
    fn notice_cut(&mut self, usage: Usage, sent_bytes: u64) {
        let is_ollama = self.config.providers.get(self.last_provider()).is_some_and(|p| p.kind == ProviderKind::Ollama);
        let sent = (sent_bytes + self.tool_bytes()) / 4;
        let is_cut = usage.input.0 <= OLLAMA_WINDOW && sent > OLLAMA_WINDOW * 3 / 2;
        if is_ollama && is_cut && self.book.traces.iter().all(|trace| trace.name != CUT) {
            let advice = "Ollama drops the beginning of a conversation that is longer than its window, 4,096 tokens unless \
                          it is set: start it with a larger OLLAMA_CONTEXT_LENGTH.";
            self.trace(CUT, json!({ "sent_tokens": sent, "read_tokens": usage.input.0, "advice": advice }));
        }
    }

    /// Tokens of the history and the tool schemas.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        let bytes = self.history.bytes();
        if self.context.at_bytes == 0 {
            return (bytes + self.tool_bytes()).div_ceil(4);
        }
        let counted = self.context.counted;
        match bytes.checked_sub(self.context.at_bytes) {
            Some(more) => counted + more.div_ceil(4),
            None => counted.saturating_sub((self.context.at_bytes - bytes) / 4),
        }
    }

    /// Tokens of the next request. Where the provider has not counted yet, with what a request has around the messages.
    #[must_use]
    pub fn request_tokens(&self) -> u64 {
        match self.context.at_bytes {
            0 if self.config.shortens => (self.history.framed_bytes() + self.tool_bytes()).div_ceil(4),
            _ => self.context_tokens(),
        }
    }

    /// How full the model's window is, in percent, if the window is known.
    #[must_use]
    pub fn context_percent(&self) -> Option<u64> {
        let window = self.config.limits.context_tokens.filter(|w| *w > 0)?;
        Some(self.context_tokens().saturating_mul(100) / window)
    }

    /// The window that requests should fit: the model's, or what is known of it from a refusal.
    fn window(&self) -> Option<u64> {
        let refused = self.context.refused_at;
        self.config.limits.context_tokens.into_iter().chain(refused).min()
    }

    /// Shortens the history if the next request would be too long.
    pub(super) fn guard_context(&mut self) -> Guard {
        let Some(window) = self.window() else { return Guard::Fits };
        if self.request_tokens() + self.reserve(window) <= window {
            return Guard::Fits;
        }
        let most = window.saturating_sub(self.reserve(window));
        self.shorten_context(window * 6 / 10, most, most * 2 / 3);
        match self.config.limits.context_tokens {
            Some(window) if self.request_tokens() + self.reserve(window) > window => Guard::Full,
            _ => Guard::Fits,
        }
    }

    /// Why a request with this tail is not sent: it would not fit the window, whatever is left out. `None`: it is sent.
    pub(super) fn too_large(&mut self, tail: &[Message]) -> Option<String> {
        let window = self.config.limits.context_tokens.filter(|_| self.config.shortens)?;
        let tail = tail.iter().map(history::framed).sum::<u64>().div_ceil(4);
        if self.request_tokens() + tail > window {
            let most = window.saturating_sub(tail);
            self.shorten_context(most * 6 / 10, most, most * 2 / 3);
        }
        let tokens = self.request_tokens() + tail;
        (tokens > window).then(|| prompts::too_large(tokens, window))
    }

    /// The provider refused the request as too long. Returns whether another attempt makes sense.
    pub(super) fn free_after_overflow(&mut self) -> Guard {
        let before = self.request_tokens();
        let window = self.config.limits.context_tokens.unwrap_or(before).min(before);
        let again = self.context.overflowed_in == self.turn();
        self.context.overflowed_in = self.turn();
        if self.config.shortens {
            // A conversation may be many times too long: the last attempt has no more than it must.
            let last = self.exchange().is_some_and(|exchange| exchange.attempt + 1 >= self.attempts_allowed());
            let target = if again && last { 0 } else { window * 6 / 10 };
            self.shorten_context(target, target, target);
            let least = self.context.refused_at.map_or(before, |least| least.min(before));
            self.context.refused_at = Some(least);
            return if self.request_tokens() < before { Guard::Fits } else { Guard::Full };
        }
        self.free_context(window * 6 / 10);
        if !again && self.request_tokens() < before { Guard::Fits } else { Guard::Full }
    }

    /// Shortens the history to at most `most` tokens, as far as that is possible: old tool results go first, until `results` tokens are
    /// left, then the oldest turns, until `turns` are left, then the newest results. It is shortened by more than it must be, so that
    /// it is not another one in each request: model services keep what they have read of one.
    fn shorten_context(&mut self, results: u64, most: u64, turns: u64) {
        if !self.config.shortens {
            return self.free_context(results);
        }
        let (before, left_out) = (self.request_tokens(), self.history.left_out());
        let mut removed = self.remove_results(results, self.history.newest());
        if self.request_tokens() > most {
            self.leave_out(most, turns);
        }
        if self.request_tokens() > most {
            removed += self.remove_results(results, usize::MAX);
        }
        let after = self.request_tokens();
        let left = self.history.left_out();
        let mut data = json!({ "removed": removed, "tokens_before": before, "tokens_after": after });
        if left > left_out
            && let Some(data) = data.as_object_mut()
        {
            data.insert("left_out".to_owned(), json!(left));
        }
        if removed > 0 || left > left_out {
            self.trace("context_guard", data);
        }
    }

    fn free_context(&mut self, target: u64) {
        let before = self.context_tokens();
        let removed = self.remove_results(target, usize::MAX);
        let data = json!({ "removed": removed, "tokens_before": before, "tokens_after": self.context_tokens() });
        self.trace("context_guard", data);
    }

    /// Puts notes in place of tool results before the message at `end`, oldest first. Returns of how many.
    fn remove_results(&mut self, target: u64, end: usize) -> u64 {
        let mut too_much = self.context_tokens().saturating_sub(target).saturating_mul(4);
        let mut removed = 0u64;
        let mut unkept = Vec::new();
        let (stubbed, kept) = (&mut self.context.stubbed, &self.context.kept);
        self.history.shorten(&self.config, end, |tool| {
            if too_much == 0 || stubbed.contains(&tool.call_id) {
                return None;
            }
            let stub = stub(tool);
            too_much = too_much.saturating_sub(tool.content.len().checked_sub(stub.len())? as u64);
            removed += 1;
            stubbed.insert(tool.call_id.clone());
            // The whole of a result that was cut is kept already.
            if !kept.contains(&tool.call_id) {
                unkept.push((tool.call_id.clone(), tool.content.clone()));
            }
            Some(stub)
        });
        for (handle, content) in unkept {
            self.keep_result(handle, content);
        }
        removed
    }

    /// Leaves out the oldest turns, until about `target` tokens are left, where a request has more than `most`.
    fn leave_out(&mut self, most: u64, target: u64) {
        let (tokens, tools, before) = (self.request_tokens().max(1), self.tool_bytes(), self.history.framed_bytes());
        let taken = self.config.tools.iter().any(|tool| tool.name == own_tools::EARLIER);
        let readable = !taken && !self.context.takes_no_tools;
        // As the provider counts, if it does: how many tokens a byte has depends on the language.
        let scaled = |n: u64, by: u64, of: u64| u64::try_from(u128::from(n) * u128::from(by) / u128::from(of.max(1)));
        let tools_after = match readable && !self.history.offers_earlier() {
            true => tools + spec_bytes(&own_tools::earlier_spec()),
            false => tools,
        };
        let bytes = |of: u64| scaled(before + tools, of, tokens).unwrap_or(u64::MAX).saturating_sub(tools_after);
        if self.history.leave_out(&self.config, bytes(most), bytes(target), readable) && self.context.at_bytes > 0 {
            let after = self.history.framed_bytes();
            let counted = scaled(tokens, after + tools_after, before + tools).unwrap_or(u64::MAX);
            (self.context.counted, self.context.at_bytes) = (counted, self.history.bytes());
        }
    }

    /// Whether the tool that reads what is left out is the only one of the open request.
    pub(super) fn offered_only_earlier(&self) -> bool {
        self.history.offers_earlier() && self.config.tools.is_empty()
    }

    /// The provider takes no tools: from now on, no request offers one.
    pub(super) fn hide_earlier(&mut self) {
        self.context.takes_no_tools = true;
        self.history.hide_earlier(&self.config);
    }

    /// How many characters a call reads of what is left out: about a quarter of the window.
    pub(super) fn earlier_chars(&self) -> usize {
        let window = self.window().and_then(|window| usize::try_from(window).ok());
        window.unwrap_or(usize::MAX).min(self.config.limits.max_result_chars)
    }

    fn reserve(&self, window: u64) -> u64 {
        let most = self.config.providers.iter().filter_map(|p| p.max_output_tokens).max();
        match self.config.shortens {
            true => most.map_or(RESERVE.min(window / 4), |most| u64::from(most).min(window / 2)),
            false => most.map_or(RESERVE, u64::from),
        }
    }

    fn tool_bytes(&self) -> u64 {
        let earlier = self.history.offers_earlier().then(own_tools::earlier_spec);
        self.config.tools.iter().chain(&earlier).map(spec_bytes).sum()
    }
}

fn spec_bytes(tool: &ToolSpec) -> u64 {
    (tool.name.len() + tool.description.len() + tool.parameters.to_string().len()) as u64
}

fn stub(tool: &ToolMessage) -> String {
    let n = tool.content.chars().count();
    format!("[Result of {} removed: {n} characters; read_result(\"{}\") reads it]", tool.name, tool.call_id)
}

fn total(usage: Usage) -> u64 {
    usage.input.0.saturating_add(usage.output.0)
}
