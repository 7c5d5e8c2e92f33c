//! The conversation as the demo model reads it: the task, the calls made for it, and the number of turns left.

use serde_json::Value;

use turnwise_engine::prompts::{LEFT_OUT_PREFIX, NOTICE_PREFIX};
use turnwise_engine::{Message, ToolChoice};

use super::text::unique;
use super::wire::DemoRequest;

/// The start of the engine's message about additional turns.
const GRANT_PREFIX: &str = "You have been granted ";

/// The starts of the engine's prompts for a conclusion, and why it asks for one.
const CLOSING_PROMPTS: &[(&str, &str)] = &[
    ("You have reached the maximum", "The limit of turns is reached"),
    ("You have been asked to finish", "I was asked to finish"),
    ("Your context window", "The context window is full"),
    ("Your time is up", "The time is up"),
    ("Your token budget", "The token budget is used up"),
    ("Your cost budget", "The cost budget is used up"),
];

/// One tool call and its result.
#[derive(Debug)]
pub(super) struct PastCall<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub args: Value,
    /// The result without the lines that the engine appends.
    pub result: &'a str,
    pub failed: bool,
}

/// One line of a `search_files` result.
#[derive(Debug)]
pub(super) struct FileHit<'a> {
    pub path: &'a str,
    pub line: u64,
    pub snippet: &'a str,
}

#[derive(Debug)]
pub(super) struct Chat<'a> {
    pub request: &'a DemoRequest,
    pub task: &'a str,
    /// The results of a plan's earlier steps, which a plan adds below the task.
    pub artifacts: Vec<Value>,
    /// Whether the artifacts are the whole session: then there is nothing to look up.
    pub has_whole_session: bool,
    /// The calls since the task was given, in order.
    pub calls: Vec<PastCall<'a>>,
    /// Replies since the task was given.
    pub turns: usize,
    /// Turns left, according to the last turn counter.
    pub remaining: Option<u32>,
    /// Why the engine asks for a conclusion.
    pub closing_reason: &'static str,
}

impl<'a> Chat<'a> {
    pub fn read(request: &'a DemoRequest) -> Self {
        let is_note = |text: &str| text.starts_with(NOTICE_PREFIX) || text.starts_with(LEFT_OUT_PREFIX);
        let is_notice = |message: &&Message| user_text(message).is_some_and(is_note);
        let mut messages: Vec<&Message> = request.messages.iter().filter(|message| !is_notice(message)).collect();
        let closing_prompt = if request.choice == ToolChoice::None { messages.pop() } else { None };
        let is_task = |text: &str| !text.starts_with(GRANT_PREFIX) && closing_reason(text).is_none();
        let texts: Vec<_> = messages.iter().map(|message| user_text(message)).collect();
        let at = texts.iter().rposition(|text| text.is_some_and(is_task)).unwrap_or(0);
        let task = texts.get(at).copied().flatten().unwrap_or_default();
        let (task, artifacts, has_whole_session) = split_task(task);
        let closing_reason = match closing_prompt {
            Some(Message::User { content, .. } | Message::System { content }) => closing_reason(content),
            _ => None,
        };
        let mut chat = Chat {
            request,
            task,
            artifacts,
            has_whole_session,
            calls: Vec::new(),
            turns: 0,
            remaining: None,
            closing_reason: closing_reason.unwrap_or("Time to conclude"),
        };
        let mut open: &[_] = &[];
        for message in messages.into_iter().skip(at + 1) {
            match message {
                Message::Assistant(reply) => {
                    chat.turns += 1;
                    open = &reply.tool_calls;
                }
                Message::Tool(tool) => {
                    let (result, remaining) = split_counter(&tool.content);
                    chat.remaining = remaining.or(chat.remaining);
                    let call = open.iter().find(|call| call.id == tool.call_id);
                    let args = call.and_then(|call| serde_json::from_str(&call.arguments).ok()).unwrap_or_default();
                    chat.add(PastCall { id: &tool.call_id.0, name: &tool.name, args, result, failed: tool.is_error });
                }
                // After a grant the last counter is out of date.
                Message::User { .. } => chat.remaining = None,
                Message::System { .. } => {}
            }
        }
        chat
    }

    fn add(&mut self, call: PastCall<'a>) {
        // `read_result` brings back a result that the context guard removed.
        let is_lost = |other: &&mut PastCall<'_>| !call.failed && other.is_removed() && other.id == call.arg("handle");
        for lost in self.calls.iter_mut().filter(is_lost) {
            lost.result = call.result;
        }
        // A call that the script itself spoilt does not count as made.
        if !call.failed || (!call.args.is_null() && self.offers(call.name)) {
            self.calls.push(call);
        }
    }

    pub fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|offered| offered.name == tool)
    }

    /// The calls of one tool, in order.
    pub fn calls_of<'s>(&'s self, tool: &'s str) -> impl Iterator<Item = &'s PastCall<'a>> {
        self.calls.iter().filter(move |call| call.name == tool)
    }

    pub fn has_called(&self, tool: &str) -> bool {
        self.calls_of(tool).next().is_some()
    }

    /// Whether the tool is offered and was not called for this task yet.
    pub fn is_unused(&self, tool: &str) -> bool {
        self.offers(tool) && !self.has_called(tool)
    }

    pub fn has_called_with(&self, tool: &str, name: &str, value: &str) -> bool {
        self.calls_of(tool).any(|call| call.arg(name) == value)
    }

    /// Whether so few turns are left that there is no time for detours.
    pub fn is_urgent(&self) -> bool {
        self.remaining.is_some_and(|turns| turns <= 3)
    }

    /// Whether the next reply is the last one that counts.
    pub fn is_last_turn(&self) -> bool {
        self.remaining.is_some_and(|turns| turns <= 1)
    }

    /// The lines of a tool's results that have columns: what is before the first column gap, and what is after it.
    fn rows(&self, tool: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let results = self.calls.iter().filter(move |call| call.name == tool && !call.failed);
        results.flat_map(|call| call.result.lines()).filter_map(|line| line.split_once("  "))
    }

    /// The paths listed by `list_files`.
    pub fn listed(&self) -> Vec<&'a str> {
        unique(self.rows("list_files").map(|(path, _)| path))
    }

    /// The hits of `search_files`, best first.
    pub fn hits(&self) -> Vec<FileHit<'a>> {
        let hit = |(place, rest): (&'a str, &'a str)| {
            let (path, line) = place.rsplit_once(':')?;
            Some(FileHit { path, line: line.parse().ok()?, snippet: rest.split_once('"')?.1.trim_end_matches('"') })
        };
        self.rows("search_files").filter_map(hit).collect()
    }
}

impl PastCall<'_> {
    pub fn is_removed(&self) -> bool {
        is_removed(self.result)
    }

    /// A text argument.
    pub fn arg(&self, name: &str) -> &str {
        self.args.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Whether the context guard put this in place of a result.
pub(super) fn is_removed(result: &str) -> bool {
    result.starts_with("[Result of ") && result.contains(" removed: ")
}

fn user_text(message: &Message) -> Option<&str> {
    if let Message::User { content, .. } = message { Some(content) } else { None }
}

fn closing_reason(prompt: &str) -> Option<&'static str> {
    CLOSING_PROMPTS.iter().find(|(start, _)| prompt.starts_with(start)).map(|(_, reason)| *reason)
}

/// A task, the artifacts that a plan added to it as one JSON object, and whether these are the whole session.
fn split_task(text: &str) -> (&str, Vec<Value>, bool) {
    // The object is a single line, so the last match is its start.
    let parsed = text.rsplit_once("\n\n{").and_then(|(task, rest)| {
        let object: Value = serde_json::from_str(&format!("{{{rest}")).ok()?;
        let (session, artifacts) = (object.get("session_context"), object.get("dependency_artifacts"));
        Some((task, session.or(artifacts)?.as_array()?.clone(), session.is_some()))
    });
    parsed.unwrap_or((text, Vec::new(), false))
}

/// A tool result without the lines that the engine appended, and the number of turns left according to them.
fn split_counter(content: &str) -> (&str, Option<u32>) {
    let Some((result, counter)) = content.rsplit_once("\n[Turn ") else { return (content, None) };
    let mut numbers = counter.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u32>().ok());
    let remaining = numbers.next().and_then(|turn| Some(numbers.next()?.saturating_sub(turn)));
    let context = result.rsplit_once("\n[Context ").filter(|(_, line)| line.ends_with("% full]"));
    (context.map_or(result, |(result, _)| result), remaining)
}
