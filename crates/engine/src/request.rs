//! One LLM request: sent, counted, failed, retried after a wait or at once (retries.md#slugs, retries.md#retries-and-waiting).

use serde_json::json;

use super::config::AskedTool;
use super::correction::Correction;
use super::failure::Slug;
use super::history::Outgoing;
use super::ids::{MAX_OWN, Millis, RequestId, TokenCount};
use super::interface::{Effect, ModelCall, ToolChoice};
use super::judge::{AtLimit, Completion, Offer};
use super::limits::Guard;
use super::message::{AssistantMessage, Author, Message, ModelError, RawResponse, Reply, Retry, ToolCall};
use super::prompts;
use super::record::{AttemptRecord, LogLevel, LogRecord, PartialReply, RecordKind, Trigger};
use super::retry::{self, RetryDecision};
use super::run::{ExchangeState, ModelExchange, OpenTurn, Run, RunPhase, TurnStep};
use super::usage::Usage;

/// Sending.
impl Run {
    /// Sends attempt `attempt` of the open turn, or of the synthesis.
    pub(super) fn send(&mut self, attempt: u32, notice: Option<String>, waited_ms: Option<u64>) {
        // A few timers are left for what its end needs.
        if self.figures.requests >= MAX_OWN || self.clock.timers >= MAX_OWN - 4 {
            return self.give_up("the run has made as many requests as one run can make");
        }
        let (mut tail, tools) = match (&self.phase, &self.config.synthesis) {
            (RunPhase::Synthesis(synthesis), Some(config)) => {
                (vec![prompts::synthesis_prompt(self.config.preset, config, synthesis.trigger)], ToolChoice::None)
            }
            _ if self.offer() == Offer::ReportOnly => (Vec::new(), ToolChoice::Report),
            _ => (Vec::new(), self.tool_choice(notice.as_ref())),
        };
        tail.extend(notice.clone().map(Message::user));
        if let Some(error) = self.too_large(&tail) {
            return self.outgrown(notice, &error);
        }
        self.figures.requests += 1;
        let request = RequestId::numbered(self.task.child, self.figures.requests);
        self.set_exchange(ModelExchange { attempt, notice: notice.clone(), state: ExchangeState::Sent(request) });
        // A corrected request goes to the same provider.
        let asked = (attempt as usize).saturating_sub(1 + self.corrected(attempt));
        let provider = asked % self.config.providers.len().max(1);
        let earlier = self.history.offers_earlier();
        let chosen = self.config.providers.get(provider).cloned().unwrap_or_default();
        let Outgoing { base, append, request_hash } = self.history.send(&chosen, &tail, tools);
        let record = AttemptRecord {
            attempt,
            request,
            provider,
            slugs: Vec::new(),
            error: None,
            correction: None,
            request_hash,
            usage: None,
            started_ms: self.clock.now.0,
            duration_ms: None,
            first_token_ms: None,
            waited_ms,
            notice,
            left_out: u32::try_from(self.history.left_out()).unwrap_or(u32::MAX),
            partial: None,
        };
        let turn = self.turn();
        if let Some(open) = self.book.turns.last_mut() {
            open.attempts.push(record);
        }
        if self.is_synthesis() {
            self.trace("llm_call", json!({ "attempt": attempt }));
        }
        self.record(RecordKind::AttemptStarted { attempt, request });
        let learnt = self.learnt.of(provider);
        self.emit(Effect::CallModel(ModelCall {
            request,
            turn,
            attempt,
            provider,
            base,
            append,
            tail,
            tools,
            earlier,
            learnt,
        }));
    }

    /// Sends a further attempt, unless a budget was used up meanwhile.
    pub(super) fn send_again(&mut self, attempt: u32, notice: Option<String>, waited_ms: Option<u64>) {
        match self.spent() {
            Some(trigger) if !self.is_concluding() => self.conclude(trigger, notice),
            _ => self.send(attempt, notice, waited_ms),
        }
    }

    fn set_exchange(&mut self, exchange: ModelExchange) {
        match &mut self.phase {
            RunPhase::Synthesis(synthesis) => synthesis.exchange = exchange,
            RunPhase::Turn(OpenTurn { step, .. }) => *step = TurnStep::Asking(exchange),
            RunPhase::Opening | RunPhase::Ended => {}
        }
    }

    /// The effect of the run's `tool_choice` on a request that offers all tools.
    fn tool_choice(&self, notice: Option<&String>) -> ToolChoice {
        let (tools, strict) = (&self.config.tools, self.policy().completion == Completion::Report);
        // A notice of a strict run may ask for the report.
        let forces = self.turn() == 1 && !(strict && notice.is_some());
        let applies = match &self.config.tool_choice {
            None => false,
            Some(AskedTool::Auto) => true,
            Some(AskedTool::None) => !strict,
            Some(AskedTool::Required) => forces,
            Some(asked @ AskedTool::Tool(_)) => forces && tools.iter().any(|tool| asked.allows(tool)),
        };
        if applies && !tools.is_empty() { ToolChoice::Asked } else { ToolChoice::Auto }
    }
}

/// A whole reply.
impl Run {
    /// Counts the reply to the open request. Returns its usage.
    pub(super) fn count_reply(&mut self, reply: &Reply, first_token_ms: Option<u64>) -> Usage {
        let usage = reply.usage.unwrap_or_else(|| self.estimate(reply));
        self.add_usage(usage);
        self.close_attempt(|a| {
            a.usage = Some(usage);
            a.first_token_ms = first_token_ms;
            a.partial = None;
        });
        usage
    }

    /// Enters a reply into the history.
    pub(super) fn enter(&mut self, reply: Reply, tool_calls: Vec<ToolCall>) {
        if let Some(turn) = self.book.turns.last_mut() {
            turn.content.clone_from(&reply.content);
            turn.reasoning.clone_from(&reply.reasoning);
        }
        let Reply { content, reasoning, opaque, .. } = reply;
        let from = self.config.providers.get(self.last_provider()).map(Author::from);
        self.history.push(Message::Assistant(AssistantMessage { content, reasoning, tool_calls, opaque, from }));
    }

    /// About four bytes per token, if the provider gives no usage.
    fn estimate(&self, reply: &Reply) -> Usage {
        let calls: usize = reply.tool_calls.iter().map(|c| c.name.len() + c.arguments.len()).sum();
        let output = (reply.content.len() + reply.reasoning.len() + calls) as u64;
        Usage {
            input: TokenCount(self.history.bytes().div_ceil(4)),
            output: TokenCount(output.div_ceil(4)),
            reasoning: TokenCount((reply.reasoning.len() as u64).div_ceil(4)),
            cached: TokenCount(0),
            estimated: true,
        }
    }
}

/// A failed attempt.
impl Run {
    /// The open request gave no reply.
    pub(super) fn request_failed(&mut self, attempt: u32, error: &ModelError, raw: Option<RawResponse>) {
        let notice = self.exchange().and_then(|exchange| exchange.notice.clone());
        self.set_partial(None);
        if let Retry::With(correction) = error.retry {
            return self.refused(attempt, notice, error, correction, raw);
        }
        self.fail_attempt(attempt, vec![error.slug], error.message.clone(), raw);
        if error.slug == Slug::ContextGuard {
            return self.overflowed(attempt, notice, &error.message);
        }
        if self.offered_only_earlier() && error.refuses_request() && attempt < self.attempts_allowed() {
            self.hide_earlier();
            return self.send_again(attempt + 1, notice, None);
        }
        match retry::decide(&self.config.retry, error, attempt, &mut self.rng) {
            RetryDecision::Wait { ms } if attempt < self.attempts_allowed() => {
                self.back_off(attempt + 1, notice, ms, error);
            }
            RetryDecision::Wait { .. } => {
                let reported = self.is_synthesis() || self.policy().at_limit == AtLimit::ForcedFinal;
                match reported {
                    true => self.attempts_used_up(&error.message),
                    false => self.attempts_used_up(&prompts::no_attempts_left(&error.message, self.attempts_allowed())),
                }
            }
            RetryDecision::GiveUp => match (error.retry, error.retry_after_ms) {
                (Retry::Yes, Some(ms)) => self.give_up(&prompts::wait_too_long(&error.message, ms)),
                _ => self.give_up(&error.message),
            },
        }
    }

    /// The server refused the request and said what it does not like. The next attempt follows at once, without that, if there is one
    /// and the run has not learnt too much; otherwise the message says what would help.
    fn refused(
        &mut self,
        attempt: u32,
        notice: Option<String>,
        error: &ModelError,
        correction: Correction,
        raw: Option<RawResponse>,
    ) {
        let (provider, in_a_row) = (self.last_provider(), self.corrected(attempt));
        let may = attempt < self.attempts_allowed();
        let learnt = may.then(|| self.learnt.learn(provider, correction, &self.config, in_a_row)).flatten();
        let message = match learnt {
            Some(learnt) => format!("{} The next request {}.", error.message, learnt.said()),
            None => error.message.clone(),
        };
        self.close_attempt(|a| a.correction = learnt);
        self.fail_attempt(attempt, vec![error.slug], message.clone(), raw);
        if learnt.is_some() {
            self.history.start_over(&self.config);
            self.send_again(attempt + 1, notice, None);
        } else {
            self.give_up(&message);
        }
    }

    /// How many of the attempts directly before this one of the same exchange were corrected.
    fn corrected(&self, attempt: u32) -> usize {
        let attempts = self.book.turns.last().map_or(&[][..], |turn| turn.attempts.as_slice());
        let before = attempts.iter().rev().skip_while(|a| a.attempt >= attempt).zip((1..attempt).rev());
        before.take_while(|(a, n)| a.attempt == *n).filter(|(a, _)| a.correction.is_some()).count()
    }

    /// The model caused the failure: the next attempt follows at once, with a notice.
    pub(super) fn reply_unusable(&mut self, attempt: u32, slugs: Vec<Slug>, raw: Option<RawResponse>) {
        let notice = prompts::notice(self.policy(), self.offer(), &slugs);
        let message = format!("the model's reply was not usable ({})", join(&slugs));
        let cause = slugs.first().and_then(|slug| self.refused_call(attempt, *slug));
        // The attempt's own message stays as it is in records that exist: its calls are next to it.
        let error = cause.map_or_else(|| message.clone(), |cause| format!("{message}: {cause}"));
        self.fail_attempt(attempt, slugs, message, raw);
        self.try_again(attempt, notice, &error);
    }

    /// What was wrong with the first call of the attempt that was refused for this reason, and which tool it called.
    fn refused_call(&self, attempt: u32, slug: Slug) -> Option<String> {
        const MOST: usize = 600;
        let calls = self.book.turns.last()?.tool_calls.iter().filter(|call| call.attempt == attempt);
        let mut all = calls.flat_map(|call| std::iter::once(call).chain(&call.calls));
        let call = all.find(|call| call.slug == Some(slug))?;
        let error = call.error.as_deref()?;
        let (shown, cut) = match error.char_indices().nth(MOST) {
            Some((end, _)) => (error.get(..end)?, "\u{2026}"),
            None => (error, ""),
        };
        Some(format!("{}: {shown}{cut}", call.name))
    }

    /// The next attempt follows at once, if there is one.
    pub(super) fn try_again(&mut self, attempt: u32, notice: Option<String>, error: &str) {
        if attempt < self.attempts_allowed() {
            self.send_again(attempt + 1, notice, None);
        } else {
            self.attempts_used_up(error);
        }
    }

    /// The provider refused the request as too long: it is tried again with less; then the run concludes.
    fn overflowed(&mut self, attempt: u32, notice: Option<String>, error: &str) {
        match self.free_after_overflow() {
            Guard::Fits if attempt < self.attempts_allowed() => self.send_again(attempt + 1, notice, None),
            _ => self.outgrown(notice, error),
        }
    }

    /// No shorter request can be made.
    fn outgrown(&mut self, notice: Option<String>, error: &str) {
        match self.is_concluding() {
            true => self.give_up(error),
            false => self.conclude(Trigger::Context, notice),
        }
    }

    fn back_off(&mut self, attempt: u32, notice: Option<String>, ms: u64, error: &ModelError) {
        let until = Millis(self.clock.now.0.saturating_add(ms));
        let timer = self.sleep(ms);
        self.set_exchange(ModelExchange { attempt, notice, state: ExchangeState::Backoff { timer, ms, until } });
        self.record(RecordKind::Waiting { attempt, ms, slugs: vec![error.slug], message: error.message.clone() });
    }

    /// The last allowed attempt failed.
    fn attempts_used_up(&mut self, error: &str) {
        match self.policy().at_limit {
            AtLimit::ForcedFinal => self.end_without_report(error),
            AtLimit::Synthesis => self.give_up(error),
        }
    }

    /// No further attempt makes sense.
    fn give_up(&mut self, error: &str) {
        match self.is_synthesis() {
            true => self.synthesis_failed(error),
            false => self.end_llm_error(error),
        }
    }

    pub(super) fn attempts_allowed(&self) -> u32 {
        if self.is_synthesis() { self.config.synthesis_attempts() } else { self.config.max_attempts }
    }
}

/// The record of an attempt.
impl Run {
    /// The only function that logs a failed attempt: exactly one `WRN` each, before the next attempt begins.
    pub(super) fn fail_attempt(&mut self, attempt: u32, slugs: Vec<Slug>, message: String, raw: Option<RawResponse>) {
        self.close_attempt(|a| {
            a.slugs.clone_from(&slugs);
            a.error = Some(message.clone());
        });
        self.record(RecordKind::AttemptFailed { attempt, slugs: slugs.clone(), message: message.clone() });
        self.log(LogLevel::Warn, attempt, slugs, message, raw);
    }

    pub(super) fn log(
        &mut self,
        level: LogLevel,
        attempt: u32,
        slugs: Vec<Slug>,
        message: String,
        raw: Option<RawResponse>,
    ) {
        let (at_ms, turn) = (self.clock.now.0, self.turn());
        let (provider, model) = match self.config.providers.get(self.last_provider()) {
            Some(p) => (p.kind.as_str().to_owned(), p.model.clone()),
            None => Default::default(),
        };
        let log = LogRecord { level, at_ms, turn, attempt, slugs, message, provider, model, raw };
        self.book.logs.push(log.clone());
        self.record(RecordKind::Log { log });
    }

    /// Records that the open request has ended; `fill` records what is known about it.
    pub(super) fn close_attempt(&mut self, fill: impl FnOnce(&mut AttemptRecord)) {
        let now = self.clock.now.0;
        if let Some(attempt) = self.book.turns.last_mut().and_then(|t| t.attempts.last_mut()) {
            attempt.duration_ms.get_or_insert(now.saturating_sub(attempt.started_ms));
            fill(attempt);
        }
    }

    /// Records what the open request has streamed so far.
    pub(super) fn set_partial(&mut self, partial: Option<PartialReply>) {
        if let Some(attempt) = self.book.turns.last_mut().and_then(|t| t.attempts.last_mut()) {
            attempt.partial = partial.filter(|partial| !partial.is_empty());
        }
    }

    /// The index of the provider of the last request.
    pub(super) fn last_provider(&self) -> usize {
        self.book.turns.last().and_then(|t| t.attempts.last()).map_or(0, |a| a.provider)
    }
}

pub(super) fn join(slugs: &[Slug]) -> String {
    slugs.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(", ")
}
