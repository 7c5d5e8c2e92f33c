//! Clamps the numbers of a document that is read to values that a run can reach.
//!
//! A record can come from anywhere, and its numbers are added, multiplied and drawn. The limits are far above those of any
//! real run, so our own documents are read unchanged, and low enough that the sum of a few numbers never overflows.

use super::notes::{MAX_NOTE, MAX_NOTES};
use super::{Note, RecordedEvent, Trajectory};
use turnwise_engine::*;

/// Turns, attempts, requests, and other counts.
const MAX_COUNT: u32 = 1_000_000_000;
/// Times in milliseconds, and tokens: the largest integer that a JSON number holds exactly.
const MAX_WIDE: u64 = (1 << 53) - 1;
/// The end of the year 9999.
const MAX_EPOCH_MS: u64 = 253_402_300_799_999;
/// US dollars.
const MAX_COST: f64 = 1e9;

/// Clamps every number of the document and of its sub-agents.
pub fn document(trajectory: &mut Trajectory) {
    for number in [
        &mut trajectory.max_turns,
        &mut trajectory.effective_max_turns,
        &mut trajectory.total_turns,
        &mut trajectory.requests,
    ] {
        count(number);
    }
    epoch(&mut trajectory.started_ms);
    usage(&mut trajectory.tokens);
    config(&mut trajectory.config);
    trajectory.started_with.iter_mut().for_each(config);
    trajectory.parent.iter_mut().for_each(|parent| count(&mut parent.turn));
    trajectory.turns.iter_mut().for_each(turn);
    for ending in &mut trajectory.segments {
        for number in [&mut ending.max_turns, &mut ending.effective_max_turns, &mut ending.total_turns] {
            count(number);
        }
    }
    for trace in &mut trajectory.traces {
        count(&mut trace.turn);
        wide(&mut trace.at_ms);
    }
    for log in &mut trajectory.logs {
        count(&mut log.turn);
        count(&mut log.attempt);
        wide(&mut log.at_ms);
    }
    trajectory.refused_tokens.iter_mut().for_each(wide);
    trajectory.events.iter_mut().for_each(event);
    trajectory.notes.truncate(MAX_NOTES);
    trajectory.notes.iter_mut().for_each(note);
    trajectory.children.iter_mut().for_each(document);
}

fn config(config: &mut RunConfig) {
    count(&mut config.max_turns);
    count(&mut config.max_attempts);
    if let Some(counter) = &mut config.counter {
        count(&mut counter.moderate_at);
        count(&mut counter.urgent_at);
    }
    config.synthesis.iter_mut().for_each(|synthesis| count(&mut synthesis.attempts));
    config.providers.iter_mut().for_each(provider);
    config.agents.iter_mut().for_each(|agent| count(&mut agent.max_turns));
    limits(&mut config.limits);
    retry(&mut config.retry);
}

fn authority(adopter: &mut Authority) {
    for number in [&mut adopter.max_turns, &mut adopter.max_attempts, &mut adopter.synthesis_attempts] {
        count(number);
    }
    adopter.providers.iter_mut().for_each(provider);
    limits(&mut adopter.limits);
    retry(&mut adopter.retry);
}

fn retry(retry: &mut RetryConfig) {
    for number in [&mut retry.base_ms, &mut retry.cap_ms, &mut retry.retry_after_cap_ms, &mut retry.rate_limit_ms] {
        wide(number);
    }
}

fn provider(provider: &mut ProviderConfig) {
    provider.max_output_tokens.iter_mut().for_each(count);
    if let Some(price) = &mut provider.price {
        [&mut price.input, &mut price.output, &mut price.cached].into_iter().for_each(dollars);
    }
}

fn limits(limits: &mut Limits) {
    for number in [&mut limits.parallel_tools, &mut limits.tool_calls_per_turn, &mut limits.children] {
        count(number);
    }
    limits.max_result_chars = limits.max_result_chars.min(MAX_COUNT as usize);
    let times = [
        &mut limits.tool_timeout_ms,
        &mut limits.child_ms,
        &mut limits.headers_ms,
        &mut limits.first_token_ms,
        &mut limits.request_ms,
        &mut limits.idle_ms,
    ];
    times.into_iter().for_each(wide);
    for number in [&mut limits.wall_ms, &mut limits.tokens, &mut limits.context_tokens] {
        number.iter_mut().for_each(wide);
    }
    limits.cost.iter_mut().for_each(dollars);
}

fn turn(record: &mut TurnRecord) {
    count(&mut record.turn);
    record.tool_calls.iter_mut().for_each(call);
    for attempt in &mut record.attempts {
        count(&mut attempt.attempt);
        count(&mut attempt.left_out);
        wide(&mut attempt.started_ms);
        for number in [&mut attempt.duration_ms, &mut attempt.first_token_ms, &mut attempt.waited_ms] {
            number.iter_mut().for_each(wide);
        }
        attempt.usage.iter_mut().for_each(usage);
    }
}

fn call(record: &mut CallRecord) {
    count(&mut record.attempt);
    wide(&mut record.started_ms);
    record.duration_ms.iter_mut().for_each(wide);
    record.calls.iter_mut().for_each(call);
}

fn event(recorded: &mut RecordedEvent) {
    wide(&mut recorded.at_ms.0);
    match &mut recorded.event {
        Event::ModelReplied { reply, first_token_ms, .. } => {
            reply.usage.iter_mut().for_each(usage);
            first_token_ms.iter_mut().for_each(wide);
        }
        Event::ModelFailed { error, .. } => error.retry_after_ms.iter_mut().for_each(wide),
        Event::ToolFinished { outcome: ToolOutcome::TimedOut { after_ms }, .. } => wide(after_ms),
        Event::TurnsGranted { turns } => count(turns),
        Event::Resumed { at, authority: adopter } => {
            epoch(at);
            adopter.iter_mut().for_each(|adopter| authority(adopter));
        }
        Event::Branched(branch) => {
            epoch(&mut branch.at);
            count(&mut branch.parent.turn);
            branch.max_turns.iter_mut().for_each(count);
            branch.limits.iter_mut().for_each(limits);
            branch.authority.iter_mut().for_each(|adopter| authority(adopter));
            branch.providers.iter_mut().flatten().for_each(provider);
            branch.reply.iter_mut().filter_map(|reply| reply.usage.as_mut()).for_each(usage);
        }
        Event::ModelStreamed { .. }
        | Event::ToolFinished { .. }
        | Event::ToolAsked { .. }
        | Event::Permitted { .. }
        | Event::PermissionsSet { .. }
        | Event::TimerFired { .. }
        | Event::StopRequested
        | Event::Cancelled => {}
    }
}

fn note(note: &mut Note) {
    count(&mut note.turn);
    if let Some((end, _)) = note.text.char_indices().nth(MAX_NOTE) {
        note.text.truncate(end);
    }
}

fn usage(usage: &mut Usage) {
    for tokens in [&mut usage.input, &mut usage.output, &mut usage.cached, &mut usage.reasoning] {
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
