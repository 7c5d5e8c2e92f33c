//! A small workspace and a simple loop for running the demo model.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use turnwise_demo_model::{DemoChunk, DemoRequest, Scripted, script};
use turnwise_engine::*;
use turnwise_llm::Decoder;
use turnwise_tools::html;

pub const CACHING: &str = "# Caching\n\nRules are matched in order. The first rule that matches\nwins, and the others are skipped.\n\n\
    ## Limits\n\nA cache entry lives for 300 seconds by default. Set `ttl` to change it.\n\n- Entries over 2 MB are never kept.\n";
pub const TURNS: &str = "# Turns\n\nA run has 15 turns. When a run reaches its turn limit, it writes a synthesis from what was gathered. \
    Nothing is lost.\n";

pub fn docs() -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([
        ("docs/caching.md".to_owned(), CACHING.to_owned()),
        ("docs/turns.md".to_owned(), TURNS.to_owned()),
        ("docs/My Notes.md".to_owned(), "Milk, bread.".to_owned()),
        (
            "site/page.html".to_owned(),
            "<html><head><style>p{}</style><title>Ports</title></head><body><h1>Ports</h1>\
            <p>The server listens on port <b>8080</b> &amp; nothing else.</p></body></html>"
                .to_owned(),
        ),
    ]);
    for n in 0..30 {
        files.insert(format!("other/{n:02}.md"), format!("# Chapter {n}\n\nNothing of note in chapter {n}.\n"));
    }
    files
}

pub fn tool(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters,
        may_finish: false,
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    }
}

pub fn builtin() -> Vec<ToolSpec> {
    ["search_files", "read_file", "list_files", "write_file", "calculate", "now"]
        .map(|name| tool(name, json!({})))
        .into()
}

/// Answers as the real tools do.
pub fn run_tool(name: &str, args: &Value, files: &mut BTreeMap<String, String>) -> Result<String, String> {
    let text = |key: &str| args[key].as_str().unwrap_or_else(|| panic!("{name} without {key}: {args}")).to_owned();
    match name {
        "list_files" if files.is_empty() => Ok("The workspace has no files.".into()),
        "list_files" => {
            Ok(files.iter().map(|(path, c)| format!("{path}  {} B", c.len())).collect::<Vec<_>>().join("\n"))
        }
        "read_file" => files.get(&text("path")).cloned().ok_or_else(|| format!("there is no file {}", text("path"))),
        "write_file" => {
            files.insert(text("path"), text("content"));
            Ok(format!("Wrote {}", text("path")))
        }
        "search_files" => {
            let query = text("query").to_lowercase();
            let mut hits: Vec<(usize, String)> = Vec::new();
            for (path, content) in files.iter() {
                let content = if path.ends_with(".html") { html::to_text(content) } else { content.clone() };
                for (number, line) in content.lines().enumerate() {
                    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
                    let score = query
                        .split(' ')
                        .filter(|word| line.to_lowercase().contains(&word.chars().take(5).collect::<String>()))
                        .count();
                    if score > 0 {
                        hits.push((score, format!("{path}:{}  {score}.00  \"{line}\"", number + 1)));
                    }
                }
            }
            hits.sort_by_key(|hit| std::cmp::Reverse(hit.0));
            let lines: Vec<String> = hits.into_iter().take(8).map(|(_, line)| line).collect();
            Ok(if lines.is_empty() {
                format!("No match for \"{query}\" in {} files. Try other words.", files.len())
            } else {
                lines.join("\n")
            })
        }
        "calculate" => calculate(&text("expression")),
        "now" => Ok("2026-11-21T22:29:00Z (Saturday, UTC)".into()),
        _ => Ok(format!("{name} says {args}")),
    }
}

pub fn calculate(expression: &str) -> Result<String, String> {
    fend_core::evaluate(expression, &mut fend_core::Context::new()).map(|result| result.get_main_result().to_owned())
}

pub struct Played {
    pub reply: Reply,
    pub turns: Vec<Vec<(String, Value)>>,
    pub texts: Vec<String>,
    pub messages: Vec<Message>,
    pub files: BTreeMap<String, String>,
}

/// The chunks of a response without faults.
pub fn respond(
    mode: DemoMode,
    seed: u64,
    messages: &[Message],
    tools: &[ToolSpec],
    choice: ToolChoice,
) -> Vec<DemoChunk> {
    let (messages, tools) = (messages.to_vec(), tools.to_vec());
    let request = DemoRequest { mode, seed, request: RequestId(1), attempt: 1, attempts: 3, messages, tools, choice };
    let Scripted::Answer { chunks, .. } = script(&request) else { panic!("a response without an answer") };
    chunks
}

pub fn reply(mode: DemoMode, seed: u64, messages: &[Message], tools: &[ToolSpec], choice: ToolChoice) -> Reply {
    let mut decoder = Decoder::new(&ProviderConfig { kind: ProviderKind::Demo, ..ProviderConfig::default() });
    for chunk in respond(mode, seed, messages, tools, choice) {
        assert!(chunk.after_ms <= 300, "a pause of {} ms", chunk.after_ms);
        decoder.push(chunk.text.as_bytes());
    }
    assert!(decoder.is_done());
    decoder.finish().0.unwrap()
}

pub struct Game {
    pub mode: DemoMode,
    pub tools: Vec<ToolSpec>,
    pub files: BTreeMap<String, String>,
    pub max_turns: u32,
    pub run_tool: ToolRunner,
}

/// Maps a name, arguments and files to an answer.
pub type ToolRunner = fn(&str, &Value, &mut BTreeMap<String, String>) -> Result<String, String>;

impl Game {
    pub fn new(files: BTreeMap<String, String>) -> Self {
        Game { mode: DemoMode::Normal, tools: builtin(), files, max_turns: 15, run_tool }
    }

    /// Plays until the model answers, or its turns are used up.
    pub fn play(&self, messages: Vec<Message>) -> Played {
        let (mut messages, mut files) = (messages, self.files.clone());
        let (mut turns, mut texts) = (Vec::new(), Vec::new());
        for turn in 1..=self.max_turns {
            let reply = reply(self.mode, 7, &messages, &self.tools, ToolChoice::Auto);
            texts.push(reply.content.clone());
            if reply.tool_calls.is_empty() {
                messages.push(Message::Assistant(AssistantMessage {
                    content: reply.content.clone(),
                    ..AssistantMessage::default()
                }));
                return Played { reply, turns, texts, messages, files };
            }
            assert_eq!(reply.finish, FinishReason::ToolCalls);
            let calls: Vec<ToolCall> = reply
                .tool_calls
                .iter()
                .enumerate()
                .map(|(n, c)| ToolCall::new(CallId(format!("c{turn}_{n}")), c.name.clone(), c.arguments.clone()))
                .collect();
            messages.push(Message::Assistant(AssistantMessage {
                content: reply.content,
                tool_calls: calls.clone(),
                ..AssistantMessage::default()
            }));
            let mut made = Vec::new();
            for (n, call) in calls.iter().enumerate() {
                assert!(self.tools.iter().any(|tool| tool.name == call.name), "{} is not offered", call.name);
                let args: Value = serde_json::from_str(&call.arguments).unwrap();
                let result = (self.run_tool)(&call.name, &args, &mut files);
                let is_error = result.is_err();
                let mut content = result.unwrap_or_else(|error| format!("Error: {error}"));
                if n + 1 == calls.len() {
                    content.push_str(&counter(turn, self.max_turns));
                }
                messages.push(Message::Tool(ToolMessage {
                    call_id: call.id.clone(),
                    name: call.name.clone(),
                    content,
                    images: Vec::new(),
                    is_error,
                }));
                made.push((call.name.clone(), args));
            }
            turns.push(made);
        }
        let messages_and_prompt: Vec<Message> = messages
            .iter()
            .cloned()
            .chain([Message::user("You have reached the maximum number of reasoning steps. Based on …")])
            .collect();
        let reply = reply(self.mode, 7, &messages_and_prompt, &self.tools, ToolChoice::None);
        Played { reply, turns, texts, messages: messages_and_prompt, files }
    }

    pub fn ask(&self, task: &str) -> Played {
        self.play(vec![Message::system("You are an agent."), Message::user(task)])
    }
}

pub fn counter(turn: u32, max: u32) -> String {
    match max - turn {
        left @ 0..=3 => format!("\n[Turn {turn}/{max} - Only {left} turns left! Prioritize completing your task.]"),
        left @ 4..=5 => format!("\n[Turn {turn}/{max} - {left} turns remaining, work efficiently.]"),
        _ => format!("\n[Turn {turn}/{max}]"),
    }
}

pub fn names(played: &Played) -> Vec<Vec<&str>> {
    played.turns.iter().map(|calls| calls.iter().map(|(name, _)| name.as_str()).collect()).collect()
}
