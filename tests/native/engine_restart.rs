//! Resuming after a closed page, and branches: what is repeated, what is requested, what stays bounded (trajectory.md#after-a-closed-page, trajectory.md#branches).

use crate::support::*;
use turnwise_engine::*;
use turnwise_record::trajectory::{Restored, Trajectory, replay};

const LATER: EpochMillis = EpochMillis(1_795_298_400_000 + 3_600_000);

/// The run after a crash, restored from its recorded events alone.
fn crashed(played: &Played) -> Restored {
    let document = Trajectory::parse(&serde_json::to_string(&played.document()).unwrap()).unwrap();
    let (config, task) = document.origin();
    let restored = Restored::from_events(config, task, document.events);
    assert_eq!(restored.recorder.run, played.recorder.run, "a restored run is the run");
    restored
}

fn resume(restored: &mut Restored) -> Vec<Effect> {
    restored.recorder.handle(restored.at, Event::Resumed { at: LATER, authority: None })
}

fn sent(effects: &[Effect]) -> Vec<&ModelCall> {
    effects.iter().filter_map(|e| if let Effect::CallModel(call) = e { Some(call) } else { None }).collect()
}

fn tools(effects: &[Effect]) -> Vec<(&str, RunMode)> {
    effects
        .iter()
        .filter_map(|e| if let Effect::RunTool(t) = e { Some((t.name.as_str(), t.run)) } else { None })
        .collect()
}

fn reply_to(request: RequestId, content: &str) -> Event {
    let reply = Reply { content: content.into(), ..Reply::default() };
    Event::ModelReplied { request, reply, raw: None, first_token_ms: None }
}

#[test]
fn a_sub_agent_that_begins_after_a_pause_begins_at_the_worlds_time() {
    let mut parent = config(Preset::Research);
    parent.tools.push(own_tools::spawn_spec(&[]));
    let mut restored = crashed(&play_open(parent, Vec::new()));
    let request = sent(&resume(&mut restored))[0].request;
    let tasks =
        RawCall { id: "s".into(), name: "spawn_subagents".into(), arguments: r#"{"tasks":[{"task":"t"}]}"#.into() };
    let reply = Reply { tool_calls: vec![tasks], finish: FinishReason::ToolCalls, ..Reply::default() };
    let replied = Event::ModelReplied { request, reply, raw: None, first_token_ms: None };
    let at = Millis(restored.at.0 + 40);
    let call = tools_ids(&restored.recorder.handle(at, replied))[0].clone();
    let outcome = ToolOutcome::executed(String::new(), None);
    let _ = restored.recorder.handle(at, Event::ToolFinished { call, outcome });
    let child = restored.recorder.run.child_runs().next().expect("it began");
    assert_eq!(child.task().started_at, EpochMillis(LATER.0 + 40), "the hour in which the page was closed counts");
    assert_eq!(child.turns()[0].started_at, time::rfc3339(EpochMillis(LATER.0 + 40)));
}

fn tools_ids(effects: &[Effect]) -> Vec<CallId> {
    effects.iter().filter_map(|e| if let Effect::RunTool(t) = e { Some(t.call.clone()) } else { None }).collect()
}

#[test]
fn the_attempt_in_flight_is_repeated_with_the_whole_history() {
    let played = play_open(
        config(Preset::Research),
        vec![calls("looking", &[("a", "search", "{}")]), executed("search", "found")],
    );
    let bound = played.run().requests() + played.run().calls_left();
    let mut restored = crashed(&played);
    let effects = resume(&mut restored);
    let again = sent(&effects);
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].attempt, 2);
    assert_ne!(again[0].base, played.requests[1].base);
    assert_eq!(again[0].append, played.run().messages(), "the shell is told everything anew");
    let run = &restored.recorder.run;
    assert_eq!(run.requests() + run.calls_left(), bound, "the bound is the same");
    let attempts = &run.turns()[1].attempts;
    assert_eq!(attempts[0].slugs, [Slug::Interrupted]);
    assert_eq!((attempts[0].request_hash.len(), attempts[1].request_hash == attempts[0].request_hash), (64, true));
    // It ends as if nothing had happened.
    let request = again[0].request;
    drop(restored.recorder.handle(restored.at, reply_to(request, "done")));
    let ending = restored.recorder.run.ending().unwrap();
    assert_eq!((ending.outcome, ending.output.as_str(), ending.total_turns), (Outcome::Success, "done", 2));
    assert_eq!(ending.finished_at, "2026-11-21T23:00:00.000Z", "timestamps are the world's");
    let document = restored.recorder.document();
    validate(&document);
    replay(&document).unwrap_or_else(|m| panic!("{m:?}"));
}

#[test]
fn an_answer_to_the_lost_request_does_nothing() {
    let played = play_open(config(Preset::Research), vec![]);
    let mut restored = crashed(&played);
    let effects = resume(&mut restored);
    let lost = played.requests[0].request;
    assert_ne!(sent(&effects)[0].request, lost);
    assert_eq!(restored.recorder.handle(restored.at, reply_to(lost, "late")), []);
}

#[test]
fn the_last_attempt_is_not_given_back() {
    let only = RunConfig { max_attempts: 1, ..config(Preset::Research) };
    let mut restored = crashed(&play_open(only, vec![]));
    let effects = resume(&mut restored);
    assert_eq!(sent(&effects).len(), 0);
    let ending = restored.recorder.run.ending().unwrap();
    assert_eq!(ending.termination_reason, TerminationReason::LlmError);
    assert!(ending.output.contains("the page was closed"), "{}", ending.output);
}

#[test]
fn calls_in_flight_are_run_again_and_said_to_be_so() {
    let mut config = config(Preset::Research);
    config.limits.parallel_tools = 2;
    let three = calls("", &[("a", "search", "{\"q\":1}"), ("b", "read", "{}"), ("c", "read", "{}")]);
    let played = play_open(config, vec![three, executed("search", "one")]);
    let mut restored = crashed(&played);
    let effects = resume(&mut restored);
    assert_eq!(tools(&effects), [("read", RunMode::RunAgain), ("read", RunMode::RunAgain)]);
    let run = &restored.recorder.run;
    assert_eq!(run.turns()[0].tool_calls[0].result.as_deref(), Some("one"), "what was answered is not asked again");
    for call in ["b", "c"] {
        let outcome = ToolOutcome::executed(call.into(), None);
        drop(restored.recorder.handle(restored.at, Event::ToolFinished { call: CallId(call.into()), outcome }));
    }
    assert_eq!(restored.recorder.run.turns().len(), 2);
}

#[test]
fn a_wait_goes_on_with_what_was_left_of_it() {
    let failed = Step::Fail(ModelError { retry_after_ms: Some(5_000), ..error(Slug::RateLimited, Retry::Yes) });
    let mut restored = crashed(&play_open(config(Preset::Research), vec![failed]));
    let effects = resume(&mut restored);
    let [Effect::Record(_), Effect::Sleep { timer, ms: 5_000 }] = effects[..] else { panic!("{effects:?}") };
    let effects = restored.recorder.handle(Millis(5_010), Event::TimerFired { timer });
    assert_eq!(sent(&effects)[0].attempt, 2);
}

#[test]
fn wall_time_stands_still_while_nobody_drives() {
    let mut config = config(Preset::Research);
    config.limits.wall_ms = Some(60_000);
    let mut restored = crashed(&play_open(config, vec![calls("", &[("a", "search", "{}")]), executed("search", "x")]));
    let effects = resume(&mut restored);
    let clock: Vec<u64> =
        effects.iter().filter_map(|e| if let Effect::Sleep { ms, .. } = e { Some(*ms) } else { None }).collect();
    assert_eq!(clock, [59_980]);
}

#[test]
fn a_run_that_had_ended_can_still_be_granted_turns() {
    let played = play(
        RunConfig { max_turns: 1, ..config(Preset::Research) },
        vec![calls("", &[("a", "search", "{}")]), executed("search", "x"), text("half")],
    );
    let mut restored = crashed(&played);
    assert_eq!(resume(&mut restored), []);
    let effects = restored.recorder.handle(restored.at, Event::TurnsGranted { turns: 2 });
    assert_eq!(sent(&effects)[0].append, restored.recorder.run.messages());
}

#[test]
fn sub_agents_go_on_too() {
    let mut config = config(Preset::Research);
    config.tools.push(own_tools::spawn_spec(&[]));
    let asked = r#"{"tasks": [{"task": "one"}, {"task": "two"}]}"#;
    let mut played = play_open(config, vec![calls("", &[("s", "spawn_subagents", asked)])]);
    let checked = ToolOutcome::executed(String::new(), None);
    let at = Millis(20);
    let effects = played.recorder.handle(at, Event::ToolFinished { call: CallId("s".into()), outcome: checked });
    assert_eq!(sent(&effects).len(), 2);
    let mut restored = crashed(&played);
    let effects = resume(&mut restored);
    let again = sent(&effects);
    assert_eq!(again.iter().map(|c| (c.request.child(), c.attempt)).collect::<Vec<_>>(), [(1, 2), (2, 2)]);
    let requests: Vec<RequestId> = again.iter().map(|c| c.request).collect();
    for request in requests {
        drop(restored.recorder.handle(restored.at, reply_to(request, "a part")));
    }
    assert_eq!(restored.recorder.run.turns().len(), 2, "both reported, and the parent goes on");
    let document = restored.recorder.document();
    validate(&document);
    replay(&document).unwrap_or_else(|m| panic!("{m:?}"));
}

/// Three turns with one tool call each, then an answer.
fn long() -> Played {
    let turn = |id: &str| calls("looking", &[(id, "search", "{}")]);
    play(
        config(Preset::Research),
        vec![
            turn("a"),
            executed("search", "one"),
            turn("b"),
            executed("search", "two"),
            turn("c"),
            executed("search", "three"),
            text("the answer"),
        ],
    )
}

fn branch() -> Branch {
    Branch {
        run_id: "run_20261122_100000_fedcba".into(),
        session_id: "another session".into(),
        parent: Parent { run_id: "run_20261121_220000_abcdef".into(), turn: 3 },
        at: LATER,
        ..Branch::default()
    }
}

fn branched(played: &Played, place: usize, branch: Branch) -> (Restored, Vec<Effect>) {
    let mut restored = Restored::before_turn(&played.document(), place).expect("there is such a turn");
    let effects = restored.recorder.handle(restored.at, Event::Branched(Box::new(branch)));
    (restored, effects)
}

#[test]
fn a_branch_keeps_what_came_before_and_goes_another_way() {
    let another = ProviderConfig { model: "another".into(), ..ProviderConfig::default() };
    let say = "Be brief.".to_owned();
    let (mut restored, effects) =
        branched(&long(), 2, Branch { providers: Some(vec![another]), say: Some(say), ..branch() });
    let call = sent(&effects)[0].clone();
    assert_eq!(call.append.len(), 7, "system, task, two turns with their results, and what the user says");
    assert_eq!(call.append[6], Message::user("Be brief."));
    drop(restored.recorder.handle(Millis(90), reply_to(call.request, "another answer")));
    let document = restored.recorder.document();
    validate(&document);
    assert_eq!(document.run_id, "run_20261122_100000_fedcba");
    assert_eq!(document.parent, Some(branch().parent));
    assert_eq!((document.model.as_str(), document.output.as_deref()), ("another", Some("another answer")));
    assert_eq!(document.turns.iter().map(|t| t.turn).collect::<Vec<_>>(), [1, 2, 3]);
    // The branch is complete on its own, also as a file.
    let read = Trajectory::parse(&serde_json::to_string(&document).unwrap()).unwrap();
    assert_eq!(replay(&read).unwrap_or_else(|m| panic!("{m:?}")).document(), document);
}

#[test]
fn what_was_learnt_of_one_server_is_not_applied_to_another() {
    let refusal = ModelError { status: Some(400), ..error(Slug::ProviderError, Retry::With(Correction::EmptyText)) };
    let script =
        vec![Step::Fail(refusal), calls("looking", &[("a", "search", "{}")]), executed("search", "one"), text("done")];
    let played = play(config(Preset::Research), script);
    let learnt = |providers| sent(&branched(&played, 1, Branch { providers, ..branch() }).1)[0].learnt.clone();
    assert_eq!(learnt(None), [Correction::EmptyText]);
    let another = ProviderConfig { model: "another".into(), ..ProviderConfig::default() };
    assert_eq!(learnt(Some(vec![another])), []);
}

#[test]
fn a_branch_of_a_branch_is_whole_too() {
    let (mut first, effects) = branched(&long(), 2, Branch { system: Some("One.".into()), ..branch() });
    let request = sent(&effects)[0].request;
    drop(first.recorder.handle(Millis(90), reply_to(request, "one")));
    let mut second = Restored::before_turn(&first.recorder.document(), 0).unwrap();
    let other = Branch { system: Some("Two.".into()), max_turns: Some(4), ..branch() };
    let effects = second.recorder.handle(second.at, Event::Branched(Box::new(other)));
    assert_eq!(sent(&effects)[0].append[0], Message::system("Two."));
    let document = second.recorder.document();
    assert_eq!(document.config.max_turns, 4);
    replay(&document).unwrap_or_else(|m| panic!("{m:?}"));
    validate(&document);
}

#[test]
fn a_branch_at_the_first_turn_of_a_branch_keeps_what_that_changed() {
    let changed = Branch { system: Some("One.".into()), say: Some("Be brief.".into()), ..branch() };
    let (mut first, effects) = branched(&long(), 2, changed);
    let messages = sent(&effects)[0].append.clone();
    drop(first.recorder.handle(Millis(90), reply_to(sent(&effects)[0].request, "one")));
    let mut second = Restored::before_turn(&first.recorder.document(), 2).unwrap();
    let effects = second.recorder.handle(second.at, Event::Branched(Box::new(branch())));
    assert_eq!(sent(&effects)[0].append, messages, "the same is asked again");
    let document = second.recorder.document();
    replay(&document).unwrap_or_else(|m| panic!("{m:?}"));

    // A reply that was written by hand is what the second branch does not take over.
    let by_hand =
        Branch { reply: Some(Reply::by_hand("mine".into(), Vec::new())), say: Some("Go on.".into()), ..branch() };
    let (first, effects) = branched(&long(), 2, by_hand);
    assert_eq!((sent(&effects).len(), first.recorder.run.ending().is_some()), (0, true));
    let mut second = Restored::before_turn(&first.recorder.document(), 2).unwrap();
    let effects = second.recorder.handle(second.at, Event::Branched(Box::new(branch())));
    assert_eq!(sent(&effects)[0].append.last(), Some(&Message::user("Go on.")));
    replay(&second.recorder.document()).unwrap_or_else(|m| panic!("{m:?}"));
}

/// The system text names the limit, so another limit changes the text; a branch without either keeps it.
#[test]
fn another_limit_is_in_the_branchs_system_text() {
    let first = |branch: Branch| {
        let (restored, effects) = branched(&long(), 1, branch);
        (sent(&effects)[0].append[0].clone(), restored.recorder.run.config().system_text())
    };
    let before = first(branch());
    let after = first(Branch { max_turns: Some(7), ..branch() });
    assert!(after.1.contains('7') && after.1 != before.1, "{}", after.1);
    assert_eq!((before.0, after.0), (Message::system(before.1), Message::system(after.1)));
}

#[test]
fn a_raised_limit_takes_the_place_of_a_synthesis() {
    let played = play(
        RunConfig { max_turns: 1, ..config(Preset::Research) },
        vec![calls("", &[("a", "search", "{}")]), executed("search", "x"), text("half")],
    );
    let (restored, effects) = branched(&played, 1, Branch { max_turns: Some(5), ..branch() });
    let call = sent(&effects)[0];
    assert_eq!((call.turn, call.tools, call.tail.len()), (2, ToolChoice::Auto, 0));
    assert!(!restored.recorder.run.turns()[1].synthesis);
    let (_, effects) = branched(&played, 1, branch());
    assert_eq!(sent(&effects)[0].tools, ToolChoice::None, "under the same limit it is still a synthesis");
}

#[test]
fn there_is_no_branch_from_a_turn_that_never_was() {
    assert_eq!(Restored::before_turn(&long().document(), 4), None);
    let mut ended = crashed(&long());
    assert_eq!(ended.recorder.handle(ended.at, Event::Branched(Box::new(branch()))), []);
}

#[test]
fn what_is_stored_is_whole_after_every_event() {
    let played = long();
    let mut stored: Vec<turnwise_record::trajectory::RecordedEvent> = Vec::new();
    let (config, task) = played.document().origin();
    let (mut recorder, _) = turnwise_record::trajectory::Recorder::start(config, task);
    for recorded in &played.recorder.events {
        drop(recorder.handle(recorded.at_ms, recorded.event.clone()));
        recorder.with_changed(|events, _| {
            for changed in events {
                match stored.iter_mut().find(|s| s.seq == changed.seq) {
                    Some(old) => *old = (*changed).clone(),
                    None => stored.push((*changed).clone()),
                }
            }
        });
        assert_eq!(stored, recorder.events);
    }
}
