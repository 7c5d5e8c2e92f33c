//! `spawn_subagents`: the tool as offered, what a call of it asks for, and the configuration of each child (SEMANTICS 9).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::{Preset, ReportConfig, RunConfig, SideEffect, SubagentKind, SynthesisConfig, ToolSpec, counter_of};
use super::retry::Rng;

pub const TOOL: &str = "spawn_subagents";

/// Turns of a child where nothing else is said (SEMANTICS 2).
pub const MAX_TURNS: u32 = 7;

/// One task of a call, as the model asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// The tool as a run with these kinds of agents offers it.
#[must_use]
pub fn spec(agents: &[SubagentKind]) -> ToolSpec {
    let mut task = json!({
        "task": { "type": "string", "minLength": 1, "description": "The whole task: the sub-agent sees nothing else." },
        "max_turns": { "type": "integer", "minimum": 1, "description": "Turns it may take, 7 unless said otherwise." },
    });
    let mut kinds = String::new();
    if !agents.is_empty() {
        let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
        if let Some(properties) = task.as_object_mut() {
            properties.insert("agent".into(), json!({ "enum": names }));
        }
        for SubagentKind { name, description, .. } in agents {
            kinds.push_str(&format!(" {name}: {description}."));
        }
    }
    let description = "Gives tasks to sub-agents that work in parallel, each with its own turns, and answers an array \
                       of their reports in the order of the tasks. Use it for parts that do not depend on each other.";
    ToolSpec {
        name: TOOL.to_owned(),
        description: format!(
            "{description}{}",
            if kinds.is_empty() { String::new() } else { format!(" Kinds of agents:{kinds}") }
        ),
        parameters: json!({
            "type": "object",
            "properties": { "tasks": { "type": "array", "minItems": 1, "items": {
                "type": "object",
                "properties": task,
                "required": ["task"],
                "additionalProperties": false,
            } } },
            "required": ["tasks"],
            "additionalProperties": false,
        }),
        may_finish: false,
        side_effect: SideEffect::None,
    }
}

/// The tasks of a call whose arguments fit the schema.
#[must_use]
pub fn asked(args: &Value) -> Vec<Asked> {
    let tasks = args.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |task: &Value, key: &str| task.get(key).and_then(Value::as_str).map(str::to_owned);
    let read = |task: &Value| Asked {
        task: text(task, "task").unwrap_or_default(),
        max_turns: task.get("max_turns").and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
        agent: text(task, "agent"),
    };
    tasks.iter().map(read).collect()
}

/// The run of one child: its parent's, with its own kind's preset, system text, tools, counter and turns, and without
/// children of its own. A strict child's report is a text: a format or a schema is for the parent's.
#[must_use]
pub fn config(parent: &RunConfig, asked: &Asked, id: u32) -> RunConfig {
    let kind = kind_of(parent, asked);
    let own = |name: &str| name == TOOL || name == super::report::TOOL;
    let chosen = |name: &String| kind.is_none_or(|kind| kind.tools.is_empty() || kind.tools.contains(name));
    let mut limits = parent.limits.clone();
    // The tree's budgets are its root's to watch.
    (limits.children, limits.wall_ms, limits.tokens, limits.cost) = (0, Some(limits.child_ms), None, None);
    RunConfig {
        preset: preset(parent, kind),
        system: kind.map(|kind| kind.system.clone()).unwrap_or_default(),
        tool_choice: None,
        max_turns: turns(kind, asked.max_turns),
        counter: counter_of(parent.counter.as_ref(), kind.and_then(|kind| kind.counter)),
        synthesis: synthesis(parent, kind),
        report: ReportConfig::default(),
        tools: parent.tools.iter().filter(|t| !own(&t.name) && chosen(&t.name)).cloned().collect(),
        agents: Vec::new(),
        limits,
        seed: Rng::new(parent.seed ^ u64::from(id)).up_to(u64::MAX >> 11),
        ..parent.clone()
    }
}

/// LLM requests of a queued child.
#[must_use]
pub fn bound(parent: &RunConfig, asked: &Asked) -> u32 {
    let kind = kind_of(parent, asked);
    bound_of(parent, kind, turns(kind, asked.max_turns))
}

/// LLM requests of the child that may make most of them.
#[must_use]
pub fn most(parent: &RunConfig) -> u32 {
    let kinds = parent.agents.iter().map(|kind| bound_of(parent, Some(kind), turns(Some(kind), None)));
    kinds.fold(bound_of(parent, None, turns(None, None)), u32::max)
}

fn kind_of<'a>(parent: &'a RunConfig, asked: &Asked) -> Option<&'a SubagentKind> {
    asked.agent.as_ref().and_then(|name| parent.agents.iter().find(|kind| kind.name == *name))
}

fn preset(parent: &RunConfig, kind: Option<&SubagentKind>) -> Preset {
    kind.and_then(|kind| kind.preset).unwrap_or(parent.preset)
}

/// Its parent's, where both have the same preset; switched off where its parent switched it off.
fn synthesis(parent: &RunConfig, kind: Option<&SubagentKind>) -> Option<SynthesisConfig> {
    match preset(parent, kind) {
        Preset::Strict => None,
        same if same == parent.preset => parent.synthesis.clone(),
        other if parent.preset == Preset::Strict || parent.synthesis.is_some() => Some(SynthesisConfig::preset(other)),
        _ => None,
    }
}

/// Never above the kind's.
fn turns(kind: Option<&SubagentKind>, asked: Option<u32>) -> u32 {
    let most = kind.map_or(MAX_TURNS, |kind| kind.max_turns);
    asked.unwrap_or(most).clamp(1, most.max(1))
}

fn bound_of(parent: &RunConfig, kind: Option<&SubagentKind>, turns: u32) -> u32 {
    let synthesis = synthesis(parent, kind).map_or(0, |synthesis| synthesis.attempts);
    turns.saturating_mul(parent.max_attempts).saturating_add(synthesis)
}
