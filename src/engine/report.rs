//! The final report: its tool, its acceptance, and the report the system writes when a strict run failed (SEMANTICS 7).

use serde_json::{Value, json};

use super::config::{ReportConfig, ReportFormat, SideEffect, ToolSpec};
use super::failure::Slug;

pub const TOOL: &str = "final_report";

/// An accepted report: as text, and as JSON where it is some.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Report {
    pub text: String,
    pub data: Option<Value>,
}

/// The tool as offered to the model. The run's JSON Schema is part of its parameters.
#[must_use]
pub fn spec(config: &ReportConfig) -> ToolSpec {
    let format = config.format.as_str();
    let (name, value, what) = match config.format {
        ReportFormat::Text => ("content", json!({ "type": "string" }), "the report as plain text"),
        ReportFormat::Markdown => ("content", json!({ "type": "string" }), "the report as Markdown"),
        ReportFormat::Json => {
            ("content", config.schema.clone().unwrap_or(Value::Bool(true)), "the report as a JSON value")
        }
        ReportFormat::Slack => (
            "messages",
            json!({ "type": "array", "items": { "type": "object" }, "minItems": 1 }),
            "the report as Slack Block Kit messages",
        ),
    };
    ToolSpec {
        name: TOOL.to_owned(),
        description: format!(
            "Ends the run with its report. Call it once, alone, when the task is done: {name} is {what}. \
             The run only succeeds with an accepted report."
        ),
        parameters: json!({
            "type": "object",
            "properties": { "format": { "const": format }, name: value },
            "required": ["format", name],
            "additionalProperties": false,
        }),
        may_finish: false,
        side_effect: SideEffect::None,
    }
}

/// Judges arguments that fit the tool's schema; `Err` is the slug and what is wrong.
pub fn judge(config: &ReportConfig, args: &Value) -> Result<Report, (Slug, String)> {
    let refuse = |text: String| Err((Slug::FinalReportInvalidFormat, text));
    let (wanted, given) = (config.format.as_str(), args.get("format").and_then(Value::as_str).unwrap_or_default());
    if given != wanted {
        return refuse(format!("/format: the report's format must be {wanted:?}, not {given:?}"));
    }
    match config.format {
        ReportFormat::Text | ReportFormat::Markdown => match args.get("content").and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => Ok(Report { text: text.to_owned(), data: None }),
            _ => refuse("/content: the report must be a text that is not empty".into()),
        },
        ReportFormat::Json => match args.get("content") {
            Some(data) if !blank(data) => Ok(Report { text: data.to_string(), data: Some(data.clone()) }),
            Some(_) => refuse("/content: the report must not be null or an empty text".into()),
            None => refuse("/content: the report's JSON value is missing".into()),
        },
        ReportFormat::Slack => match args.get("messages").filter(|m| m.as_array().is_some_and(|m| !m.is_empty())) {
            Some(data) => Ok(Report { text: data.to_string(), data: Some(data.clone()) }),
            None => refuse("/messages: must be an array of at least one Block Kit message".into()),
        },
    }
}

/// Whether a JSON value says nothing. An empty array or object may well be the answer.
fn blank(data: &Value) -> bool {
    data.is_null() || data.as_str().is_some_and(|text| text.trim().is_empty())
}

/// A final result as the arguments of a report, to be judged as one.
#[must_use]
pub fn of_final_result(config: &ReportConfig, text: &str, data: &Value) -> Value {
    let format = config.format.as_str();
    match config.format {
        ReportFormat::Text | ReportFormat::Markdown => json!({ "format": format, "content": text }),
        // Text that is no JSON has no value: the schema misses it.
        ReportFormat::Json if serde_json::from_str::<Value>(text).is_err() => json!({ "format": format }),
        ReportFormat::Json => json!({ "format": format, "content": data }),
        ReportFormat::Slack => json!({ "format": format, "messages": data }),
    }
}

/// Which slug a schema failure of the report's arguments has: its content is the report, the rest is the format.
#[must_use]
pub fn schema_slug(path: Option<&str>) -> Slug {
    match path {
        Some(path) if path.starts_with("/content") => Slug::FinalReportSchemaFail,
        _ => Slug::FinalReportInvalidFormat,
    }
}

/// The report of a failed strict run, written by the system.
#[derive(Debug)]
pub struct Failure<'a> {
    pub reason: &'a str,
    pub turns_completed: u32,
    pub report_attempts: u32,
    pub last: &'a str,
    /// The assistant's text so far.
    pub found: &'a str,
}

impl std::fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { reason, turns_completed, report_attempts, last, found } = self;
        write!(
            f,
            "The run failed ({reason}): no report was accepted. Turns completed: {turns_completed}. \
             Report attempts: {report_attempts}. Last failure: {last}."
        )?;
        if !found.is_empty() {
            write!(f, "\n\nWhat the model had written until then:\n\n{found}")?;
        }
        Ok(())
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
