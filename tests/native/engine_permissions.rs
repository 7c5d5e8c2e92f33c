//! Permissions of a run: what is asked, what an answer reaches, what is denied, and what an interruption changes (tool-calls.md#permissions).

use crate::support::*;
use serde_json::json;
use turnwise_engine::*;
use turnwise_record::trajectory::{Recorder, Restored, Trajectory, replay};

/// A run whose tools `save` (workspace) and `send` (network) ask the page, and `look` reads.
struct Asking {
    recorder: Recorder,
    effects: Vec<Effect>,
}

fn asking_config(change: impl FnOnce(&mut Permissions)) -> RunConfig {
    let spec = |name: &str, side_effect| ToolSpec {
        name: name.into(),
        description: name.into(),
        parameters: json!({ "type": "object" }),
        may_finish: false,
        side_effect,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    };
    let mut permissions = Permissions { answers: Answers::Page, ..Permissions::default() };
    change(&mut permissions);
    let tools = vec![
        spec("save", SideEffect::Workspace),
        spec("send", SideEffect::Network),
        spec("look", SideEffect::None),
        own_tools::batch_spec(),
        own_tools::spawn_spec(&[]),
    ];
    RunConfig { tools, permissions: Some(permissions), ..RunConfig::preset(Preset::Research) }
}

impl Asking {
    fn start(config: RunConfig) -> Self {
        let (recorder, effects) = Recorder::start(config, task());
        Asking { recorder, effects }
    }

    fn tell(&mut self, event: Event) -> Vec<(String, CallPermission)> {
        let at = Millis(5);
        self.effects = self.recorder.handle(at, event);
        let run = |effect: &Effect| match effect {
            Effect::RunTool(tool) => Some((tool.call.0.clone(), tool.permission)),
            _ => None,
        };
        self.effects.iter().filter_map(run).collect()
    }

    /// The model replies with these calls, to the run (0) or to a sub-agent.
    fn reply(&mut self, child: u32, calls: &[(&str, &str, &str)]) -> Vec<(String, CallPermission)> {
        let mut open = self.effects.iter().filter_map(|effect| match effect {
            Effect::CallModel(call) if call.request.child() == child => Some(call.request),
            _ => None,
        });
        let request = open.next_back().expect("a request is open");
        let call = |(id, name, arguments): &(&str, &str, &str)| RawCall {
            id: (*id).into(),
            name: (*name).into(),
            arguments: (*arguments).into(),
        };
        let reply = Reply {
            tool_calls: calls.iter().map(call).collect(),
            finish: FinishReason::ToolCalls,
            content: if calls.is_empty() { "done".into() } else { String::new() },
            ..Reply::default()
        };
        self.tell(Event::ModelReplied { request, reply, raw: None, first_token_ms: None })
    }

    fn answer(&mut self, call: &str, allow: bool, scope: Scope) -> Vec<(String, CallPermission)> {
        self.tell(Event::Permitted { call: CallId(call.into()), allow, scope })
    }

    fn ran(&mut self, call: &str) -> Vec<(String, CallPermission)> {
        let outcome = ToolOutcome::executed("ran".into(), None);
        self.tell(Event::ToolFinished { call: CallId(call.into()), outcome })
    }

    fn aborted(&self) -> Vec<&str> {
        let abort = |effect: &'_ Effect| matches!(effect, Effect::Abort(Abort::Tool(_)));
        let calls = self.effects.iter().filter(|effect| abort(effect)).map(|effect| match effect {
            Effect::Abort(Abort::Tool(call)) => call.0.as_str(),
            _ => "",
        });
        calls.collect()
    }

    /// The result of each call of the last turn that has calls.
    fn results(&self) -> Vec<&str> {
        let turn = self.recorder.run.turns().iter().rev().find(|turn| !turn.tool_calls.is_empty());
        let calls = turn.map(|turn| turn.tool_calls.as_slice()).unwrap_or_default();
        calls.iter().map(|call| call.result.as_deref().unwrap_or("open")).collect()
    }

    /// The record replays byte for byte.
    fn replays(&self) {
        let text = serde_json::to_string(&self.recorder.document()).unwrap();
        let again = replay(&Trajectory::parse(&text).unwrap()).unwrap();
        assert_eq!(serde_json::to_string(&again.document()).unwrap(), text);
    }

    /// The same run with another driver, as after a closed page.
    fn reopened(&self) -> Asking {
        let document = Trajectory::parse(&serde_json::to_string(&self.recorder.document()).unwrap()).unwrap();
        let (config, task) = document.origin();
        Asking { recorder: Restored::from_events(config, task, document.events).recorder, effects: Vec::new() }
    }
}

use CallPermission::{Allowed, Ask, AskAgain};

fn told(calls: &[(&str, CallPermission)]) -> Vec<(String, CallPermission)> {
    calls.iter().map(|(call, permission)| ((*call).to_owned(), *permission)).collect()
}

#[test]
fn a_call_with_an_effect_asks_and_runs_after_a_yes() {
    let mut run = Asking::start(asking_config(|_| {}));
    let started = run.reply(0, &[("a", "look", "{}"), ("b", "save", "{}")]);
    assert_eq!(started, told(&[("a", Allowed), ("b", Ask)]));
    run.ran("a");
    assert_eq!(run.ran("b"), [], "a call that nobody permitted has not run");
    assert_eq!(run.results(), ["ran", "open"]);
    assert_eq!(run.answer("b", true, Scope::Call), told(&[("b", Allowed)]));
    assert_eq!(run.answer("b", false, Scope::Run), [], "a second answer comes too late");
    run.ran("b");
    assert_eq!(run.reply(0, &[("c", "save", "{}")]), told(&[("c", Ask)]), "the answer was for one call");
    run.replays();
}

#[test]
fn a_no_is_answered_with_refused() {
    let mut run = Asking::start(asking_config(|_| {}));
    run.reply(0, &[("a", "save", "{}")]);
    assert_eq!(run.answer("a", false, Scope::Call), []);
    assert!(run.results()[0].starts_with("Error: the user refused this call"), "{:?}", run.results());
    assert_eq!(run.recorder.run.turns()[0].tool_calls[0].slug, Some(Slug::Refused));
    run.replays();
}

#[test]
fn an_answer_for_the_tool_covers_the_calls_that_wait_and_those_to_come() {
    let mut run = Asking::start(asking_config(|_| {}));
    run.reply(0, &[("a", "save", "{}"), ("b", "save", "{}"), ("c", "send", "{}")]);
    let started = run.answer("a", true, Scope::Tool);
    assert_eq!(started, told(&[("a", Allowed), ("b", Allowed)]));
    assert_eq!(run.aborted(), ["b"], "its question is closed");
    run.ran("a");
    run.ran("b");
    run.answer("c", false, Scope::Tool);
    let started = run.reply(0, &[("d", "save", "{}"), ("e", "send", "{}")]);
    assert_eq!(started, told(&[("d", Allowed)]), "the refused tool is not even asked about");
    assert!(run.results()[1].starts_with("Error: the user refused"), "{:?}", run.results());
    run.replays();
}

#[test]
fn an_answer_for_a_host_covers_the_calls_to_it_that_wait_and_those_of_sub_agents() {
    let mut config = asking_config(|rules| {
        rules.hosts.insert("*.open.example".into(), PermissionRule::Allow);
    });
    for tool in config.tools.iter_mut().filter(|tool| tool.name == "send") {
        tool.host_argument = Some("url".into());
    }
    let mut run = Asking::start(config);
    let to = |url: &str| format!("{{\"url\":\"{url}\"}}");
    let (one, same, other, open) =
        (to("https://a.example/1"), to("http://A.example/2"), to("https://b.example/"), to("https://x.open.example/"));
    let told_of =
        run.reply(0, &[("a", "send", &one), ("b", "send", &same), ("c", "send", &other), ("d", "send", &open)]);
    assert_eq!(told_of, told(&[("a", Ask), ("b", Ask), ("c", Ask), ("d", Allowed)]));
    assert_eq!(run.answer("a", true, Scope::Host), told(&[("a", Allowed), ("b", Allowed)]));
    assert_eq!(run.aborted(), ["b"], "its question is closed");
    run.ran("a");
    run.ran("b");
    run.ran("d");
    run.answer("c", false, Scope::Host);
    let tasks = r#"{"tasks":[{"task":"one"}]}"#;
    run.reply(0, &[("s", "spawn_subagents", tasks), ("e", "send", &other)]);
    let check = ToolOutcome::Executed {
        content: String::new(),
        images: Vec::new(),
        structured_content: None,
        repaired_args: None,
    };
    run.tell(Event::ToolFinished { call: CallId("s".into()), outcome: check });
    let of_child = run.reply(1, &[("", "send", &one)]);
    assert!(matches!(of_child.as_slice(), [(_, Allowed)]), "{of_child:?}");
    run.replays();
}

#[test]
fn an_answer_for_the_run_covers_its_sub_agents() {
    let mut run = Asking::start(asking_config(|_| {}));
    let tasks = r#"{"tasks":[{"task":"one"},{"task":"two"}]}"#;
    run.reply(0, &[("s", "spawn_subagents", tasks), ("a", "send", "{}")]);
    let check = ToolOutcome::executed(String::new(), None);
    run.tell(Event::ToolFinished { call: CallId("s".into()), outcome: check });
    let both = run.effects.clone();
    let first = run.reply(1, &[("", "save", "{}")]);
    let [(first, Ask)] = first.as_slice() else { panic!("{first:?}") };
    let first = first.clone();
    assert_eq!(run.answer(&first, true, Scope::Run), told(&[("a", Allowed), (&first, Allowed)]));
    run.effects = both;
    let second = run.reply(2, &[("", "save", "{}")]);
    assert!(matches!(second.as_slice(), [(_, Allowed)]), "{second:?}");
    run.replays();
}

#[test]
fn a_denied_tool_never_reaches_the_shell_not_even_in_a_batch() {
    let mut run = Asking::start(asking_config(|permissions| permissions.network = Some(PermissionRule::Deny)));
    let calls = r#"{"calls":[{"name":"send"},{"name":"look"}]}"#;
    run.reply(0, &[("a", "send", "{}"), ("b", "batch", calls)]);
    assert!(run.results()[0].contains("does not permit send, which acts on the network"), "{:?}", run.results());
    assert_eq!(run.ran("b"), told(&[("b_1", Allowed)]));
    run.ran("b_1");
    assert!(run.results()[1].contains("does not permit send"), "{:?}", run.results());
    run.replays();
}

#[test]
fn with_nobody_to_ask_what_reaches_out_is_refused() {
    let mut run = Asking::start(asking_config(|permissions| permissions.answers = Answers::Nobody));
    assert_eq!(run.reply(0, &[("a", "save", "{}"), ("b", "send", "{}")]), told(&[("a", Allowed)]));
    assert!(run.results()[1].contains("nobody to ask"), "{:?}", run.results());
}

#[test]
fn a_stop_closes_open_questions() {
    let mut run = Asking::start(asking_config(|_| {}));
    run.reply(0, &[("a", "save", "{}")]);
    run.tell(Event::StopRequested);
    assert_eq!((run.aborted(), run.results().len()), (vec!["a"], 1));
    assert!(run.results()[0].starts_with("stopped"));
    run.replays();
}

#[test]
fn after_a_closed_page_the_question_is_asked_anew_and_answers_stay() {
    let mut run = Asking::start(asking_config(|_| {}));
    run.reply(0, &[("a", "save", "{}"), ("b", "send", "{}"), ("c", "send", "{}")]);
    run.answer("b", true, Scope::Call);
    let mut again = run.reopened();
    let at = EpochMillis(1_795_298_999_000);
    assert_eq!(again.tell(Event::Resumed { at, authority: None }), told(&[("a", Ask), ("b", Ask), ("c", Ask)]));
    // An answer for the tool does not say that an interrupted call may have its effect twice.
    assert_eq!(again.answer("c", true, Scope::Tool), told(&[("c", Allowed)]));
    assert_eq!(again.answer("b", true, Scope::Call), told(&[("b", Allowed)]));
    again.replays();
    let mut third = again.reopened();
    assert_eq!(
        third.tell(Event::Resumed { at, authority: None }),
        told(&[("a", Ask), ("b", AskAgain), ("c", AskAgain)])
    );
}

#[test]
fn another_driver_can_bring_other_rules() {
    let mut run = Asking::start(asking_config(|_| {}));
    run.reply(0, &[("a", "save", "{}"), ("b", "send", "{}")]);
    let mut again = run.reopened();
    again.tell(Event::PermissionsSet { permissions: Permissions::default() });
    assert_eq!(
        again.tell(Event::Resumed { at: EpochMillis(1_795_298_999_000), authority: None }),
        told(&[("a", Allowed)])
    );
    assert!(again.results()[1].contains("nobody to ask"), "{:?}", again.results());
    again.replays();
}

#[test]
fn a_record_from_before_permissions_asks_nothing_by_itself() {
    let config = RunConfig { permissions: None, ..asking_config(|_| {}) };
    let mut run = Asking::start(config);
    assert_eq!(run.reply(0, &[("a", "save", "{}"), ("b", "send", "{}")]), told(&[("a", Allowed), ("b", Allowed)]));
    let text = serde_json::to_string(&run.recorder.document()).unwrap();
    assert!(!text.contains("permission"), "its record has no new fields");
}

#[test]
fn an_answer_about_one_interrupted_call_says_nothing_about_another() {
    let mut run = Asking::start(asking_config(|rules| rules.network = Some(PermissionRule::Allow)));
    assert_eq!(run.reply(0, &[("a", "send", "{}"), ("b", "send", "{}")]), told(&[("a", Allowed), ("b", Allowed)]));
    let mut again = run.reopened();
    assert_eq!(
        again.tell(Event::Resumed { at: EpochMillis(1_795_298_500_000), authority: None }),
        told(&[("a", AskAgain), ("b", AskAgain)])
    );
    assert_eq!(again.answer("a", false, Scope::Call), [], "b may have had its effect too");
    assert_eq!(again.answer("b", true, Scope::Call), told(&[("b", Allowed)]));
}
