//! A tool call as an unobtrusive card: closed, it is one line; open, it shows what the model saw.

use serde_json::Value;

use turnwise_engine::{BranchChanges, CallRecord, Slug, own_tools};

use super::action::{ActionView, QUERY, several};
use super::slug::SlugView;

pub use super::action::CallState;
use turnwise_content::format::{counted, duration, one_line};

/// The most characters of what a call is about.
const SUMMARY: usize = 160;
/// Longer results are collapsed, and the card shows their size.
const INLINE_RESULT: usize = 72;
/// More calls than this inside one are counted by name.
pub const FEW_CALLS: usize = 5;
/// Longer results are not searched for a table or a chart.
const MAX_FIGURE: usize = 4 * 1024 * 1024;

/// Said at a call whose result a branch changed.
pub const CHANGED: &str = "This result was changed by hand";

/// One card.
#[derive(Clone, Debug, PartialEq)]
pub struct CallView {
    pub id: String,
    pub name: String,
    /// What it does: `Read`, or the name of a tool that is the user's own.
    pub verb: String,
    /// What it does that with: `contract.pdf`, or the arguments in one line.
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

impl CallView {
    /// Builds the card. `added`: the bytes at the end of the result that the engine added: the context and the counter line.
    #[must_use]
    pub fn new(call: &CallRecord, added: usize) -> Self {
        let state = state(call);
        // Without its arguments there is nothing to say but what it was called with.
        let action = match call.args.is_object() {
            true => ActionView::new(&call.name, &call.args, &call.calls, state),
            false => None,
        };
        let (verb, summary) = match action {
            Some(ActionView { verb, object }) => (verb.to_owned(), object),
            None => (call.name.clone(), summary(&call.args)),
        };
        CallView {
            id: call.id.0.clone(),
            name: call.name.clone(),
            verb,
            summary,
            args: pretty(&call.args),
            result: call.result.clone(),
            changed_from: None,
            note: if call.calls.is_empty() { note(call, added) } else { None },
            state,
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

/// Like calls in a row, as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    /// `Read 10 files`
    pub words: String,
    /// What they are about: `a.md, b.md, c.md`
    pub objects: String,
    /// `3 done`, while some are open.
    pub progress: Option<String>,
    /// `2 failed`
    pub failed: Option<String>,
}

impl GroupView {
    /// Returns the line of calls of one tool.
    #[must_use]
    pub fn new(calls: &[CallView]) -> Self {
        let count = |state: CallState| calls.iter().filter(|call| call.state == state).count();
        let (open, done, failed) = (count(CallState::Open), count(CallState::Done), count(CallState::Failed));
        let tool = calls.first().map_or("", |call| call.name.as_str());
        let objects: Vec<&str> =
            calls.iter().map(|call| call.summary.as_str()).filter(|text| !text.is_empty()).collect();
        GroupView {
            words: several(tool, if open > 0 || done == 0 { calls.len() } else { done }, open > 0),
            objects: one_line(&objects.join(", "), SUMMARY),
            progress: (open > 0 && done > 0).then(|| format!("{done} done")),
            failed: (failed > 0).then(|| format!("{failed} failed")),
        }
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
        // What was written is in the line already.
        let written = call.args.get("path").and_then(Value::as_str).filter(|_| call.name == "write_file");
        let size = written.and_then(|path| body.split_once(&format!("{path}: ")));
        return Some(
            size.map_or_else(|| CallNote::Value(body.to_owned()), |(_, size)| CallNote::Size(size.to_owned())),
        );
    }
    let lines = body.lines().count() - frame(&call.name, body);
    let characters = counted(body.chars().count() as u64, "character");
    Some(CallNote::Size(if lines > 1 { counted(lines as u64, "line") } else { characters }))
}

/// Returns how many lines of a result are not of the file that was read: what it is comes first, and what was left out last.
fn frame(tool: &str, body: &str) -> usize {
    if tool != "read_file" {
        return 0;
    }
    let is_frame = |line: Option<&str>, start: &str| usize::from(line.is_some_and(|line| line.starts_with(start)));
    is_frame(body.lines().next(), "[") + is_frame(body.lines().next_back(), "[lines ")
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

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn pretty(args: &Value) -> String {
    match args {
        Value::String(raw) => raw.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
