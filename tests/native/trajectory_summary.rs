//! The figures of a run: from the run and from its document, and what each figure counts.

use crate::support::tree::*;
use crate::support::*;
use serde_json::json;
use turnwise_engine::*;
use turnwise_record::trajectory::RunSummary;

/// Checks that the run and its document give the same figures, also after a round trip through JSON.
fn summary(played: &Played) -> RunSummary {
    let summary = RunSummary::of_run(played.run());
    assert_eq!(summary, RunSummary::from(&played.document()));
    assert_eq!(serde_json::from_value::<RunSummary>(json!(summary)).unwrap(), summary);
    summary
}

fn counts(of: &std::collections::BTreeMap<String, u32>) -> Vec<(&str, u32)> {
    of.iter().map(|(slug, count)| (slug.as_str(), *count)).collect()
}

#[test]
fn failed_attempts_and_calls_are_counted_by_slug() {
    let played = play(
        RunConfig { max_turns: 2, ..config(Preset::Research) },
        vec![
            Step::Fail(error(Slug::ProviderError, Retry::Yes)),
            Step::Timer(None),
            Step::Fail(ModelError { retry_after_ms: Some(300), ..error(Slug::RateLimited, Retry::Yes) }),
            Step::Timer(None),
            calls("", &[("a", "search", "{}"), ("b", "bash", "{}"), ("c", "read", "{}")]),
            Step::Tool("search", ToolOutcome::TimedOut { after_ms: 30_000 }),
            executed("read", "y"),
            text(" "),
            text("the answer"),
        ],
    );
    let summary = summary(&played);
    assert_eq!(counts(&summary.failed_attempts), [("empty_response", 1), ("provider_error", 1), ("rate_limited", 1)]);
    assert_eq!(counts(&summary.tool_failures), [("timeout", 1), ("unknown_tool", 1)]);
    assert_eq!((summary.tool_calls, summary.requests), (3, 5));
    assert_eq!(
        (summary.termination_reason, summary.outcome),
        (Some(TerminationReason::LlmComplete), Some(Outcome::Success))
    );
    // The retry waits come from the seed.
    assert_eq!((summary.started_ms, summary.duration_ms), (1_795_298_400_000, Some(472)));
}

#[test]
fn a_numbered_synthesis_is_a_turn_in_all_but_none_of_the_limit() {
    let script = vec![calls("", &[("a", "search", "{}")]), executed("search", "x"), text("so far")];
    let one = |preset| summary(&play(RunConfig { max_turns: 1, ..config(preset) }, script.clone()));
    let research = one(Preset::Research);
    assert_eq!((research.total_turns, research.turns_used, research.max_turns), (2, 1, 1));
    let orchestrator = one(Preset::Orchestrator);
    assert_eq!((orchestrator.total_turns, orchestrator.turns_used), (1, 1));
}

#[test]
fn the_cost_is_the_runs_own_and_unknown_where_a_price_is() {
    let usage = Usage {
        input: TokenCount(1_000_000),
        output: TokenCount(100_000),
        cached: TokenCount(400_000),
        ..Usage::default()
    };
    let reply = || Step::Reply(Reply { content: "yes".into(), usage: Some(usage), ..Reply::default() });
    let mut config = config(Preset::Research);
    config.providers = vec![ProviderConfig::default(); 2];
    config.providers[0].price = Some(Price { input: 3.0, output: 15.0, cached: 0.3 });
    let played = play(config.clone(), vec![reply()]);
    assert_eq!(summary(&played).cost, played.run().cost());
    assert!((summary(&played).cost.unwrap() - 3.42).abs() < 1e-9);
    let second = vec![Step::Fail(error(Slug::ProviderError, Retry::Yes)), Step::Timer(None), reply()];
    assert_eq!(summary(&play(config, second)).cost, None);
}

#[test]
fn what_was_stopped_or_cancelled_did_not_fail() {
    let summary = summary(&play(config(Preset::Research), vec![calls("", &[("a", "search", "{}")]), Step::Cancel]));
    assert_eq!((summary.tool_calls, summary.outcome), (1, Some(Outcome::Cancelled)));
    assert!(summary.tool_failures.is_empty() && summary.failed_attempts.is_empty());
}

#[test]
fn an_open_run_has_no_end_and_a_granted_one_the_last() {
    let open = summary(&play_open(config(Preset::Research), vec![calls("", &[("a", "search", "{}")])]));
    assert_eq!((open.finished_ms, open.duration_ms, open.termination_reason, open.outcome), (None, None, None, None));
    let limited = RunConfig { max_turns: 1, ..config(Preset::Research) };
    let script = vec![
        calls("", &[("a", "search", "{}")]),
        executed("search", "x"),
        text("so far"),
        Step::Grant(3),
        text("done"),
    ];
    let granted = summary(&play(limited, script));
    assert_eq!((granted.max_turns, granted.effective_max_turns, granted.turns_used), (1, 5, 3));
    assert_eq!(granted.outcome, Some(Outcome::Success));
}

#[test]
fn sub_agents_count_for_the_run_that_started_them() {
    let tree =
        Tree::new(spawning(Preset::Research)).play(|call| match (call.request.child(), call.attempt, call.turn) {
            (0, _, 1) => Ok(spawn_call(&tasks(2))),
            (0, ..) => Ok(says("both are back")),
            (1, 1, _) => Err(ModelError { retry: Retry::Fatal, ..error(Slug::AuthError, Retry::Fatal) }),
            (_, _, 1) => Ok(reply_call("search", "{}")),
            _ => Ok(says("found")),
        });
    let summary = RunSummary::of_run(tree.run());
    assert_eq!(summary, RunSummary::from(&tree.recorder.document()));
    assert_eq!((summary.children, summary.requests, summary.tool_calls), (2, 5, 2));
    assert_eq!(counts(&summary.failed_attempts), [("auth_error", 1)]);
}

#[test]
fn a_title_is_the_first_line_that_says_something() {
    let of = |input: &str| {
        let (run, _) = Run::start(config(Preset::Research), Task { input: input.into(), ..task() });
        RunSummary::of_run(&run).title
    };
    assert_eq!(of("\n  Compare both \nin detail"), "Compare both");
    assert_eq!(of(" "), "");
    let long = of(&"é".repeat(200));
    assert_eq!((long.chars().count(), long.ends_with('…')), (120, true));
    assert_eq!(of(&"é".repeat(120)).chars().count(), 120);
}

#[test]
fn a_time_reads_back_to_the_millisecond() {
    for ms in [0, 1, 951_782_399_999, 951_782_400_000, 1_709_164_800_000, 1_795_298_400_123, 4_102_444_799_999] {
        assert_eq!(time::parse(&time::rfc3339(EpochMillis(ms))), Some(EpochMillis(ms)));
    }
    // Every day of a cycle of 400 years.
    for at in (0..146_097).map(|day| EpochMillis(day * 86_400_000)) {
        assert_eq!(time::parse(&time::rfc3339(at)), Some(at));
    }
    assert_eq!(time::parse("2026-11-21T22:00:00Z"), Some(EpochMillis(1_795_298_400_000)));
    assert_eq!(time::parse("2026-11-21T22:00:00.5Z"), Some(EpochMillis(1_795_298_400_500)));
    for bad in
        ["", "Z", "2026-11-21", "2026-13-21T22:00:00Z", "2026-11-21T25:00:00Z", "1969-12-31T23:59:59Z", "x-y-zTa:b:cZ"]
    {
        assert_eq!(time::parse(bad), None, "{bad}");
    }
}
