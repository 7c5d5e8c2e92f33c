//! Continuing a recorded run elsewhere: the course of a resumed run and of a branch with an edit (`trajectory::course`).

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::trajectory::{BranchWish, Recorder, Restored, ResumePoint, Trajectory, replay};

fn tool() -> ToolSpec {
    ToolSpec {
        name: "look".into(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
        may_finish: false,
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    }
}

fn start() -> (Recorder, Vec<Effect>) {
    let config = RunConfig { tools: vec![tool()], ..RunConfig::default() };
    let task = Task { run_id: "run_20261123_100000_aaaaaa".into(), input: "Weather?".into(), ..Task::default() };
    Recorder::start(config, task)
}

fn requested(effects: &[Effect]) -> RequestId {
    let call = effects.iter().find_map(|effect| match effect {
        Effect::CallModel(call) => Some(call.request),
        _ => None,
    });
    call.expect("a request")
}

fn said(content: &str) -> Reply {
    Reply { content: content.into(), ..Reply::default() }
}

fn called() -> Reply {
    let call = RawCall { id: "call_0".into(), name: "look".into(), arguments: "{}".into() };
    Reply { tool_calls: vec![call], finish: FinishReason::ToolCalls, ..Reply::default() }
}

fn replied(recorder: &mut Recorder, at: u64, request: RequestId, reply: Reply) -> Vec<Effect> {
    recorder.handle(Millis(at), Event::ModelReplied { request, reply, raw: None, first_token_ms: None })
}

/// The record of a run of two turns, up to this many events: the call, its result, the answer.
fn recorded(events: usize) -> Trajectory {
    let (mut recorder, mut effects) = start();
    for at in 0..events {
        effects = match at {
            0 => replied(&mut recorder, 10, requested(&effects), called()),
            1 => {
                let outcome = ToolOutcome::executed("sunny".into(), None);
                recorder.handle(Millis(20), Event::ToolFinished { call: CallId("call_0".into()), outcome })
            }
            _ => replied(&mut recorder, 30, requested(&effects), said("It is sunny.")),
        };
    }
    recorder.document()
}

fn wish(document: &Trajectory, more: &Value) -> BranchWish {
    let mut wish = json!({ "trajectory": document });
    wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(wish).expect("a wish")
}

/// Begins the branch; returns it with its first effects.
fn begin(course: ResumePoint) -> (Recorder, Vec<Effect>) {
    let ResumePoint { config, task, events, branch } = course;
    let mut restored = Restored::from_events(config, task, events);
    let branch = Branch { run_id: "run_20261123_110000_bbbbbb".into(), ..branch.expect("a branch") };
    let effects = restored.recorder.handle(restored.at, Event::Branched(Box::new(branch)));
    (restored.recorder, effects)
}

fn results(recorder: &Recorder) -> Vec<String> {
    let texts = recorder.run.messages().iter().filter_map(|message| match message {
        Message::Tool(tool) => Some(tool.content.clone()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_branch_after_an_edited_result_goes_on_from_the_new_one_and_replays() {
    let document = recorded(3);
    for turn in [Value::Null, json!(1), json!(2)] {
        let course =
            ResumePoint::branched(wish(&document, &json!({ "callId": "call_0", "result": "rainy", "turn": turn })))
                .unwrap();
        assert_eq!(course.branch.as_ref().unwrap().edited, Some(CallId("call_0".into())));
        let (mut recorder, effects) = begin(course);
        assert_eq!(results(&recorder), ["rainy\n[Turn 1/15]"]);
        replied(&mut recorder, 40, requested(&effects), said("It rains."));
        let branch = recorder.document();
        assert_eq!((branch.output.as_deref(), branch.total_turns), (Some("It rains."), 2));
        assert!(replay(&branch).is_ok());
        assert_eq!(branch.parent.as_ref().map(|parent| parent.turn), Some(2));
    }
}

#[test]
fn a_reply_of_the_branch_takes_the_place_of_the_model_and_counts_as_a_request() {
    let document = recorded(3);
    let (recorder, effects) =
        begin(ResumePoint::branched(wish(&document, &json!({ "turn": 2, "reply": { "text": "I say so." } }))).unwrap());
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::CallModel(_))), "nobody is asked");
    let branch = recorder.document();
    assert_eq!((branch.output.as_deref(), branch.requests), (Some("I say so."), 3));
    assert!(replay(&branch).is_ok());

    let calls = json!({ "turn": 1, "reply": { "toolCalls": [{ "toolName": "look", "input": { "at": "sky" } }] } });
    let (mut recorder, effects) = begin(ResumePoint::branched(wish(&document, &calls)).unwrap());
    let call = effects.iter().find_map(|effect| match effect {
        Effect::RunTool(call) => Some(call.call.clone()),
        _ => None,
    });
    let outcome = ToolOutcome::executed("cloudy".into(), None);
    let effects = recorder.handle(Millis(50), Event::ToolFinished { call: call.expect("the tool runs"), outcome });
    // The next request has the whole history, since none was sent before it.
    let request = effects.iter().find_map(|effect| match effect {
        Effect::CallModel(call) => Some(call),
        _ => None,
    });
    let request = request.expect("a request");
    assert_eq!(request.append.len(), 4);
    assert!(replay(&recorder.document()).is_ok());
}

#[test]
fn a_run_that_had_not_ended_is_resumed_with_its_events() {
    let document = recorded(2);
    let course = ResumePoint::resumed(&document).unwrap();
    assert_eq!((course.events.len(), course.branch.is_none()), (2, true));
    let text = serde_json::to_string(&course).unwrap();
    assert_eq!(serde_json::from_str::<ResumePoint>(&text).unwrap(), course);
    assert!(ResumePoint::resumed(&recorded(3)).unwrap_err().contains("has ended"));
    let mut forged = document;
    forged.turns[0].content = "something else".into();
    assert!(ResumePoint::resumed(&forged).unwrap_err().contains("does not replay"));
}

#[test]
fn what_is_not_there_is_said() {
    let document = recorded(3);
    let refused = |more: Value| ResumePoint::branched(wish(&document, &more)).unwrap_err();
    assert_eq!(refused(json!({ "turn": 7 })), "there is no turn 7; the run has 2");
    assert_eq!(refused(json!({ "callId": "x", "result": "" })), "there is no call x");
    assert_eq!(
        refused(json!({ "callId": "call_0", "result": "", "turn": 4 })),
        "the call call_0 belongs to turn 1, not to turn 4"
    );
    let open = recorded(1);
    let error = ResumePoint::branched(wish(&open, &json!({ "callId": "call_0", "result": "" }))).unwrap_err();
    assert_eq!(error, "the call call_0 was not run, so its result cannot be changed");
}
