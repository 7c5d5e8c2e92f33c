//! What a tool call does, in words: `Read contract.pdf`. The names of tools stay for the model, the record and the details.

use std::collections::HashMap;

use serde_json::Value;

use turnwise_content::format::{counted, one_line};
use turnwise_engine::skills::READ_SKILL;
use turnwise_engine::{CallRecord, own_tools};

/// The most characters of what a call is about.
const OBJECT: usize = 160;

/// A tool whose results people want to see at once, as those of programs.
pub(super) const QUERY: &str = "query_table";

/// Fewer calls of the same tool in a row are drawn one by one.
const GROUPED: usize = 4;
/// Calls that are drawn one by one: they have more to show than a line, or are no tools to a reader.
const APART: &[&str] =
    &[own_tools::PROGRAM, own_tools::BATCH, own_tools::SPAWN, own_tools::REPORT, own_tools::PROGRESS, QUERY];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    Open,
    Done,
    Failed,
    /// Ended by stop or cancel, which is not a failure.
    Ended,
}

/// What a call does and with what; drawn one after the other, they are a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionView {
    /// `Read`, `Reading`, `Could not read`
    pub verb: &'static str,
    /// `contract.pdf, page 7`; may be empty.
    pub object: String,
}

/// The words for the calls of one tool.
struct ActionRow {
    tool: &'static str,
    /// While it runs.
    doing: &'static str,
    done: &'static str,
    failed: &'static str,
    /// What several calls are counted in, after the verb.
    noun: &'static str,
    object: fn(&Value) -> String,
}

const fn row(
    tool: &'static str,
    [doing, done, failed]: [&'static str; 3],
    noun: &'static str,
    object: fn(&Value) -> String,
) -> ActionRow {
    ActionRow { tool, doing, done, failed, noun, object }
}

/// The built-in tools, those of the engine and those of documentation sites.
const ROWS: &[ActionRow] = &[
    row("read_file", ["Reading", "Read", "Could not read"], "file", part_of_file),
    row("list_files", ["Listing the files", "Listed the files", "Could not list the files"], "time", |args| {
        text(args, "prefix").map(|prefix| format!("in {prefix}")).unwrap_or_default()
    }),
    row("search_files", ["Searching the files", "Searched the files", "Could not search the files"], "time", |args| {
        quoted(args, "query")
    }),
    row("write_file", ["Writing", "Wrote", "Could not write"], "file", |args| plain(args, "path")),
    row("edit_file", ["Editing", "Edited", "Could not edit"], "passage", |args| plain(args, "path")),
    row("diff_files", ["Comparing", "Compared", "Could not compare"], "time", |args| {
        [text(args, "a"), text(args, "b")].into_iter().flatten().collect::<Vec<_>>().join(" with ")
    }),
    row("query_table", ["Querying the tables", "Queried the tables", "Could not query the tables"], "time", |args| {
        plain(args, "sql")
    }),
    row("query_json", ["Querying", "Queried", "Could not query"], "time", |args| {
        [text(args, "path"), text(args, "filter")].into_iter().flatten().collect::<Vec<_>>().join(": ")
    }),
    row(
        "read_result",
        ["Reading more of a long result", "Read more of a long result", "Could not read more of a long result"],
        "time",
        nothing,
    ),
    row("calculate", ["Calculating", "Calculated", "Could not calculate"], "expression", |args| {
        plain(args, "expression")
    }),
    row("now", ["Looking up the time", "Looked up the time", "Could not look up the time"], "time", nothing),
    row(own_tools::FETCH_URL, ["Opening", "Opened", "Could not open"], "page", |args| plain(args, "url")),
    row(own_tools::SEARCH_WEB, ["Searching the web", "Searched the web", "Could not search the web"], "time", |args| {
        quoted(args, "query")
    }),
    row(own_tools::PROGRAM, ["Running a program", "Ran a program", "Ran a program"], "time", nothing),
    row(own_tools::BATCH, ["Making", "Made", "Could not make"], "group of call", nothing),
    row(own_tools::SPAWN, ["Running", "Ran", "Could not run"], "time", |_| "sub-agents".to_owned()),
    row(
        own_tools::REPORT,
        ["Handing in the report", "Handed in the report", "Could not hand in the report"],
        "time",
        report,
    ),
    row(
        own_tools::PROGRESS,
        ["Saying what it does", "Said what it does", "Could not say what it does"],
        "time",
        |args| plain(args, "status"),
    ),
    row(
        own_tools::EARLIER,
        ["Reading earlier messages", "Read earlier messages", "Could not read earlier messages"],
        "time",
        nothing,
    ),
    row(READ_SKILL, ["Reading", "Read", "Could not read"], "skill", |args| {
        match (text(args, "name"), text(args, "path")) {
            (Some(name), Some(path)) => format!("{path} of the skill {name}"),
            (Some(name), None) => format!("the skill {name}"),
            (None, _) => "a skill".to_owned(),
        }
    }),
    row(
        "search_docs",
        ["Searching the documentation", "Searched the documentation", "Could not search the documentation"],
        "time",
        |args| quoted(args, "query"),
    ),
    row("read_page", ["Reading", "Read", "Could not read"], "page", |args| plain(args, "url")),
    row("list_pages", ["Listing the pages", "Listed the pages", "Could not list the pages"], "time", |args| {
        quoted(args, "filter")
    }),
];

fn row_of(tool: &str) -> Option<&'static ActionRow> {
    ROWS.iter().find(|row| row.tool == tool)
}

impl ActionView {
    /// Returns what a call of a known tool does; `None`: the tool is the user's own, whose name is all there is to say.
    #[must_use]
    pub fn new(tool: &str, args: &Value, inner: &[CallRecord], state: CallState) -> Option<Self> {
        let row = row_of(tool)?;
        let verb = match state {
            CallState::Open | CallState::Ended => row.doing,
            CallState::Done => row.done,
            CallState::Failed => row.failed,
        };
        let object = if inner.is_empty() { (row.object)(args) } else { of_calls(inner) };
        Some(ActionView { verb, object: one_line(&object, OBJECT) })
    }
}

/// Returns what several calls of one tool do: `Read 12 files`, `lookup \u{d7} 12`.
#[must_use]
pub fn several(tool: &str, count: usize, open: bool) -> String {
    match row_of(tool) {
        Some(row) => match (if open { row.doing } else { row.done }, row.noun, count) {
            (verb, "time", 1) => verb.to_owned(),
            (verb, noun, _) => format!("{verb} {}", counted(count as u64, noun)),
        },
        None => format!("{} \u{d7} {count}", one_line(tool, 80)),
    }
}

/// Returns the lengths of the groups that calls are drawn in, in order: 1 for a call by itself, more for like calls in a row.
pub fn groups<'a>(tools: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for tool in tools {
        match runs.last_mut() {
            Some((last, length)) if *last == tool => *length += 1,
            _ => runs.push((tool, 1)),
        }
    }
    let split = |(tool, length): (&str, usize)| match length >= GROUPED && !APART.contains(&tool) {
        true => vec![length],
        false => vec![1; length],
    };
    runs.into_iter().flat_map(split).collect()
}

/// Says what the open calls of a turn do, within a sentence: `reading contract.pdf`, `running 3 tools`.
#[must_use]
pub fn running(calls: &[CallRecord]) -> String {
    let open: Vec<&CallRecord> = calls.iter().filter(|call| call.result.is_none()).collect();
    match open.as_slice() {
        [only] if only.name == own_tools::SPAWN => "sub-agents at work".to_owned(),
        [only] => match row_of(&only.name) {
            Some(row) => lower(&one_line(&format!("{} {}", row.doing, (row.object)(&only.args)), OBJECT)),
            None => format!("running {}", only.name),
        },
        [first, rest @ ..] if row_of(&first.name).is_some() && rest.iter().all(|call| call.name == first.name) => {
            lower(&several(&first.name, open.len(), true))
        }
        several => format!("running {} tools", several.len()),
    }
}

/// `3 calls: searched the files, read 2 files`
fn of_calls(calls: &[CallRecord]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for call in calls {
        let place = *places.entry(&call.name).or_insert_with(|| {
            counts.push((&call.name, 0));
            counts.len() - 1
        });
        if let Some((_, count)) = counts.get_mut(place) {
            *count += 1;
        }
    }
    let of_tool = |(tool, count): &(&str, usize)| match row_of(tool) {
        Some(_) => lower(&several(tool, *count, false)),
        None if *count == 1 => one_line(tool, 80),
        None => several(tool, *count, false),
    };
    let each: Vec<String> = counts.iter().map(of_tool).collect();
    format!("{}: {}", counted(calls.len() as u64, "call"), each.join(", "))
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn nothing(_: &Value) -> String {
    String::new()
}

fn text<'a>(args: &'a Value, key: &str) -> Option<&'a str> {
    args.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

fn plain(args: &Value, key: &str) -> String {
    text(args, key).unwrap_or_default().to_owned()
}

fn quoted(args: &Value, key: &str) -> String {
    text(args, key).map(|text| format!("for \u{201c}{text}\u{201d}")).unwrap_or_default()
}

/// `contract.pdf`, `contract.pdf, page 7`, `log.txt from line 401`, `log.txt, the last 100 lines`
fn part_of_file(args: &Value) -> String {
    let path = plain(args, "path");
    let part = match (text(args, "place"), args.get("offset").and_then(Value::as_i64)) {
        (Some(place), _) => format!(", {place}"),
        (None, Some(line)) if line > 1 => format!(" from line {line}"),
        (None, Some(line)) if line < 0 => format!(", the last {}", counted(line.unsigned_abs(), "line")),
        _ => String::new(),
    };
    path + &part
}

/// Returns the title of a report, or else its first line, without the marks of Markdown.
fn report(args: &Value) -> String {
    let content = args.get("content").and_then(Value::as_str);
    let first = content.and_then(|text| {
        text.lines().map(|line| line.trim_start_matches(['#', ' ']).trim()).find(|line| !line.is_empty())
    });
    first.map(|line| line.replace("**", "")).unwrap_or_default()
}
