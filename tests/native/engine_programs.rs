//! Programs: what the calls of `run_code` are to the run that made it (tool-calls.md#programs).

use crate::support::*;
use turnwise_engine::*;
use turnwise_record::trajectory::{RecordedProgram, Recorder, Trajectory, programs, replay};

/// A run whose model has called `run_code` once, as `p`.
struct Program {
    recorder: Recorder,
    effects: Vec<Effect>,
}

fn program_config(preset: Preset, change: impl FnOnce(&mut RunConfig)) -> RunConfig {
    let tools = vec![plain_tool("read"), plain_tool("submit"), own_tools::program_spec(), own_tools::batch_spec()];
    let mut config = RunConfig { tools, seed: 7, ..RunConfig::preset(preset) };
    change(&mut config);
    config
}

impl Program {
    fn start(config: RunConfig) -> Self {
        let (recorder, effects) = Recorder::start(config, task());
        let mut program = Program { recorder, effects };
        program.reply(&[("p", "run_code", r#"{"code":"1"}"#)]);
        program
    }

    fn tell(&mut self, event: Event) {
        self.effects = self.recorder.handle(Millis(5), event);
    }

    fn reply(&mut self, calls: &[(&str, &str, &str)]) {
        let open = self.effects.iter().find_map(|effect| match effect {
            Effect::CallModel(call) => Some(call.request),
            _ => None,
        });
        let call = |(id, name, arguments): &(&str, &str, &str)| RawCall {
            id: (*id).into(),
            name: (*name).into(),
            arguments: (*arguments).into(),
        };
        let tool_calls = calls.iter().map(call).collect();
        let reply = Reply { tool_calls, finish: FinishReason::ToolCalls, ..Reply::default() };
        let request = open.expect("a request is open");
        self.tell(Event::ModelReplied { request, reply, raw: None, first_token_ms: None });
    }

    fn asks(&mut self, name: &str, arguments: &str) {
        let call = CallId("p".into());
        self.tell(Event::ToolAsked { call, name: name.into(), arguments: arguments.into() });
    }

    fn ran(&mut self, call: &str, content: &str) {
        let outcome = ToolOutcome::executed(content.into(), None);
        self.tell(Event::ToolFinished { call: CallId(call.into()), outcome });
    }

    /// The calls that start in this step.
    fn starts(&self) -> Vec<&str> {
        let run = |effect: &'_ Effect| matches!(effect, Effect::RunTool(_));
        let calls = self.effects.iter().filter(|effect| run(effect)).map(|effect| match effect {
            Effect::RunTool(tool) => tool.call.0.as_str(),
            _ => "",
        });
        calls.collect()
    }

    /// What the program receives in this step.
    fn answers(&self) -> Vec<(usize, bool, &str)> {
        let answers = self.effects.iter().filter_map(|effect| match effect {
            Effect::AnswerProgram { asked, answer, .. } => Some((*asked, answer.failed, answer.content.as_str())),
            _ => None,
        });
        answers.collect()
    }

    fn record(&self) -> &CallRecord {
        &self.recorder.run.turns()[0].tool_calls[0]
    }

    fn replays(&self) -> Vec<RecordedProgram> {
        let document = self.recorder.document();
        validate(&document);
        let text = serde_json::to_string(&document).unwrap();
        let read = Trajectory::parse(&text).unwrap();
        assert_eq!(serde_json::to_string(&replay(&read).unwrap().document()).unwrap(), text);
        programs(&read)
    }
}

#[test]
fn the_calls_of_a_program_are_calls_of_the_run() {
    let mut run = Program::start(program_config(Preset::Research, |config| config.limits.max_result_chars = 20));
    assert_eq!(run.starts(), ["p"]);
    run.asks("read", r#"{"path":"a"}"#);
    assert_eq!(run.starts(), ["p_0"]);
    run.asks("nope", "{}");
    assert_eq!((run.starts(), run.answers().len()), (vec![], 1));
    assert!(run.answers()[0].1 && run.answers()[0].2.contains("there is no tool named \"nope\""));
    let long = "x".repeat(100);
    run.ran("p_0", &long);
    assert_eq!(run.answers(), [(0, false, long.as_str())], "the program reads the whole result");
    run.ran("p", "=> 1");
    let [first, second] = run.record().calls.as_slice() else { panic!("two calls") };
    assert_eq!((first.id.0.as_str(), second.id.0.as_str()), ("p_0", "p_1"));
    assert!(first.result.as_ref().unwrap().contains("of 100 characters were cut"), "the record keeps it cut");
    assert!(run.record().result.as_ref().unwrap().starts_with("=> 1\n[Turn 1/"));
    let [program] = run.replays().try_into().expect("one program");
    assert_eq!((program.turn, program.ok, program.output.as_str()), (Some(1), true, "=> 1"));
    assert_eq!(program.tools, ["read", "submit"]);
    assert_eq!(program.calls[0], ("read".to_owned(), r#"{"path":"a"}"#.to_owned()));
    let order: Vec<(usize, bool)> = program.answers.iter().map(|(asked, failed, _)| (*asked, *failed)).collect();
    assert_eq!(order, [(1, true), (0, false)], "in the order in which it received them");
    assert_eq!(program.path, "/events/4/event/outcome");
}

#[test]
fn only_four_calls_run_at_once_and_the_program_takes_no_place() {
    let mut run = Program::start(program_config(Preset::Research, |config| config.limits.parallel_tools = 1));
    run.asks("read", "{}");
    assert_eq!(run.starts(), ["p_0"]);
    run.asks("read", "{}");
    assert!(run.starts().is_empty());
    run.ran("p_0", "a");
    assert_eq!(run.starts(), ["p_1"]);
}

#[test]
fn what_the_program_does_not_wait_for_is_cancelled() {
    let mut run = Program::start(program_config(Preset::Research, |_| {}));
    run.asks("read", "{}");
    run.ran("p", "early");
    assert!(run.effects.contains(&Effect::Abort(Abort::Tool(CallId("p_0".into())))));
    assert!(run.answers().is_empty(), "it has ended");
    assert_eq!(run.record().calls[0].result.as_deref(), Some("cancelled"));
    run.replays();
}

#[test]
fn a_final_result_inside_a_program_does_not_end_the_run() {
    let mut run = Program::start(program_config(Preset::Research, |_| {}));
    run.asks("submit", "{}");
    run.ran("p_0", "<<<FINAL_RESULT>>>1<<<END_FINAL_RESULT>>>");
    run.ran("p", "=> undefined");
    assert!(run.recorder.run.ending().is_none());
    run.replays();
}

#[test]
fn in_strict_only_the_calls_of_a_program_count() {
    let strict = |asks: bool| {
        let mut run = Program::start(program_config(Preset::Strict, |_| {}));
        if asks {
            run.asks("read", "{}");
            run.ran("p_0", "found");
        }
        run.ran("p", "=> 1");
        (run.recorder.run.turns().len(), run.recorder.run.logs().len())
    };
    assert_eq!(strict(true), (2, 0), "the next turn begins");
    assert_eq!(strict(false), (1, 1), "the attempt failed");
}

#[test]
fn tools_that_hold_others_cannot_be_called() {
    let mut run = Program::start(program_config(Preset::Research, |_| {}));
    for name in [own_tools::BATCH, own_tools::PROGRAM, own_tools::REPORT, own_tools::SPAWN] {
        run.asks(name, "{}");
        assert!(run.starts().is_empty(), "{name}");
        assert!(run.answers()[0].2.contains("cannot be called by a program"), "{:?}", run.answers());
    }
}

#[test]
fn after_a_stop_new_calls_are_answered_at_once() {
    let mut run = Program::start(program_config(Preset::Research, |_| {}));
    run.tell(Event::StopRequested);
    run.asks("read", "{}");
    assert_eq!((run.starts(), run.answers()), (vec![], vec![(0, true, "stopped")]));
    run.ran("p", "what it found");
    assert!(run.recorder.run.turns()[0].tool_calls[0].result.as_ref().unwrap().starts_with("what it found"));
    run.replays();
}

#[test]
fn after_a_closed_page_a_program_is_answered_as_interrupted() {
    let mut run = Program::start(program_config(Preset::Research, |_| {}));
    run.asks("read", "{}");
    run.tell(Event::Resumed { at: EpochMillis(1_795_298_500_000), authority: None });
    assert!(run.starts().is_empty(), "neither it nor its call runs again");
    assert_eq!(run.record().slug, Some(Slug::Interrupted));
    assert_eq!(run.replays(), [], "it has no output of its own");
}

#[test]
fn a_program_exchanges_a_limited_amount_with_its_tools() {
    let mut run = Program::start(program_config(Preset::Research, |_| {}));
    let large = "y".repeat(4 * 1024 * 1024);
    let mut answered = 0;
    loop {
        run.asks("read", "{}");
        let Some(call) = run.starts().first().map(|call| (*call).to_owned()) else { break };
        run.ran(&call, &large);
        answered += 1;
    }
    assert_eq!(answered, 16, "with their arguments these pass 64 MiB");
    assert!(run.answers()[0].2.contains("at most 64 MiB"), "{:?}", run.answers());
}

#[test]
fn the_same_call_of_the_same_run_sees_the_same_world() {
    let world = |seed| {
        let mut config = program_config(Preset::Research, |_| {});
        config.seed = seed;
        let run = Program::start(config);
        run.effects.iter().find_map(|effect| match effect {
            Effect::RunTool(tool) => tool.program.as_ref().map(|program| (program.seed, program.at)),
            _ => None,
        })
    };
    assert_eq!(world(7), world(7));
    assert_ne!(world(7).map(|w| w.0), world(8).map(|w| w.0));
}

#[test]
fn a_rule_by_name_asks_about_the_code_or_denies_it() {
    let with = |rule, answers| {
        Program::start(program_config(Preset::Research, |config| {
            let tools = [("run_code".to_owned(), rule)].into();
            config.permissions = Some(Permissions { answers, tools, ..Permissions::default() });
        }))
    };
    let mut asked = with(PermissionRule::Ask, Answers::Page);
    let permission = |run: &Program| {
        run.effects.iter().find_map(|effect| match effect {
            Effect::RunTool(tool) => Some((tool.permission, tool.program.is_some())),
            _ => None,
        })
    };
    assert_eq!(permission(&asked), Some((CallPermission::Ask, true)));
    asked.tell(Event::Permitted { call: CallId("p".into()), allow: true, scope: Scope::Call });
    assert_eq!(permission(&asked), Some((CallPermission::Allowed, true)));
    let denied = with(PermissionRule::Deny, Answers::Page);
    assert!(denied.record().result.as_ref().unwrap().contains("does not permit run_code"));
}
