//! The tools that the engine handles itself, and the texts between it and them: `final_report` and the final-result protocol,
//! `batch`, `progress_report` (tool-calls.md#final-result, strict.md#the-final-report) and `spawn_subagents` (subagents.md#what-the-model-sends-and-reads).
//!
//! Pure: a tool as offered to the model, what the arguments of a call ask for, whether a report is accepted.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::config::{ReportConfig, ReportFormat, SideEffect, SubagentKind, ToolSpec};
use super::failure::Slug;

pub const REPORT: &str = "final_report";
pub const BATCH: &str = "batch";
pub const PROGRESS: &str = "progress_report";
pub const SPAWN: &str = "spawn_subagents";
pub const PROGRAM: &str = "run_code";
pub const EARLIER: &str = "read_earlier";

// Names of built-in tools that the page runs.
pub const FETCH_URL: &str = "fetch_url";
pub const SEARCH_WEB: &str = "search_web";

pub(super) fn own_tool(name: &str, description: String, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description,
        parameters,
        may_finish: false,
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    }
}

/// An accepted report, as text, and as JSON if it is JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AcceptedReport {
    pub text: String,
    pub data: Option<Value>,
}

/// `final_report` as offered to the model. The run's JSON Schema is part of its parameters.
#[must_use]
pub fn report_spec(config: &ReportConfig) -> ToolSpec {
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
    let description = format!(
        "Ends the run with its report. Call it once, alone, when the task is done: {name} is {what}. \
         The run only succeeds with an accepted report."
    );
    let (value, definitions) = below_root(value, &format!("#/properties/{name}"));
    let mut parameters = json!({
        "type": "object",
        "properties": { "format": { "const": format }, name: value },
        "required": ["format", name],
        "additionalProperties": false,
    });
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.extend(definitions);
    }
    own_tool(REPORT, description, parameters)
}

/// The keys under which a schema keeps definitions. They move to the root, where every model service looks for them.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Keys whose values are data, not schemas.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// Prepares a schema that was written as a root to stand at a place below one: returns it without its definitions, and these. Its
/// references, which count from its root, lead to the same as before. A schema with an `$id` is a root of its own and stays.
fn below_root(mut schema: Value, place: &str) -> (Value, Map<String, Value>) {
    let mut definitions = Map::new();
    let Some(root) = schema.as_object_mut().filter(|root| !root.contains_key("$id")) else {
        return (schema, definitions);
    };
    for name in DEFINITIONS {
        definitions.extend(root.remove(name).map(|found| (name.to_owned(), found)));
    }
    refer_below(&mut schema, place);
    definitions.values_mut().for_each(|found| refer_below(found, place));
    (schema, definitions)
}

fn refer_below(schema: &mut Value, place: &str) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| refer_below(schema, place)),
        Value::Object(fields) if fields.contains_key("$id") => {}
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut().filter(|(name, _)| !DATA.contains(&name.as_str())) {
                match value {
                    Value::String(to) if name == "$ref" => {
                        let kept = DEFINITIONS.iter().any(|name| to.starts_with(&format!("#/{name}/")));
                        if !kept
                            && let Some(rest) =
                                to.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
                        {
                            *to = format!("{place}{rest}");
                        }
                    }
                    value => refer_below(value, place),
                }
            }
        }
        _ => {}
    }
}

/// Judges arguments that fit the tool's schema; `Err` is the slug and what is wrong.
pub fn judge_report(config: &ReportConfig, args: &Value) -> Result<AcceptedReport, (Slug, String)> {
    let refuse = |text: String| Err((Slug::FinalReportInvalidFormat, text));
    // Without a format it is the one asked for: there is no other.
    let wanted = config.format.as_str();
    if let Some(given) = args.get("format").filter(|given| given.as_str() != Some(wanted)) {
        return refuse(format!("/format: the report's format must be {wanted:?}, not {given}"));
    }
    match config.format {
        ReportFormat::Text | ReportFormat::Markdown => match args.get("content").and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => Ok(AcceptedReport { text: text.to_owned(), data: None }),
            _ => refuse("/content: the report must be a text that is not empty".into()),
        },
        ReportFormat::Json => match args.get("content") {
            Some(data) if !blank(data, config.schema.as_ref()) => {
                Ok(AcceptedReport { text: data.to_string(), data: Some(data.clone()) })
            }
            Some(_) => refuse("/content: the report must not be null or an empty text".into()),
            None => refuse("/content: the report's JSON value is missing".into()),
        },
        ReportFormat::Slack => match args.get("messages").filter(|m| m.as_array().is_some_and(|m| !m.is_empty())) {
            Some(data) => Ok(AcceptedReport { text: data.to_string(), data: Some(data.clone()) }),
            None => refuse("/messages: must be an array of at least one Block Kit message".into()),
        },
    }
}

/// Whether a JSON value has no content. An empty array or object may well be the answer, and null where the schema, which it fits,
/// speaks of null.
fn blank(data: &Value, schema: Option<&Value>) -> bool {
    (data.is_null() && !schema.is_some_and(names_null)) || data.as_str().is_some_and(|text| text.trim().is_empty())
}

fn names_null(schema: &Value) -> bool {
    match schema {
        Value::Null => true,
        Value::String(kind) => kind == "null",
        Value::Array(values) => values.iter().any(names_null),
        Value::Object(fields) => fields.iter().any(|(name, value)| name == "nullable" || names_null(value)),
        _ => false,
    }
}

/// A final result as the arguments of a report, to be judged as one.
#[must_use]
pub fn final_result_as_report(config: &ReportConfig, text: &str, data: &Value) -> Value {
    let format = config.format.as_str();
    match config.format {
        ReportFormat::Text | ReportFormat::Markdown => json!({ "format": format, "content": text }),
        // Text that is no JSON has no value: the schema misses it.
        ReportFormat::Json if serde_json::from_str::<Value>(text).is_err() => json!({ "format": format }),
        ReportFormat::Json => json!({ "format": format, "content": data }),
        ReportFormat::Slack => json!({ "format": format, "messages": data }),
    }
}

/// The slug of a schema failure: below `/content` it is the report that does not fit, elsewhere the format.
#[must_use]
pub fn report_schema_slug(path: Option<&str>) -> Slug {
    match path {
        Some(path) if path.starts_with("/content") => Slug::FinalReportSchemaFail,
        _ => Slug::FinalReportInvalidFormat,
    }
}

const START: &str = "<<<FINAL_RESULT>>>";
const END: &str = "<<<END_FINAL_RESULT>>>";

/// Finds the final result between the markers, as text and as JSON (`{"raw": …}` if it is not JSON). `None` if there are no
/// markers, or only white space between them. Only results of tools marked `may_finish` count.
#[must_use]
pub fn find_final_result(result: &str) -> Option<(String, Value)> {
    let (_, rest) = result.split_once(START)?;
    let (inner, _) = rest.split_once(END)?;
    let text = inner.trim();
    if text.is_empty() {
        return None;
    }
    let data = serde_json::from_str(text).unwrap_or_else(|_| json!({ "raw": text }));
    Some((text.to_owned(), data))
}

/// One call inside a batch, as the model requested it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerCall {
    pub name: String,
    /// JSON text, like the arguments of any other call.
    pub arguments: String,
}

/// `batch` as offered to the model.
#[must_use]
pub fn batch_spec() -> ToolSpec {
    own_tool(
        BATCH,
        "Runs several tool calls in parallel and answers an array of their results in the same order. \
         It cannot contain batch, final_report, run_code or spawn_subagents."
            .to_owned(),
        json!({
            "type": "object",
            "properties": { "calls": { "type": "array", "minItems": 1, "items": {
                "type": "object",
                "properties": { "name": { "type": "string" }, "arguments": { "type": "object" } },
                "required": ["name"],
                "additionalProperties": false,
            } } },
            "required": ["calls"],
            "additionalProperties": false,
        }),
    )
}

/// `progress_report` as offered to the model.
#[must_use]
pub fn progress_spec() -> ToolSpec {
    own_tool(
        PROGRESS,
        "Tells the user what you are doing. It does not count as work: call another tool in the same reply.".to_owned(),
        json!({
            "type": "object",
            "properties": { "status": { "type": "string" }, "detail": { "type": "string" } },
            "required": ["status"],
            "additionalProperties": false,
        }),
    )
}

/// The calls of a batch whose arguments fit its schema.
#[must_use]
pub fn inner_calls(args: &Value) -> Vec<InnerCall> {
    let calls = args.get("calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |call: &Value| InnerCall {
        name: call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        arguments: call.get("arguments").map(Value::to_string).unwrap_or_default(),
    };
    calls.iter().map(read).collect()
}

/// Whether a batch may contain the tool, and a program may call it.
#[must_use]
pub fn allowed_inside(name: &str) -> bool {
    ![BATCH, REPORT, SPAWN, PROGRAM].contains(&name)
}

/// `run_code` as offered to the model.
#[must_use]
pub fn program_spec() -> ToolSpec {
    own_tool(
        PROGRAM,
        "Runs JavaScript and answers what it prints with console.log and the value of its last expression. Every other tool is a \
         function: const text = await tools.read_file({path: \"a.md\"}); it returns the tool's result as text and throws if the \
         tool fails. Use it for loops over many files, arithmetic on data, and anything that would take many calls; print only \
         what you need. Modern JavaScript with top-level await; no network, no DOM, no imports. Each program starts afresh: keep \
         results with tools.write_file. A last value {\"chart\": \"bar\"|\"line\"|\"point\"|\"area\", \"title\", \"x\": [\u{2026}], \
         \"series\": [{\"name\", \"y\": [\u{2026}]}]} is drawn as a chart for the user, and an array of flat objects as a table."
            .to_owned(),
        json!({
            "type": "object",
            "properties": { "code": { "type": "string", "minLength": 1, "maxLength": 100_000 } },
            "required": ["code"],
            "additionalProperties": false,
        }),
    )
}

/// One task of a call, as the model requested it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentTask {
    pub task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// `spawn_subagents` as a run with these kinds of agents offers it.
#[must_use]
pub fn spawn_spec(agents: &[SubagentKind]) -> ToolSpec {
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
    let kinds = if kinds.is_empty() { kinds } else { format!(" Kinds of agents:{kinds}") };
    let parameters = json!({
        "type": "object",
        "properties": { "tasks": { "type": "array", "minItems": 1, "items": {
            "type": "object",
            "properties": task,
            "required": ["task"],
            "additionalProperties": false,
        } } },
        "required": ["tasks"],
        "additionalProperties": false,
    });
    own_tool(SPAWN, format!("{description}{kinds}"), parameters)
}

/// The tasks of a call whose arguments fit the schema.
#[must_use]
pub fn subagent_tasks(args: &Value) -> Vec<SubagentTask> {
    let tasks = args.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |task: &Value, key: &str| task.get(key).and_then(Value::as_str).map(str::to_owned);
    let read = |task: &Value| SubagentTask {
        task: text(task, "task").unwrap_or_default(),
        max_turns: task.get("max_turns").and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
        agent: text(task, "agent"),
    };
    tasks.iter().map(read).collect()
}

/// `read_earlier` as offered to the model, in requests that leave out a part of the conversation (retries.md#context-window).
#[must_use]
pub fn earlier_spec() -> ToolSpec {
    own_tool(
        EARLIER,
        "Reads messages of this conversation that were left out so that it fits the context window. They are numbered from 1, the oldest."
            .to_owned(),
        json!({
            "type": "object",
            "properties": {
                "from": { "type": "integer", "minimum": 1, "description": "The number of the first message." },
                "count": { "type": "integer", "minimum": 1, "description": "How many; as many as there is room for, unless said otherwise." },
                "offset": { "type": "integer", "minimum": 0, "description": "Where to begin in the first message, in characters." },
            },
            "required": ["from"],
            "additionalProperties": false,
        }),
    )
}

/// What a call of `read_earlier` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierAsked {
    /// From 1.
    pub from: usize,
    pub count: usize,
    /// Characters of the first message to skip.
    pub offset: usize,
}

/// Reads the arguments of `read_earlier`. Nobody else checks them: numbers in quotation marks are numbers, too.
pub fn earlier_asked(arguments: &str) -> Result<EarlierAsked, String> {
    let args: Value = match arguments.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).map_err(|_| "the arguments are not JSON".to_owned())?,
    };
    let number = |name: &str, least: usize, otherwise: usize| match args.get(name) {
        None | Some(Value::Null) => Ok(otherwise),
        Some(given) => {
            let whole = given.as_f64().or_else(|| given.as_str()?.trim().parse().ok()).filter(|n| n.fract() == 0.0);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a float becomes the nearest number
            let whole = whole.filter(|n| *n >= 0.0).map(|n| n as usize).filter(|n| *n >= least);
            whole.ok_or_else(|| format!("/{name}: must be a whole number of at least {least}, not {given}"))
        }
    };
    Ok(EarlierAsked {
        from: number("from", 1, 1)?,
        count: number("count", 1, usize::MAX)?,
        offset: number("offset", 0, 0)?,
    })
}
