//! Skills: what the model reads of them, and the scripts that are tools (skills.md).

use crate::support::*;
use serde_json::json;
use turnwise_engine::*;
use turnwise_record::trajectory::{Recorder, Trajectory, programs, replay};

fn count() -> Skill {
    Skill {
        name: "count".into(),
        description: "Counts words.\nUse it for lengths.".into(),
        instructions: "Count, then submit.\n".into(),
        files: [("scripts/submit.js", "input.n * 2"), ("scripts/old.py", "print(1)"), ("references/how.md", "how")]
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into(),
        scripts: vec![SkillScript {
            tool: "count_submit".into(),
            path: "scripts/submit.js".into(),
            may_finish: true,
            ..SkillScript::default()
        }],
        binary: vec!["assets/logo.png".into()],
        allowed_tools: None,
    }
}

fn skilled(preset: Preset, change: impl FnOnce(&mut RunConfig)) -> RunConfig {
    let tools = vec![
        plain_tool("read"),
        plain_tool("write"),
        own_tools::program_spec(),
        own_tools::batch_spec(),
        own_tools::spawn_spec(&[]),
    ];
    let mut config = RunConfig { tools, skills: vec![count()], seed: 7, ..RunConfig::preset(preset) };
    change(&mut config);
    config
}

/// A run whose model makes one reply after the other.
struct Skilled {
    recorder: Recorder,
    effects: Vec<Effect>,
}

impl Skilled {
    fn start(config: RunConfig) -> Self {
        let (recorder, effects) = Recorder::start(config, task());
        Skilled { recorder, effects }
    }

    fn tell(&mut self, event: Event) {
        self.effects = self.recorder.handle(Millis(5), event);
    }

    fn request(&self) -> &ModelCall {
        let call = self.effects.iter().find_map(|effect| match effect {
            Effect::CallModel(call) => Some(call),
            _ => None,
        });
        call.expect("a request is open")
    }

    /// The model calls a tool, as `id`; returns what the shell has to do.
    fn call(&mut self, id: &str, name: &str, arguments: &str) -> Option<RunTool> {
        let request = self.request().request;
        let tool_calls = vec![RawCall { id: id.into(), name: name.into(), arguments: arguments.into() }];
        let reply = Reply { tool_calls, finish: FinishReason::ToolCalls, ..Reply::default() };
        self.tell(Event::ModelReplied { request, reply, raw: None, first_token_ms: None });
        self.effects.iter().find_map(|effect| match effect {
            Effect::RunTool(run) => Some(run.clone()),
            _ => None,
        })
    }

    fn ran(&mut self, call: &str, content: &str) {
        let outcome = ToolOutcome::Executed {
            content: content.into(),
            images: Vec::new(),
            structured_content: None,
            repaired_args: None,
        };
        self.tell(Event::ToolFinished { call: CallId(call.into()), outcome });
    }

    fn result(&self, turn: usize) -> &str {
        self.recorder.run.turns()[turn].tool_calls[0].result.as_deref().unwrap_or("open")
    }

    /// Reads a skill to the end of the call.
    fn reads(&mut self, id: &str, arguments: &str) -> String {
        let run = self.call(id, skills::READ_SKILL, arguments).expect("its arguments are checked");
        assert_eq!((run.run, run.program), (RunMode::Check, None));
        self.ran(id, "");
        self.result(self.recorder.run.turns().len() - 2).split("\n[Turn").next().unwrap().to_owned()
    }

    fn document(&self) -> Trajectory {
        let document = self.recorder.document();
        validate(&document);
        let text = serde_json::to_string(&document).unwrap();
        let read = Trajectory::parse(&text).unwrap();
        assert_eq!(serde_json::to_string(&replay(&read).unwrap().document()).unwrap(), text, "it replays");
        read
    }
}

#[test]
fn the_model_reads_a_skill_in_three_stages() {
    let mut run = Skilled::start(skilled(Preset::Research, |config| config.system = "Be brief.".into()));
    let system = run.request().append.iter().find_map(|message| match message {
        Message::System { content } => Some(content.clone()),
        _ => None,
    });
    let system = system.expect("there is a system message");
    assert!(system.starts_with("Be brief.\n\nSkills are"), "{system}");
    assert!(system.ends_with("\n- count: Counts words. Use it for lengths."), "one line each: {system}");
    assert!(!system.contains("Count, then submit."), "instructions are read on demand");
    assert_eq!(
        run.reads("a", r#"{"name":"count"}"#),
        "Count, then submit.\n\nFiles of this skill, for read_skill with path:\n\
         - references/how.md (3 characters)\n\
         - scripts/old.py (8 characters): it cannot be run here, only read\n\
         - scripts/submit.js: call the tool count_submit\n\
         - assets/logo.png: not a text, cannot be read"
    );
    assert_eq!(run.reads("b", r#"{"name":"count","path":"./references/how.md"}"#), "how");
    let absent = run.reads("c", r#"{"name":"count","path":"../count/SKILL.md"}"#);
    assert!(absent.contains("has no file") && absent.contains("references/how.md"), "{absent}");
    assert!(run.reads("d", r#"{"name":"count","path":"assets/logo.png"}"#).contains("is not a text"));
    run.document();
}

#[test]
fn a_script_is_a_tool_and_may_end_the_run() {
    let mut run = Skilled::start(skilled(Preset::Research, |_| {}));
    let call = run.call("s", "count_submit", r#"{"n":4}"#).expect("it runs");
    assert_eq!(call.run, RunMode::Run);
    let script = call.program.and_then(|program| program.script).expect("it is a program");
    assert_eq!(
        (script.code.as_str(), script.tools.as_slice()),
        ("input.n * 2", ["read".to_owned(), "write".to_owned(), "read_skill".to_owned()].as_slice())
    );
    run.tell(Event::ToolAsked { call: CallId("s".into()), name: "read".into(), arguments: "{}".into() });
    run.ran("s_0", "8 words");
    run.ran("s", "=> <<<FINAL_RESULT>>>{\"words\":8}<<<END_FINAL_RESULT>>>");
    let ending = run.recorder.run.ending().expect("it has ended");
    assert_eq!(
        (ending.termination_reason, ending.final_result_data.clone()),
        (TerminationReason::FinalResult, Some(json!({ "words": 8 })))
    );
    let document = run.document();
    let [program] = programs(&document).try_into().expect("one program");
    assert_eq!((program.code.as_str(), program.input.as_deref()), ("input.n * 2", Some("{\"n\":4}")));
    assert_eq!(program.answers, [(0, false, "8 words".to_owned())]);
}

#[test]
fn in_strict_a_script_counts_and_its_result_is_checked() {
    let mut run = Skilled::start(skilled(Preset::Strict, |config| {
        config.report = ReportConfig { format: ReportFormat::Json, schema: Some(json!({ "type": "object" })) };
    }));
    run.call("s", "count_submit", "{}");
    run.ran("s", "<<<FINAL_RESULT>>>[]<<<END_FINAL_RESULT>>>");
    let check = run.effects.iter().find_map(|effect| match effect {
        Effect::RunTool(run) => Some(run.call.clone()),
        _ => None,
    });
    let check = check.expect("the result is checked as a report");
    let message = "content: got an array; expected an object".to_owned();
    let outcome = ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: Some("content".into()), message };
    run.tell(Event::ToolFinished { call: check, outcome });
    assert!(run.recorder.run.ending().is_none());
    assert!(run.result(0).contains("this is not taken as the final result"), "{}", run.result(0));
    assert_eq!(run.recorder.run.turns().len(), 2, "the script was executed, so the turn counts");
    run.document();
}

#[test]
fn allowed_tools_narrow_what_a_script_can_call_and_widen_nothing() {
    let only = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    let mut run = Skilled::start(skilled(Preset::Research, |config| {
        config.skills[0].allowed_tools = only(&["read", "Bash(git:*)", "run_code"]);
    }));
    let call = run.call("s", "count_submit", "{}").expect("it runs");
    assert_eq!(call.program.and_then(|program| program.script).expect("a script").tools, ["read"]);
    // What the sandbox offers is not what the rule rests on.
    for name in ["write", "Bash(git:*)", "run_code", "count_submit"] {
        run.tell(Event::ToolAsked { call: CallId("s".into()), name: name.into(), arguments: "{}".into() });
        assert!(!run.effects.iter().any(|effect| matches!(effect, Effect::RunTool(_))), "{name} does not run");
    }
    run.ran("s", "done");
    run.document();
}

#[test]
fn a_script_stands_alone() {
    let mut run = Skilled::start(skilled(Preset::Research, |_| {}));
    run.call("b", "batch", r#"{"calls":[{"name":"count_submit"},{"name":"read_skill","arguments":{"name":"count"}}]}"#);
    run.ran("b", "");
    assert!(run.recorder.run.turns()[0].tool_calls[0].calls[0].error.as_ref().unwrap().contains("call it by itself"));
    run.ran("b_1", "");
    assert!(run.result(0).contains("Count, then submit."), "{}", run.result(0));
    run.document();
}

#[test]
fn a_script_whose_name_is_taken_is_no_tool() {
    let mut run = Skilled::start(skilled(Preset::Research, |config| config.tools.push(plain_tool("count_submit"))));
    let call = run.call("s", "count_submit", "{}").expect("it runs");
    assert_eq!(call.program, None, "it is the other tool");
    run.ran("s", "done");
    assert!(
        run.reads("r", r#"{"name":"count"}"#).contains("- scripts/submit.js (11 characters): it cannot be run here")
    );
    run.document();
}

#[test]
fn sub_agents_have_the_skills_that_their_tools_include() {
    let kind = |tools: &[&str]| SubagentKind {
        name: "k".into(),
        tools: tools.iter().map(|&name| name.to_owned()).collect(),
        ..SubagentKind::default()
    };
    for (tools, skills, scripts) in [(&[][..], 1, 1), (&["read"][..], 0, 0), (&["read", "read_skill"][..], 1, 0)] {
        let parent = skilled(Preset::Orchestrator, |config| config.agents = vec![kind(tools)]).normalized();
        let task = own_tools::SubagentTask { task: "t".into(), max_turns: None, agent: Some("k".into()) };
        let child = setup::child_config(&parent, &task, 1).normalized();
        assert_eq!(child.skills.len(), skills, "{tools:?}");
        assert_eq!(child.tools.iter().filter(|tool| child.is_script(&tool.name)).count(), scripts, "{tools:?}");
        assert_eq!(child.tools.iter().any(|tool| tool.name == skills::READ_SKILL), skills == 1, "{tools:?}");
    }
}

#[test]
fn sub_agents_have_the_skills_that_their_kind_names_and_no_others() {
    let strings = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let child = |tools: &[&str], skills: &[&str]| {
        let kind = SubagentKind {
            name: "k".into(),
            tools: strings(tools),
            skills: strings(skills),
            ..SubagentKind::default()
        };
        let parent = skilled(Preset::Orchestrator, |config| {
            let mut other = config.skills[0].clone();
            other.name = "other".into();
            other.scripts.iter_mut().for_each(|script| script.tool = "other_submit".into());
            config.skills.push(other);
            config.agents = vec![kind];
        })
        .normalized();
        let task = own_tools::SubagentTask { task: "t".into(), max_turns: None, agent: Some("k".into()) };
        let child = setup::child_config(&parent, &task, 1).normalized();
        let names = |all: Vec<&str>| all.join(" ");
        (
            names(child.skills.iter().map(|skill| skill.name.as_str()).collect()),
            names(
                child
                    .tools
                    .iter()
                    .map(|tool| tool.name.as_str())
                    .filter(|name| name.contains("skill") || name.contains("submit"))
                    .collect(),
            ),
        )
    };
    // What its skills need is implied, and a tool of a skill that it does not have is not offered.
    for tools in [&["read"][..], &["read", "other_submit"], &["read", "read_skill", "count_submit"]] {
        assert_eq!(child(tools, &["count"]), ("count".into(), "read_skill count_submit".into()), "{tools:?}");
    }
    assert_eq!(child(&[], &["other"]), ("other".into(), "read_skill other_submit".into()));
    assert_eq!(child(&[], &["none"]), (String::new(), String::new()), "of a record whose skills nobody has any more");
    assert_eq!(child(&[], &[]), ("count other".into(), "read_skill count_submit other_submit".into()));
}

#[test]
fn whoever_continues_a_record_brings_the_skills() {
    let recorded = skilled(Preset::Research, |_| {}).normalized();
    let mut own = skilled(Preset::Research, |config| {
        config.skills[0].instructions = "mine".into();
        config.skills[0].files.insert("scripts/submit.js".into(), "1".into());
        config.skills[0].scripts[0].may_finish = false;
    });
    let mut config = recorded.clone();
    assert_eq!(Authority::from(&own.clone().normalized()).apply(&mut config), Vec::<String>::new());
    assert_eq!(
        (config.skills[0].instructions.as_str(), config.script("count_submit").unwrap().code.as_str()),
        ("mine", "1")
    );
    assert!(config.tools.iter().all(|tool| !tool.may_finish));
    own.skills.clear();
    let mut config = recorded;
    let dropped = Authority::from(&own.normalized()).apply(&mut config);
    assert_eq!(
        (config.skills.len(), dropped.as_slice()),
        (0, ["read_skill".to_owned(), "count_submit".to_owned()].as_slice())
    );
    assert!(!config.is_script("count_submit"));
}

#[test]
fn a_script_that_runs_when_the_page_is_closed_is_interrupted() {
    let mut run = Skilled::start(skilled(Preset::Research, |_| {}));
    run.call("s", "count_submit", "{}");
    run.tell(Event::Resumed { at: EpochMillis(1_795_298_500_000), authority: None });
    assert_eq!(run.recorder.run.turns()[0].tool_calls[0].slug, Some(Slug::Interrupted));
    run.document();
}
