//! Reads a plan from JSON, written by a page, a person or a model. Reads and checks it to its end, and reports every fault.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fault::{FaultKind, PlanFault};
use super::model::{AgentKind, AgentSpec, Plan, PlanStep, by_order};

const PLAN: &[&str] = &["plan_id", "agents", "steps"];
/// Pages write `maxTurns`, documents `max_turns`.
const AGENT: &[&str] = &["kind", "system", "tools", "max_turns", "maxTurns", "counter"];
const STEP: &[&str] = &["order", "agent", "action", "dependencies", "tools"];

/// Reads a plan and checks its consistency and the names of its tools (plans.md#faults-of-a-plan). `tools` are the available ones.
///
/// # Errors
/// Every fault, in the order of the plan.
pub fn read(plan: &Value, tools: &[&str]) -> Result<Plan, Vec<PlanFault>> {
    let mut reader = PlanReader { faults: Vec::new() };
    let Some(fields) = reader.object(plan, "plan", PLAN, None) else { return Err(reader.faults) };
    let plan_id = reader.optional(fields, "plan_id", "plan", None, "a non-empty string", text).unwrap_or_default();
    let agents = reader.agents(fields);
    let steps = reader.steps(fields);
    let mut faults = reader.faults;
    faults.extend(check(&agents, &steps, tools));
    let steps = by_order(steps.into_iter().map(DraftStep::into_step), |step| step.order);
    if faults.is_empty() { Ok(Plan { plan_id, agents, steps }) } else { Err(faults) }
}

/// A step as far as it could be read: an invalid field is `None` here, and its fault is already recorded.
struct DraftStep {
    path: String,
    order: Option<u32>,
    agent: Option<String>,
    action: Option<String>,
    dependencies: Vec<Option<u32>>,
    tools: Vec<Option<String>>,
}

impl DraftStep {
    fn into_step(self) -> PlanStep {
        PlanStep {
            order: self.order.unwrap_or_default(),
            agent: self.agent.unwrap_or_default(),
            action: self.action.unwrap_or_default(),
            dependencies: self.dependencies.into_iter().flatten().collect(),
            tools: self.tools.into_iter().flatten().collect(),
        }
    }
}

/// The rules beyond the types of fields: agents and orders exist, and dependencies have smaller orders only, so that there
/// is no cycle (plans.md#faults-of-a-plan).
fn check(agents: &BTreeMap<String, AgentSpec>, steps: &[DraftStep], tools: &[&str]) -> Vec<PlanFault> {
    let mut faults = Vec::new();
    for (name, agent) in agents {
        for (at, tool) in agent.tools.iter().flatten().enumerate() {
            if !tools.contains(&tool.as_str()) {
                faults.push(unknown_tool(format!("plan.agents.{name}.tools[{at}]"), None, tool, tools));
            }
        }
    }
    for (index, step) in steps.iter().enumerate() {
        check_step(agents, steps, index, step, tools, &mut faults);
    }
    faults
}

fn check_step(
    agents: &BTreeMap<String, AgentSpec>,
    steps: &[DraftStep],
    index: usize,
    step: &DraftStep,
    tools: &[&str],
    faults: &mut Vec<PlanFault>,
) {
    let mut fault = |kind, place: &str, message: String| {
        faults.push(PlanFault::new(kind, format!("{}.{place}", step.path), step.order, message));
    };
    if let Some(order) = step.order
        && let Some(first) = steps.iter().take(index).find(|other| other.order == Some(order))
    {
        fault(FaultKind::DuplicateOrder, "order", format!("{order} is also the order of {}", first.path));
    }
    if let Some(agent) = &step.agent
        && !agents.contains_key(agent)
    {
        let known = names(agents.keys().map(String::as_str));
        fault(FaultKind::UnknownAgent, "agent", format!("there is no agent {agent:?}; there {known}"));
    }
    for (at, dependency) in step.dependencies.iter().enumerate() {
        let Some(dependency) = dependency else { continue };
        let place = format!("dependencies[{at}]");
        if let Some(order) = step.order
            && *dependency >= order
        {
            let message = format!("{dependency} is not smaller than {order}, the order of the step itself");
            fault(FaultKind::DependencyNotSmaller, &place, message);
        }
        if !steps.iter().any(|other| other.order == Some(*dependency)) {
            fault(FaultKind::UnknownOrder, &place, format!("no step has order {dependency}"));
        }
    }
    for (at, tool) in step.tools.iter().enumerate() {
        if let Some(tool) = tool
            && !tools.contains(&tool.as_str())
        {
            faults.push(unknown_tool(format!("{}.tools[{at}]", step.path), step.order, tool, tools));
        }
    }
}

fn unknown_tool(path: String, order: Option<u32>, tool: &str, tools: &[&str]) -> PlanFault {
    let known = names(tools.iter().copied());
    PlanFault::new(FaultKind::UnknownTool, path, order, format!("there is no tool {tool:?}; there {known}"))
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => "are none".to_owned(),
        [one] => format!("is {one}"),
        _ => format!("are {}", names.join(", ")),
    }
}

struct PlanReader {
    faults: Vec<PlanFault>,
}

type Fields = Map<String, Value>;

impl PlanReader {
    fn agents(&mut self, plan: &Fields) -> BTreeMap<String, AgentSpec> {
        let takes = "an object: agents by their name";
        let Some(agents) = self.required(plan, "agents", "plan", None, takes, Value::as_object) else {
            return BTreeMap::new();
        };
        let mut read = BTreeMap::new();
        for (name, value) in agents {
            let path = format!("plan.agents.{name}");
            // An agent with a fault of its own still counts as known, so its steps get no fault because of it.
            let agent = match self.object(value, &path, AGENT, None) {
                Some(fields) => self.agent(fields, &path),
                None => AgentSpec::default(),
            };
            read.insert(name.clone(), agent);
        }
        read
    }

    fn agent(&mut self, fields: &Fields, path: &str) -> AgentSpec {
        let kind = self.required(fields, "kind", path, None, "'gather' or 'synthesis'", kind);
        let takes = "a whole number, 1 or more";
        let max_turns = self.optional(fields, "max_turns", path, None, takes, positive);
        AgentSpec {
            kind: kind.unwrap_or_default(),
            system: self.optional(fields, "system", path, None, "a string", |v| v.as_str().map(str::to_owned)),
            tools: fields.contains_key("tools").then(|| {
                let tools = self.list(fields, "tools", path, None, "tool name", text);
                tools.into_iter().flatten().collect()
            }),
            max_turns: max_turns.or_else(|| self.optional(fields, "maxTurns", path, None, takes, positive)),
            counter: self.optional(fields, "counter", path, None, "true or false", Value::as_bool),
        }
    }

    fn steps(&mut self, plan: &Fields) -> Vec<DraftStep> {
        let takes = "an array of steps";
        let Some(steps) = self.required(plan, "steps", "plan", None, takes, Value::as_array) else { return Vec::new() };
        if steps.is_empty() {
            let fault = PlanFault::new(FaultKind::EmptyPlan, "plan.steps", None, "a plan needs at least one step");
            self.faults.push(fault);
        }
        let drafts = steps.iter().enumerate().filter_map(|(at, value)| self.step(value, &format!("plan.steps[{at}]")));
        drafts.collect()
    }

    fn step(&mut self, value: &Value, path: &str) -> Option<DraftStep> {
        let order = value.get("order").and_then(positive);
        let fields = self.object(value, path, STEP, order)?;
        let whole = "a whole number, 1 or more";
        let words = "a non-empty string";
        Some(DraftStep {
            path: path.to_owned(),
            order: self.required(fields, "order", path, order, whole, positive),
            agent: self.required(fields, "agent", path, order, words, text),
            action: self.required(fields, "action", path, order, words, text),
            dependencies: self.list(fields, "dependencies", path, order, "step order", positive),
            tools: self.list(fields, "tools", path, order, "tool name", text),
        })
    }

    fn object<'a>(&mut self, value: &'a Value, path: &str, known: &[&str], order: Option<u32>) -> Option<&'a Fields> {
        let Some(fields) = value.as_object() else {
            self.wrong(path, order, value, "an object");
            return None;
        };
        for key in fields.keys().filter(|key| !known.contains(&key.as_str())) {
            let message = format!("unknown field; the known fields are {}", known.join(", "));
            self.faults.push(PlanFault::new(FaultKind::UnknownField, format!("{path}.{key}"), order, message));
        }
        Some(fields)
    }

    fn required<'a, T>(
        &mut self,
        fields: &'a Fields,
        name: &str,
        path: &str,
        order: Option<u32>,
        takes: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        if !fields.contains_key(name) {
            let message = format!("missing; expected {takes}");
            self.faults.push(PlanFault::new(FaultKind::MissingField, format!("{path}.{name}"), order, message));
        }
        self.optional(fields, name, path, order, takes, read)
    }

    fn optional<'a, T>(
        &mut self,
        fields: &'a Fields,
        name: &str,
        path: &str,
        order: Option<u32>,
        takes: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = fields.get(name)?;
        let read = read(value);
        if read.is_none() {
            self.wrong(&format!("{path}.{name}"), order, value, takes);
        }
        read
    }

    /// Reads a list; a missing one is empty. An invalid entry keeps its place, so that later faults have the right index.
    fn list<T>(
        &mut self,
        fields: &Fields,
        name: &str,
        path: &str,
        order: Option<u32>,
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Vec<Option<T>> {
        let takes = format!("an array of {what}s");
        let Some(values) = self.optional(fields, name, path, order, &takes, Value::as_array) else { return Vec::new() };
        let mut list = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let entry = read(value);
            if entry.is_none() {
                self.wrong(&format!("{path}.{name}[{at}]"), order, value, &format!("a {what}"));
            }
            list.push(entry);
        }
        list
    }

    fn wrong(&mut self, path: &str, order: Option<u32>, got: &Value, takes: &str) {
        let message = format!("got {}; expected {takes}", shown(got));
        self.faults.push(PlanFault::new(FaultKind::WrongType, path, order, message));
    }
}

fn positive(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n >= 1)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn kind(value: &Value) -> Option<AgentKind> {
    let word = value.as_str()?;
    AgentKind::ALL.iter().copied().find(|kind| kind.as_str() == word)
}

/// Describes a value for a message; long values are not shown.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::String(text) if text.chars().count() > 60 => "a text".to_owned(),
        short => short.to_string(),
    }
}
