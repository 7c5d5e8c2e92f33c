//! A plan drafted by a model: the run that drafts it, and the plan read from that run's report (plans.md#a-plan-drafted-by-a-model).
//!
//! The draft is shown for editing before it runs. The drafting run is `strict`, and its report is JSON that follows the
//! plan's schema, so that the result has the form of a plan; whether it is valid is checked as for any other plan.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fault::{FaultKind, PlanFault};
use super::model::{AgentKind, AgentSpec, Plan};
use super::read::read;
use turnwise_engine::{Ending, Preset, ReportConfig, ReportFormat, RunConfig};

/// Maximum number of turns of a drafting run: one to draft, some to correct.
const MAX_TURNS: u32 = 4;

/// Default agents, if the user names no agents for a task.
#[must_use]
pub fn default_agents() -> BTreeMap<String, AgentSpec> {
    let agent = |kind| AgentSpec { kind, ..AgentSpec::default() };
    BTreeMap::from([
        ("Researcher".to_owned(), agent(AgentKind::Gather)),
        ("Writer".to_owned(), agent(AgentKind::Synthesis)),
    ])
}

/// The configuration of a run that drafts a plan for these agents. `base` has all available tools; the drafting run
/// itself is offered only its report.
#[must_use]
pub fn config(base: &RunConfig, agents: &BTreeMap<String, AgentSpec>) -> RunConfig {
    RunConfig {
        preset: Preset::Strict,
        system: SYSTEM.to_owned(),
        max_turns: MAX_TURNS,
        synthesis: None,
        report: ReportConfig { format: ReportFormat::Json, schema: Some(schema(agents, &names(base))) },
        tools: Vec::new(),
        ..base.clone()
    }
}

/// The task of the drafting run.
#[must_use]
pub fn input(task: &str, base: &RunConfig, agents: &BTreeMap<String, AgentSpec>) -> String {
    let mut text = format!("Draft a plan for this task:\n\n{}\n\nAgents:\n", task.trim());
    for (name, agent) in agents {
        let what = match agent.kind {
            AgentKind::Gather => "gathers: sees only the results of the steps it depends on",
            AgentKind::Synthesis => "synthesizes: sees the results of all earlier steps, without naming them",
        };
        let only = match &agent.tools {
            Some(tools) if !tools.is_empty() => format!("; tools: {}", tools.join(", ")),
            _ => String::new(),
        };
        text += &format!("- {name} ({what}{only})\n");
    }
    text += "\nTools:\n";
    for tool in &base.tools {
        let first = tool.description.lines().next().unwrap_or_default();
        text += &format!("- {}: {first}\n", tool.name);
    }
    text
}

/// Returns the plan reported by an ended drafting run. Its agents are the ones it was drafted for.
///
/// # Errors
/// Why there is no plan, or all of its faults.
pub fn plan(ending: &Ending, base: &RunConfig, agents: &BTreeMap<String, AgentSpec>) -> Result<Plan, Vec<PlanFault>> {
    let Some(report) = &ending.report_data else {
        let message = format!("the drafting run ended without a report: {}", ending.output);
        return Err(vec![PlanFault::new(FaultKind::MissingField, "plan", None, message)]);
    };
    let steps = report.get("steps").cloned().unwrap_or(Value::Null);
    // Converted via text: serializing to a `Value` would add a second serializer of the type to the page.
    let agents = serde_json::to_string(agents).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    read(&json!({ "agents": agents, "steps": steps }), &names(base))
}

/// The schema of a drafted plan. Rules that a schema cannot express (smaller orders, no order twice) are checked when
/// the plan is read.
#[must_use]
pub fn schema(agents: &BTreeMap<String, AgentSpec>, tools: &[&str]) -> Value {
    let agents: Vec<&String> = agents.keys().collect();
    let tool = if tools.is_empty() { Value::Bool(false) } else { json!({ "enum": tools }) };
    let step = json!({
        "type": "object",
        "properties": {
            "order": { "type": "integer", "minimum": 1, "description": "Position in the plan, counted from 1" },
            "agent": { "enum": agents },
            "action": { "type": "string", "minLength": 1, "description": "What the agent is to do, complete in itself" },
            "dependencies": {
                "type": "array",
                "items": { "type": "integer", "minimum": 1 },
                "description": "Smaller orders whose results this step needs",
            },
            "tools": { "type": "array", "items": tool, "description": "The only tools of this step; empty: all of them" },
        },
        "required": ["order", "agent", "action", "dependencies", "tools"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": { "steps": { "type": "array", "minItems": 1, "items": step } },
        "required": ["steps"],
        "additionalProperties": false,
    })
}

fn names(base: &RunConfig) -> Vec<&str> {
    base.tools.iter().map(|tool| tool.name.as_str()).collect()
}

const SYSTEM: &str = "You draft plans. A plan is a list of steps, each carried out by one agent on its own. Keep it short: as \
     few steps as the task needs. Steps that do not need each other run at the same time, so name as a dependency only \
     a step whose result is needed. A step depends on steps of smaller order only. End with a step of an agent that \
     synthesizes, where there is one. Report the plan by calling final_report; do not carry it out.";
