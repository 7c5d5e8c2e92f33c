//! The structured content of a tool's result: for the program around the run, never for the model.

use crate::support::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::trajectory::export::atif;
use turnwise_record::trajectory::import::import;
use turnwise_record::trajectory::{Trajectory, replay};

fn gives(name: &'static str, content: &str, data: Value) -> Step {
    let (content, structured_content) = (content.to_owned(), Some(data));
    Step::Tool(name, ToolOutcome::Executed { content, images: Vec::new(), repaired_args: None, structured_content })
}

fn hits() -> Value {
    json!({ "hits": [{ "url": "https://host/a#b", "page": "Only here" }] })
}

#[test]
fn it_is_in_the_record_and_in_events_and_never_sent() {
    let script = vec![
        calls("", &[("a", "search", "{}"), ("b", "read", "{}")]),
        gives("search", "one hit", hits()),
        executed("read", "read"),
        text("done"),
    ];
    let played = play(config(Preset::Research), script);
    for at in 0..played.requests.len() {
        let sent = serde_json::to_string(&played.conversation(at)).unwrap();
        assert!(!sent.contains("Only here"), "{sent}");
    }
    let document = played.document();
    validate(&document);
    let of_calls: Vec<_> = document.turns[0].tool_calls.iter().map(|call| call.structured_content.clone()).collect();
    assert_eq!(of_calls, [Some(hits()), None]);
    let told = played.records.iter().filter_map(|record| match &record.what {
        RecordKind::ToolFinished { call } => Some(call.structured_content.clone()),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [Some(hits()), None]);
    let stored = serde_json::to_string(&document).unwrap();
    // In its event and in its call; a result without any does not mention it.
    assert_eq!((stored.matches("Only here").count(), stored.matches("structured_content").count()), (2, 2));
    let again = replay(&Trajectory::parse(&stored).unwrap()).unwrap_or_else(|m| panic!("{m:?}"));
    assert_eq!(serde_json::to_string(&again.document()).unwrap(), stored);
    let imported = import(&atif::write(&document)).unwrap();
    assert_eq!(imported.turns[0].tool_calls[0].structured_content, Some(hits()));
    // A result that was changed by hand has no data of the old one.
    let edited = document.with_result(&CallId("a".into()), "no hit".into()).unwrap();
    assert!(!serde_json::to_string(&edited.events).unwrap().contains("Only here"));
}

#[test]
fn a_final_result_that_is_checked_first_keeps_it() {
    let mut strict = config(Preset::Strict);
    strict.max_attempts = 2;
    strict.tools.iter_mut().filter(|tool| tool.name == "search").for_each(|tool| tool.may_finish = true);
    let result = "<<<FINAL_RESULT>>>42<<<END_FINAL_RESULT>>>";
    for refused in [false, true] {
        let checked = match refused {
            false => executed("final_report", ""),
            true => Step::Tool(
                "final_report",
                ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: None, message: "no".into() },
            ),
        };
        let script = vec![calls("", &[("a", "search", "{}")]), gives("search", result, hits()), checked];
        let played = play_open(strict.clone(), script);
        let call = &played.run().turns()[0].tool_calls[0];
        assert_eq!((call.is_final, call.structured_content.clone()), (!refused, Some(hits())));
    }
}

#[test]
fn what_a_record_could_not_hold_is_left_out() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let long = |bytes: usize| Value::String("x".repeat(bytes - 2));
    for (data, kept) in [
        (json!({ "a": [1, null] }), true),
        (json!(false), true),
        (Value::Null, false),
        (nested(64), true),
        (nested(65), false),
        (long(caps::MAX_STRUCTURED_CONTENT), true),
        (long(caps::MAX_STRUCTURED_CONTENT + 1), false),
    ] {
        let Step::Tool(_, outcome) = gives("search", "text", data.clone()) else { panic!() };
        let mut event = Event::ToolFinished { call: CallId("a".into()), outcome };
        caps::cut_event(&mut event);
        let Event::ToolFinished { outcome: ToolOutcome::Executed { content, structured_content, .. }, .. } = event
        else {
            panic!()
        };
        assert_eq!((content.as_str(), structured_content), ("text", kept.then_some(data)));
    }
}
