//! Plans for tests: the trajectories of their steps' runs, and a driver that ends steps on request.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::plan::*;
use turnwise_record::trajectory::{Recorder, Trajectory};

pub const STARTED: EpochMillis = EpochMillis(1_795_298_400_000);

/// A base configuration with some tools, like an agent in a page.
pub fn base() -> RunConfig {
    let spec = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("{name} does it"),
        parameters: json!({ "type": "object" }),
        may_finish: false,
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    };
    let tools = ["get_stock_info", "get_yahoo_finance_news", "get_recommendations", "analyze"].map(spec).to_vec();
    RunConfig { tools, seed: 7, ..RunConfig::preset(Preset::Research) }
}

pub fn options() -> PlanOptions {
    PlanOptions {
        base: base(),
        session_id: "session_00".into(),
        started_at: STARTED,
        parallel: PARALLEL,
        after: None,
        from: None,
    }
}

pub fn plan(value: &Value) -> Plan {
    let base = base();
    let tools: Vec<&str> = base.tools.iter().map(|tool| tool.name.as_str()).collect();
    read(value, &tools).unwrap_or_else(|faults| panic!("{}", fault::listed(&faults)))
}

/// Three steps that gather and a fourth that depends on two of them; `kind` is the fourth agent's kind.
pub fn forecast(kind: &str) -> Value {
    let step = |order: u32, action: &str, tool: &str| json!({ "order": order, "agent": "Company", "action": action, "dependencies": [], "tools": [tool] });
    json!({
        "plan_id": "plan_forecast",
        "agents": { "Company": { "kind": "gather" }, "Forecaster": { "kind": kind, "max_turns": 3 } },
        "steps": [
            step(1, "Look up the company", "get_stock_info"),
            step(2, "Find the news", "get_yahoo_finance_news"),
            step(3, "Collect the recommendations", "get_recommendations"),
            { "order": 4, "agent": "Forecaster", "action": "Analyze the positive developments", "dependencies": [2, 3], "tools": [] },
        ],
    })
}

/// The trajectory of a step's run with this outcome: made by its real engine, in one turn.
pub fn ended(config: &RunConfig, task: &Task, outcome: Outcome, output: &str) -> Trajectory {
    let (mut recorder, _) = Recorder::start(config.clone(), task.clone());
    let request = RequestId(1);
    let event = match outcome {
        Outcome::Cancelled => Event::Cancelled { keeps_text: true },
        Outcome::Failed => {
            let slug = Slug::AuthError;
            let error = ModelError {
                slug,
                message: output.into(),
                status: Some(401),
                retry_after_ms: None,
                retry: Retry::Fatal,
            };
            Event::ModelFailed { request, error, raw: None }
        }
        Outcome::Success | Outcome::Partial => {
            if outcome == Outcome::Partial {
                drop(recorder.handle(Millis(1), Event::StopRequested));
            }
            let request = RequestId(recorder.run.requests());
            let reply = Reply { content: output.into(), ..Reply::default() };
            Event::ModelReplied { request, reply, raw: None, first_token_ms: None }
        }
    };
    drop(recorder.handle(Millis(5), event));
    let document = recorder.document();
    assert_eq!(document.outcome, Some(outcome));
    document
}

/// A plan run and its requests so far.
pub struct Driven {
    pub run: PlanRun,
    pub running: BTreeMap<u32, (RunConfig, Task)>,
    pub started: Vec<u32>,
    pub records: Vec<PlanRecord>,
    pub resumed: Vec<u32>,
    pub stopped: Vec<u32>,
    pub cancelled: Vec<u32>,
    pub finished: bool,
    pub at: u64,
}

impl Driven {
    pub fn start(plan: Plan, options: PlanOptions) -> Self {
        let (run, effects) = PlanRun::start(plan, options);
        let mut driven = Driven { run, ..Driven::nothing() };
        driven.take(effects);
        driven
    }

    /// A plan without steps, to be replaced.
    pub fn nothing() -> Self {
        Driven {
            run: PlanRun::start(Plan::default(), options()).0,
            running: BTreeMap::new(),
            started: Vec::new(),
            records: Vec::new(),
            resumed: Vec::new(),
            stopped: Vec::new(),
            cancelled: Vec::new(),
            finished: false,
            at: 0,
        }
    }

    pub fn take(&mut self, effects: Vec<PlanEffect>) {
        for effect in effects {
            assert!(!self.finished, "an effect after the end: {effect:?}");
            match effect {
                PlanEffect::StartStep { order, config, task } => {
                    assert!(self.running.insert(order, (*config, task)).is_none(), "step {order} was started twice");
                    self.started.push(order);
                }
                PlanEffect::ResumeStep { order } => self.resumed.push(order),
                PlanEffect::StopStep { order } => self.stopped.push(order),
                PlanEffect::CancelStep { order } => self.cancelled.push(order),
                PlanEffect::Record(record) => self.records.push(record),
                PlanEffect::Finish => self.finished = true,
            }
        }
    }

    pub fn send(&mut self, event: PlanEvent) {
        self.at += 10;
        let effects = self.run.handle(Millis(self.at), event);
        self.take(effects);
    }

    /// Ends a running step.
    pub fn end(&mut self, order: u32, outcome: Outcome, output: &str) {
        let (config, task) = self.running.remove(&order).unwrap_or_else(|| panic!("step {order} is not running"));
        let run = Box::new(ended(&config, &task, outcome, output));
        self.send(PlanEvent::StepEnded { order, run });
    }

    /// Ends the running steps with success, smallest order first, until none is left.
    pub fn complete(&mut self) {
        while let Some(order) = self.running.keys().next().copied() {
            self.end(order, Outcome::Success, &format!("result of {order}"));
        }
        assert!(self.finished, "nothing is running, and the plan has not ended");
    }

    pub fn document(&self) -> PlanDocument {
        self.run.document(|_| None)
    }

    pub fn context(&self, order: u32) -> Value {
        let document = self.document();
        let step = document.steps.iter().find(|step| step.order == order).expect("there is such a step");
        serde_json::to_value(&step.context).unwrap()
    }

    /// The statuses, such as `1 completed, 2 failed, 3 blocked by 2`.
    pub fn statuses(&self) -> String {
        let step = |step: &document::StepRecord| {
            let by: Vec<String> = step.blocked_by.iter().map(ToString::to_string).collect();
            let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(" ")) };
            format!("{} {}{by}", step.order, step.status.as_str())
        };
        self.document().steps.iter().map(step).collect::<Vec<_>>().join(", ")
    }
}

/// Fails unless a document is valid against the shipped JSON Schema.
pub fn validate_session(document: &PlanDocument) {
    thread_local! {
        static SCHEMA: jsonschema::Validator = {
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            let session = read(include_str!("../../../docs/schema/turnwise-session.v1.json"));
            let trajectory = read(include_str!("../../../docs/schema/turnwise-trajectory.v1.json"));
            let plan = read(include_str!("../../../docs/schema/turnwise-plan.v1.json"));
            let uri = |name: &str| format!("json-schema:///{name}");
            let registry = jsonschema::Registry::new()
                .add(uri("turnwise-trajectory.v1.json"), jsonschema::Resource::from_contents(trajectory))
                .unwrap()
                .add(uri("turnwise-plan.v1.json"), jsonschema::Resource::from_contents(plan))
                .unwrap()
                .prepare()
                .unwrap();
            jsonschema::options().with_registry(&registry).with_base_uri(uri("turnwise-session.v1.json")).build(&session).unwrap()
        };
    }
    let value = serde_json::to_value(document).unwrap();
    SCHEMA.with(|schema| {
        let faults: Vec<String> = schema.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    });
}
