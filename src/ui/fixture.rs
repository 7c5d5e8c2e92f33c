//! Hand-made runs for looking at the page (development builds only).

use leptos::prelude::{ArcRwSignal, Set, Update};
use serde_json::{Value, json};

use crate::engine::*;
use crate::view::{RailView, Source};

use super::state::{App, Page, Thread};

fn call(name: &str, args: Value, result: Option<&str>, ms: u64) -> CallRecord {
    CallRecord {
        id: CallId("c".into()),
        model_id: None,
        name: name.into(),
        args,
        result: result.map(Into::into),
        is_final: false,
        error: None,
        slug: None,
        attempt: 1,
        started_ms: 0,
        duration_ms: result.map(|_| ms),
    }
}
fn attempt(n: u32, slugs: Vec<Slug>, error: Option<&str>, waited: Option<u64>) -> AttemptRecord {
    AttemptRecord {
        attempt: n,
        request: RequestId(n),
        provider: 0,
        slugs,
        error: error.map(Into::into),
        request_hash: String::new(),
        usage: None,
        started_ms: 20_000,
        duration_ms: Some(1200),
        first_token_ms: None,
        waited_ms: waited,
        notice: None,
    }
}
fn turn(n: u32, content: &str, calls: Vec<CallRecord>, level: CounterLevel) -> TurnRecord {
    TurnRecord {
        turn: n,
        content: content.into(),
        tool_calls: calls,
        attempts: vec![attempt(1, vec![], None, None)],
        counter_level: level,
        ..TurnRecord::default()
    }
}

pub fn load(app: App) {
    let search = "docs/v3/caching.md      0.91  \"Rules are now matched in order…\"\ndocs/v2/caching.md      0.84  \"The most specific rule wins…\"\ndocs/v3/migration.md    0.77  \"cache.ttl was renamed to cache.max_age\"\n[Turn 1/7]";
    let long = format!(
        "{}\n[Turn 2/7 - 5 turns remaining, work efficiently.]",
        "A line of the migration guide that says something.\n".repeat(40)
    );
    let mut failed = call(
        "read_file",
        json!({"path": "docs/v3/missing.md"}),
        Some("no such file: docs/v3/missing.md\n[Turn 4/7 - Only 3 turns left! Prioritize completing your task.]"),
        3,
    );
    failed.error = Some(
        "no such file: docs/v3/missing.md. The files of that folder are caching.md, defaults.md, migration.md".into(),
    );
    failed.slug = Some(Slug::ToolExecFailed);
    let mut retried = turn(
        6,
        "The order of rules is what breaks old configurations. One more check of the defaults.",
        vec![call(
            "read_file",
            json!({"path":"docs/v3/defaults.md"}),
            Some("x\ny\n[Turn 6/7 - Only 1 turns left! Prioritize completing your task.]"),
            4,
        )],
        CounterLevel::Urgent,
    );
    retried.attempts = vec![
        attempt(1, vec![Slug::StreamCut], Some("The answer broke off before its end marker."), None),
        attempt(2, vec![], None, Some(800)),
    ];
    retried.reasoning =
        "The user wants to know what to change. I have the order and the rename; defaults are missing.".into();
    let mut synth = turn(
        8,
        "Three rules changed between the versions:\n\n- Order matters. The first match wins; before, the most specific did. docs/v3/caching.md\n- Renamed: cache.ttl is now cache.max_age.\n- Default: unmatched paths are no longer cached.",
        vec![],
        CounterLevel::Off,
    );
    synth.synthesis = true;
    synth.is_final = true;
    let turns = vec![
        turn(
            1,
            "I will look for the caching chapters first.",
            vec![call("search_files", json!({"query":"cache rules v3"}), Some(search), 38)],
            CounterLevel::Normal,
        ),
        turn(
            2,
            "",
            vec![
                call("read_file", json!({"path":"docs/v3/migration.md"}), Some(&long), 6),
                call(
                    "calculate",
                    json!({"expression":"30 minutes to seconds"}),
                    Some("1800 seconds\n[Turn 2/7 - 5 turns remaining, work efficiently.]"),
                    5,
                ),
            ],
            CounterLevel::Moderate,
        ),
        turn(4, "", vec![failed], CounterLevel::Urgent),
        retried.clone(),
        synth,
    ];
    let mut config = RunConfig { max_turns: 7, ..RunConfig::default() };
    config.providers[0].demo = Some(DemoMode::Normal);
    let ending = Ending {
        termination_reason: TerminationReason::Synthesized(Trigger::MaxTurns),
        outcome: Outcome::Partial,
        answer_source: AnswerSource::Synthesis,
        max_turns: 7,
        effective_max_turns: 7,
        total_turns: 8,
        wrap_up: Some(Trigger::MaxTurns),
        error: None,
        output: "x".into(),
        final_result_data: None,
        finished_at: String::new(),
    };
    let usage = Usage {
        input: TokenCount(18_204),
        output: TokenCount(1_377),
        cached: TokenCount(9_000),
        reasoning: TokenCount(0),
        estimated: false,
    };
    let source = Source {
        config: &config,
        input: "Which caching rules changed between version 2 and version 3, and what must I change in my config?",
        started_at: EpochMillis(super::dom::now() - 21_000),
        turns: &turns,
        segments: &[ending],
        usage,
        requests: 9,
        calls_left: 0,
        effective_max_turns: 7,
        status: Status::Ended,
        can_continue: true,
    };
    let mut live_turn = turn(3, "", vec![], CounterLevel::Off);
    live_turn.attempts = vec![attempt(1, vec![Slug::RateLimited], Some("The server is busy (HTTP 429)."), None)];
    let live_turns = vec![turns[0].clone(), turns[1].clone(), live_turn];
    let mut live_config = config.clone();
    live_config.max_turns = 12;
    let live = Source {
        config: &live_config,
        input: "Compare the two retry policies",
        turns: &live_turns,
        segments: &[],
        requests: 3,
        calls_left: 33,
        effective_max_turns: 12,
        status: Status::Waiting { turn: 3, attempt: 2, until: Millis(24_000), synthesis: false },
        can_continue: false,
        ..source
    };
    let bad_turns = vec![{
        let mut t = turn(1, "", vec![], CounterLevel::Off);
        t.attempts = vec![attempt(
            1,
            vec![Slug::AuthError],
            Some("The key was refused (HTTP 401). Check the key in the settings."),
            None,
        )];
        t
    }];
    let bad_end = Ending {
        termination_reason: TerminationReason::LlmError,
        outcome: Outcome::Failed,
        answer_source: AnswerSource::System,
        max_turns: 15,
        effective_max_turns: 15,
        total_turns: 1,
        wrap_up: None,
        error: Some("auth_error: The key was refused (HTTP 401).".into()),
        output: "The model could not be used: the key was refused (HTTP 401).".into(),
        final_result_data: None,
        finished_at: String::new(),
    };
    let bad = Source {
        input: "Summarise changelog.md",
        turns: &bad_turns,
        segments: &[bad_end],
        effective_max_turns: 15,
        can_continue: false,
        requests: 1,
        ..source
    };
    for (id, source) in [(1, &bad), (2, &live), (3, &source)] {
        let pages = vec![Page::new(0, source)];
        app.threads.update(|threads| {
            threads.push(Thread { id, pages: ArcRwSignal::new(pages), rail: ArcRwSignal::new(RailView::from(source)) })
        });
    }
    let hash = super::dom::window().location().hash().unwrap_or_default();
    app.current.set(hash.trim_start_matches('#').split('-').next().and_then(|id| id.parse().ok()));
    if hash.ends_with("dark") {
        app.theme.set(super::theme::Theme::Dark);
    }
}
