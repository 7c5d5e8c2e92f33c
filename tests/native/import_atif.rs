//! ATIF of any agent becomes a trajectory that can be shown; anything else is rejected with a message.

use crate::support::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::trajectory::Trajectory;
use turnwise_record::trajectory::export::ExportFormat;
use turnwise_record::trajectory::import::import;
use turnwise_view::export::export;
use turnwise_view::{LaneView, RailView, RunSource, ViewModel};

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/fixtures/atif/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn read(name: &str) -> Trajectory {
    let document = import(&fixture(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    validate(&document);
    assert!(document.events.is_empty() && document.imported.is_some());
    // Exported to the native format and imported again.
    assert_eq!(import(&export(&document, ExportFormat::Native)).unwrap(), document);
    document
}

#[test]
fn results_without_ids_belong_to_the_only_call() {
    let document = read("terminal");
    let from = document.imported.as_ref().unwrap();
    assert_eq!(from.to_string(), "terminus-2 2.0.0, ATIF-v1.5");
    assert_eq!((document.model.as_str(), document.turns.len(), document.requests), ("openai/gpt-4o", 3, 3));
    assert_eq!(document.tokens.input.0, 982);
    let call = &document.turns[0].tool_calls[0];
    assert_eq!((call.name.as_str(), &call.args["duration"]), ("bash_command", &json!(0.1)));
    assert!(call.result.as_deref().unwrap().contains("Hello, world!"));
    let view = ViewModel::from(&RunSource::from(&document));
    assert_eq!(view.head.facts, ["terminus-2 2.0.0, ATIF-v1.5", "openai/gpt-4o"]);
    assert!(view.panel.note.contains("another format"), "{}", view.panel.note);
}

#[test]
fn what_is_said_between_turns_parts_and_repeated_ids_are_shown() {
    let document = read("conversation");
    assert_eq!(document.config.system, "You are helpful.");
    assert!(document.input.starts_with("What is in this picture?"), "{}", document.input);
    assert!(document.input.contains("[picture: images/cat.png, image/png]"), "{}", document.input);
    assert_eq!(document.images.len(), 1, "the one that is in the file");
    assert_eq!(document.tools[0].name, "look");
    let turns: Vec<(u32, &str)> = document.turns.iter().map(|t| (t.turn, t.content.as_str())).collect();
    assert_eq!(turns[0], (1, "I will look."));
    assert!(turns[1].1.starts_with("**The user:**\n\n> Look again,\n> please."), "{}", turns[1].1);
    assert_eq!(document.turns[1].tool_calls[0].id.0, "call_1_2", "ids are unique");
    assert_eq!(document.turns[1].tool_calls[0].model_id.as_deref(), Some("call_1"));
    let names: Vec<&str> = document.turns[1].tool_calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["look", "observation"]);
    assert_eq!(document.turns[1].tool_calls[0].result.as_deref(), Some("A cat.\n\n[picture: cat-2.png, image/png]"));
    assert_eq!(document.turns[2].content, "**The system:**\n\n> Time is up.", "somebody had the last word");
    assert_eq!(document.started_at, "2026-01-05T09:00:00.250Z");
    assert_eq!(document.turns[0].tool_calls[0].started_ms, 1_750);
    assert_eq!(document.output.as_deref(), Some("**The system:**\n\n> Time is up."));
}

#[test]
fn embedded_sub_agents_become_children_with_lanes() {
    let document = read("delegation");
    assert_eq!(document.children.len(), 2);
    let source = RunSource::from(&document);
    let lanes = LaneView::of_turn(&source, 0);
    assert_eq!(lanes.iter().map(|lane| lane.task.as_str()).collect::<Vec<_>>(), ["Find the first", "Find the second"]);
    assert_eq!(lanes[0].words, "1 turn", "not a word about how it ended");
    assert_eq!(RailView::from(&source).words, "2 turns, imported");
    let child = source.child(&lanes[1].call, 2).unwrap();
    assert_eq!(child.turns[0].content, "The second is 2.");
    assert_ne!(document.children[0].run_id, document.children[1].run_id);
}

#[test]
fn our_own_file_comes_back_with_counters_attempts_and_ending() {
    let script = vec![
        Step::Fail(error(Slug::ProviderError, Retry::Yes)),
        Step::Timer(None),
        calls("looking", &[("a", "search", "{\"n\": 1}"), ("a", "read", "{")]),
        Step::Tool("read", ToolOutcome::Rejected { slug: Slug::MalformedToolCall, path: None, message: "no".into() }),
        executed("search", "y"),
        text("done"),
    ];
    let document = play(config(Preset::Research), script).document();
    let again = import(&export(&document, ExportFormat::Atif)).unwrap();
    let expected = Trajectory { imported: again.imported.clone(), events: Vec::new(), ..document };
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&expected).unwrap());
}

#[test]
fn other_files_are_refused_in_words() {
    let says = |text: &str| import(text).unwrap_err().to_string();
    let takes = "Turnwise opens its own trajectories (.json), its HTML reports, and ATIF files (1.0 to 1.8).";
    assert_eq!(says("hello"), format!("This is neither JSON nor an HTML report. {takes}"));
    assert_eq!(says("<!DOCTYPE html><p>Hello"), format!("This HTML page does not contain a trajectory. {takes}"));
    assert_eq!(says("{}"), format!("This JSON file is not in a trajectory format that Turnwise knows. {takes}"));
    assert_eq!(says("[1]"), format!("This JSON file is not in a trajectory format that Turnwise knows. {takes}"));
    let later = says("{\"schema_version\": \"ATIF-v2.0\"}");
    assert_eq!(later, "This file is ATIF-v2.0; this Turnwise reads ATIF 1.0 to 1.8. Nothing was changed.");
    assert!(says("{\"schema_version\": \"ATIF-v1.9\"}").starts_with("This file is ATIF-v1.9"));
    let damaged = says("{\"schema_version\": \"ATIF-v1.4\", \"agent\": {\"name\": \"a\", \"version\": \"1\"}}");
    assert!(damaged.starts_with("This ATIF file is damaged: missing field `steps`"), "{damaged}");
    let cut = fixture("terminal");
    assert!(says(&cut[..cut.len() - 20]).contains("EOF"), "{}", says(&cut[..cut.len() - 20]));
    let page = "<script type=\"application/json\" id=\"turnwise-trajectory\">{\"format\":\"turnwise-trajectory\",\"version\":9}</script>";
    assert!(says(&format!("<html>{page}")).contains("version 9"), "{}", says(&format!("<html>{page}")));
}

#[test]
fn every_version_is_read_and_unknown_keys_are_passed_over() {
    for minor in 0..=8 {
        let mut file: Value = serde_json::from_str(&fixture("conversation")).unwrap();
        file["schema_version"] = json!(format!("ATIF-v1.{minor}"));
        file["later_key"] = json!(true);
        file["steps"][0]["later_key"] = json!([1]);
        assert_eq!(import(&file.to_string()).unwrap().turns.len(), 3, "1.{minor}");
    }
}

/// A time that does not exist is ignored: another step says when the run began.
#[test]
fn days_and_hours_that_do_not_exist_are_no_times() {
    let started = |timestamp: &str| {
        let mut file: Value = serde_json::from_str(&fixture("terminal")).unwrap();
        for step in file["steps"].as_array_mut().unwrap() {
            step["timestamp"] = json!(timestamp);
        }
        import(&file.to_string()).unwrap().started_at
    };
    let none = "1970-01-01T00:00:00.000Z";
    for wrong in [
        "2026-02-31T10:00:00Z",
        "2026-02-29T10:00:00Z",
        "2100-02-29T10:00:00Z",
        "2026-04-31T10:00:00Z",
        "2026-01-00T10:00:00Z",
        "2026-13-01T10:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T10:60:00Z",
    ] {
        assert_eq!(started(wrong), none, "{wrong}");
    }
    for (right, read) in [
        ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"),
        ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"),
        ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00.000Z"),
    ] {
        assert_eq!(started(right), read);
    }
}
