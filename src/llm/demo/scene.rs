//! The conversation as the demo model reads it: the task, the calls made for it, and the number of turns left.

use std::borrow::Cow;

use serde_json::Value;

use crate::engine::prompts::NOTICE_PREFIX;
use crate::engine::{Message, ToolChoice, ToolSpec};

use super::given::{self, Given};

/// The start of the engine's message about additional turns.
const GRANTED: &str = "You have been granted ";

/// Tools that the script knows how to use, or ignores; all others belong to the host page.
pub(super) const BUILTIN: &[&str] = &[
    "search_files",
    "read_file",
    "list_files",
    "write_file",
    "read_result",
    "calculate",
    "now",
    "final_report",
    "progress_report",
    "batch",
    "spawn_subagents",
];

/// One tool call and its result.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub args: Value,
    /// The result without the counter's line.
    pub result: &'a str,
    pub failed: bool,
}

#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub task: &'a str,
    /// The context that a plan gives about its earlier steps.
    pub given: Given,
    /// The calls since the task was given, in order.
    pub steps: Vec<Step<'a>>,
    /// Replies since the task was given.
    pub turns: usize,
    /// Turns left, according to the last turn counter.
    pub remaining: Option<u32>,
    /// The prompt that asks for a synthesis.
    pub ending: Option<&'a str>,
}

impl<'a> Scene<'a> {
    pub fn read(messages: &'a [Message], choice: ToolChoice) -> Self {
        let messages = match messages {
            [head @ .., Message::User { content, .. }] if content.starts_with(NOTICE_PREFIX) => head,
            _ => messages,
        };
        let (messages, ending) = match (choice, messages) {
            (ToolChoice::None, [head @ .., Message::User { content, .. } | Message::System { content }])
                if head.iter().any(is_user) =>
            {
                (head, Some(content.as_str()))
            }
            _ => (messages, None),
        };
        let at = task_index(messages);
        let task = match messages.get(at) {
            Some(Message::User { content, .. }) => content.as_str(),
            _ => "",
        };
        let (task, given) = given::split(task);
        let mut scene = Scene { task, given, steps: Vec::new(), turns: 0, remaining: None, ending };
        let mut open = Vec::new();
        for message in messages.iter().skip(at + 1) {
            match message {
                Message::Assistant(reply) => {
                    scene.turns += 1;
                    open.clear();
                    open.extend(&reply.tool_calls);
                }
                Message::Tool(tool) => {
                    let (result, remaining) = without_counter(&tool.content);
                    scene.remaining = remaining.or(scene.remaining);
                    let call = open.iter().find(|call| call.id == tool.call_id);
                    let args = call.and_then(|call| serde_json::from_str(&call.arguments).ok()).unwrap_or_default();
                    scene.steps.push(Step {
                        id: &tool.call_id.0,
                        name: &tool.name,
                        args,
                        result,
                        failed: tool.is_error,
                    });
                }
                Message::User { content, .. } => {
                    // A grant overrides the last counter.
                    let granted = content.strip_prefix(GRANTED).and_then(|rest| rest.split(' ').next()?.parse().ok());
                    scene.remaining = granted.or(scene.remaining);
                }
                Message::System { .. } => {}
            }
        }
        scene.put_back();
        scene
    }

    /// Restores results that the context guard removed and `read_result` returned again.
    fn put_back(&mut self) {
        let again = self.of("read_result").filter(|step| !step.failed && !step.is_removed());
        let again: Vec<(String, &'a str)> = again.map(|step| (step.arg("handle").into_owned(), step.result)).collect();
        for step in self.steps.iter_mut().filter(|step| step.is_removed()) {
            if let Some((_, result)) = again.iter().find(|(handle, _)| handle == step.id) {
                step.result = result;
            }
        }
    }

    /// Drops calls that never ran because the script itself spoilt them: they do not count as made.
    pub fn forget_spoilt_calls(&mut self, tools: &[ToolSpec]) {
        let offered = |name: &str| tools.iter().any(|tool| tool.name == name);
        self.steps.retain(|step| !step.failed || (step.args != Value::Null && offered(step.name)));
    }

    /// The calls of one tool, in order.
    pub fn of<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Step<'a>> {
        self.steps.iter().filter(move |step| step.name == name)
    }

    /// Whether so few turns are left that there is no time for detours.
    pub fn is_urgent(&self) -> bool {
        self.remaining.is_some_and(|turns| turns <= 3)
    }

    /// Whether the next reply is the last one that counts.
    pub fn is_last(&self) -> bool {
        self.remaining.is_some_and(|turns| turns <= 1)
    }

    /// The paths listed by `list_files`.
    pub fn listed(&self) -> Vec<&'a str> {
        let mut paths: Vec<&str> = Vec::new();
        for step in self.steps.iter().filter(|step| step.name == "list_files" && !step.failed) {
            for path in step.result.lines().filter_map(path_of).map(|(path, _)| path) {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }

    /// Hits of `search_files`, best first: path, line, snippet.
    pub fn hits(&self) -> Vec<(&'a str, Option<u64>, &'a str)> {
        let mut hits = Vec::new();
        for step in self.steps.iter().filter(|step| step.name == "search_files" && !step.failed) {
            hits.extend(step.result.lines().filter_map(|line| {
                let (path, number) = path_of(line)?;
                let snippet = line.split_once('"').map_or("", |(_, rest)| rest.trim_end_matches('"'));
                Some((path, number, snippet))
            }));
        }
        hits
    }
}

impl Step<'_> {
    /// Whether the context guard removed the result.
    pub fn is_removed(&self) -> bool {
        self.result.starts_with("[Result of ") && self.result.contains(" removed: ")
    }

    /// An argument as text.
    pub fn arg(&self, name: &str) -> Cow<'_, str> {
        match self.args.get(name) {
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(Value::Null) | None => Cow::Borrowed(""),
            Some(other) => Cow::Owned(other.to_string()),
        }
    }
}

fn is_user(message: &Message) -> bool {
    matches!(message, Message::User { .. })
}

/// The index of the user's last request, not counting messages that the engine writes in the user's name.
fn task_index(messages: &[Message]) -> usize {
    let mut at = messages.len();
    while let Some(index) = messages.get(..at).and_then(|head| head.iter().rposition(is_user)) {
        let Some(Message::User { content, .. }) = messages.get(index) else { return 0 };
        let granted = content.starts_with(GRANTED);
        if !granted && !content.starts_with(NOTICE_PREFIX) {
            return index;
        }
        // A grant is preceded by the synthesis prompt and its answer, or only by the prompt if the synthesis failed.
        let prompt = |back: usize| {
            index.checked_sub(back).filter(|&i| {
                let before = i.checked_sub(1).and_then(|before| messages.get(before));
                messages.get(i).is_some_and(is_user) && !matches!(before, None | Some(Message::System { .. }))
            })
        };
        at = match granted {
            true => prompt(2).or_else(|| prompt(1)).unwrap_or(index),
            false => index,
        };
    }
    messages.iter().position(is_user).unwrap_or(0)
}

/// A tool result without the lines that the engine appended, and the number of turns left according to them.
fn without_counter(content: &str) -> (&str, Option<u32>) {
    let (mut rest, mut remaining) = (content, None);
    loop {
        let (head, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
        let inner = last.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        match inner {
            Some(line) if line.starts_with("Turn ") => {
                let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
                if let (Some(turn), Some(max)) = (numbers.next(), numbers.next()) {
                    remaining = Some(max.saturating_sub(turn));
                }
            }
            Some(line) if line.starts_with("Context ") => {}
            _ => return (rest, remaining),
        }
        rest = head;
    }
}

/// The path at the start of a line of a file or hit list, and the line number after it: `docs/a.md:12  0.91 …`.
fn path_of(line: &str) -> Option<(&str, Option<u64>)> {
    let line = line.trim().trim_start_matches(['-', '*', '`', ' ']);
    let end = line.find("  ").or_else(|| line.find('\t')).or_else(|| line.find(" (")).unwrap_or(line.len());
    // Lists put two spaces or a tab after a path; without them, it may be any text.
    let is_column = line.get(end..).is_some_and(|rest| rest.starts_with("  ") || rest.starts_with('\t'));
    let path = line.get(..end)?.trim_end_matches(['`', ':', ',']);
    let (path, number) = match path.rsplit_once(':') {
        Some((head, tail)) if tail.bytes().all(|b| b.is_ascii_digit()) => (head, tail.parse().ok()),
        _ => (path, None),
    };
    // A sentence is not a path: "The workspace has no files."
    let looks_like_path = path.contains(['.', '/']) || (is_column && !path.is_empty() && !path.contains(' '));
    let is_path = !path.starts_with('[') && looks_like_path && !path.ends_with('.');
    (is_path && path.split(' ').count() < 6).then_some((path, number))
}
