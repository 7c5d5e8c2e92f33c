//! A tool call as an unobtrusive card: closed, it is one line; open, it shows what the model saw.

use serde_json::Value;

use turnwise_engine::skills::READ_SKILL;
use turnwise_engine::{BranchChanges, CallRecord, Slug, own_tools};

use super::slug::SlugView;
use turnwise_content::format::{counted, duration, one_line};

/// Longer results are collapsed, and the card shows their size.
const INLINE_RESULT: usize = 72;
/// More calls than this inside one are counted by name.
pub const FEW_CALLS: usize = 5;
/// Longer results are not searched for a table or a chart.
const MAX_FIGURE: usize = 4 * 1024 * 1024;

/// A tool whose results people want to see at once, as those of programs.
const QUERY: &str = "query_table";

/// Said at a call whose result a branch changed.
pub const CHANGED: &str = "This result was changed by hand";

/// One card.
#[derive(Clone, Debug, PartialEq)]
pub struct CallView {
    pub id: String,
    pub name: String,
    /// The arguments in one line.
    pub summary: String,
    /// The arguments as indented JSON, or the model's text if it is not JSON.
    pub args: String,
    /// The exact text that the model read, including the counter line; `None` while the call is open.
    pub result: Option<String>,
    /// Set if a branch changed the result: the run that has the original.
    pub changed_from: Option<String>,
    /// A short result, or the size of a long one.
    pub note: Option<CallNote>,
    pub state: CallState,
    pub slug: Option<SlugView>,
    pub error: Option<String>,
    pub duration: Option<String>,
    /// `accepted`, `final result`: the call ended the run.
    pub ended_run: Option<&'static str>,
    /// A progress report for the user, shown as a line instead of a card.
    pub progress: Option<ProgressView>,
    /// The calls inside a batch or a program.
    pub inner: Vec<CallView>,
    /// The program, if the call runs one: the model's, or the script of a skill.
    pub code: Option<String>,
    /// Whether the result may hold a table or a chart, and where it is shown.
    pub figure: Option<FigurePlace>,
}

/// Where the table or chart of a result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigurePlace {
    /// Below the closed card: people asked for it.
    Below,
    /// Inside the card.
    Inside,
}

/// The model's report of what it is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressView {
    pub status: String,
    pub detail: Option<String>,
}

/// The text at the end of the closed card.
#[derive(Clone, Debug, PartialEq)]
pub enum CallNote {
    Value(String),
    Size(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    Open,
    Done,
    Failed,
    /// Ended by stop or cancel, which is not a failure.
    Ended,
}

impl CallView {
    /// Builds the card. `added`: the bytes at the end of the result that the engine added: the context and the counter line.
    #[must_use]
    pub fn new(call: &CallRecord, added: usize) -> Self {
        CallView {
            id: call.id.0.clone(),
            name: call.name.clone(),
            summary: match &call.calls {
                _ if call.name == own_tools::REPORT => report_summary(&call.args),
                _ if call.name == READ_SKILL => skill_summary(&call.args),
                calls if calls.is_empty() => summary(&call.args),
                calls => batch_summary(calls),
            },
            args: pretty(&call.args),
            result: call.result.clone(),
            changed_from: None,
            note: if call.calls.is_empty() { note(call, added) } else { None },
            state: state(call),
            slug: call.slug.map(SlugView::from),
            error: call.error.as_deref().map(|error| one_line(error, 160)),
            duration: call.duration_ms.map(duration),
            ended_run: call.is_final.then_some(if call.name == own_tools::REPORT {
                "accepted"
            } else {
                "final result"
            }),
            progress: progress(call),
            inner: call.calls.iter().map(|inner| CallView::new(inner, 0)).collect(),
            code: code(call),
            figure: figure(call),
        }
    }
}

impl CallView {
    /// Marks the call, and the calls inside it, whose results were changed by branches.
    pub(super) fn mark(&mut self, branches: &[BranchChanges]) {
        let change = branches.iter().find(|branch| branch.edited.as_ref().is_some_and(|call| call.0 == self.id));
        self.changed_from = change.map(|branch| branch.parent.run_id.clone());
        self.inner.iter_mut().for_each(|inner| inner.mark(branches));
    }
}

/// Returns a progress report as the user saw it; a rejected one is shown like any other call.
pub(super) fn progress(call: &CallRecord) -> Option<ProgressView> {
    if call.name != own_tools::PROGRESS || call.slug.is_some() || call.result.is_none() {
        return None;
    }
    let text = |key: &str| call.args.get(key).and_then(Value::as_str).map(|text| one_line(text, 300));
    Some(ProgressView { status: text("status")?, detail: text("detail").filter(|detail| !detail.is_empty()) })
}

/// Says which of these calls are open: `running search_files`, `running 3 tools`
pub(super) fn running(calls: &[CallRecord]) -> String {
    let open: Vec<&str> = calls.iter().filter(|call| call.result.is_none()).map(|call| call.name.as_str()).collect();
    match open.as_slice() {
        [own_tools::SPAWN] => "sub-agents at work".to_owned(),
        [READ_SKILL] => "reading a skill".to_owned(),
        [only] => format!("running {only}"),
        several => format!("running {} tools", several.len()),
    }
}

/// `3 calls: search, read, read`; many calls are counted by name: `200 calls: read × 200`.
#[must_use]
pub fn batch_summary(calls: &[CallRecord]) -> String {
    let count = counted(calls.len() as u64, "call");
    let names: Vec<String> = if calls.len() <= FEW_CALLS {
        calls.iter().map(|inner| inner.name.clone()).collect()
    } else {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for call in calls {
            match counts.iter_mut().find(|(name, _)| *name == call.name) {
                Some((_, count)) => *count += 1,
                None => counts.push((&call.name, 1)),
            }
        }
        counts.into_iter().map(|(name, count)| format!("{name} × {count}")).collect()
    };
    one_line(&format!("{count}: {}", names.join(", ")), 160)
}

/// The program of a call, as the model wrote it.
fn code(call: &CallRecord) -> Option<String> {
    let code = (call.name == own_tools::PROGRAM).then(|| call.args.get("code")?.as_str())?;
    code.map(ToOwned::to_owned)
}

/// A program as a fenced block of Markdown, to be highlighted.
#[must_use]
pub fn fenced(code: &str) -> String {
    // Longer than any fence in the code.
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}js\n{code}\n{fence}")
}

/// A cheap look at the beginning and the lines of a result: a worker reads it exactly.
fn figure(call: &CallRecord) -> Option<FigurePlace> {
    let result = call.result.as_deref().filter(|_| call.error.is_none() && call.slug.is_none())?;
    let is_program = call.name == own_tools::PROGRAM;
    let may_hold = match is_program {
        true => result.starts_with("=> ") || result.contains("\n=> "),
        false => result.starts_with(['[', '{', '|']) || result.contains("\n| --") || result.contains("\n|--"),
    };
    // What sub-agents report is shown with them.
    if call.name == own_tools::SPAWN {
        return None;
    }
    let place = if is_program || call.name == QUERY { FigurePlace::Below } else { FigurePlace::Inside };
    (may_hold && result.len() <= MAX_FIGURE).then_some(place)
}

fn state(call: &CallRecord) -> CallState {
    match (call.slug, &call.error, &call.result) {
        (Some(Slug::Stopped | Slug::Cancelled), ..) => CallState::Ended,
        (Some(_), ..) | (None, Some(_), _) => CallState::Failed,
        (None, None, Some(_)) => CallState::Done,
        (None, None, None) => CallState::Open,
    }
}

fn note(call: &CallRecord, added: usize) -> Option<CallNote> {
    let result = call.result.as_deref().filter(|_| call.error.is_none())?;
    let body = result.get(..result.len().saturating_sub(added)).unwrap_or(result);
    if body.chars().count() <= INLINE_RESULT && !body.contains('\n') {
        return Some(CallNote::Value(body.to_owned()));
    }
    let lines = body.lines().count();
    let characters = counted(body.chars().count() as u64, "character");
    Some(CallNote::Size(if lines > 1 { counted(lines as u64, "line") } else { characters }))
}

/// Shows a single value without its name, and several values with their names.
fn summary(args: &Value) -> String {
    let text = match args {
        Value::Object(fields) => match fields.values().next() {
            None => String::new(),
            Some(only) if fields.len() == 1 => plain(only),
            Some(_) => {
                // What it is about comes first; the rest may be long.
                let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
                fields.sort_by_key(|(key, _)| *key != "path");
                fields.iter().map(|(key, value)| format!("{key}: {}", plain(value))).collect::<Vec<_>>().join(", ")
            }
        },
        other => plain(other),
    };
    one_line(&text, 160)
}

/// `count`, or `count, references/rules.md`.
fn skill_summary(args: &Value) -> String {
    let text = |key: &str| args.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let parts: Vec<&str> = ["name", "path"].into_iter().filter_map(text).collect();
    if parts.is_empty() { summary(args) } else { one_line(&parts.join(", "), 160) }
}

/// Returns the title of a report, or else its first line, without the marks of Markdown.
fn report_summary(args: &Value) -> String {
    let content = args.get("content").and_then(Value::as_str);
    let first = content.and_then(|text| {
        text.lines().map(|line| line.trim_start_matches(['#', ' ']).trim()).find(|line| !line.is_empty())
    });
    first.map_or_else(|| summary(args), |line| one_line(&line.replace("**", ""), 160))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn pretty(args: &Value) -> String {
    match args {
        Value::String(raw) => raw.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
