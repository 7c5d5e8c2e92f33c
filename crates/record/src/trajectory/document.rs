//! The trajectory document, version 1 (trajectory.md#what-is-in-it). Its JSON Schema is `docs/schema/turnwise-trajectory.v1.json`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

use super::{Note, RecordedEvent, Recorder, clamp};
use turnwise_engine::*;

pub const FORMAT: &str = "turnwise-trajectory";
pub const VERSION: u32 = 1;
/// The version of the rules of a run: replay is exact within one. It moves when they change, not with each release.
pub const ENGINE_VERSION: &str = "0.2.0";

/// The complete record of a run: a plain, JSON-safe object. Its JSON Schema ships with the project. `events` holds every
/// input of the engine; everything else except `notes` is derived from the events, the configuration and the input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Trajectory {
    #[cfg_attr(feature = "types", schemars(extend("const" = FORMAT)), ts(type = "\"turnwise-trajectory\""))]
    pub format: String,
    #[cfg_attr(feature = "types", schemars(extend("const" = VERSION)), ts(type = "1"))]
    pub version: u32,
    pub engine_version: String,
    /// Set if the document was read from a file of another format: it has no events, so it cannot be replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    #[cfg_attr(feature = "types", schemars(regex(pattern = time::RUN_ID)))]
    pub run_id: String,
    pub session_id: String,
    /// The model of the first provider; the complete list is in `config`.
    pub model: String,
    pub provider: ProviderKind,
    pub preset: Preset,
    /// The complete configuration, except for the tools.
    pub config: RunConfig,
    /// For a run that a branch or an adopter changed: the configuration that its first events ran with. Its tools are listed
    /// there if the run has others now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_with: Option<RunConfig>,
    /// For a branch: the run it comes from, and the first turn of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    pub tools: Vec<ToolSpec>,
    pub input: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The messages carried over into a follow-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// The size at which a model service refused the conversation before this run as too long, in estimated tokens: its requests stay
    /// below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_tokens: Option<u64>,
    /// RFC 3339; `started_ms` is the same as milliseconds since 1970.
    #[cfg_attr(feature = "types", schemars(regex(pattern = time::RFC3339)))]
    pub started_at: String,
    pub started_ms: EpochMillis,
    #[cfg_attr(feature = "types", schemars(regex(pattern = time::RFC3339)))]
    pub finished_at: Option<String>,
    pub termination_reason: Option<TerminationReason>,
    pub outcome: Option<Outcome>,
    pub answer_source: Option<AnswerSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap_up: Option<Trigger>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub max_turns: u32,
    pub effective_max_turns: u32,
    pub total_turns: u32,
    /// LLM requests sent, including those of sub-agents; `tokens` counts the same way.
    pub requests: u32,
    pub tokens: Usage,
    pub output: Option<String>,
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub final_result_data: Option<Value>,
    pub turns: Vec<TurnRecord>,
    pub segments: Vec<Ending>,
    pub traces: Vec<TraceRecord>,
    pub logs: Vec<LogRecord>,
    /// Trajectories of sub-agents, in the order they began. Their events are in the root's `events`, where the ids of their
    /// requests and timers are n + child * 2^20.
    pub children: Vec<Trajectory>,
    pub events: Vec<RecordedEvent>,
    /// What people noted about turns. Replay ignores it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// The origin of an imported document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryImported"),
    ts(rename = "TrajectoryImported")
)]
pub struct Imported {
    /// `ATIF-v1.7`
    pub format: String,
    /// The agent that did the work.
    pub agent: String,
    pub agent_version: String,
    /// The author's notes about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

impl std::fmt::Display for Imported {
    /// `terminus-2 2.0.0, ATIF-v1.5`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}, {}", self.agent, self.agent_version, self.format)
    }
}

/// The reason a text is not a trajectory that this version can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    NotJson(String),
    /// JSON, but not marked as a trajectory.
    OtherFormat,
    /// A trajectory of a version that this build does not know; the rest was not read.
    UnknownVersion(String),
    /// Marked as a trajectory of this version, but a part is missing or invalid.
    Invalid(String),
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ParseError::NotJson(e) => write!(f, "This is not a JSON file: {e}"),
            ParseError::OtherFormat => {
                write!(f, "This JSON file is not a Turnwise trajectory: its \"format\" is not \"{FORMAT}\"")
            }
            ParseError::UnknownVersion(v) => {
                write!(
                    f,
                    "This trajectory has version {v}; this Turnwise reads version {VERSION}. Nothing was changed."
                )
            }
            ParseError::Invalid(e) => write!(f, "This trajectory is damaged: {e}"),
        }
    }
}

/// The fields that are read first.
#[derive(Deserialize)]
#[serde(default)]
struct FormatFields {
    format: String,
    version: Value,
}

impl Default for FormatFields {
    fn default() -> Self {
        FormatFields { format: String::new(), version: Value::Null }
    }
}

impl Trajectory {
    /// Returns the document of a run in its current state.
    #[must_use]
    pub fn from_recorder(recorder: &Recorder) -> Self {
        Trajectory::with_events(&recorder.run, recorder.events.clone())
    }

    /// The events of sub-agents are in the root's list, in the order in which they happened.
    fn with_events(run: &Run, events: Vec<RecordedEvent>) -> Self {
        let task = run.task();
        let mut config = run.config().clone();
        let tools = std::mem::take(&mut config.tools);
        let first = config.providers.first().cloned().unwrap_or_default();
        let ending = run.ending();
        Trajectory {
            format: FORMAT.to_owned(),
            version: VERSION,
            engine_version: ENGINE_VERSION.to_owned(),
            imported: None,
            run_id: task.run_id.clone(),
            session_id: task.session_id.clone(),
            model: first.model,
            provider: first.kind,
            preset: config.preset,
            started_with: run.started_with().map(|first| match first.tools == tools {
                true => RunConfig { tools: Vec::new(), ..first.clone() },
                false => first.clone(),
            }),
            parent: run.parent().cloned(),
            tools,
            input: task.input.clone(),
            images: task.images.clone(),
            history: task.history.clone(),
            refused_tokens: task.refused_tokens,
            started_at: time::rfc3339(task.started_at),
            started_ms: task.started_at,
            finished_at: ending.map(|e| e.finished_at.clone()),
            termination_reason: ending.map(|e| e.termination_reason),
            outcome: ending.map(|e| e.outcome),
            answer_source: ending.map(|e| e.answer_source),
            wrap_up: ending.and_then(|e| e.wrap_up),
            error: ending.and_then(|e| e.error.clone()),
            max_turns: config.max_turns,
            effective_max_turns: run.effective_max_turns(),
            total_turns: run.turns().last().map_or(0, |t| t.turn),
            requests: run.requests(),
            tokens: run.usage(),
            output: ending.map(|e| e.output.clone()),
            final_result_data: ending.and_then(|e| e.final_result_data.clone()),
            turns: run.turns().to_vec(),
            segments: run.segments().to_vec(),
            traces: run.traces().to_vec(),
            logs: run.logs().to_vec(),
            children: run.child_runs().map(|child| Trajectory::with_events(child, Vec::new())).collect(),
            events,
            notes: Vec::new(),
            config,
        }
    }

    /// Parses a document. Rejects an unknown version without reading the rest, and clamps numbers that no run can reach.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        // Parsed twice from the text, never through a `Value`: that would add a second deserializer for every type to the page.
        let marks: FormatFields = serde_json::from_str(text).map_err(|e| match e.classify() {
            Category::Data => ParseError::OtherFormat,
            _ => ParseError::NotJson(e.to_string()),
        })?;
        if marks.format != FORMAT {
            return Err(ParseError::OtherFormat);
        }
        if marks.version.as_u64() != Some(u64::from(VERSION)) {
            return Err(ParseError::UnknownVersion(marks.version.to_string()));
        }
        let mut document = serde_json::from_str(text).map_err(|e| ParseError::Invalid(e.to_string()))?;
        clamp::document(&mut document);
        Ok(document)
    }

    /// What each branch on the way to this run changed, the first one first.
    #[must_use]
    pub fn branches(&self) -> Vec<BranchChanges> {
        let changes = |recorded: &RecordedEvent| match &recorded.event {
            Event::Branched(branch) => Some(BranchChanges::from(branch.as_ref())),
            _ => None,
        };
        self.events.iter().filter_map(changes).collect()
    }

    /// Returns the start of a replay: the configuration with its tools, and the task.
    #[must_use]
    pub fn origin(&self) -> (RunConfig, Task) {
        let mut config = self.started_with.as_ref().unwrap_or(&self.config).clone();
        if config.tools.is_empty() {
            config.tools.clone_from(&self.tools);
        }
        let task = Task {
            run_id: self.run_id.clone(),
            session_id: self.session_id.clone(),
            input: self.input.clone(),
            images: self.images.clone(),
            history: self.history.clone(),
            refused_tokens: self.refused_tokens,
            started_at: self.started_ms,
            child: 0,
        };
        (config, task)
    }
}
