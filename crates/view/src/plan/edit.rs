//! A plan that is being edited: as a form whose fields are texts, or as JSON. Both lead to the same value, which
//! `plan::read` validates; each fault is mapped back to the field it is about.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use turnwise_content::format::counted;
use turnwise_record::plan::{FaultKind, Plan, PlanFault, read};

/// The plan that is being edited. Stored on the user's machine between visits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanDraft {
    pub agents: Vec<AgentForm>,
    pub steps: Vec<StepForm>,
    /// The JSON text, even if it is invalid; `None` while the form is used.
    pub text: Option<String>,
    /// Whether it works on the sample documents.
    pub samples: bool,
    /// The task for which a model is asked to draft a plan.
    pub task: String,
    /// The last key assigned.
    keys: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentForm {
    pub key: u32,
    pub name: String,
    pub kind: String,
    pub system: String,
    pub tools: String,
    pub max_turns: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepForm {
    pub key: u32,
    pub order: String,
    pub agent: String,
    pub action: String,
    pub dependencies: String,
    pub tools: String,
}

/// One fault, as users see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultView {
    /// `plan.steps[2].agent`
    pub path: String,
    /// `Step 3, agent`
    pub place: String,
    pub message: String,
    /// How to fix it.
    pub advice: &'static str,
}

/// Means "no tools at all", since an empty field means all tools.
pub(super) const NONE: &str = "none";

impl PlanDraft {
    /// Returns a draft with one agent of each kind and a step for each.
    #[must_use]
    pub fn blank() -> Self {
        let mut draft = PlanDraft::default();
        draft.fill(&json!({
            "agents": { "Researcher": { "kind": "gather" }, "Writer": { "kind": "synthesis" } },
            "steps": [
                { "order": 1, "agent": "Researcher", "action": "" },
                { "order": 2, "agent": "Writer", "action": "" },
            ],
        }));
        draft
    }

    #[must_use]
    pub fn from_json(text: &str) -> Self {
        let kept = serde_json::from_str::<PlanDraft>(text).ok();
        kept.filter(|draft| !draft.agents.is_empty() || !draft.steps.is_empty()).unwrap_or_else(PlanDraft::blank)
    }

    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Fills the form from a value; parts without a field are left out.
    pub fn fill(&mut self, plan: &Value) {
        let empty = Map::new();
        let agents = plan.get("agents").and_then(Value::as_object).unwrap_or(&empty);
        let agents: Vec<AgentForm> =
            agents.iter().map(|(name, agent)| AgentForm::from_json(self.key(), name, agent)).collect();
        let steps = plan.get("steps").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let steps: Vec<StepForm> = steps.iter().map(|step| StepForm::from_json(self.key(), step)).collect();
        (self.agents, self.steps, self.text) = (agents, steps, None);
    }

    /// Fills the form from a plan.
    pub fn fill_from(&mut self, plan: &Plan) {
        let text = serde_json::to_string(plan).unwrap_or_default();
        self.fill(&serde_json::from_str(&text).unwrap_or_default());
    }

    fn key(&mut self) -> u32 {
        self.keys = self.keys.wrapping_add(1);
        self.keys
    }

    pub fn add_agent(&mut self) {
        let key = self.key();
        self.agents.push(AgentForm { key, kind: "gather".to_owned(), ..AgentForm::default() });
    }

    pub fn add_step(&mut self) {
        let key = self.key();
        let last = self.steps.iter().filter_map(|step| step.order.trim().parse::<u32>().ok()).max().unwrap_or(0);
        // The last step of a plan often concludes; a new one gathers, unless no agent does.
        let gathers = |name: &str| self.agents.iter().any(|agent| agent.name == name && agent.kind == "gather");
        let of_steps = self.steps.iter().rev().map(|step| &step.agent);
        let agent = of_steps.chain(self.agents.iter().map(|agent| &agent.name)).find(|name| gathers(name));
        let agent = agent.cloned().unwrap_or_default();
        self.steps.push(StepForm { key, order: last.saturating_add(1).to_string(), agent, ..StepForm::default() });
    }

    /// Switches to JSON, or back to the form if the text is JSON.
    ///
    /// # Errors
    /// The reason the text is not JSON.
    pub fn switch(&mut self) -> Result<(), String> {
        match &self.text {
            None => self.text = Some(pretty(&self.form_value())),
            Some(text) => {
                let value = serde_json::from_str(text).map_err(|e| format!("This is not JSON: {e}"))?;
                self.fill(&value);
            }
        }
        Ok(())
    }

    /// Returns the plan in its current state.
    ///
    /// # Errors
    /// All faults, in the order of the plan.
    pub fn plan(&self, tools: &[&str]) -> Result<Plan, Vec<FaultView>> {
        let (value, mut faults) = match &self.text {
            Some(text) => match serde_json::from_str::<Value>(text) {
                Ok(value) => (value, Vec::new()),
                Err(e) => return Err(vec![FaultView::not_json(&e.to_string())]),
            },
            None => (self.form_value(), self.names()),
        };
        match read(&value, tools) {
            Ok(plan) if faults.is_empty() => Ok(plan),
            Ok(_) => Err(faults),
            Err(more) => {
                // An order that does not exist is no smaller one either: one mistake, one fault.
                let is_unknown =
                    |path: &str| more.iter().any(|fault| fault.path == path && fault.kind == FaultKind::UnknownOrder);
                let said = more
                    .iter()
                    .filter(|fault| fault.kind != FaultKind::DependencyNotSmaller || !is_unknown(&fault.path));
                faults.extend(said.map(FaultView::from));
                Err(faults)
            }
        }
    }

    /// Returns the plan as far as it can be drawn while it is written: without what is not filled in yet, or wrong. `None`: it has
    /// no steps that can be told apart.
    #[must_use]
    pub fn sketch(&self) -> Option<Plan> {
        let mut value = match &self.text {
            Some(text) => serde_json::from_str(text).ok()?,
            None => self.form_value(),
        };
        let orders: Vec<u64> =
            value.get("steps")?.as_array()?.iter().filter_map(|step| step.get("order")?.as_u64()).collect();
        for step in value.get_mut("steps")?.as_array_mut()? {
            let own = step.get("order").and_then(Value::as_u64)?;
            let step = step.as_object_mut()?;
            let action = step.get("action").and_then(Value::as_str).filter(|action| !action.trim().is_empty());
            let action = action.unwrap_or("\u{2026}").to_owned();
            step.insert("action".to_owned(), Value::String(action));
            step.remove("tools");
            if let Some(before) = step.get_mut("dependencies").and_then(Value::as_array_mut) {
                before.retain(|order| order.as_u64().is_some_and(|order| order < own && orders.contains(&order)));
            }
        }
        for agent in value.get_mut("agents")?.as_object_mut()?.values_mut() {
            for field in ["tools", "max_turns", "maxTurns"] {
                agent.as_object_mut()?.remove(field);
            }
        }
        read(&value, &[]).ok()
    }

    /// Returns the agents as in the JSON.
    #[must_use]
    pub fn agents_value(&self) -> Value {
        let value = match &self.text {
            Some(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            None => self.form_value(),
        };
        value.get("agents").cloned().unwrap_or(Value::Null)
    }

    fn form_value(&self) -> Value {
        let agents: Map<String, Value> = self.agents.iter().map(|a| (a.name.trim().to_owned(), a.value())).collect();
        json!({ "agents": agents, "steps": self.steps.iter().map(StepForm::value).collect::<Vec<_>>() })
    }

    /// Returns the faults that JSON cannot express: an agent without a name, and two agents with the same name.
    fn names(&self) -> Vec<FaultView> {
        let mut faults = Vec::new();
        for (at, agent) in self.agents.iter().enumerate() {
            let name = agent.name.trim();
            let fault = |message: String, advice| FaultView {
                path: name_path(agent.key),
                place: format!("Agent {}, name", at + 1),
                message,
                advice,
            };
            if name.is_empty() {
                faults.push(fault("this agent has no name".to_owned(), "Give it a name, or remove it."));
            } else if self.agents.iter().take(at).any(|other| other.name.trim() == name) {
                faults.push(fault(
                    format!("an agent named {name:?} already exists"),
                    "Give it another name, or remove it.",
                ));
            }
        }
        faults
    }
}

/// Returns the path for a fault in an agent's name: names are keys in the JSON, so they have no path there.
#[must_use]
pub fn name_path(key: u32) -> String {
    format!("form.agents[{key}].name")
}

impl AgentForm {
    fn from_json(key: u32, name: &str, value: &Value) -> Self {
        let tools = value.get("tools").and_then(Value::as_array);
        AgentForm {
            key,
            name: name.to_owned(),
            kind: text(value, "kind"),
            system: text(value, "system"),
            tools: match tools {
                Some(tools) if tools.is_empty() => NONE.to_owned(),
                _ => list(value, "tools"),
            },
            max_turns: value.get("max_turns").or_else(|| value.get("maxTurns")).map(shown).unwrap_or_default(),
        }
    }

    fn value(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("kind".to_owned(), Value::String(self.kind.clone()));
        if !self.system.trim().is_empty() {
            fields.insert("system".to_owned(), Value::String(self.system.clone()));
        }
        match self.tools.trim() {
            "" => {}
            NONE => drop(fields.insert("tools".to_owned(), json!([]))),
            some => drop(fields.insert("tools".to_owned(), names(some))),
        }
        if !self.max_turns.trim().is_empty() {
            fields.insert("max_turns".to_owned(), number(&self.max_turns));
        }
        Value::Object(fields)
    }
}

impl StepForm {
    fn from_json(key: u32, value: &Value) -> Self {
        StepForm {
            key,
            order: value.get("order").map(shown).unwrap_or_default(),
            agent: text(value, "agent"),
            action: text(value, "action"),
            dependencies: list(value, "dependencies"),
            tools: list(value, "tools"),
        }
    }

    fn value(&self) -> Value {
        let dependencies: Vec<Value> = parts(&self.dependencies).map(number).collect();
        json!({
            "order": number(&self.order),
            "agent": self.agent,
            "action": self.action,
            "dependencies": dependencies,
            "tools": names(&self.tools),
        })
    }
}

impl From<&PlanFault> for FaultView {
    fn from(fault: &PlanFault) -> Self {
        FaultView {
            path: fault.path.clone(),
            place: place(fault),
            message: fault.message.clone(),
            advice: advice(fault.kind),
        }
    }
}

/// Says how much is to be done before the plan can run: several faults in one field are one field.
#[must_use]
pub fn to_fix(faults: &[FaultView]) -> String {
    let places = faults.iter().enumerate();
    let fields = places.filter(|(at, fault)| !faults.iter().take(*at).any(|other| other.place == fault.place)).count();
    format!("Fix {} to run.", counted(fields as u64, "field"))
}

impl FaultView {
    fn not_json(why: &str) -> Self {
        FaultView {
            path: String::new(),
            place: "JSON".to_owned(),
            message: why.to_owned(),
            advice: "Correct the text here. The form returns when the text is valid JSON.",
        }
    }

    /// Returns what is wrong and how to fix it, for display at the field in question.
    #[must_use]
    pub fn full_text(&self) -> String {
        format!("{}. {}", self.message, self.advice)
    }

    /// Returns whether the fault belongs to no field.
    #[must_use]
    pub fn is_about_the_whole(&self) -> bool {
        !["plan.steps[", "plan.agents.", "form."].iter().any(|at| self.path.starts_with(at))
    }

    /// Returns whether the fault is about a field, or about something in it.
    #[must_use]
    pub fn is_at(&self, path: &str) -> bool {
        self.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

/// `Step 3, dependencies`, `Agent Writer, kind`: steps by their position, since their order may be the fault.
fn place(fault: &PlanFault) -> String {
    if let Some(rest) = fault.path.strip_prefix("plan.steps[") {
        let (at, field) = rest.split_once(']').unwrap_or((rest, ""));
        let number = at.parse::<usize>().map_or(0, |at| at + 1);
        let field = field.trim_start_matches('.').split(['[', '.']).next().unwrap_or_default();
        return if field.is_empty() { format!("Step {number}") } else { format!("Step {number}, {field}") };
    }
    match fault.path.strip_prefix("plan.agents.").map(|rest| rest.rsplit_once('.').unwrap_or((rest, ""))) {
        Some((name, "")) => format!("Agent {name}"),
        Some((name, field)) => format!("Agent {name}, {}", field.split('[').next().unwrap_or_default()),
        None => "Plan".to_owned(),
    }
}

fn advice(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::WrongType => "Enter a value of that type.",
        FaultKind::MissingField => "Fill it in.",
        FaultKind::UnknownField => "Remove it, or check its spelling.",
        FaultKind::EmptyPlan => "Add a step.",
        FaultKind::DuplicateOrder => "Give each step its own order.",
        FaultKind::UnknownAgent => "Choose one of the agents, or add it.",
        FaultKind::UnknownOrder => "Use the order of an existing step.",
        FaultKind::DependencyNotSmaller => "Use only smaller orders, or give this step a larger order.",
        FaultKind::UnknownTool => "Choose one of these. You can enable more tools in Settings.",
    }
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).map(shown).unwrap_or_default()
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn list(value: &Value, key: &str) -> String {
    let entries = value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    entries.iter().map(shown).collect::<Vec<_>>().join(", ")
}

pub(super) fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ', '\n']).map(str::trim).filter(|part| !part.is_empty())
}

fn names(list: &str) -> Value {
    parts(list).map(|name| Value::String(name.to_owned())).collect()
}

/// Returns the number if the text is one, otherwise the text, so that the fault can quote it.
fn number(text: &str) -> Value {
    let text = text.trim();
    text.parse::<u64>().map_or_else(|_| Value::String(text.to_owned()), Value::from)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
