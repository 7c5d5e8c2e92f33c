//! The demo mode that misbehaves: every fault occurs, each is judged like a real one, and runs end well.

use crate::support::chaos_world;

use std::collections::{BTreeMap, BTreeSet};

use turnwise_demo_model::{DemoFault, DemoRequest, fault};
use turnwise_engine::*;
use turnwise_record::trajectory::replay;
use turnwise_tools::{builtin, safe_set};

use chaos_world::{Met, Played, play};

const TASKS: [&str; 4] = [
    "What happens when a run reaches its turn limit? Find it in the files and name the file.",
    "For how many seconds does a cache entry live?",
    "What is 15 % of 2,340 EUR?",
    "On which port does the server listen?",
];

/// A run as a user of the mode gets it.
fn run(seed: u64) -> Played {
    let config = RunConfig { tools: safe_set(), seed, ..RunConfig::default() };
    play(config, TASKS[seed as usize % TASKS.len()])
}

/// A run with sub-agents, and one that reaches its limit.
fn further(seed: u64) -> [Played; 2] {
    let mut tools = safe_set();
    tools.extend(builtin("spawn_subagents"));
    let readers = RunConfig { tools, seed, ..RunConfig::default() };
    let short = RunConfig { tools: safe_set(), seed, max_turns: 2, ..RunConfig::default() };
    [
        play(readers, "Let readers work in parallel: what does each file say about turns and limits?"),
        play(short, TASKS[seed as usize % TASKS.len()]),
    ]
}

/// The error that the engine receives for a request with this fault; `None`: a complete reply.
fn told(fault: DemoFault) -> Option<(Slug, Retry)> {
    Some(match fault {
        DemoFault::Status408 | DemoFault::SilentServer | DemoFault::SilentStream => (Slug::Timeout, Retry::Yes),
        DemoFault::Status429 | DemoFault::Status429Seconds | DemoFault::Status429Millis => {
            (Slug::RateLimited, Retry::Yes)
        }
        DemoFault::Status409
        | DemoFault::Status500
        | DemoFault::Status503
        | DemoFault::Status529
        | DemoFault::GatewayPage
        | DemoFault::ErrorInStream
        | DemoFault::ErrorWithStatus200
        | DemoFault::Garbage => (Slug::ProviderError, Retry::Yes),
        DemoFault::WebPage => (Slug::ProviderError, Retry::Fatal),
        DemoFault::ContextOverflow => (Slug::ContextGuard, Retry::Fatal),
        DemoFault::NetworkFailure => (Slug::NetworkError, Retry::Yes),
        DemoFault::CutBeforeFirstByte
        | DemoFault::CutInText
        | DemoFault::CutInArguments
        | DemoFault::CutBeforeEndMarker
        | DemoFault::EmptyAnswer => (Slug::StreamCut, Retry::Yes),
        DemoFault::WrongContentType
        | DemoFault::SlowDrip
        | DemoFault::HugeLine
        | DemoFault::MalformedArguments
        | DemoFault::UnknownTool
        | DemoFault::DuplicateCallIds
        | DemoFault::EmptyReply
        | DemoFault::ReasoningOnly
        | DemoFault::CutByLength => return None,
    })
}

fn check(met: &Met) {
    let Some(fault) = met.fault else {
        assert!(matches!(met.event, Event::ModelReplied { .. }), "{:?}", met.event);
        return;
    };
    match (&met.event, told(fault)) {
        (Event::ModelFailed { error, .. }, Some((slug, retry))) => {
            assert_eq!((error.slug, error.retry), (slug, retry), "{fault:?}: {}", error.message);
            let wait = match fault {
                DemoFault::Status429Seconds => Some(1_000),
                DemoFault::Status429Millis => Some(350),
                _ => None,
            };
            assert_eq!(error.retry_after_ms, wait, "{fault:?}");
        }
        (Event::ModelReplied { reply, .. }, None) => match fault {
            DemoFault::DuplicateCallIds => {
                assert!(reply.tool_calls.len() > 1 && reply.tool_calls.iter().all(|c| c.id == reply.tool_calls[0].id));
            }
            DemoFault::MalformedArguments => {
                assert!(serde_json::from_str::<serde_json::Value>(&reply.tool_calls[0].arguments).is_err());
            }
            DemoFault::EmptyReply => assert!(reply.content.is_empty() && reply.reasoning.is_empty()),
            DemoFault::ReasoningOnly => assert!(reply.content.is_empty() && !reply.reasoning.is_empty()),
            DemoFault::CutByLength => assert_eq!(reply.finish, FinishReason::Length),
            _ => assert!(!reply.content.is_empty() || !reply.tool_calls.is_empty(), "{fault:?}"),
        },
        (event, _) => panic!("{fault:?} came to {event:?}"),
    }
}

fn ended_well(played: &Played) {
    let run = &played.run;
    let how = format!("seed {}: {:?} {:?}", run.config.seed, run.termination_reason, run.logs.last());
    assert!(matches!(run.outcome, Some(Outcome::Success | Outcome::Partial)), "{how}");
    assert!(run.output.as_deref().is_some_and(|output| !output.trim().is_empty()), "{how}");
    played.met.iter().for_each(check);
}

#[test]
fn two_hundred_runs_end_well_and_most_of_them_by_themselves() {
    let mut completed = 0;
    for seed in 1..=200 {
        let played = run(seed);
        ended_well(&played);
        assert!(played.met[0].fault.is_some(), "seed {seed}: the first request shows something");
        let output = played.run.output.as_deref().unwrap();
        let found = ["caching.md", "turns.md", "page.html", "351"].iter().any(|words| output.contains(words));
        assert!(found && !output.contains("no line there mentions"), "seed {seed}: {output}");
        completed += u32::from(played.run.outcome == Some(Outcome::Success));
        if seed % 20 == 0 {
            crate::support::validate(&played.run);
            assert!(replay(&played.run).is_ok(), "seed {seed}");
        }
    }
    assert!(completed > 190, "{completed} of 200");
}

#[test]
fn runs_with_sub_agents_and_at_their_limit_end_well_too() {
    for seed in 1..=30 {
        for played in further(seed) {
            ended_well(&played);
        }
    }
}

#[test]
fn every_fault_comes_up_within_a_few_seeds() {
    let mut first: BTreeMap<DemoFault, u64> = BTreeMap::new();
    for seed in 1..=20 {
        let [readers, short] = further(seed);
        for met in run(seed).met.into_iter().chain(readers.met).chain(short.met) {
            if let Some(fault) = met.fault {
                first.entry(fault).or_insert(seed);
            }
        }
    }
    let missing: Vec<&DemoFault> = DemoFault::ALL.iter().filter(|fault| !first.contains_key(fault)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(first.values().all(|seed| *seed <= 10), "{first:?}");
}

#[test]
fn an_ordinary_run_shows_all_but_what_it_could_not_survive() {
    let seen: BTreeSet<DemoFault> = (1..=40).flat_map(|seed| run(seed).met).filter_map(|met| met.fault).collect();
    let missing: Vec<&DemoFault> = DemoFault::ALL.iter().filter(|fault| !seen.contains(fault)).collect();
    assert_eq!(missing, [&DemoFault::WebPage]);
}

#[test]
fn what_models_do_wrong_has_its_slug_in_the_record() {
    let mut slugs: BTreeSet<Slug> = BTreeSet::new();
    for seed in 1..=60 {
        let run = run(seed).run;
        slugs.extend(run.logs.iter().flat_map(|log| log.slugs.clone()));
        slugs.extend(run.turns.iter().flat_map(|turn| &turn.tool_calls).filter_map(|call| call.slug));
    }
    let wanted =
        [Slug::EmptyResponse, Slug::ReasoningOnly, Slug::UnknownTool, Slug::MalformedToolCall, Slug::ContextGuard];
    let missing: Vec<&Slug> = wanted.iter().filter(|slug| !slugs.contains(slug)).collect();
    assert!(missing.is_empty(), "{missing:?}: {slugs:?}");
}

#[test]
fn the_last_attempt_of_a_turn_is_always_answered() {
    for seed in 1..=30 {
        let config = RunConfig { tools: safe_set(), seed, max_attempts: 1, ..RunConfig::default() };
        let played = play(config, TASKS[0]);
        assert_eq!(played.run.outcome, Some(Outcome::Success), "seed {seed}");
        assert!(played.run.logs.is_empty(), "seed {seed}: {:?}", played.run.logs);
        assert!(played.met.iter().any(|met| met.fault.is_some()), "seed {seed}: at least what does no harm");
    }
}

#[test]
fn a_web_page_comes_only_where_a_run_survives_it() {
    let request = |seed: u64, request: RequestId, choice: ToolChoice, last: &str| DemoRequest {
        mode: DemoMode::Chaos,
        seed,
        request,
        attempt: 2,
        attempts: 3,
        messages: vec![Message::user(TASKS[0]), Message::user("You have reached the maximum."), Message::user(last)],
        tools: safe_set(),
        choice,
    };
    let cut = "system notice: Your last reply was cut off by its length limit, so it was not taken.";
    let comes = |id: RequestId, choice: ToolChoice, last: &str| {
        (0..400).any(|seed| fault(&request(seed, id, choice, last)) == Some(DemoFault::WebPage))
    };
    assert!(comes(RequestId::numbered(0, 9), ToolChoice::None, cut), "a conclusion that has text already");
    assert!(comes(RequestId::numbered(2, 9), ToolChoice::Auto, "go on"), "a sub-agent");
    assert!(!comes(RequestId::numbered(0, 9), ToolChoice::None, "go on"));
    assert!(!comes(RequestId::numbered(0, 9), ToolChoice::Auto, cut));
}

#[test]
fn other_presets_end_well_too() {
    for (seed, preset) in (1..=30).zip([Preset::Strict, Preset::Orchestrator].into_iter().cycle()) {
        let max_turns = if seed % 3 == 0 { 3 } else { 15 };
        let config = RunConfig { tools: safe_set(), seed, max_turns, ..RunConfig::preset(preset) };
        ended_well(&play(config, TASKS[seed as usize % TASKS.len()]));
    }
}
