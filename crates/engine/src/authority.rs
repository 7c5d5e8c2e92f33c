//! Who decides in a run that continues from a record (trajectory.md#a-record-is-data).
//!
//! A record can come from anybody. What it says about models, tools, permissions and limits describes how the run went on
//! until now; from here on, whoever continues it decides. The event that continues the run carries that [`Authority`], so a
//! replay makes the same decisions. Invariant: after `Run::adopt` (`restart.rs`), no server, tool, rule or answer comes from the
//! record, and no limit is wider than that of the adopter.

use serde::{Deserialize, Serialize};

use super::config::{Limits, Permissions, RetryConfig, RunConfig, Skill, SynthesisConfig, ToolSpec};
use super::provider::ProviderConfig;
use super::skills;

/// What whoever continues a recorded run brings along: it replaces what the record says, and of two limits the smaller one
/// counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryAuthority"),
    ts(rename = "TrajectoryAuthority")
)]
pub struct Authority {
    /// The models that are called from here on.
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub providers: Vec<ProviderConfig>,
    /// The tools that the adopter has. A tool of the record stays if one of these has its name, and then it is this one.
    pub tools: Vec<ToolSpec>,
    /// The same of skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<Vec<Skill>>", optional))]
    pub skills: Vec<Skill>,
    pub permissions: Permissions,
    pub limits: Limits,
    pub retry: RetryConfig,
    pub max_turns: u32,
    pub max_attempts: u32,
    /// Requests for the synthesis, retries included.
    pub synthesis_attempts: u32,
}

impl From<&RunConfig> for Authority {
    /// The authority of someone who would run new tasks with this configuration.
    fn from(config: &RunConfig) -> Self {
        // Without `..`, here and in `apply`: who decides about a new field has to be said.
        let RunConfig {
            preset,
            system: _,
            temperature: _,
            top_p: _,
            reasoning: _,
            tool_choice: _,
            max_turns,
            max_attempts,
            counter: _,
            synthesis,
            providers,
            report: _,
            tools,
            agents: _,
            skills,
            permissions,
            limits,
            retry,
            adjusted: _,
            shortens: _,
            seed: _,
        } = config;
        let synthesis = synthesis.clone().unwrap_or_else(|| SynthesisConfig::preset(*preset));
        Authority {
            providers: providers.clone(),
            tools: tools.clone(),
            skills: skills.clone(),
            permissions: permissions.clone().unwrap_or_default(),
            limits: limits.clone(),
            retry: retry.clone(),
            max_turns: *max_turns,
            max_attempts: *max_attempts,
            synthesis_attempts: synthesis.attempts,
        }
    }
}

impl Authority {
    /// Applies it to a configuration. Returns the names of the tools that the adopter does not have.
    #[must_use]
    pub fn apply(&self, config: &mut RunConfig) -> Vec<String> {
        let RunConfig {
            // How the run works, and what it says: as recorded.
            preset: _,
            system: _,
            temperature: _,
            top_p: _,
            reasoning: _,
            tool_choice: _,
            counter: _,
            report: _,
            adjusted: _,
            shortens: _,
            seed: _,
            // What costs or reaches something.
            max_turns,
            max_attempts,
            synthesis,
            providers,
            tools,
            agents,
            skills,
            permissions,
            limits,
            retry,
        } = config;
        if !self.providers.is_empty() {
            providers.clone_from(&self.providers);
        }
        let mut dropped = Vec::new();
        *tools = std::mem::take(tools)
            .into_iter()
            .filter_map(|recorded| {
                let own = self.tools.iter().find(|tool| tool.name == recorded.name).cloned();
                if own.is_none() {
                    dropped.push(recorded.name);
                }
                own
            })
            .collect();
        skills::adopt(skills, &self.skills);
        *permissions = Some(self.permissions.clone());
        *limits = limits.within(&self.limits);
        *retry = self.retry.clone();
        *max_turns = (*max_turns).min(self.max_turns);
        *max_attempts = (*max_attempts).min(self.max_attempts);
        if let Some(synthesis) = synthesis {
            synthesis.attempts = synthesis.attempts.min(self.synthesis_attempts.max(1));
        }
        agents.iter_mut().for_each(|kind| kind.max_turns = kind.max_turns.min(self.max_turns));
        *config = std::mem::take(config).normalized();
        // A strict run always has this one, which the engine makes itself.
        dropped.retain(|name| config.tools.iter().all(|tool| tool.name != *name));
        dropped
    }

    /// The same for a sub-agent, whose wall time is its own and whose budgets are those of the tree.
    #[must_use]
    pub(super) fn for_child(&self) -> Self {
        let mut limits = self.limits.clone();
        (limits.children, limits.wall_ms, limits.tokens, limits.cost) = (0, Some(limits.child_ms), None, None);
        Authority { limits, ..self.clone() }
    }
}

impl Limits {
    /// The smaller one of each limit. The context window is that of the other's models.
    #[must_use]
    fn within(&self, other: &Limits) -> Limits {
        let smaller = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Limits {
            tool_timeout_ms: self.tool_timeout_ms.min(other.tool_timeout_ms),
            parallel_tools: self.parallel_tools.min(other.parallel_tools),
            tool_calls_per_turn: self.tool_calls_per_turn.min(other.tool_calls_per_turn),
            max_result_chars: self.max_result_chars.min(other.max_result_chars),
            children: self.children.min(other.children),
            child_ms: self.child_ms.min(other.child_ms),
            headers_ms: self.headers_ms.min(other.headers_ms),
            first_token_ms: self.first_token_ms.min(other.first_token_ms),
            request_ms: self.request_ms.min(other.request_ms),
            idle_ms: self.idle_ms.min(other.idle_ms),
            wall_ms: smaller(self.wall_ms, other.wall_ms),
            tokens: smaller(self.tokens, other.tokens),
            cost: match (self.cost, other.cost) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            context_tokens: other.context_tokens,
        }
    }
}
