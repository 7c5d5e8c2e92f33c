//! Clamps the numbers of a document that is read to values that a run can reach.
//!
//! A record can come from anywhere, and its numbers are added, multiplied and drawn. The limits are far above those of any
//! real run, so our own documents are read unchanged, and low enough that the sum of a few numbers never overflows.

use super::{RecordedEvent, Trajectory};
use crate::engine::*;

/// Turns, attempts, requests, and other counts.
const MAX_COUNT: u32 = 1_000_000_000;
/// Times in milliseconds, and tokens: the largest integer that a JSON number holds exactly.
const MAX_WIDE: u64 = (1 << 53) - 1;
/// The end of the year 9999.
const MAX_EPOCH_MS: u64 = 253_402_300_799_999;
/// US dollars.
const MAX_COST: f64 = 1e9;

/// Clamps every number of the document and of its sub-agents.
pub fn document(of: &mut Trajectory) {
    for number in [&mut of.max_turns, &mut of.effective_max_turns, &mut of.total_turns, &mut of.requests] {
        count(number);
    }
    epoch(&mut of.started_ms);
    usage(&mut of.tokens);
    config(&mut of.config);
    of.started_with.iter_mut().for_each(config);
    of.parent.iter_mut().for_each(|parent| count(&mut parent.turn));
    of.turns.iter_mut().for_each(turn);
    for ending in &mut of.segments {
        for number in [&mut ending.max_turns, &mut ending.effective_max_turns, &mut ending.total_turns] {
            count(number);
        }
    }
    for trace in &mut of.traces {
        count(&mut trace.turn);
        wide(&mut trace.at_ms);
    }
    for log in &mut of.logs {
        count(&mut log.turn);
        count(&mut log.attempt);
        wide(&mut log.at_ms);
    }
    of.events.iter_mut().for_each(event);
    of.children.iter_mut().for_each(document);
}

fn config(of: &mut RunConfig) {
    count(&mut of.max_turns);
    count(&mut of.max_attempts);
    if let Some(counter) = &mut of.counter {
        count(&mut counter.moderate_at);
        count(&mut counter.urgent_at);
    }
    of.synthesis.iter_mut().for_each(|synthesis| count(&mut synthesis.attempts));
    of.providers.iter_mut().for_each(provider);
    of.agents.iter_mut().for_each(|agent| count(&mut agent.max_turns));
    limits(&mut of.limits);
    for number in
        [&mut of.retry.base_ms, &mut of.retry.cap_ms, &mut of.retry.retry_after_cap_ms, &mut of.retry.rate_limit_ms]
    {
        wide(number);
    }
}

fn provider(of: &mut ProviderConfig) {
    of.max_output_tokens.iter_mut().for_each(count);
    if let Some(price) = &mut of.price {
        [&mut price.input, &mut price.output, &mut price.cached].into_iter().for_each(dollars);
    }
}

fn limits(of: &mut Limits) {
    for number in [&mut of.parallel_tools, &mut of.tool_calls_per_turn, &mut of.children] {
        count(number);
    }
    of.max_result_chars = of.max_result_chars.min(MAX_COUNT as usize);
    let times = [
        &mut of.tool_timeout_ms,
        &mut of.child_ms,
        &mut of.headers_ms,
        &mut of.first_token_ms,
        &mut of.request_ms,
        &mut of.idle_ms,
    ];
    times.into_iter().for_each(wide);
    for number in [&mut of.wall_ms, &mut of.tokens, &mut of.context_tokens] {
        number.iter_mut().for_each(wide);
    }
    of.cost.iter_mut().for_each(dollars);
}

fn turn(of: &mut TurnRecord) {
    count(&mut of.turn);
    of.tool_calls.iter_mut().for_each(call);
    for attempt in &mut of.attempts {
        count(&mut attempt.attempt);
        wide(&mut attempt.started_ms);
        for number in [&mut attempt.duration_ms, &mut attempt.first_token_ms, &mut attempt.waited_ms] {
            number.iter_mut().for_each(wide);
        }
        attempt.usage.iter_mut().for_each(usage);
    }
}

fn call(of: &mut CallRecord) {
    count(&mut of.attempt);
    wide(&mut of.started_ms);
    of.duration_ms.iter_mut().for_each(wide);
    of.calls.iter_mut().for_each(call);
}

fn event(of: &mut RecordedEvent) {
    wide(&mut of.at_ms.0);
    match &mut of.event {
        Event::ModelReplied { reply, first_token_ms, .. } => {
            reply.usage.iter_mut().for_each(usage);
            first_token_ms.iter_mut().for_each(wide);
        }
        Event::ModelFailed { error, .. } => error.retry_after_ms.iter_mut().for_each(wide),
        Event::ToolFinished { outcome: ToolOutcome::TimedOut { after_ms }, .. } => wide(after_ms),
        Event::TurnsGranted { turns } => count(turns),
        Event::Resumed { at } => epoch(at),
        Event::Branched(branch) => {
            epoch(&mut branch.at);
            count(&mut branch.parent.turn);
            branch.max_turns.iter_mut().for_each(count);
            branch.limits.iter_mut().for_each(limits);
            branch.providers.iter_mut().flatten().for_each(provider);
            branch.reply.iter_mut().filter_map(|reply| reply.usage.as_mut()).for_each(usage);
        }
        Event::ModelStreamed { .. }
        | Event::ToolFinished { .. }
        | Event::TimerFired { .. }
        | Event::StopRequested
        | Event::Cancelled => {}
    }
}

fn usage(of: &mut Usage) {
    for tokens in [&mut of.input, &mut of.output, &mut of.cached, &mut of.reasoning] {
        wide(&mut tokens.0);
    }
}

fn count(number: &mut u32) {
    *number = (*number).min(MAX_COUNT);
}

fn wide(number: &mut u64) {
    *number = (*number).min(MAX_WIDE);
}

fn epoch(time: &mut EpochMillis) {
    time.0 = time.0.min(MAX_EPOCH_MS);
}

/// A long string of digits can parse as infinity.
fn dollars(number: &mut f64) {
    *number = number.clamp(0.0, MAX_COST);
}
