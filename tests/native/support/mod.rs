//! A strict scripted world: an unexpected step and an unused one both fail. Time is a number that it counts up itself.

pub mod anthropic_rules;
pub mod chaos_world;
pub mod demo_world;
pub mod memory;
pub mod pages;
pub mod pattern;
pub mod plan;
pub mod sources;
pub mod splits;
pub mod tree;
pub mod typescript;
pub mod wire;
pub mod work;

use std::collections::VecDeque;

use serde_json::json;
use turnwise_engine::*;
use turnwise_record::trajectory::{Recorder, Trajectory};

/// A response of the scripted world when the engine asks for something.
#[derive(Clone, Debug)]
pub enum Step {
    /// Answers the open request.
    Reply(Reply),
    Fail(ModelError),
    /// Answers the running call with this name (the first one).
    Tool(&'static str, ToolOutcome),
    /// Fires the pending timer: the latest, or the one with this wait.
    Timer(Option<u64>),
    /// The open request has streamed this much of its reply.
    Streamed(&'static str),
    Stop,
    Cancel,
    Grant(u32),
}

pub fn text(content: &str) -> Step {
    Step::Reply(Reply { content: content.into(), ..Reply::default() })
}

pub fn calls(content: &str, calls: &[(&str, &str, &str)]) -> Step {
    let tool_calls = calls
        .iter()
        .map(|(id, name, args)| RawCall { id: (*id).into(), name: (*name).into(), arguments: (*args).into() })
        .collect();
    Step::Reply(Reply { content: content.into(), tool_calls, finish: FinishReason::ToolCalls, ..Reply::default() })
}

pub fn cut_reply(step: Step) -> Step {
    match step {
        Step::Reply(reply) => Step::Reply(Reply { finish: FinishReason::Length, ..reply }),
        other => other,
    }
}

pub fn executed(name: &'static str, content: &str) -> Step {
    Step::Tool(name, ToolOutcome::executed(content.into(), None))
}

pub fn error(slug: Slug, retry: Retry) -> ModelError {
    ModelError { slug, message: format!("{slug} happened"), status: None, retry_after_ms: None, retry }
}

/// A tool without effects that takes anything; `submit` may finish a run.
pub fn plain_tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: name.into(),
        parameters: json!({ "type": "object" }),
        may_finish: name == "submit",
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    }
}

pub fn config(preset: Preset) -> RunConfig {
    RunConfig { tools: ["search", "read", "submit"].map(plain_tool).to_vec(), ..RunConfig::preset(preset) }
}

pub fn task() -> Task {
    Task {
        run_id: "run_20261121_220000_abcdef".into(),
        session_id: "session".into(),
        input: "the task".into(),
        images: Vec::new(),
        history: Vec::new(),
        refused_tokens: None,
        started_at: EpochMillis(1_795_298_400_000),
        child: 0,
    }
}

/// The results of a script.
pub struct Played {
    pub recorder: Recorder,
    pub requests: Vec<ModelCall>,
    pub records: Vec<Record>,
    pub effects: Vec<Effect>,
}

impl Played {
    pub fn run(&self) -> &Run {
        &self.recorder.run
    }

    pub fn ending(&self) -> &Ending {
        self.run().ending().expect("the run has ended")
    }

    pub fn document(&self) -> Trajectory {
        self.recorder.document()
    }

    /// `reason / outcome / source / total_turns`, the four ending fields.
    pub fn fields(&self) -> String {
        let e = self.ending();
        let word = |v: serde_json::Value| v.as_str().unwrap_or_default().to_owned();
        let outcome = word(json!(e.outcome));
        let source = word(json!(e.answer_source));
        format!("{} / {outcome} / {source} / {}", e.termination_reason, e.total_turns)
    }

    /// The whole conversation that a request carried: frozen part and tail.
    pub fn conversation(&self, request: usize) -> Vec<Message> {
        let mut all: Vec<Message> = Vec::new();
        for call in &self.requests[..=request] {
            all.extend(call.append.clone());
        }
        all.extend(self.requests[request].tail.clone());
        all
    }

    pub fn tool_results(&self) -> Vec<String> {
        let results = self.run().turns().iter().flat_map(|t| &t.tool_calls);
        results.map(|c| c.result.clone().expect("answered")).collect()
    }

    pub fn wrn(&self) -> usize {
        self.run().logs().iter().filter(|l| l.level == LogLevel::Warn).count()
    }

    pub fn err(&self) -> usize {
        self.run().logs().iter().filter(|l| l.level == LogLevel::Error).count()
    }
}

/// Plays a script to its end. Every step must be possible when it is reached, and nothing may stay open after the last.
pub fn play(config: RunConfig, script: Vec<Step>) -> Played {
    let played = play_open(config, script);
    assert!(played.run().ending().is_some(), "the script ended before the run: {:?}", played.run().status());
    played
}

/// Like [`play`], but the run may still be going.
pub fn play_open(config: RunConfig, script: Vec<Step>) -> Played {
    let (recorder, effects) = Recorder::start(config, task());
    let mut world = World { at: 0, open: Open::default() };
    let mut played = Played { recorder, requests: Vec::new(), records: Vec::new(), effects: Vec::new() };
    world.take(&mut played, effects);
    let mut script: VecDeque<Step> = script.into();
    while let Some(step) = script.pop_front() {
        let event = world.event(step);
        world.at += 10;
        let effects = played.recorder.handle(Millis(world.at), event);
        world.take(&mut played, effects);
    }
    if played.run().ending().is_some() {
        assert_eq!(world.open, Open::default(), "work is still open after the end");
    }
    played
}

#[derive(Debug, Default, PartialEq)]
struct Open {
    request: Option<RequestId>,
    tools: Vec<RunTool>,
    timers: Vec<(TimerId, u64)>,
}

struct World {
    at: u64,
    open: Open,
}

impl World {
    fn event(&mut self, step: Step) -> Event {
        let open = &mut self.open;
        match step {
            Step::Reply(reply) => {
                let request = open.request.take().expect("no request is open for a reply");
                Event::ModelReplied { request, reply, raw: None, first_token_ms: Some(5) }
            }
            Step::Fail(error) => {
                let request = open.request.take().expect("no request is open for a failure");
                let raw = Some(RawResponse { text: "raw bytes".into(), truncated: false });
                Event::ModelFailed { request, error, raw }
            }
            Step::Tool(name, outcome) => {
                let index = open.tools.iter().position(|t| t.name == name);
                let call = open.tools.remove(index.unwrap_or_else(|| panic!("no call of {name} is running")));
                Event::ToolFinished { call: call.call, outcome }
            }
            Step::Timer(ms) => {
                let index = open.timers.iter().rposition(|(_, asked)| ms.is_none_or(|ms| ms == *asked));
                let index = index.unwrap_or_else(|| panic!("no timer of {ms:?} ms is pending: {:?}", open.timers));
                let (timer, asked) = open.timers.remove(index);
                self.at += asked;
                Event::TimerFired { timer }
            }
            Step::Streamed(content) => {
                let request = open.request.expect("no request is open that could stream");
                let partial = PartialReply { content: content.into(), reasoning: String::new() };
                Event::ModelStreamed { request, partial }
            }
            Step::Stop => Event::StopRequested,
            Step::Cancel => Event::Cancelled { keeps_text: true },
            Step::Grant(turns) => Event::TurnsGranted { turns },
        }
    }

    fn take(&mut self, played: &mut Played, effects: Vec<Effect>) {
        for effect in effects {
            played.effects.push(effect.clone());
            match effect {
                Effect::CallModel(call) => {
                    assert!(self.open.request.is_none(), "two requests are open");
                    self.open.request = Some(call.request);
                    played.requests.push(call);
                }
                Effect::RunTool(tool) => self.open.tools.push(tool),
                Effect::Sleep { timer, ms } => {
                    self.open.timers.push((timer, ms));
                }
                Effect::Abort(Abort::Request(id)) => {
                    assert_eq!(self.open.request.take(), Some(id), "aborted a request that is not open");
                }
                Effect::Abort(Abort::Tool(id)) => {
                    let index = self.open.tools.iter().position(|t| t.call == id);
                    self.open.tools.remove(index.expect("aborted a call that is not running"));
                }
                Effect::Abort(Abort::Timer(id)) => {
                    // A timer that has just fired may still be aborted.
                    self.open.timers.retain(|(timer, _)| *timer != id);
                }
                Effect::Record(record) => played.records.push(record),
                Effect::KeepResult { .. } | Effect::AnswerProgram { .. } | Effect::Finish => {}
            }
        }
    }
}

/// Compares with `tests/golden/NAME`; `UPDATE=1` updates it.
pub fn golden(name: &str, actual: &str) {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), actual, "{path}");
}

/// Fails unless a document is valid against the shipped JSON Schema.
pub fn validate(document: &Trajectory) {
    thread_local! {
        static SCHEMA: jsonschema::Validator = {
            let text = include_str!("../../../docs/schema/turnwise-trajectory.v1.json");
            jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
        };
    }
    let value = serde_json::to_value(document).unwrap();
    SCHEMA.with(|schema| {
        let faults: Vec<String> = schema.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    });
}
