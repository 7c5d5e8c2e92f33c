//! The record of a plan run, version 1 (plans.md#the-record). Its JSON Schema is `docs/schema/turnwise-session.v1.json`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

use super::context::Context;
use super::effect::{PlanEnding, PlanTraceRecord};
use super::model::{AgentKind, Plan, StepStatus};
use super::step_run::StepRun;
use turnwise_engine::{EpochMillis, Usage};

pub const FORMAT: &str = "turnwise-session";
pub const VERSION: u32 = 1;

/// The complete record of a plan run, a plain, JSON-safe object: the plan, and for each step its status, the context it
/// received and its complete run. Its JSON Schema ships with the project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "PlanSession"),
    ts(rename = "PlanSession")
)]
pub struct PlanDocument {
    #[cfg_attr(feature = "types", schemars(extend("const" = FORMAT)), ts(type = "\"turnwise-session\""))]
    pub format: String,
    #[cfg_attr(feature = "types", schemars(extend("const" = VERSION)), ts(type = "1"))]
    pub version: u32,
    pub engine_version: String,
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub plan_id: String,
    pub session_id: String,
    #[cfg_attr(feature = "types", ts(type = "Plan"))]
    pub plan: Plan,
    /// RFC 3339; `started_ms` is the same time in milliseconds since 1970.
    #[cfg_attr(feature = "types", schemars(regex(pattern = turnwise_engine::time::RFC3339)))]
    pub started_at: String,
    pub started_ms: EpochMillis,
    #[cfg_attr(feature = "types", schemars(regex(pattern = turnwise_engine::time::RFC3339)))]
    pub finished_at: Option<String>,
    /// `null` while it runs.
    pub ending: Option<PlanEnding>,
    /// LLM requests sent, and tokens used, by all steps.
    pub requests: u32,
    pub tokens: Usage,
    /// In ascending order.
    pub steps: Vec<StepRecord>,
    pub traces: Vec<PlanTraceRecord>,
}

/// One step: its status, the context it received, and its complete run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "PlanSessionStep"),
    ts(rename = "PlanSessionStep")
)]
pub struct StepRecord {
    #[cfg_attr(feature = "types", schemars(range(min = 1)))]
    pub order: u32,
    pub agent: String,
    pub kind: AgentKind,
    pub status: StepStatus,
    /// Steps that did not complete and block this one.
    #[cfg_attr(feature = "types", schemars(inner(range(min = 1))))]
    pub blocked_by: Vec<u32>,
    /// The context in the first message of the run.
    pub context: Context,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// `null` if it was never started.
    #[cfg_attr(
        feature = "types",
        schemars(with = "Option<crate::trajectory::Trajectory>"),
        ts(as = "Option<crate::trajectory::Trajectory>")
    )]
    pub run: Option<StepRun>,
}

/// The reason why a text is not a session that this version can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionError {
    NotJson(String),
    OtherFormat,
    /// No part of it was read.
    UnknownVersion(String),
    Invalid(String),
}

impl std::fmt::Display for SessionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SessionError::NotJson(e) => write!(f, "This is not a JSON file: {e}"),
            SessionError::OtherFormat => {
                write!(f, "This JSON file is not the record of a plan: its \"format\" is not \"{FORMAT}\"")
            }
            SessionError::UnknownVersion(v) => {
                write!(f, "This record has version {v}; this Turnwise reads version {VERSION}. Nothing was changed.")
            }
            SessionError::Invalid(e) => write!(f, "This record is damaged: {e}"),
        }
    }
}

/// The fields that are read first.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PlanFormatFields {
    format: String,
    version: Value,
}

impl PlanDocument {
    /// Whether a text claims to be such a record.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        serde_json::from_str::<PlanFormatFields>(text).is_ok_and(|marks| marks.format == FORMAT)
    }

    /// Reads a document. An unknown version is rejected, whatever else the document contains.
    ///
    /// # Errors
    /// Why it is invalid.
    pub fn parse(text: &str) -> Result<Self, SessionError> {
        let marks: PlanFormatFields = serde_json::from_str(text).map_err(|e| match e.classify() {
            Category::Data => SessionError::OtherFormat,
            _ => SessionError::NotJson(e.to_string()),
        })?;
        if marks.format != FORMAT {
            return Err(SessionError::OtherFormat);
        }
        if marks.version.as_u64() != Some(u64::from(VERSION)) {
            return Err(SessionError::UnknownVersion(marks.version.to_string()));
        }
        serde_json::from_str(text).map_err(|e| SessionError::Invalid(e.to_string()))
    }
}
