//! `tool_choice`: which requests of a run it applies to. Also, that a run with it, and with other model options, is
//! recorded and replayed.

use crate::support::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::trajectory::{Trajectory, replay};
use turnwise_view::replay::Replay;

use ToolChoice::{Asked, Auto, None as NoTools, Report};

fn asking(preset: Preset, asked: AskedTool) -> RunConfig {
    RunConfig { max_turns: 2, tool_choice: Some(asked), ..config(preset) }
}

fn sent(played: &Played) -> Vec<ToolChoice> {
    played.requests.iter().map(|call| call.tools).collect()
}

/// A call in each turn, a failed attempt in the first turn, and the synthesis.
fn to_the_limit() -> Vec<Step> {
    vec![
        text(""),
        calls("", &[("a", "search", "{}")]),
        executed("search", "x"),
        calls("", &[("b", "read", "{}")]),
        executed("read", "y"),
        text("so it is"),
    ]
}

#[test]
fn what_forces_a_call_holds_for_the_first_turn_only() {
    for (asked, expected) in [
        (AskedTool::Required, [Asked, Asked, Auto, NoTools]),
        (AskedTool::Tool("search".into()), [Asked, Asked, Auto, NoTools]),
        (AskedTool::Tool("no_such_tool".into()), [Auto, Auto, Auto, NoTools]),
        (AskedTool::Auto, [Asked, Asked, Asked, NoTools]),
        (AskedTool::None, [Asked, Asked, Asked, NoTools]),
    ] {
        assert_eq!(sent(&play(asking(Preset::Research, asked.clone()), to_the_limit())), expected, "{asked:?}");
    }
    let without_tools = RunConfig { tools: Vec::new(), ..asking(Preset::Research, AskedTool::Required) };
    assert_eq!(sent(&play(without_tools, vec![text("done")])), [Auto]);
}

#[test]
fn the_engines_own_choice_wins_in_a_strict_run() {
    let report = ("r", "final_report", "{\"report\":\"done\"}");
    let script = || vec![calls("", &[("a", "search", "{}")]), executed("search", "x"), calls("", &[report])];
    let strict = |asked| play_open(asking(Preset::Strict, asked), script());
    assert_eq!(sent(&strict(AskedTool::Required))[..2], [Asked, Report]);
    assert_eq!(sent(&strict(AskedTool::None))[..2], [Auto, Report], "only a call ends it");
    let one_turn = RunConfig { max_turns: 1, ..asking(Preset::Strict, AskedTool::Required) };
    assert_eq!(sent(&play_open(one_turn, Vec::new())), [Report]);
    // The notice of a failed attempt may ask for the report.
    let played = play_open(asking(Preset::Strict, AskedTool::Tool("search".into())), vec![text("no call")]);
    assert!(played.run().turns()[0].attempts[1].notice.is_some());
    assert_eq!(sent(&played), [Asked, Auto]);
}

#[test]
fn sub_agents_choose_by_themselves_and_think_as_their_parent() {
    let parent = RunConfig {
        reasoning: Some(ReasoningEffort::High),
        top_p: Some(0.5),
        ..asking(Preset::Research, AskedTool::Required)
    };
    let asked = own_tools::SubagentTask { task: "t".into(), max_turns: None, agent: None };
    let child = setup::child_config(&parent, &asked, 1);
    assert_eq!((child.tool_choice, child.reasoning, child.top_p), (None, parent.reasoning, parent.top_p));
}

fn all_options() -> RunConfig {
    let provider = ProviderConfig {
        provider_options: Some(json!({ "seed": 3, "metadata": { "a": 1.5 } })),
        ..ProviderConfig::default()
    };
    RunConfig {
        top_p: Some(0.9),
        reasoning: Some(ReasoningEffort::None),
        providers: vec![provider],
        ..asking(Preset::Research, AskedTool::Tool("search".into()))
    }
}

#[test]
fn a_run_with_all_options_fits_the_schema_and_replays() {
    for asked in [AskedTool::Auto, AskedTool::None, AskedTool::Required, AskedTool::Tool("search".into())] {
        let config = RunConfig { tool_choice: Some(asked), ..all_options() };
        let document = play(config, to_the_limit()).document();
        validate(&document);
        let text = serde_json::to_string(&document).unwrap();
        let again = replay(&Trajectory::parse(&text).unwrap()).unwrap_or_else(|m| panic!("{m:?}"));
        assert_eq!(serde_json::to_string(&again.document()).unwrap(), text);
    }
    let record = serde_json::to_value(play(all_options(), to_the_limit()).document()).unwrap();
    assert_eq!(record["config"]["tool_choice"], json!({ "tool": "search" }));
    assert_eq!(record["config"]["reasoning"], "none");
    assert_eq!(record["config"]["providers"][0]["provider_options"]["seed"], 3);
}

#[test]
fn each_option_is_part_of_the_request_hash() {
    let good = serde_json::to_value(play(all_options(), to_the_limit()).document()).unwrap();
    for (pointer, value) in [
        ("/config/top_p", json!(0.5)),
        ("/config/reasoning", json!("high")),
        ("/config/tool_choice", json!("required")),
        ("/config/providers/0/provider_options", json!({})),
    ] {
        let mut bad: Value = good.clone();
        *bad.pointer_mut(pointer).expect(pointer) = value;
        let mismatch = replay(&Trajectory::parse(&bad.to_string()).unwrap()).expect_err(pointer);
        assert_eq!(mismatch.path, "/turns/0/attempts/0/request_hash", "{pointer}");
    }
}

#[test]
fn the_viewer_says_of_each_request_what_was_asked() {
    for (asked, first, second) in [
        (AskedTool::Auto, " offered", " offered"),
        (AskedTool::None, ", none may be called", ", none may be called"),
        (AskedTool::Required, ", one must be called", " offered"),
        (AskedTool::Tool("read".into()), ", read must be called", " offered"),
    ] {
        let replay = Replay::from_document(&play(asking(Preset::Research, asked), to_the_limit()).document());
        let says = |request| replay.request_view(request).unwrap().choice;
        assert_eq!((says(0), says(2)), (format!("3 tools{first}"), format!("3 tools{second}")));
    }
}
