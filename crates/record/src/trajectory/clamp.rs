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

// The configuration is taken apart without `..`, so that a new field does not compile before it is decided here.

fn config(config: &mut RunConfig) {
    let RunConfig {
        preset: _,
        system: _,
        temperature: _,
        top_p: _,
        reasoning: _,
        tool_choice: _,
        max_turns,
        max_attempts,
        counter,
        synthesis,
        providers,
        report: _,
        tools: _,
        agents,
        skills: _,
        permissions: _,
        limits: bounds,
        retry: waits,
        adjusted: _,
        shortens: _,
        seed: _,
    } = config;
    count(max_turns);
    count(max_attempts);
    if let Some(CounterConfig { moderate_at, urgent_at, templates: _ }) = counter {
        count(moderate_at);
        count(urgent_at);
    }
    if let Some(SynthesisConfig { role: _, numbered: _, prompt: _, on_error: _, attempts }) = synthesis {
        count(attempts);
    }
    providers.iter_mut().for_each(provider);
    for kind in agents {
        let SubagentKind { name: _, description: _, preset: _, system: _, tools: _, skills: _, max_turns, counter: _ } =
            kind;
        count(max_turns);
    }
    limits(bounds);
    retry(waits);
}

fn authority(adopter: &mut Authority) {
    let Authority {
        providers,
        tools: _,
        skills: _,
        permissions: _,
        limits: bounds,
        retry: waits,
        max_turns,
        max_attempts,
        synthesis_attempts,
    } = adopter;
    [max_turns, max_attempts, synthesis_attempts].into_iter().for_each(count);
    providers.iter_mut().for_each(provider);
    limits(bounds);
    retry(waits);
}

fn retry(retry: &mut RetryConfig) {
    let RetryConfig { base_ms, cap_ms, rate_limit_ms, retry_after_cap_ms } = retry;
    [base_ms, cap_ms, rate_limit_ms, retry_after_cap_ms].into_iter().for_each(wide);
}

fn provider(provider: &mut ProviderConfig) {
    let ProviderConfig { kind: _, base_url: _, model: _, max_output_tokens, demo: _, price, provider_options: _ } =
        provider;
    max_output_tokens.iter_mut().for_each(count);
    if let Some(Price { input, output, cached }) = price {
        [input, output, cached].into_iter().for_each(dollars);
    }
}

fn limits(limits: &mut Limits) {
    let Limits {
        tool_timeout_ms,
        parallel_tools,
        tool_calls_per_turn,
        max_result_chars,
        children,
        child_ms,
        headers_ms,
        first_token_ms,
        request_ms,
        idle_ms,
        wall_ms,
        tokens,
        cost,
        context_tokens,
    } = limits;
    [parallel_tools, tool_calls_per_turn, children].into_iter().for_each(count);
    *max_result_chars = (*max_result_chars).min(MAX_COUNT as usize);
    let times = [tool_timeout_ms, child_ms, headers_ms, first_token_ms, request_ms, idle_ms];
    times.into_iter().for_each(wide);
    [wall_ms, tokens, context_tokens].into_iter().flatten().for_each(wide);
    cost.iter_mut().for_each(dollars);
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
        | Event::Cancelled { .. } => {}
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
