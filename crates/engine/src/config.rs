//! A run's whole configuration, as data. No secret is ever in it: keys and headers stay in the shell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::provider::ProviderConfig;

/// Everything except the events that determines what a run does (semantics.md#presets): no key, no header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryConfig"),
    ts(rename = "TrajectoryConfig")
)]
#[serde(default)]
pub struct RunConfig {
    pub preset: Preset,
    /// The system message; empty means the preset's default text.
    pub system: String,
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// How much the model thinks before it answers. If omitted, the model decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningEffort>,
    /// Whether the model must call a tool. `required` and a tool's name apply to the first turn only: a run whose every
    /// turn must call one would never end by text. They have no effect in the last turn of a `strict` run, or if a notice
    /// asks for its report. `none` has no effect in a `strict` run: only a call ends it. A tool that the run does not have
    /// means `auto`. Sub-agents choose by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<AskedTool>,
    pub max_turns: u32,
    /// Requests per turn, retries included.
    pub max_attempts: u32,
    /// The turn counter; `null`: there is none.
    pub counter: Option<CounterConfig>,
    /// `null`: there is none.
    pub synthesis: Option<SynthesisConfig>,
    /// Attempt k of a turn uses entry k modulo the length. Never empty.
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub providers: Vec<ProviderConfig>,
    /// Requirements for the `final_report`. Used by the `strict` preset.
    pub report: ReportConfig,
    /// Every tool the model is offered. Empty in a record, which lists the tools at the top level, unless the run began with
    /// others.
    pub tools: Vec<ToolSpec>,
    /// Kinds of sub-agents that the model can choose from; if empty, one kind with this run's own tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<SubagentKind>,
    /// The skills that the model can read, with tools for their scripts (skills.md).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<Vec<Skill>>", optional))]
    pub skills: Vec<Skill>,
    /// Which tool calls run, which ask first and which are denied. Omitted in records made before there were permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    pub limits: Limits,
    pub retry: RetryConfig,
    /// What the models do not take of these settings, and what is sent instead: a sentence each, logged when the run starts. Whoever starts
    /// the run writes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<Vec<String>>", optional))]
    pub adjusted: Vec<String>,
    /// Whether requests leave out the oldest turns of a conversation that would not fit the context window. Whoever starts the run sets
    /// it. Omitted in records made before this was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "types", ts(as = "Option<bool>", optional))]
    pub shortens: bool,
    /// Seeds jitter and ids: the same seed gives the same run.
    pub seed: u64,
}

/// How much a model thinks before it answers. Models that know numbers of tokens get one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEffort {
    /// Not at all, where the model can be told so.
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// Whether a model must call a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryToolChoice"),
    ts(rename = "TrajectoryToolChoice")
)]
#[serde(rename_all = "snake_case")]
pub enum AskedTool {
    /// The model decides.
    Auto,
    /// It calls none.
    None,
    /// It calls one or more.
    Required,
    /// It calls the one of this name.
    Tool(String),
}

/// Ways of working known from other agents, each a preset of the same engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    #[default]
    Research,
    Orchestrator,
    /// The system decides success (strict.md#the-contract).
    Strict,
}

/// The turn counter (semantics.md#turn-counter). Templates know `{turn}`, `{max}`, `{remaining}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryCounter"),
    ts(rename = "TrajectoryCounter")
)]
#[serde(default)]
pub struct CounterConfig {
    pub moderate_at: u32,
    pub urgent_at: u32,
    pub templates: CounterTemplates,
}

/// One line per level, without the newline before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryCounterTemplates"),
    ts(rename = "TrajectoryCounterTemplates")
)]
#[serde(default)]
pub struct CounterTemplates {
    pub normal: String,
    pub moderate: String,
    pub urgent: String,
}

/// The final report (strict.md#the-final-report).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryReport"),
    ts(rename = "TrajectoryReport")
)]
#[serde(default)]
pub struct ReportConfig {
    pub format: ReportFormat,
    /// JSON Schema of `content`, if the format is `json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub schema: Option<Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ReportFormat {
    #[default]
    Text,
    Markdown,
    Json,
    /// Block Kit messages.
    Slack,
}

/// The synthesis call (semantics.md#when-a-run-reaches-its-turn-limit).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectorySynthesis"),
    ts(rename = "TrajectorySynthesis")
)]
#[serde(default)]
pub struct SynthesisConfig {
    pub role: SynthesisRole,
    /// Whether the synthesis is turn N+1 and counted in `total_turns`.
    pub numbered: bool,
    /// `null`: the preset's exact text.
    pub prompt: Option<String>,
    pub on_error: SynthesisFallback,
    /// Requests for the synthesis, retries included.
    pub attempts: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SynthesisRole {
    #[default]
    User,
    System,
}

/// The report when synthesis fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SynthesisFallback {
    /// `Reached maximum reasoning steps. Failed to synthesize: {error}`
    #[default]
    Message,
    /// The aggregated assistant text so far, joined by blank lines.
    AggregatedText,
}

/// A tool as offered to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryTool"),
    ts(rename = "TrajectoryTool")
)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    #[cfg_attr(feature = "types", schemars(extend("type" = ["object", "boolean"])), ts(type = "object"))]
    pub parameters: Value,
    /// Only these tools can end a run by the final-result protocol.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_finish: bool,
    #[serde(default)]
    pub side_effect: SideEffect,
    /// The argument without which a call has no side effect, such as the file that a query saves; omitted: every call may have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_argument: Option<String>,
    /// The argument that is the address a call goes to. Rules and answers can then be for its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_argument: Option<String>,
    /// The argument that names the tool that a call is really for, where one tool calls many others. Rules and answers are then those of
    /// that tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_argument: Option<String>,
}

/// The side effects of a call to a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SideEffect {
    #[default]
    None,
    Workspace,
    /// A folder of the user's own disk.
    Folder,
    Network,
    Page,
}

/// Which tool calls run, which ask first and which are denied (tool-calls.md#permissions).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryPermissions"),
    ts(rename = "TrajectoryPermissions")
)]
#[serde(default)]
pub struct Permissions {
    /// Who answers the questions of this run.
    pub answers: Answers,
    /// Tools that write files of the workspace. Default: `ask` if a person answers, otherwise `allow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PermissionRule>,
    /// Tools that write to a folder on the user's disk. Default: `ask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PermissionRule>,
    /// Tools that reach the network. Default: `ask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<PermissionRule>,
    /// Tools that change the page. Default: `ask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<PermissionRule>,
    /// Rules for single tools, by name. They take precedence over the others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<BTreeMap<String, PermissionRule>>", optional))]
    pub tools: BTreeMap<String, PermissionRule>,
    /// Rules for the hosts that calls go to: a host (`docs.example.org`), all hosts below one (`*.example.org`), or an origin
    /// (`http://127.0.0.1:8123`). The most exact one decides. They take precedence over the rule for the network, not over
    /// that of a tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<BTreeMap<String, PermissionRule>>", optional))]
    pub hosts: BTreeMap<String, PermissionRule>,
    /// The folders on the user's disk that are part of the workspace, by name: a call that writes below one touches `folder`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<Vec<String>>", optional))]
    pub folders: Vec<String>,
}

/// What happens to a call before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryRule"),
    ts(rename = "TrajectoryRule")
)]
#[serde(rename_all = "snake_case")]
pub enum PermissionRule {
    Ask,
    Allow,
    Deny,
}

/// Who answers the questions of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryAnswers"),
    ts(rename = "TrajectoryAnswers")
)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// Nobody: what has to be asked is denied.
    #[default]
    Nobody,
    /// The page asks a person, or decides itself.
    Page,
    /// Every question is answered with yes beforehand.
    All,
}

/// How far an answer reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryPermissionScope"),
    ts(rename = "TrajectoryPermissionScope")
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call.
    #[default]
    Call,
    /// Every call of this tool to the same host in this run. Of a call without a host, this call only.
    Host,
    /// Every call of this tool in this run.
    Tool,
    /// Every call of this run that would ask.
    Run,
}

/// Turns of a sub-agent if neither its task nor its kind says otherwise (subagents.md#bounds).
pub const SUBAGENT_TURNS: u32 = 7;

/// A kind of sub-agent (subagents.md#kinds-of-agents).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryAgent"),
    ts(rename = "TrajectoryAgent")
)]
#[serde(default)]
pub struct SubagentKind {
    pub name: String,
    /// What it is good for; the model reads this when it chooses a kind.
    pub description: String,
    /// Default: its parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Its system message; empty: its preset's.
    pub system: String,
    /// Names of the parent's tools that it may use; empty means all of them.
    pub tools: Vec<String>,
    /// Names of the parent's skills that it has, with `read_skill` and the tools of their scripts, which `tools` need not name. Empty:
    /// those whose tools it may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<Vec<String>>", optional))]
    pub skills: Vec<String>,
    /// Maximum number of turns, whatever a task asks for.
    pub max_turns: u32,
    /// Whether its runs have a turn counter. Default: as its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<bool>,
}

/// A skill: instructions for one kind of work, with files and scripts (skills.md). The model sees its name and description; it reads
/// the rest with `read_skill`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectorySkill"),
    ts(rename = "TrajectorySkill")
)]
#[serde(default)]
pub struct Skill {
    /// Unique in a run.
    pub name: String,
    /// What it is for and when to use it.
    pub description: String,
    /// The text of `SKILL.md` without its front matter.
    pub instructions: String,
    /// Its other text files, by path in the skill's folder: `scripts/submit.js`.
    pub files: BTreeMap<String, String>,
    /// Its scripts in JavaScript, each a tool of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<Vec<SkillScript>>", optional))]
    pub scripts: Vec<SkillScript>,
    /// Paths of its files that are not text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "types", ts(as = "Option<Vec<String>>", optional))]
    pub binary: Vec<String>,
    /// The only tools that its scripts can call, among those that the run offers. Omitted: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
}

/// A script of a skill. It runs as a program in the sandbox of `run_code`, with its arguments as `input`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectorySkillScript"),
    ts(rename = "TrajectorySkillScript")
)]
#[serde(default)]
pub struct SkillScript {
    /// The name of its tool.
    pub tool: String,
    /// Its file.
    pub path: String,
    /// What its tool's description says of it; empty: that the skill's instructions tell.
    pub description: String,
    /// Its result may end the run by the final-result protocol.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "types", ts(as = "Option<bool>", optional))]
    pub may_finish: bool,
}

/// Bounds of a run (tool-calls.md#tool-calls, retries.md#retries-and-waiting). Times in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryLimits"),
    ts(rename = "TrajectoryLimits")
)]
#[serde(default)]
pub struct Limits {
    pub tool_timeout_ms: u64,
    pub parallel_tools: u32,
    pub tool_calls_per_turn: u32,
    pub max_result_chars: usize,
    /// Maximum number of sub-agents per run.
    // `x-later`: version 1 did not have it from the start, so records without it are valid.
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub children: u32,
    /// Wall time of a sub-agent, after which it concludes.
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub child_ms: u64,
    /// Deadlines of one request, counted from its release: response headers, the first part of a reply, all of it.
    pub headers_ms: u64,
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub first_token_ms: u64,
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub request_ms: u64,
    /// Longest pause in a stream.
    pub idle_ms: u64,
    /// Wall time of a segment, after which it wraps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
    /// Input and output tokens of the whole run, after which it wraps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars of the whole run, after which it wraps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(range(min = 0.0)))]
    pub cost: Option<f64>,
    /// The model's context window. Requests that would not fit leave out the oldest tool results, then the oldest turns; if that is not
    /// enough, the run wraps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

/// Waits before a request is sent again (retries.md#retries-and-waiting), in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryRetry"),
    ts(rename = "TrajectoryRetry")
)]
#[serde(default)]
pub struct RetryConfig {
    pub base_ms: u64,
    pub cap_ms: u64,
    /// First wait after `rate_limited` if the server does not say how long; doubles with each attempt, up to
    /// `retry_after_cap_ms`.
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub rate_limit_ms: u64,
    /// If a server asks for a longer wait, the run ends and reports the time.
    pub retry_after_cap_ms: u64,
}

impl RunConfig {
    /// The preset's defaults, with one provider and no tools.
    #[must_use]
    pub fn preset(preset: Preset) -> Self {
        RunConfig {
            preset,
            system: String::new(),
            temperature: None,
            top_p: None,
            reasoning: None,
            tool_choice: None,
            max_turns: match preset {
                Preset::Research | Preset::Strict => 15,
                Preset::Orchestrator => 10,
            },
            max_attempts: 3,
            counter: Some(CounterConfig::default()),
            synthesis: match preset {
                Preset::Research | Preset::Orchestrator => Some(SynthesisConfig::preset(preset)),
                // The last turn inside `max_turns` is forced-final instead.
                Preset::Strict => None,
            },
            report: ReportConfig::default(),
            providers: vec![ProviderConfig::default()],
            tools: Vec::new(),
            agents: Vec::new(),
            skills: Vec::new(),
            permissions: None,
            limits: Limits::default(),
            retry: RetryConfig::default(),
            adjusted: Vec::new(),
            shortens: false,
            seed: 0,
        }
    }
}

impl RunConfig {
    /// Requests that a synthesis may take; 0 if it is switched off.
    #[must_use]
    pub fn synthesis_attempts(&self) -> u32 {
        self.synthesis.as_ref().map_or(0, |s| s.attempts)
    }
}

impl Preset {
    pub const ALL: &'static [Preset] = &[Preset::Research, Preset::Orchestrator, Preset::Strict];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::Research => "research",
            Preset::Orchestrator => "orchestrator",
            Preset::Strict => "strict",
        }
    }
}

impl ReasoningEffort {
    /// From the least to the most.
    pub const ALL: &'static [ReasoningEffort] = &[
        ReasoningEffort::None,
        ReasoningEffort::Minimal,
        ReasoningEffort::Low,
        ReasoningEffort::Medium,
        ReasoningEffort::High,
        ReasoningEffort::Xhigh,
        ReasoningEffort::Max,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ReasoningEffort::None => "none",
            ReasoningEffort::Minimal => "minimal",
            ReasoningEffort::Low => "low",
            ReasoningEffort::Medium => "medium",
            ReasoningEffort::High => "high",
            ReasoningEffort::Xhigh => "xhigh",
            ReasoningEffort::Max => "max",
        }
    }
}

impl AskedTool {
    /// Whether the model may call a tool.
    #[must_use]
    pub fn allows(&self, tool: &ToolSpec) -> bool {
        match self {
            AskedTool::Auto | AskedTool::Required => true,
            AskedTool::None => false,
            AskedTool::Tool(name) => tool.name == *name,
        }
    }
}

impl SynthesisConfig {
    #[must_use]
    pub fn preset(preset: Preset) -> Self {
        let (role, numbered, on_error) = match preset {
            Preset::Research | Preset::Strict => (SynthesisRole::User, true, SynthesisFallback::Message),
            Preset::Orchestrator => (SynthesisRole::System, false, SynthesisFallback::AggregatedText),
        };
        SynthesisConfig { role, numbered, prompt: None, on_error, attempts: 3 }
    }
}

impl Default for SubagentKind {
    fn default() -> Self {
        SubagentKind {
            name: String::new(),
            description: String::new(),
            preset: None,
            system: String::new(),
            tools: Vec::new(),
            skills: Vec::new(),
            max_turns: SUBAGENT_TURNS,
            counter: None,
        }
    }
}

impl Default for RunConfig {
    fn default() -> Self {
        RunConfig::preset(Preset::default())
    }
}

impl Default for SynthesisConfig {
    fn default() -> Self {
        SynthesisConfig::preset(Preset::default())
    }
}

impl Default for CounterConfig {
    fn default() -> Self {
        CounterConfig { moderate_at: 5, urgent_at: 3, templates: CounterTemplates::default() }
    }
}

impl Default for CounterTemplates {
    fn default() -> Self {
        CounterTemplates {
            normal: "[Turn {turn}/{max}]".into(),
            moderate: "[Turn {turn}/{max} - {remaining} turns remaining, work efficiently.]".into(),
            urgent: "[Turn {turn}/{max} - Only {remaining} turns left! Prioritize completing your task.]".into(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tool_timeout_ms: 30_000,
            parallel_tools: 4,
            tool_calls_per_turn: 32,
            max_result_chars: 20_000,
            children: 16,
            child_ms: 300_000,
            headers_ms: 120_000,
            first_token_ms: 120_000,
            request_ms: 600_000,
            idle_ms: 60_000,
            wall_ms: None,
            tokens: None,
            cost: None,
            context_tokens: None,
        }
    }
}

impl Default for RetryConfig {
    fn default() -> Self {
        RetryConfig { base_ms: 500, cap_ms: 8_000, rate_limit_ms: 5_000, retry_after_cap_ms: 60_000 }
    }
}

impl ReportFormat {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ReportFormat::Text => "text",
            ReportFormat::Markdown => "markdown",
            ReportFormat::Json => "json",
            ReportFormat::Slack => "slack",
        }
    }
}
