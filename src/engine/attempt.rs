//! One LLM request of a turn: sent, answered, failed, waited for and sent again.

use super::context::Guard;
use super::failure::Slug;
use super::notice;
use super::retry::{self, Decision};
use super::run::{Phase, Run};
use super::success::{AtLimit, Completion, Offer, Verdict, judge_text};
use super::synthesis;
use super::*;

impl Run {
    /// Sends attempt `attempt` of the open turn.
    pub(super) fn send(&mut self, attempt: u32, waited_ms: Option<u64>) {
        // A few timers are left for what its end needs.
        if self.requests >= MAX_OWN || self.timers >= MAX_OWN - 4 {
            return self.given_up("the run has made as many requests as one run can make");
        }
        self.requests += 1;
        let request = RequestId::of(self.task.child, self.requests);
        self.phase = Phase::Calling { attempt, request };
        let provider = (attempt as usize - 1) % self.config.providers.len().max(1);
        let (mut tail, tools) = match (&self.synthesis, &self.config.synthesis) {
            (Some(s), Some(c)) => (vec![synthesis::prompt(self.config.preset, c, s.trigger)], ToolChoice::None),
            _ if self.offer() == Offer::ReportOnly => (Vec::new(), ToolChoice::Report),
            _ => (Vec::new(), self.asked_tool()),
        };
        tail.extend(self.notice.clone().map(Message::user));
        let chosen = self.config.providers.get(provider).cloned().unwrap_or_default();
        let sent = self.history.send(&chosen, &tail, tools);
        let record = AttemptRecord {
            attempt,
            request,
            provider,
            slugs: Vec::new(),
            error: None,
            request_hash: sent.request_hash,
            usage: None,
            started_ms: self.now.0,
            duration_ms: None,
            first_token_ms: None,
            waited_ms,
            notice: self.notice.clone(),
            partial: None,
        };
        let turn = self.turn();
        if let Some(open) = self.turns.last_mut() {
            open.attempts.push(record);
        }
        if self.synthesis.is_some() {
            self.trace("llm_call", serde_json::json!({ "attempt": attempt }));
        }
        self.record(RecordKind::AttemptStarted { attempt, request });
        let Outgoing { base, append, .. } = sent;
        self.emit(Effect::CallModel(ModelCall { request, turn, attempt, provider, base, append, tail, tools }));
    }

    /// How the run's `tool_choice` changes a request that offers all tools.
    fn asked_tool(&self) -> ToolChoice {
        let (tools, strict) = (&self.config.tools, self.policy().completion == Completion::Report);
        // A notice of a strict run may ask for the report.
        let forces = self.turn() == 1 && !(strict && self.notice.is_some());
        let applies = match &self.config.tool_choice {
            None => false,
            Some(AskedTool::Auto) => true,
            Some(AskedTool::None) => !strict,
            Some(AskedTool::Required) => forces,
            Some(asked @ AskedTool::Tool(_)) => forces && tools.iter().any(|tool| asked.allows(tool)),
        };
        if applies && !tools.is_empty() { ToolChoice::Asked } else { ToolChoice::Auto }
    }

    /// Sends a further attempt, unless a budget was used up meanwhile.
    pub(super) fn send_again(&mut self, attempt: u32, waited_ms: Option<u64>) {
        match self.spent() {
            Some(trigger) if !self.concluding() => self.conclude(trigger),
            _ => self.send(attempt, waited_ms),
        }
    }

    /// The open request was answered by a whole reply.
    pub(super) fn replied(
        &mut self,
        attempt: u32,
        reply: Reply,
        raw: Option<RawResponse>,
        first_token_ms: Option<u64>,
    ) {
        self.notice = None;
        let usage = reply.usage.unwrap_or_else(|| self.estimate(&reply));
        self.add_usage(usage);
        self.close_attempt(|a| {
            a.usage = Some(usage);
            a.first_token_ms = first_token_ms;
            a.partial = None;
        });
        let bytes = self.history.bytes();
        self.weigh_reply(attempt, reply, raw);
        self.count_context(usage, bytes, self.history.bytes());
    }

    fn weigh_reply(&mut self, attempt: u32, reply: Reply, raw: Option<RawResponse>) {
        if self.synthesis.is_some() {
            return self.synthesis_replied(attempt, reply, raw);
        }
        if !reply.tool_calls.is_empty() {
            return self.begin_calls(attempt, reply, raw);
        }
        match judge_text(self.policy(), self.offer(), &reply) {
            Verdict::Complete => self.complete(reply),
            Verdict::GoOn(slugs) => {
                self.enter(reply, Vec::new());
                self.notice = notice::text(self.policy(), self.offer(), &slugs);
                self.turn_done();
            }
            Verdict::Failed(slugs) => self.model_failed(attempt, slugs, raw),
        }
    }

    /// The open request gave no reply.
    pub(super) fn request_failed(&mut self, attempt: u32, error: &ModelError, raw: Option<RawResponse>) {
        self.close_attempt(|a| a.partial = None);
        self.fail_attempt(attempt, vec![error.slug], error.message.clone(), raw);
        if error.slug == Slug::ContextGuard {
            return self.overflowed(attempt, &error.message);
        }
        let decision = retry::decide(&self.config.retry, error, attempt, &mut self.rng);
        match decision {
            Decision::Wait { ms } if attempt < self.attempts_allowed() => self.wait(attempt + 1, ms, error),
            Decision::Wait { .. } => self.attempts_used_up(&self.no_attempt_left(&error.message)),
            Decision::GiveUp => self.given_up(&give_up_message(error)),
        }
    }

    /// An attempt failed by the model's own doing: the next one follows at once, with a notice.
    pub(super) fn model_failed(&mut self, attempt: u32, slugs: Vec<Slug>, raw: Option<RawResponse>) {
        self.notice = notice::text(self.policy(), self.offer(), &slugs);
        let message = format!("the model's reply was not usable ({})", join(&slugs));
        self.fail_attempt(attempt, slugs, message.clone(), raw);
        self.try_again(attempt, &message);
    }

    /// The next attempt follows at once, if there is one.
    pub(super) fn try_again(&mut self, attempt: u32, error: &str) {
        if attempt < self.attempts_allowed() {
            self.send_again(attempt + 1, None);
        } else {
            self.attempts_used_up(error);
        }
    }

    /// A reply enters the history for good.
    pub(super) fn enter(&mut self, reply: Reply, tool_calls: Vec<ToolCall>) {
        if let Some(turn) = self.turns.last_mut() {
            turn.content.clone_from(&reply.content);
            turn.reasoning.clone_from(&reply.reasoning);
        }
        let Reply { content, reasoning, opaque, .. } = reply;
        self.history.push(Message::Assistant(AssistantMessage { content, reasoning, tool_calls, opaque }));
    }

    /// The one function that logs a failed attempt: exactly one `WRN` each, before the next attempt begins.
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
        let index = self.turns.last().and_then(|t| t.attempts.last()).map_or(0, |a| a.provider);
        let (provider, model) = match self.config.providers.get(index) {
            Some(p) => (p.kind.as_str().to_owned(), p.model.clone()),
            None => Default::default(),
        };
        let log =
            LogRecord { level, at_ms: self.now.0, turn: self.turn(), attempt, slugs, message, provider, model, raw };
        self.logs.push(log.clone());
        self.record(RecordKind::Log { log });
    }

    /// The attempt's request has ended; `fill` records what is known about it.
    pub(super) fn close_attempt(&mut self, fill: impl FnOnce(&mut AttemptRecord)) {
        let now = self.now.0;
        if let Some(attempt) = self.turns.last_mut().and_then(|t| t.attempts.last_mut()) {
            attempt.duration_ms.get_or_insert(now.saturating_sub(attempt.started_ms));
            fill(attempt);
        }
    }

    /// What the open request has streamed so far.
    pub(super) fn set_partial(&mut self, partial: Option<PartialReply>) {
        if let Some(attempt) = self.turns.last_mut().and_then(|t| t.attempts.last_mut()) {
            attempt.partial = partial.filter(|partial| !partial.is_empty());
        }
    }

    /// The provider refused the request as too long: once a turn it is tried again with less, then the run concludes.
    fn overflowed(&mut self, attempt: u32, error: &str) {
        match self.free_after_overflow() {
            Guard::Fits if attempt < self.attempts_allowed() => self.send_again(attempt + 1, None),
            _ if self.concluding() => self.given_up(error),
            _ => self.conclude(Trigger::Context),
        }
    }

    fn wait(&mut self, attempt: u32, ms: u64, error: &ModelError) {
        let until = Millis(self.now.0.saturating_add(ms));
        let timer = self.sleep(ms);
        self.phase = Phase::Waiting { attempt, timer, ms, until };
        self.record(RecordKind::Waiting { attempt, ms, slugs: vec![error.slug], message: error.message.clone() });
    }

    /// The message for a failure whose retries failed too. Other reports mention it among other things.
    fn no_attempt_left(&self, error: &str) -> String {
        let n = self.attempts_allowed();
        if self.synthesis.is_some() || self.policy().at_limit == AtLimit::ForcedFinal {
            return error.to_owned();
        }
        let stop = if error.ends_with(['.', '!', '?', '…', ')']) { "" } else { "." };
        format!("{error}{stop} No attempts left ({n} of {n}): try again later, or choose another model or provider.")
    }

    /// The last attempt that may be made failed.
    fn attempts_used_up(&mut self, error: &str) {
        match self.policy().at_limit {
            AtLimit::ForcedFinal => self.end_without_report(error),
            AtLimit::Synthesis => self.given_up(error),
        }
    }

    /// No further attempt makes sense.
    fn given_up(&mut self, error: &str) {
        match self.synthesis.is_some() {
            true => self.synthesis_failed(error),
            false => self.end_llm_error(error),
        }
    }

    fn attempts_allowed(&self) -> u32 {
        if self.synthesis.is_some() { self.config.synthesis_attempts() } else { self.config.max_attempts }
    }

    fn add_usage(&mut self, usage: Usage) {
        self.usage = self.usage.plus(usage);
        let provider = self.turns.last().and_then(|t| t.attempts.last()).map_or(0, |a| a.provider);
        self.add_cost(provider, usage);
    }

    /// About four bytes a token, where the provider gives no usage.
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

fn give_up_message(error: &ModelError) -> String {
    match (error.retry, error.retry_after_ms) {
        (Retry::Yes, Some(ms)) => {
            format!(
                "{} The server asks to wait {} s, which is longer than this run waits. Start it again after that time.",
                error.message,
                ms.div_ceil(1000)
            )
        }
        _ => error.message.clone(),
    }
}

pub(super) fn join(slugs: &[Slug]) -> String {
    slugs.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(", ")
}
