//! Parses the arguments of a tool call, repairs them if that is unambiguous, and checks them against the tool's JSON Schema.
//!
//! Text that can be read in only one way is repaired: single quotes, unquoted keys and words, trailing commas, `True`,
//! `False`, `None`, raw line breaks and tabs in strings, a code fence around the object, an object encoded twice (as a
//! JSON string). What servers and models put around the object is removed: `{}` or a copy of it before it, and an object
//! around it (`{"arguments": {…}}`) if only the inner one fits. A required property that is missing is added if it can have only one
//! value, such as a constant. No text (also in quotes), `null` and `[]` are `{}`. Text is **not** repaired if
//! something would have to be invented or dropped: truncated text (an open string or bracket), missing commas, colons or
//! values, quotes inside strings, comments, other text around the object. The rule is checked, not trusted: after a repair of
//! its JSON the text may differ only in quotes, white space, trailing commas and those three words, it must parse to an object,
//! and that object must fit the schema.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::schema::{Patterns, Schema, SchemaFault};
use super::{Arguments, Repaired};
use turnwise_engine::{Slug, ToolOutcome};

/// Compiled schemas by number.
#[derive(Debug)]
pub struct Validators {
    patterns: Patterns,
    by_id: HashMap<u32, Result<Compiled, String>>,
}

#[derive(Debug)]
struct Compiled {
    schema: Schema,
    /// For error texts.
    text: String,
}

/// Maximum number of characters of a schema shown to the model.
const MAX_SCHEMA_CHARS: usize = 2_000;
/// Maximum number of faults reported to the model.
const MAX_FAULTS: usize = 3;
/// Nesting of brackets beyond which nothing is repaired.
const MAX_DEPTH: usize = 64;

impl Validators {
    /// Starts without schemas; `patterns` compiles the regular expressions of all schemas.
    #[must_use]
    pub fn new(patterns: Patterns) -> Self {
        Validators { patterns, by_id: HashMap::new() }
    }

    /// Compiles a schema once. If it cannot be compiled, the calls that need it fail.
    pub fn define(&mut self, id: u32, schema: &Value) {
        let compiled = Schema::compile(schema, self.patterns);
        let compiled = compiled.map(|compiled| Compiled { schema: compiled, text: short(&schema.to_string()) });
        self.by_id.insert(id, compiled);
    }

    /// Returns the arguments, or the outcome that rejects them.
    ///
    /// # Errors
    /// `Rejected` with `malformed_tool_call` or `invalid_arguments`; `Failed` if the schema itself is invalid.
    pub fn check(&self, tool: &str, id: u32, arguments: &str) -> Result<Arguments, ToolOutcome> {
        let schema = match self.by_id.get(&id) {
            Some(Ok(schema)) => schema,
            Some(Err(error)) => return Err(bad_schema(tool, error)),
            None => return Err(bad_schema(tool, "it was never sent")),
        };
        let (value, parse_error) = match serde_json::from_str(arguments) {
            Ok(value) => (plain(value)?, None),
            Err(_) if is_nothing(arguments) => (Value::Object(Map::new()), None),
            Err(error) => match last_of_repeated(arguments).or_else(|| repair(arguments)) {
                Some(value) => (value, Some(error)),
                None => return Err(malformed(&error, schema)),
            },
        };
        let faults_of = |value: &Value| {
            schema.schema.faults(value, MAX_FAULTS).map_err(|why| ToolOutcome::Failed {
                message: format!("the arguments could not be checked against the parameter schema of `{tool}`: {why}"),
            })
        };
        if !faults_of(&value)?.is_empty() {
            let filled = |value: &Value| {
                let mut filled = value.clone();
                schema.schema.fill(&mut filled);
                filled
            };
            let whole = filled(&value);
            let faults = faults_of(&whole)?;
            if faults.is_empty() {
                return Ok(Arguments { value: whole, repaired: Repaired::Yes });
            }
            let inner = inside(&value).map(filled);
            let inner = inner.filter(|inner| schema.schema.faults(inner, 1).is_ok_and(|faults| faults.is_empty()));
            if let Some(value) = inner {
                return Ok(Arguments { value, repaired: Repaired::Yes });
            }
            return Err(match parse_error {
                Some(error) => malformed(&error, schema),
                None => invalid(faults),
            });
        }
        let repaired = if parse_error.is_some() || is_wrapped(arguments) { Repaired::Yes } else { Repaired::No };
        Ok(Arguments { value, repaired })
    }
}

/// Reads the arguments from parsed JSON: an object, an object encoded twice, or `null` or `[]` for "no arguments".
fn plain(value: Value) -> Result<Value, ToolOutcome> {
    match value {
        Value::Object(_) => Ok(value),
        // PHP writes a map without entries as a list.
        Value::Array(list) if list.is_empty() => Ok(Value::Object(Map::new())),
        Value::Null => Ok(Value::Object(Map::new())),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(inner @ Value::Object(_)) => Ok(inner),
            Err(_) if is_nothing(&text) => Ok(Value::Object(Map::new())),
            _ => Err(not_an_object("a string")),
        },
        Value::Array(_) => Err(not_an_object("an array")),
        Value::Number(_) => Err(not_an_object("a number")),
        Value::Bool(_) => Err(not_an_object("a boolean")),
    }
}

/// Whether a text that is not JSON says that there are no arguments: it is empty, or Python's empty text (bedrock-engineer#188).
fn is_nothing(text: &str) -> bool {
    matches!(text.trim(), "" | "''")
}

/// Whether the text was not itself an object: nothing, `null`, `[]`, or an object encoded twice.
fn is_wrapped(arguments: &str) -> bool {
    !arguments.trim_start().starts_with('{')
}

/// The object that some models put into another one.
fn inside(value: &Value) -> Option<&Value> {
    const AROUND: [&str; 4] = ["arguments", "input", "parameters", "args"];
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (name, inner) = object.iter().next()?;
    (AROUND.contains(&name.as_str()) && inner.is_object()).then_some(inner)
}

/// The last of several objects, if those before it are empty or the same: some servers begin the arguments twice.
fn last_of_repeated(text: &str) -> Option<Value> {
    let all: Vec<Value> = serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().ok()?;
    let (last, before) = all.split_last()?;
    let is_same = |one: &Value| one == last || one.as_object().is_some_and(Map::is_empty);
    (last.is_object() && before.iter().all(is_same)).then(|| last.clone())
}

/// The only object that the text can mean, if there is one.
fn repair(text: &str) -> Option<Value> {
    let text = without_fence(text.trim());
    if !text.starts_with('{') || too_deep(text) {
        return None;
    }
    let options = llm_json::RepairOptions {
        skip_json_loads: true,
        return_objects: false,
        ensure_ascii: false,
        stream_stable: false,
    };
    let repaired = llm_json::repair_json(text, &options).ok()?;
    if !same_content(text, &repaired) {
        return None;
    }
    serde_json::from_str(&escape_controls(&repaired)).ok().filter(Value::is_object)
}

/// The inside of a code fence around the whole text.
fn without_fence(text: &str) -> &str {
    let inside = || {
        let body = text.strip_prefix("```")?.strip_suffix("```")?;
        let (language, body) = body.split_once('\n')?;
        language.trim().chars().all(char::is_alphanumeric).then_some(body.trim())
    };
    inside().unwrap_or(text)
}

fn too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|b| {
        match b {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_DEPTH
    })
}

/// Whether the repair only touched quotes, white space, trailing commas and Python's three words.
fn same_content(original: &str, repaired: &str) -> bool {
    let (original, repaired) = (content(original), content(repaired));
    let (mut a, mut b) = (original.as_str(), repaired.as_str());
    loop {
        let (mut left, mut right) = (a.chars(), b.chars());
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) if x == y => (a, b) = (left.as_str(), right.as_str()),
            _ => {
                let word = [("True", "true"), ("False", "false"), ("None", "null")]
                    .into_iter()
                    .find_map(|(theirs, ours)| a.strip_prefix(theirs).zip(b.strip_prefix(ours)));
                match word {
                    Some(rest) => (a, b) = rest,
                    None => return false,
                }
            }
        }
    }
}

/// The text without quotes, backslashes, white space, and commas before a closing bracket.
fn content(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\')) {
        if matches!(c, '}' | ']') && out.ends_with(',') {
            out.pop();
        }
        out.push(c);
    }
    out
}

/// Escapes raw control characters inside strings, which JSON forbids.
fn escape_controls(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut inside, mut escaped) = (false, false);
    for c in json.chars() {
        if inside && c.is_ascii_control() && c != '\u{7f}' {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
            escaped = false;
            continue;
        }
        match c {
            '"' if !escaped => inside = !inside,
            _ => {}
        }
        escaped = inside && c == '\\' && !escaped;
        out.push(c);
    }
    out
}

fn malformed(error: &serde_json::Error, schema: &Compiled) -> ToolOutcome {
    ToolOutcome::Rejected {
        slug: Slug::MalformedToolCall,
        path: None,
        message: format!(
            "the arguments are not valid JSON: {error}. Expected an object that fits this JSON Schema: {}",
            schema.text
        ),
    }
}

fn not_an_object(what: &str) -> ToolOutcome {
    ToolOutcome::Rejected {
        slug: Slug::InvalidArguments,
        path: Some(String::new()),
        message: format!("the arguments must be a JSON object, not {what}"),
    }
}

/// The outcome for all faults; its path is the first fault's.
fn invalid(faults: Vec<SchemaFault>) -> ToolOutcome {
    let text: Vec<String> =
        faults.iter().map(|SchemaFault { path, message }| format!("at `{path}`: {message}")).collect();
    ToolOutcome::Rejected {
        slug: Slug::InvalidArguments,
        path: faults.into_iter().next().map(|fault| fault.path),
        message: short(&format!("invalid arguments: {}", text.join("; "))),
    }
}

fn bad_schema(tool: &str, error: &str) -> ToolOutcome {
    ToolOutcome::Failed { message: format!("the parameter schema of `{tool}` is not a valid JSON Schema: {error}") }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_SCHEMA_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
