//! The fields of the form by name: reading and setting their values, and their paths in the JSON.

use super::edit::{AgentForm, NONE, PlanDraft, StepForm, name_path, parts};
use turnwise_content::format::one_line;

/// A column of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepField {
    Name,
    Kind,
    System,
    AgentTools,
    Turns,
    Order,
    Agent,
    Action,
    Dependencies,
    StepTools,
}

/// The columns of an agent and of a step, from left to right.
pub const OF_AGENT: [StepField; 5] =
    [StepField::Name, StepField::Kind, StepField::System, StepField::AgentTools, StepField::Turns];
pub const OF_STEP: [StepField; 5] =
    [StepField::Order, StepField::Agent, StepField::Action, StepField::Dependencies, StepField::StepTools];

impl StepField {
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            StepField::Name => "Name",
            StepField::Kind => "Kind",
            StepField::System => "System message",
            StepField::AgentTools => "Tools",
            StepField::Turns => "Turns",
            StepField::Order => "Order",
            StepField::Agent => "Agent",
            StepField::Action => "Action",
            StepField::Dependencies => "Depends on",
            StepField::StepTools => "Only these tools",
        }
    }

    /// Returns its name in the JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            StepField::Name => "name",
            StepField::Kind => "kind",
            StepField::System => "system",
            StepField::AgentTools | StepField::StepTools => "tools",
            StepField::Turns => "max_turns",
            StepField::Order => "order",
            StepField::Agent => "agent",
            StepField::Action => "action",
            StepField::Dependencies => "dependencies",
        }
    }

    /// Whether it is a list, which is edited entry by entry.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, StepField::AgentTools | StepField::Dependencies | StepField::StepTools)
    }

    /// Returns the meaning of an empty field.
    #[must_use]
    pub fn empty(self) -> &'static str {
        match self {
            StepField::System => "from Settings",
            StepField::AgentTools => "all",
            StepField::Turns => "as set",
            StepField::Action => "what this step should do",
            StepField::Dependencies => "none",
            StepField::StepTools => "its agent's",
            StepField::Name | StepField::Kind | StepField::Order | StepField::Agent => "",
        }
    }
}

impl AgentForm {
    fn field(&self, field: StepField) -> Option<&String> {
        match field {
            StepField::Name => Some(&self.name),
            StepField::Kind => Some(&self.kind),
            StepField::System => Some(&self.system),
            StepField::AgentTools => Some(&self.tools),
            StepField::Turns => Some(&self.max_turns),
            _ => None,
        }
    }

    fn field_mut(&mut self, field: StepField) -> Option<&mut String> {
        match field {
            StepField::Name => Some(&mut self.name),
            StepField::Kind => Some(&mut self.kind),
            StepField::System => Some(&mut self.system),
            StepField::AgentTools => Some(&mut self.tools),
            StepField::Turns => Some(&mut self.max_turns),
            _ => None,
        }
    }
}

impl StepForm {
    fn field(&self, field: StepField) -> Option<&String> {
        match field {
            StepField::Order => Some(&self.order),
            StepField::Agent => Some(&self.agent),
            StepField::Action => Some(&self.action),
            StepField::Dependencies => Some(&self.dependencies),
            StepField::StepTools => Some(&self.tools),
            _ => None,
        }
    }

    fn field_mut(&mut self, field: StepField) -> Option<&mut String> {
        match field {
            StepField::Order => Some(&mut self.order),
            StepField::Agent => Some(&mut self.agent),
            StepField::Action => Some(&mut self.action),
            StepField::Dependencies => Some(&mut self.dependencies),
            StepField::StepTools => Some(&mut self.tools),
            _ => None,
        }
    }
}

/// Rows are identified by their key, regardless of their position.
impl PlanDraft {
    #[must_use]
    pub fn get(&self, key: u32, field: StepField) -> String {
        let agent = self.agents.iter().find(|agent| agent.key == key).and_then(|agent| agent.field(field));
        let step = self.steps.iter().find(|step| step.key == key).and_then(|step| step.field(field));
        agent.or(step).cloned().unwrap_or_default()
    }

    pub fn set(&mut self, key: u32, field: StepField, value: String) {
        let agent = self.agents.iter_mut().find(|agent| agent.key == key).and_then(|agent| agent.field_mut(field));
        let step = self.steps.iter_mut().find(|step| step.key == key).and_then(|step| step.field_mut(field));
        if let Some(place) = agent.or(step) {
            *place = value;
        }
    }

    pub fn remove(&mut self, key: u32) {
        self.agents.retain(|agent| agent.key != key);
        self.steps.retain(|step| step.key != key);
    }

    /// Returns the path of the field in the JSON.
    #[must_use]
    pub fn path(&self, key: u32, field: StepField) -> String {
        let agent = self.agents.iter().find(|agent| agent.key == key);
        match (agent, self.steps.iter().position(|step| step.key == key)) {
            (Some(_), _) if field == StepField::Name => name_path(key),
            (Some(agent), _) => format!("plan.agents.{}.{}", agent.name.trim(), field.key()),
            (None, Some(at)) => format!("plan.steps[{at}].{}", field.key()),
            (None, None) => String::new(),
        }
    }

    /// Returns the entries of a field that is a list.
    #[must_use]
    pub fn entries(&self, key: u32, field: StepField) -> Vec<String> {
        parts(&self.get(key, field)).map(str::to_owned).collect()
    }

    /// Returns what can be added to a field that is a list: each value, and the same for people. `tools`: those that a run has.
    #[must_use]
    pub fn addable(&self, key: u32, field: StepField, tools: &[&str]) -> Vec<(String, String)> {
        let there = self.entries(key, field);
        let own = self.get(key, StepField::Order).trim().parse::<u32>().ok();
        let earlier = |step: &StepForm| {
            let order = step.order.trim().parse::<u32>().ok()?;
            let is_earlier = step.key != key && own.is_none_or(|own| order < own);
            is_earlier.then(|| (order.to_string(), one_line(&format!("{order} {}: {}", step.agent, step.action), 60)))
        };
        let named = tools.iter().map(|tool| ((*tool).to_owned(), (*tool).to_owned()));
        let no_tools = (NONE.to_owned(), "no tools".to_owned());
        let all: Vec<(String, String)> = match field {
            StepField::Dependencies => self.steps.iter().filter_map(earlier).collect(),
            StepField::StepTools => named.collect(),
            StepField::AgentTools if there.is_empty() => std::iter::once(no_tools).chain(named).collect(),
            StepField::AgentTools => named.collect(),
            _ => Vec::new(),
        };
        all.into_iter().filter(|(value, _)| !there.contains(value)).collect()
    }

    /// Adds to a field that is a list.
    pub fn add(&mut self, key: u32, field: StepField, value: &str) {
        let mut entries = self.entries(key, field);
        entries.retain(|entry| entry != NONE);
        entries.push(value.to_owned());
        self.set(key, field, entries.join(", "));
    }

    /// Removes an entry, by its position, from a field that is a list.
    pub fn remove_entry(&mut self, key: u32, field: StepField, at: usize) {
        let mut entries = self.entries(key, field);
        if at < entries.len() {
            entries.remove(at);
        }
        self.set(key, field, entries.join(", "));
    }

    /// Returns the choices of a field, if it has any.
    #[must_use]
    pub fn choices(&self, field: StepField) -> Option<Vec<String>> {
        let kinds = || turnwise_record::plan::AgentKind::ALL.iter().map(|kind| kind.as_str().to_owned());
        match field {
            StepField::Kind => Some(kinds().collect()),
            StepField::Agent => Some(self.agents.iter().map(|agent| agent.name.trim().to_owned()).collect()),
            _ => None,
        }
    }
}
