//! The trajectory document: its schema, its replay, what it rejects and what it never contains.

use crate::support::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::trajectory::document::ParseError;
use turnwise_record::trajectory::export::{ExportFormat, native};
use turnwise_record::trajectory::notes::{MAX_NOTE, MAX_NOTES};
use turnwise_record::trajectory::{Note, Secrets, Trajectory, replay};
use turnwise_view::export::export;

/// A run with everything in it: a retry, parallel calls, a notice, a synthesis, a grant, a failed segment.
fn eventful() -> Played {
    let config = RunConfig { max_turns: 2, temperature: Some(0.7), ..config(Preset::Research) };
    let usage = Usage { input: TokenCount(9), output: TokenCount(2), ..Usage::default() };
    play(
        config,
        vec![
            Step::Fail(ModelError { status: Some(503), ..error(Slug::ProviderError, Retry::Yes) }),
            Step::Timer(None),
            calls("looking", &[("a", "search", "{\"n\": 1.0}"), ("", "bash", "{"), ("a", "read", "{}")]),
            executed("read", "y"),
            Step::Tool("search", ToolOutcome::TimedOut { after_ms: 30_000 }),
            Step::Reply(Reply {
                content: "half".into(),
                finish: FinishReason::Length,
                usage: Some(usage),
                ..Reply::default()
            }),
            text("so far"),
            Step::Grant(1),
            text(""),
            Step::Fail(error(Slug::AuthError, Retry::Fatal)),
        ],
    )
}

#[test]
fn every_kind_of_run_fits_the_shipped_schema() {
    validate(&eventful().document());
    validate(&play(config(Preset::Orchestrator), vec![text("ok")]).document());
    validate(&play(config(Preset::Research), vec![Step::Cancel]).document());
    validate(&play_open(config(Preset::Research), vec![calls("", &[("a", "search", "{}")])]).document());
    let page = "<<<FINAL_RESULT>>>[1]<<<END_FINAL_RESULT>>>";
    let script = vec![calls("", &[("a", "submit", "{}")]), executed("submit", page)];
    validate(&play(config(Preset::Research), script).document());
}

#[test]
fn the_schema_refuses_what_it_does_not_know() {
    let text = include_str!("../../docs/schema/turnwise-trajectory.v1.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap();
    let good = serde_json::to_value(eventful().document()).unwrap();
    assert!(schema.is_valid(&good));
    for (pointer, value) in [
        ("/version", json!(2)),
        ("/run_id", json!("run_1")),
        ("/turns/0/counter_level", json!("calm")),
        ("/turns/0/attempts/0/request_hash", json!("abc")),
        ("/events/0/event/type", json!("model_said")),
        ("/segments/0/termination_reason", json!("done")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect(pointer) = value;
        assert!(!schema.is_valid(&bad), "{pointer}");
    }
    let mut bad = good;
    bad["api_key"] = json!("x");
    assert!(!schema.is_valid(&bad));
}

#[test]
fn a_document_replays_byte_for_byte_also_after_a_way_through_javascript() {
    let document = eventful().document();
    let text = serde_json::to_string(&document).unwrap();
    let again = replay(&Trajectory::parse(&text).unwrap()).unwrap_or_else(|m| panic!("{m:?}"));
    assert_eq!(serde_json::to_string(&again.document()).unwrap(), text);
    // JavaScript has only one kind of number.
    let through = text.replace("\"args\":{\"n\":1.0}", "\"args\":{\"n\":1}");
    assert_ne!(through, text);
    assert!(replay(&Trajectory::parse(&through).unwrap()).is_ok());
}

#[test]
fn a_tampered_document_names_its_first_difference() {
    let good = serde_json::to_value(eventful().document()).unwrap();
    for (pointer, value, turn) in [
        ("/turns/0/tool_calls/2/result", json!("nothing"), Some(1)),
        ("/turns/2/content", json!("something else"), Some(3)),
        ("/turns/1/attempts/0/request_hash", json!("0".repeat(64)), Some(2)),
        ("/output", json!("a better answer"), None),
        ("/tokens/input", json!(1), None),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect(pointer) = value.clone();
        let mismatch = replay(&Trajectory::parse(&bad.to_string()).unwrap()).expect_err(pointer);
        assert_eq!((mismatch.turn, mismatch.path.as_str(), &mismatch.expected), (turn, pointer, &value));
        assert_eq!(mismatch.recorded_by, None);
    }
}

#[test]
fn notes_are_in_the_document_and_replay_ignores_them() {
    let plain = eventful().document();
    let note = |turn, text: &str| Note { turn, text: text.into(), at: "2026-11-26T10:05:00.000Z".into() };
    let noted = Trajectory { notes: vec![note(1, "<b>Why?</b>"), note(3, "Right.")], ..plain.clone() };
    validate(&noted);
    let again = Trajectory::parse(&native(&noted)).unwrap();
    assert_eq!(again, noted);
    assert_eq!(native(&replay(&again).unwrap().document()), native(&plain), "the events give the same run");
    let mut changed = noted;
    changed.turns[0].content.push('!');
    assert_eq!(replay(&changed).unwrap_err().turn, Some(1), "a note hides nothing");
}

#[test]
fn too_long_and_too_many_notes_are_cut_where_a_document_enters() {
    let note = Note { turn: u32::MAX, text: "ä".repeat(MAX_NOTE + 5), at: String::new() };
    let noted = Trajectory { notes: vec![note; MAX_NOTES + 1], ..eventful().document() };
    let read = Trajectory::parse(&native(&noted)).unwrap();
    assert_eq!(read.notes.len(), MAX_NOTES);
    assert_eq!(read.notes[0].text.chars().count(), MAX_NOTE);
}

#[test]
fn a_changed_task_or_prompt_changes_the_first_request_hash() {
    let good = serde_json::to_value(eventful().document()).unwrap();
    for (pointer, value) in [("/input", json!("another task")), ("/config/system", json!("You are a pirate."))] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect(pointer) = value;
        let mismatch = replay(&Trajectory::parse(&bad.to_string()).unwrap()).expect_err(pointer);
        assert_eq!((mismatch.turn, mismatch.path.as_str()), (Some(1), "/turns/0/attempts/0/request_hash"));
    }
}

#[test]
fn another_engine_version_is_named_when_something_differs() {
    let mut document = serde_json::to_value(eventful().document()).unwrap();
    document["engine_version"] = json!("0.0.1");
    assert!(replay(&Trajectory::parse(&document.to_string()).unwrap()).is_ok(), "nothing differs");
    document["output"] = json!("x");
    let mismatch = replay(&Trajectory::parse(&document.to_string()).unwrap()).expect_err("differs");
    assert_eq!(mismatch.recorded_by.as_deref(), Some("0.0.1"));
}

#[test]
fn other_files_are_refused_clearly() {
    assert!(matches!(Trajectory::parse("hello"), Err(ParseError::NotJson(_))));
    assert_eq!(Trajectory::parse("{}"), Err(ParseError::OtherFormat));
    assert_eq!(Trajectory::parse("[1]"), Err(ParseError::OtherFormat));
    let mut document = serde_json::to_value(eventful().document()).unwrap();
    document["version"] = json!(2);
    assert_eq!(Trajectory::parse(&document.to_string()), Err(ParseError::UnknownVersion("2".into())));
    document["version"] = json!(1);
    document["turns"] = json!("none");
    let Err(ParseError::Invalid(message)) = Trajectory::parse(&document.to_string()) else { panic!() };
    assert!(message.contains("sequence"), "{message}");
}

#[test]
fn raw_responses_are_kept_of_failed_attempts_only() {
    let played = eventful();
    let raws: Vec<bool> = played
        .recorder
        .events
        .iter()
        .filter_map(|e| match &e.event {
            Event::ModelReplied { raw, .. } | Event::ModelFailed { raw, .. } => Some(raw.is_some()),
            _ => None,
        })
        .collect();
    assert_eq!(raws, [true, false, false, false, false, true]);
    assert_eq!(played.run().logs()[0].raw.as_ref().unwrap().text, "raw bytes");
}

#[test]
fn secrets_are_scrubbed_wherever_they_turn_up() {
    let secrets = Secrets::new(["s3cret-key-of-mine".to_owned(), "abc".to_owned()]);
    for (text, clean) in [
        ("nothing here", "nothing here"),
        ("got s3cret-key-of-mine!", "got [redacted]!"),
        ("abc is too short to be blanked out", "abc is too short to be blanked out"),
        ("key sk-proj-abcdefghij1234567890 used", "key [redacted] used"),
        ("sk-learn-documentation-and-examples", "sk-learn-documentation-and-examples"),
        ("task-1234567890123456789", "task-1234567890123456789"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted]"),
        ("authorization: abcdef123456,", "authorization: [redacted],"),
        ("X-Api-Key: abcdef123456", "X-Api-Key: [redacted]"),
        ("http://h/v1?key=abcdef123456&x=1", "http://h/v1?key=[redacted]&x=1"),
        ("http://h/v1?monkey=abcdef123456", "http://h/v1?monkey=abcdef123456"),
        ("bearer of bad news in 2026", "bearer of bad news in 2026"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[redacted]"),
        ("ä sk-or-v1-0a1b2c3d4e5f6a7b8c9d ö", "ä [redacted] ö"),
    ] {
        assert_eq!(secrets.scrub(text), clean);
    }
    assert_eq!(format!("{secrets:?}"), "Secrets(1)");
    // A key that was replaced stays secret.
    let both = secrets.and(["another-key-of-mine".to_owned()]);
    assert_eq!(both.scrub("s3cret-key-of-mine, another-key-of-mine"), "[redacted], [redacted]");
}

#[test]
fn a_password_in_an_address_is_in_no_record() {
    for (address, clean) in [
        ("https://alice:geheim@host/v1", "https://host/v1"),
        ("https://geheim@host/v1", "https://host/v1"),
        ("https://alice:p@geheim@host:8080/v1?x=@", "https://host:8080/v1?x=@"),
        ("http:/\\alice:geheim@host", "http:/\\host"),
        ("https:alice:geheim@host", "https:host"),
        ("//alice:geheim@host/v1", "//host/v1"),
        ("https://host/v1/@user", "https://host/v1/@user"),
        ("/v1@latest", "/v1@latest"),
        ("", ""),
    ] {
        // As a run starts, and as a record, a plan or a branch in it is read.
        let (mut started, mut task) = (config(Preset::Research), task());
        started.providers[0].base_url = address.into();
        let mut read = eventful().document();
        read.config = started.clone();
        read.started_with = Some(started.clone());
        Secrets::default().scrub_origin(&mut started, &mut task);
        let read = Trajectory::parse(&serde_json::to_string(&read).unwrap()).unwrap();
        let with = read.started_with.clone().unwrap();
        for config in [&started, &read.config, &with] {
            assert_eq!(config.providers[0].base_url, clean, "{address}");
        }
        for format in ExportFormat::ALL {
            assert!(!export(&read, *format).contains("geheim"), "{address} {format:?}");
        }
        let provider: ProviderConfig = serde_json::from_value(json!({ "base_url": address })).unwrap();
        assert_eq!(provider.base_url, clean);
    }
    // A server that repeats an address.
    assert_eq!(Secrets::default().scrub("no https://alice:geheim@host/v1"), "no https://alice:[redacted]@host/v1");
}

#[test]
fn no_event_carries_a_planted_key() {
    const KEY: &str = "sk-planted-0123456789abcdef";
    let secrets = Secrets::new([KEY.to_owned()]);
    let raw = Some(RawResponse { text: KEY.into(), truncated: false });
    let call = RawCall { id: String::new(), name: KEY.into(), arguments: format!("{{\"k\": \"{KEY}\"}}") };
    let reply = Reply {
        content: KEY.into(),
        reasoning: KEY.into(),
        tool_calls: vec![call],
        opaque: Some(json!({"signature": [KEY]})),
        ..Reply::default()
    };
    let events = [
        Event::ModelReplied { request: RequestId(1), reply, raw: raw.clone(), first_token_ms: None },
        Event::ModelFailed {
            request: RequestId(1),
            error: ModelError { message: KEY.into(), ..error(Slug::AuthError, Retry::Fatal) },
            raw,
        },
        outcome(ToolOutcome::executed(KEY.into(), Some(json!([KEY])))),
        outcome(ToolOutcome::Executed {
            content: String::new(),
            images: Vec::new(),
            repaired_args: Some(json!({ KEY: 1 })),
            structured_content: Some(json!({ "hits": [{ "url": format!("https://host/?key={KEY}"), KEY: KEY }] })),
        }),
        outcome(ToolOutcome::Failed { message: format!("401 for {KEY}") }),
        outcome(ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: None, message: KEY.into() }),
    ];
    for mut event in events {
        secrets.scrub_event(&mut event);
        let text = serde_json::to_string(&event).unwrap();
        assert!(!text.contains("planted"), "{text}");
        assert!(text.contains("[redacted]"));
    }
    let (mut config, mut task) = (config(Preset::Research), task());
    (config.system, task.input) = (format!("use {KEY}"), format!("my key is {KEY}"));
    config.providers[0].base_url = format!("https://host/v1?key={KEY}");
    config.providers[0].provider_options = Some(json!({ "metadata": { "key": KEY } }));
    task.history =
        vec![Message::user(KEY), Message::Assistant(AssistantMessage { content: KEY.into(), ..Default::default() })];
    secrets.scrub_origin(&mut config, &mut task);
    let text: Value = json!([config, task]);
    assert!(!text.to_string().contains("planted"), "{text}");
}

fn outcome(outcome: ToolOutcome) -> Event {
    Event::ToolFinished { call: CallId("a".into()), outcome }
}
