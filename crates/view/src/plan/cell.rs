//! The fields of the form by name: reading and setting their values, and their paths in the JSON.

use super::edit::{AgentForm, PlanDraft, StepForm, name_path};

/// A column of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
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
pub const OF_AGENT: [Field; 5] = [Field::Name, Field::Kind, Field::System, Field::AgentTools, Field::Turns];
pub const OF_STEP: [Field; 5] = [Field::Order, Field::Agent, Field::Action, Field::Dependencies, Field::StepTools];

impl Field {
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Field::Name => "Name",
            Field::Kind => "Kind",
            Field::System => "System message",
            Field::AgentTools => "Tools",
            Field::Turns => "Turns",
            Field::Order => "Order",
            Field::Agent => "Agent",
            Field::Action => "Action",
            Field::Dependencies => "Depends on",
            Field::StepTools => "Only these tools",
        }
    }

    /// Returns its name in the JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Kind => "kind",
            Field::System => "system",
            Field::AgentTools | Field::StepTools => "tools",
            Field::Turns => "max_turns",
            Field::Order => "order",
            Field::Agent => "agent",
            Field::Action => "action",
            Field::Dependencies => "dependencies",
        }
    }

    /// Returns the meaning of an empty field.
    #[must_use]
    pub fn empty(self) -> &'static str {
        match self {
            Field::System => "from Settings",
            Field::AgentTools => "all",
            Field::Turns => "as set",
            Field::Action => "what this step should do",
            Field::Dependencies => "none",
            Field::StepTools => "its agent's",
            Field::Name | Field::Kind | Field::Order | Field::Agent => "",
        }
    }
}

impl AgentForm {
    fn field(&self, field: Field) -> Option<&String> {
        match field {
            Field::Name => Some(&self.name),
            Field::Kind => Some(&self.kind),
            Field::System => Some(&self.system),
            Field::AgentTools => Some(&self.tools),
            Field::Turns => Some(&self.max_turns),
            _ => None,
        }
    }

    fn field_mut(&mut self, field: Field) -> Option<&mut String> {
        match field {
            Field::Name => Some(&mut self.name),
            Field::Kind => Some(&mut self.kind),
            Field::System => Some(&mut self.system),
            Field::AgentTools => Some(&mut self.tools),
            Field::Turns => Some(&mut self.max_turns),
            _ => None,
        }
    }
}

impl StepForm {
    fn field(&self, field: Field) -> Option<&String> {
        match field {
            Field::Order => Some(&self.order),
            Field::Agent => Some(&self.agent),
            Field::Action => Some(&self.action),
            Field::Dependencies => Some(&self.dependencies),
            Field::StepTools => Some(&self.tools),
            _ => None,
        }
    }

    fn field_mut(&mut self, field: Field) -> Option<&mut String> {
        match field {
            Field::Order => Some(&mut self.order),
            Field::Agent => Some(&mut self.agent),
            Field::Action => Some(&mut self.action),
            Field::Dependencies => Some(&mut self.dependencies),
            Field::StepTools => Some(&mut self.tools),
            _ => None,
        }
    }
}

/// Rows are identified by their key, regardless of their position.
impl PlanDraft {
    #[must_use]
    pub fn get(&self, key: u32, field: Field) -> String {
        let agent = self.agents.iter().find(|agent| agent.key == key).and_then(|agent| agent.field(field));
        let step = self.steps.iter().find(|step| step.key == key).and_then(|step| step.field(field));
        agent.or(step).cloned().unwrap_or_default()
    }

    pub fn set(&mut self, key: u32, field: Field, value: String) {
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
    pub fn path(&self, key: u32, field: Field) -> String {
        let agent = self.agents.iter().find(|agent| agent.key == key);
        match (agent, self.steps.iter().position(|step| step.key == key)) {
            (Some(_), _) if field == Field::Name => name_path(key),
            (Some(agent), _) => format!("plan.agents.{}.{}", agent.name.trim(), field.key()),
            (None, Some(at)) => format!("plan.steps[{at}].{}", field.key()),
            (None, None) => String::new(),
        }
    }

    /// Returns the choices of a field, if it has any.
    #[must_use]
    pub fn choices(&self, field: Field) -> Option<Vec<String>> {
        let kinds = || turnwise_record::plan::AgentKind::ALL.iter().map(|kind| kind.as_str().to_owned());
        match field {
            Field::Kind => Some(kinds().collect()),
            Field::Agent => Some(self.agents.iter().map(|agent| agent.name.trim().to_owned()).collect()),
            _ => None,
        }
    }
}
