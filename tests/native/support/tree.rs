//! A scripted tree of runs: a run and its sub-agents, with each request and tool call answered in order.

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::trajectory::Recorder;

use super::{config, task};

/// The model's response to each of its requests.
pub type Model = fn(&ModelCall) -> Result<Reply, ModelError>;

/// A tree of runs whose requests and tool calls are answered one after the other, the oldest first.
pub struct Tree {
    pub recorder: Recorder,
    pub at: u64,
    pub requests: Vec<ModelCall>,
    pub open: Vec<ModelCall>,
    pub tools: Vec<RunTool>,
    pub timers: Vec<(TimerId, u64)>,
    pub records: Vec<Record>,
    pub kept: Vec<(CallId, String)>,
    /// The most requests open at once.
    pub most_open: usize,
    pub finished: bool,
}

impl Tree {
    pub fn new(config: RunConfig) -> Self {
        let (recorder, effects) = Recorder::start(config, task());
        let mut tree = Tree {
            recorder,
            at: 0,
            requests: Vec::new(),
            open: Vec::new(),
            tools: Vec::new(),
            timers: Vec::new(),
            records: Vec::new(),
            kept: Vec::new(),
            most_open: 0,
            finished: false,
        };
        tree.take(effects);
        tree
    }

    pub fn handle(&mut self, event: Event) {
        self.at += 10;
        let effects = self.recorder.handle(Millis(self.at), event);
        self.take(effects);
    }

    pub fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::CallModel(call) => {
                    self.requests.push(call.clone());
                    self.open.push(call);
                }
                Effect::RunTool(tool) => self.tools.push(tool),
                Effect::Sleep { timer, ms } => self.timers.push((timer, ms)),
                Effect::Abort(Abort::Request(id)) => self.open.retain(|call| call.request != id),
                Effect::Abort(Abort::Tool(id)) => self.tools.retain(|tool| tool.call != id),
                Effect::Abort(Abort::Timer(id)) => self.timers.retain(|(timer, _)| *timer != id),
                Effect::KeepResult { handle, content } => self.kept.push((handle, content)),
                Effect::Record(record) => self.records.push(record),
                Effect::AnswerProgram { .. } => {}
                Effect::Finish => self.finished = true,
            }
        }
        self.most_open = self.most_open.max(self.open.len());
    }

    /// Answers one request or tool call; returns false if nothing is open.
    pub fn step(&mut self, model: Model) -> bool {
        if !self.tools.is_empty() {
            let tool = self.tools.remove(0);
            let outcome = ToolOutcome::executed("found".into(), None);
            self.handle(Event::ToolFinished { call: tool.call, outcome });
        } else if !self.open.is_empty() {
            let call = self.open.remove(0);
            let request = call.request;
            self.handle(match model(&call) {
                Ok(reply) => Event::ModelReplied { request, reply, raw: None, first_token_ms: None },
                Err(error) => Event::ModelFailed { request, error, raw: None },
            });
        } else {
            return false;
        }
        true
    }

    pub fn play(mut self, model: Model) -> Self {
        for _ in 0..2_000 {
            if !self.step(model) {
                break;
            }
        }
        assert!(self.finished, "{:?}", self.recorder.run.status());
        assert!(self.timers.is_empty(), "a timer is left: {:?}", self.timers);
        self
    }

    pub fn run(&self) -> &Run {
        &self.recorder.run
    }

    /// The result of the first call of the first turn, as the model read it, without the counter line.
    pub fn reports(&self) -> Vec<Value> {
        let result = self.run().turns()[0].tool_calls[0].result.clone().unwrap();
        serde_json::from_str(result.lines().next().unwrap()).unwrap()
    }

    pub fn children(&self) -> impl Iterator<Item = &Ending> {
        self.run().child_runs().map(|run| run.ending().expect("every sub-agent has ended"))
    }
}

pub fn spawning(preset: Preset) -> RunConfig {
    let mut config = config(preset);
    config.tools.push(own_tools::spawn_spec(&[]));
    config
}

pub fn spawn_call(tasks: &[Value]) -> Reply {
    reply_call("spawn_subagents", &json!({ "tasks": tasks }).to_string())
}

pub fn reply_call(name: &str, arguments: &str) -> Reply {
    let call = RawCall { id: String::new(), name: name.into(), arguments: arguments.into() };
    Reply { tool_calls: vec![call], finish: FinishReason::ToolCalls, ..Reply::default() }
}

pub fn says(content: &str) -> Reply {
    Reply { content: content.into(), ..Reply::default() }
}

pub fn tasks(n: usize) -> Vec<Value> {
    (1..=n).map(|i| json!({ "task": format!("part {i}") })).collect()
}
