//! Invariants of every run that has ended, whatever happened in it.

use std::collections::BTreeSet;

use turnwise_engine::*;

/// Checks the invariants of a run that has ended, including a sub-agent's.
pub fn check_one(run: &Run, failed_attempts: usize) {
    check_calls(run.messages());
    let count = |level| run.logs().iter().filter(|l| l.level == level).count();
    assert_eq!(count(LogLevel::Warn), failed_attempts, "one WRN a failed attempt");
    let failed = run.segments().iter().filter(|s| s.outcome == Outcome::Failed).count();
    assert_eq!(count(LogLevel::Error), failed, "one ERR a failed segment");
    assert!(run.segments().iter().all(|s| !s.output.is_empty()), "a run without a report");
    for turn in run.turns() {
        for call in turn.tool_calls.iter().flat_map(|c| std::iter::once(c).chain(&c.calls)) {
            assert!(call.result.is_some() && call.duration_ms.is_some(), "an unanswered call: {call:?}");
        }
        let last = turn.tool_calls.last().and_then(|c| c.result.as_ref());
        if let (Some(result), Some(_)) = (last, &run.config().counter) {
            // The last line is the counter's, whatever comes before it.
            assert!(result.lines().last().unwrap().starts_with(&format!("[Turn {}/", turn.turn)), "{result}");
        }
    }
}

/// In `strict`, the last turn is within `max_turns`: nothing comes after it.
pub fn synthesis_attempts(config: &RunConfig) -> u32 {
    match (config.preset, &config.synthesis) {
        (Preset::Strict, _) | (_, None) => 0,
        (_, Some(synthesis)) => synthesis.attempts,
    }
}

/// Checks that every call is answered exactly once, in the order of the calls, right after the reply that made them.
pub fn check_calls(messages: &[Message]) {
    let mut ids = BTreeSet::new();
    let mut expected: Vec<CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Tool(tool) => {
                assert!(!expected.is_empty(), "an answer nobody asked for");
                assert_eq!(tool.call_id, expected.remove(0), "answered in the order of the calls");
            }
            other => {
                assert!(expected.is_empty(), "unanswered calls before {other:?}");
                if let Message::Assistant(a) = other {
                    for call in &a.tool_calls {
                        let valid = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                        assert!(!call.id.0.is_empty() && call.id.0.bytes().all(valid), "{}", call.id);
                        assert!(ids.insert(call.id.clone()), "{} is used twice", call.id);
                    }
                    expected = a.tool_calls.iter().map(|c| c.id.clone()).collect();
                }
            }
        }
    }
    assert!(expected.is_empty(), "unanswered calls at the end");
}
