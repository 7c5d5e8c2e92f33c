//! What a run derives from its configuration before it starts: preconditions, the bound on requests (semantics.md#bound-on-requests), and the
//! configuration of each sub-agent (subagents.md#kinds-of-agents).

use super::config::{CounterConfig, Preset, ReportConfig, RunConfig, SUBAGENT_TURNS, SubagentKind, SynthesisConfig};
use super::ids::MAX_CHILDREN;
use super::judge::{AtLimit, Policy};
use super::own_tools::{self, SubagentTask};
use super::prompts;
use super::provider::ProviderConfig;
use super::retry::Rng;
use super::skills;

impl RunConfig {
    /// The same configuration within the engine's preconditions: at least one turn, one attempt, one provider.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        self.max_turns = self.max_turns.max(1);
        self.max_attempts = self.max_attempts.max(1);
        if self.providers.is_empty() {
            self.providers.push(ProviderConfig::default());
        }
        self.limits.children = self.limits.children.min(MAX_CHILDREN);
        if let Some(tool) = self.tools.iter_mut().find(|t| t.name == own_tools::SPAWN) {
            *tool = own_tools::spawn_spec(&self.agents);
        }
        skills::offer(&mut self);
        if self.preset == Preset::Strict {
            // Its last turn is forced-final instead.
            self.synthesis = None;
            self.tools.retain(|t| t.name != own_tools::REPORT);
            self.tools.push(own_tools::report_spec(&self.report));
        }
        self
    }

    /// See [`prompts::system_text`].
    #[must_use]
    pub fn system_text(&self) -> String {
        prompts::system_text(self)
    }

    /// Whether the model can request sub-agents.
    #[must_use]
    pub fn spawns(&self) -> bool {
        self.limits.children > 0 && self.tools.iter().any(|t| t.name == own_tools::SPAWN)
    }

    /// The maximum number of requests of a run with this configuration, its sub-agents included.
    #[must_use]
    pub fn most_requests(&self) -> u32 {
        let synthesis = match Policy::for_preset(self.preset).at_limit {
            AtLimit::Synthesis => self.synthesis_attempts(),
            AtLimit::ForcedFinal => 0,
        };
        let own = self.max_turns.saturating_mul(self.max_attempts).saturating_add(synthesis);
        let children = if self.spawns() { self.limits.children.saturating_mul(most_child_requests(self)) } else { 0 };
        own.saturating_add(children)
    }
}

/// The counter of a sub-agent or of a plan's agent. `own`: its own setting; `None`: as its parent.
#[must_use]
pub fn inherited_counter(parent: Option<&CounterConfig>, own: Option<bool>) -> Option<CounterConfig> {
    match own {
        Some(false) => None,
        Some(true) => Some(parent.cloned().unwrap_or_default()),
        None => parent.cloned(),
    }
}

/// The configuration of one sub-agent: its parent's, with its own kind's preset, system text, tools, counter and turns, and
/// without sub-agents of its own. A strict sub-agent reports text: a format or a schema is for the parent's report.
#[must_use]
pub fn child_config(parent: &RunConfig, task: &SubagentTask, id: u32) -> RunConfig {
    let kind = kind_of(parent, task);
    let is_own = |name: &str| name == own_tools::SPAWN || name == own_tools::REPORT;
    let own_skills = kind.and_then(|kind| skills::named(&parent.skills, &kind.skills));
    let is_chosen = |name: &String| match &own_skills {
        Some(own) if name == skills::READ_SKILL => !own.is_empty(),
        Some(own) if parent.is_script(name) => {
            own.iter().any(|skill| skill.scripts.iter().any(|one| one.tool == *name))
        }
        _ => kind.is_none_or(|kind| kind.tools.is_empty() || kind.tools.contains(name)),
    };
    let mut limits = parent.limits.clone();
    // The root of the tree watches the tree's budgets.
    (limits.children, limits.wall_ms, limits.tokens, limits.cost) = (0, Some(limits.child_ms), None, None);
    let tools: Vec<_> = parent.tools.iter().filter(|t| !is_own(&t.name) && is_chosen(&t.name)).cloned().collect();
    RunConfig {
        preset: child_preset(parent, kind),
        system: kind.map(|kind| kind.system.clone()).unwrap_or_default(),
        temperature: parent.temperature,
        top_p: parent.top_p,
        reasoning: parent.reasoning,
        tool_choice: None,
        max_turns: child_turns(kind, task.max_turns),
        counter: inherited_counter(parent.counter.as_ref(), kind.and_then(|kind| kind.counter)),
        synthesis: child_synthesis(parent, kind),
        report: ReportConfig::default(),
        skills: skills::offered(own_skills.as_ref().unwrap_or(&parent.skills), &tools),
        tools,
        agents: Vec::new(),
        permissions: parent.permissions.clone(),
        max_attempts: parent.max_attempts,
        providers: parent.providers.clone(),
        retry: parent.retry.clone(),
        // Logged by its parent.
        adjusted: Vec::new(),
        shortens: parent.shortens,
        limits,
        seed: Rng::new(parent.seed ^ u64::from(id)).up_to(u64::MAX >> 11),
    }
}

/// The maximum number of requests of the sub-agent for a task.
#[must_use]
pub fn child_requests(parent: &RunConfig, task: &SubagentTask) -> u32 {
    let kind = kind_of(parent, task);
    requests_of_kind(parent, kind, child_turns(kind, task.max_turns))
}

/// The maximum number of requests of any sub-agent that the model may still request.
#[must_use]
pub fn most_child_requests(parent: &RunConfig) -> u32 {
    let kinds = parent.agents.iter().map(|kind| requests_of_kind(parent, Some(kind), child_turns(Some(kind), None)));
    kinds.fold(requests_of_kind(parent, None, child_turns(None, None)), u32::max)
}

fn kind_of<'a>(parent: &'a RunConfig, task: &SubagentTask) -> Option<&'a SubagentKind> {
    task.agent.as_ref().and_then(|name| parent.agents.iter().find(|kind| kind.name == *name))
}

fn child_preset(parent: &RunConfig, kind: Option<&SubagentKind>) -> Preset {
    kind.and_then(|kind| kind.preset).unwrap_or(parent.preset)
}

/// The parent's if both have the same preset; switched off if the parent switched it off.
fn child_synthesis(parent: &RunConfig, kind: Option<&SubagentKind>) -> Option<SynthesisConfig> {
    match child_preset(parent, kind) {
        Preset::Strict => None,
        same if same == parent.preset => parent.synthesis.clone(),
        other if parent.preset == Preset::Strict || parent.synthesis.is_some() => Some(SynthesisConfig::preset(other)),
        _ => None,
    }
}

/// Never above the kind's.
fn child_turns(kind: Option<&SubagentKind>, asked: Option<u32>) -> u32 {
    let most = kind.map_or(SUBAGENT_TURNS, |kind| kind.max_turns);
    asked.unwrap_or(most).clamp(1, most.max(1))
}

fn requests_of_kind(parent: &RunConfig, kind: Option<&SubagentKind>, turns: u32) -> u32 {
    let synthesis = child_synthesis(parent, kind).map_or(0, |synthesis| synthesis.attempts);
    turns.saturating_mul(parent.max_attempts).saturating_add(synthesis)
}
