//! Events as a page receives them, and strings and numbers that www/client/protocol.ts defines itself. tests/native/types.rs
//! checks that its messages match the Rust types.

use crate::support::sources::text;
use turnwise_engine::caps::MAX_RESULT;
use turnwise_engine::{Preset, Record, RecordKind, RequestId};
use turnwise_protocol::{DeltaEvent, DeltaKind, EventStep, PlanOwnEvent, RunEvent, VERSION};
use turnwise_record::plan::{PlanRecord, PlanRecordKind, StepStatus};
use turnwise_record::trajectory::document;
use turnwise_tools::path::{MAX_PATH, RESULTS};

fn json(event: &impl serde::Serialize) -> String {
    serde_json::to_string(event).unwrap()
}

#[test]
fn events_are_flat_objects() {
    let step = Some(EventStep { order: 3, calls_left: 40 });
    let record = |what| Record { turn: 2, calls_left: 9, what };
    let started = record(RecordKind::AttemptStarted { attempt: 1, request: RequestId(7) });
    assert_eq!(
        json(&RunEvent::from_record(&started, None)),
        r#"{"type":"attempt_started","attempt":1,"request":7,"turn":2,"callsLeft":9}"#
    );
    assert_eq!(
        json(&RunEvent::from_record(&started, step)),
        r#"{"type":"attempt_started","attempt":1,"request":7,"turn":2,"callsLeft":40,"step":3}"#
    );
    // A sub-agent's event is again such an event, with its own turn and bound, and without the step.
    let event = Box::new(Record { turn: 1, calls_left: 4, ..started });
    let child = record(RecordKind::Child { child: 2, event });
    let event = r#"{"type":"attempt_started","attempt":1,"request":7,"turn":1,"callsLeft":4}"#;
    assert_eq!(
        json(&RunEvent::from_record(&child, step)),
        format!(r#"{{"type":"child","child":2,"event":{event},"turn":2,"callsLeft":40,"step":3}}"#)
    );
}

#[test]
fn streamed_text_is_an_event() {
    let delta = DeltaEvent { kind: DeltaKind::Text, child: 0, turn: 2, calls_left: 9, text: "a\"b", step: None };
    let text = r#"{"type":"text_delta","text":"a\"b","turn":2,"callsLeft":9"#;
    assert_eq!(json(&RunEvent::streamed(delta)), format!("{text}}}"));
    let reasoning = json(&RunEvent::streamed(DeltaEvent { kind: DeltaKind::Reasoning, ..delta }));
    assert_eq!(reasoning, format!("{}}}", text.replace("text_delta", "reasoning_delta")));
    let of_child = json(&RunEvent::streamed(DeltaEvent { child: 1, ..delta }));
    assert_eq!(of_child, format!(r#"{{"type":"child","child":1,"event":{text}}},"turn":2,"callsLeft":9}}"#));
    let step = Some(EventStep { order: 3, calls_left: 9 });
    assert_eq!(json(&RunEvent::streamed(DeltaEvent { step, ..delta })), format!(r#"{text},"step":3}}"#));
}

#[test]
fn events_of_a_plan_say_null_where_they_are_of_no_step() {
    let what = PlanRecordKind::StepFinished {
        status: StepStatus::Blocked,
        blocked_by: vec![1],
        output: None,
        error: Some("no".into()),
    };
    let mut record = PlanRecord { step: Some(2), calls_left: 9, what };
    let what = r#"{"type":"step_finished","status":"blocked","blockedBy":[1],"output":null,"error":"no","#;
    assert_eq!(json(&PlanOwnEvent::from_record(&record)), format!(r#"{what}"step":2,"callsLeft":9}}"#));
    record.step = None;
    assert_eq!(json(&PlanOwnEvent::from_record(&record)), format!(r#"{what}"step":null,"callsLeft":9}}"#));
}

#[test]
fn words_and_numbers_are_those_of_the_engine() {
    let source = text("www/client/protocol.ts");
    let words = |name: &str| -> Vec<String> {
        let (_, list) = source.split_once(&format!("export const {name} = [")).unwrap_or_else(|| panic!("no {name}"));
        let list = list.split_once(']').unwrap().0;
        list.split(',').map(|word| word.trim().trim_matches('\'').to_owned()).filter(|word| !word.is_empty()).collect()
    };
    let value = |name: &str| -> String {
        let (_, value) = source.split_once(&format!("export const {name} = ")).unwrap_or_else(|| panic!("no {name}"));
        value.split_once(";\n").unwrap().0.trim_matches('\'').to_owned()
    };
    assert_eq!(value("VERSION"), VERSION.to_string());
    assert_eq!(words("PRESETS"), Preset::ALL.iter().map(|preset| preset.as_str()).collect::<Vec<_>>());
    assert_eq!(value("DOCUMENT_FORMAT"), document::FORMAT);
    assert_eq!(value("DOCUMENT_VERSION"), document::VERSION.to_string());
    assert_eq!(value("RESULTS"), RESULTS);
    assert_eq!(value("MAX_PATH"), MAX_PATH.to_string());
    let product: usize = value("MAX_RESULT").split(" * ").map(|factor| factor.parse::<usize>().unwrap()).product();
    assert_eq!(product, MAX_RESULT);
    // Both sides of the sandbox stop a program at the engine's limit of calls.
    for file in ["www/sandbox/program.js", "www/client/sandbox.ts"] {
        assert!(text(file).contains("const MAX_CALLS = 1_000;"), "{file}");
    }
    assert_eq!(turnwise_engine::MAX_PROGRAM_CALLS, 1_000);
}
