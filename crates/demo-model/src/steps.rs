//! What the demo model does next: tool calls, or its answer.
//!
//! It goes through the steps of a list. A step is over once its calls were made, whatever their results, so every
//! chat ends. In endless mode the last step is never over.

use serde_json::{Value, json};

use turnwise_engine::retry::Rng;
use turnwise_engine::{DemoMode, ToolSpec};

use super::answer::{answer, is_host_tool};
use super::arguments::arguments;
use super::calculations::calculations;
use super::chat::Chat;
use super::programs;
use super::quotes::quotes;
use super::text::{count, is_same, is_stop_word, keywords, unique, words};
use super::wire::DemoReply;

/// Maximum number of files read at once, of results read again at once, and of sub-agents.
const MAX_READS: usize = 2;
const MAX_READS_AGAIN: usize = 3;
const MAX_SUBAGENTS: usize = 5;

/// Words of a task that ask for the time.
const TIME_WORDS: [&str; 7] = ["today", "weekday", "what time", "which day", "what day", "the date", "right now"];

/// A tool and its arguments.
type DemoCall = (String, Value);

/// The calls of a step, if it is not over.
type NextCalls = fn(&Chat<'_>) -> Vec<DemoCall>;

/// The steps, each with its text.
const STEPS: &[(NextCalls, &str)] = &[
    (read_again, "Some results were removed to make room; I read again what I need."),
    (look_around, "First I look at what is there, and let the calculator do what can be calculated."),
    (delegate, "I give each file to a sub-agent; they read in parallel."),
    (read, "I read the files that match best: a snippet is not enough."),
    (read_skill, "There is a skill for this; I read its instructions."),
    (ask_host, "There is a tool for this."),
    (look_deeper, "One more look, with a word that came up, so that nothing better is missed."),
    (check, "I check the results the other way round."),
    (write, "I write this into the file that the task asks for."),
    (go_on, "Not enough yet; I look further."),
];

/// The next reply.
pub(super) fn next(chat: &Chat<'_>) -> DemoReply {
    let is_endless = chat.request.mode == DemoMode::Endless;
    let is_over = !is_endless && (chat.is_last_turn() || chat.has_whole_session);
    let counter = match chat.remaining {
        Some(turns) if chat.is_urgent() => format!("The counter says {} left. ", count(turns as usize, "turn")),
        _ => String::new(),
    };
    if let Some(reply) = programs::next(chat).filter(|_| !is_over) {
        return reply;
    }
    // A task for a program is over once the program has run.
    let is_over = is_over || !is_endless && programs::answer(chat).is_some();
    let steps = STEPS.iter().filter(|_| !is_over);
    let mut replies = steps.filter_map(|(step, text)| DemoReply::calls(format!("{counter}{text}"), step(chat)));
    replies.next().unwrap_or_else(|| DemoReply::answer(answer(chat)))
}

fn call(tool: &str, args: Value) -> DemoCall {
    (tool.to_owned(), args)
}

/// Reads results again that the context guard removed, latest first, each only once.
fn read_again(chat: &Chat<'_>) -> Vec<DemoCall> {
    let can_read = chat.offers("read_result") && !chat.is_urgent();
    let lost = chat.calls.iter().rev().filter(|call| can_read && call.is_removed() && call.name != "read_result");
    let lost = lost.filter(|call| !chat.has_called_with("read_result", "handle", call.id));
    lost.take(MAX_READS_AGAIN).map(|lost| call("read_result", json!({ "handle": lost.id }))).collect()
}

/// Whether the task is about numbers rather than files.
fn is_about_numbers(chat: &Chat<'_>) -> bool {
    let task = chat.task;
    chat.offers("calculate") && !calculations(task).is_empty() && keywords(task).len() < 3
}

/// Calls the calculator for the expressions that it was not called for before.
fn calculate(chat: &Chat<'_>, expressions: impl Iterator<Item = String>) -> Vec<DemoCall> {
    let new = expressions.filter(|expression| !chat.has_called_with("calculate", "expression", expression));
    let calls = new.map(|expression| call("calculate", json!({ "expression": expression })));
    calls.filter(|(name, _)| chat.offers(name)).collect()
}

/// Lists and searches the files, and calculates what the task has to calculate.
fn look_around(chat: &Chat<'_>) -> Vec<DemoCall> {
    let (query, task) = (keywords(chat.task).join(" "), chat.task.to_lowercase());
    let mut calls = vec![call("list_files", json!({}))];
    calls.extend((!query.is_empty()).then(|| call("search_files", json!({ "query": query }))));
    calls.extend(TIME_WORDS.iter().any(|words| task.contains(words)).then(|| call("now", json!({}))));
    calls.retain(|(name, _)| chat.is_unused(name) && !is_about_numbers(chat));
    calls.extend(calculate(chat, calculations(chat.task).into_iter().map(|calculation| calculation.expression)));
    calls
}

/// Whether a word asks for several agents.
fn is_for_subagents(word: &str) -> bool {
    ["parallel", "readers", "subagents", "agents"].contains(&word)
}

/// Gives each file to a sub-agent if the task asks for several: the files with the best hits first, then the others.
fn delegate(chat: &Chat<'_>) -> Vec<DemoCall> {
    let topics: Vec<String> = keywords(chat.task).into_iter().filter(|word| !is_for_subagents(word)).collect();
    let paths = unique(chat.hits().iter().map(|hit| hit.path).chain(chat.listed()));
    let task =
        |path: &&str| json!({ "task": format!("Read {path} and report what it says about {}.", topics.join(" ")) });
    let tasks: Vec<Value> = paths.iter().take(MAX_SUBAGENTS).map(task).collect();
    let is_asked = words(chat.task).any(|word| is_for_subagents(&word)) && chat.is_unused("spawn_subagents");
    let call = (is_asked && tasks.len() > 1).then(|| call("spawn_subagents", json!({ "tasks": tasks })));
    call.into_iter().collect()
}

/// Calls to read files that were not read yet: the ones the task names, then the best hits.
fn reads(chat: &Chat<'_>, most: usize) -> Vec<DemoCall> {
    let (task, hits) = (chat.task.to_lowercase(), chat.hits());
    let is_named = |path: &&str| path.rsplit('/').next().is_some_and(|name| task.contains(&name.to_lowercase()));
    let paths = unique(chat.listed().into_iter().filter(is_named).chain(hits.iter().map(|hit| hit.path)));
    let new = paths.into_iter().filter(|path| !chat.has_called_with("read_file", "path", path));
    // A long file is read in parts: start a little before the matching line.
    let read = |path: &str| match hits.iter().find(|hit| hit.path == path) {
        Some(hit) if hit.line > 300 => call("read_file", json!({ "path": path, "offset": hit.line - 40 })),
        _ => call("read_file", json!({ "path": path })),
    };
    new.take(most).map(read).filter(|(name, _)| chat.offers(name)).collect()
}

/// Reads the files that match best.
fn read(chat: &Chat<'_>) -> Vec<DemoCall> {
    // Files that sub-agents read need no second reading.
    let is_needed = chat.is_unused("read_file") && !chat.has_called("spawn_subagents") && !is_about_numbers(chat);
    if is_needed { reads(chat, MAX_READS) } else { Vec::new() }
}

/// Whether a word of the task is one of these.
fn is_about(chat: &Chat<'_>, text: &str) -> bool {
    let wanted = keywords(chat.task);
    let parts = keywords(&text.replace(['_', '-', '.'], " "));
    parts.iter().any(|part| wanted.iter().any(|word| is_same(part, word)))
}

/// How the description of a script's tool names its skill.
fn of_skill(name: &str) -> String {
    format!(" of the skill {name};")
}

/// Reads the first skill whose name, or the name of one of whose scripts, fits the task.
fn read_skill(chat: &Chat<'_>) -> Vec<DemoCall> {
    let spec =
        chat.request.tools.iter().find(|tool| tool.name == "read_skill").filter(|_| chat.is_unused("read_skill"));
    let names = spec.and_then(|spec| spec.parameters.pointer("/properties/name/enum")?.as_array());
    let fits = |name: &&str| {
        let of = of_skill(name);
        let mut scripts = chat.request.tools.iter().filter(|tool| tool.description.contains(&of));
        is_about(chat, name) || scripts.any(|tool| is_about(chat, &tool.name))
    };
    let name = names.into_iter().flatten().filter_map(Value::as_str).find(fits);
    name.map(|name| call("read_skill", json!({ "name": name }))).into_iter().collect()
}

/// Calls a tool of the host page, or a script of the skill that was read: one whose name fits the task, or the first one if no other tool is of use.
fn ask_host(chat: &Chat<'_>) -> Vec<DemoCall> {
    let read = chat.calls_of("read_skill").next().map(|call| of_skill(call.arg("name")));
    let fits =
        |tool: &&ToolSpec| is_about(chat, &tool.name) || read.as_ref().is_some_and(|of| tool.description.contains(of));
    let has_others =
        ["search_files", "list_files", "read_file", "calculate", "now"].iter().any(|name| chat.offers(name));
    let mut host = chat.request.tools.iter().filter(|tool| is_host_tool(&tool.name));
    let tool = host.find(|tool| !has_others || fits(tool)).filter(|tool| chat.is_unused(&tool.name));
    tool.map(|tool| call(&tool.name, arguments(&tool.parameters, chat.task))).into_iter().collect()
}

/// Searches again with a word found in the first files, and reads the next best file.
fn look_deeper(chat: &Chat<'_>) -> Vec<DemoCall> {
    let searches: Vec<_> = chat.calls_of("search_files").map(|call| call.arg("query")).collect();
    let ([first], false, true) = (searches.as_slice(), chat.is_urgent(), chat.has_called("read_file")) else {
        return Vec::new();
    };
    let is_new =
        |word: &String| word.len() > 4 && !is_stop_word(word) && !words(first).any(|other| is_same(&other, word));
    let quotes = quotes(chat);
    let found = quotes.iter().flat_map(|quote| words(&quote.text)).filter(is_new).max_by_key(String::len);
    let longest = keywords(chat.task).into_iter().max_by_key(String::len);
    let query = longest.into_iter().chain(found).collect::<Vec<_>>().join(" ");
    let mut calls = reads(chat, 1);
    calls.insert(0, call("search_files", json!({ "query": query })));
    calls
}

/// Checks the results of calculations with a second calculation each.
fn check(chat: &Chat<'_>) -> Vec<DemoCall> {
    let checks = calculations(chat.task).into_iter().filter_map(|calculation| {
        let mut calls = chat.calls_of("calculate").filter(|call| !call.failed);
        calculation.check(calls.find(|call| call.arg("expression") == calculation.expression)?.result)
    });
    let has_time = is_about_numbers(chat) && !chat.is_urgent();
    calculate(chat, checks.filter(|_| has_time))
}

/// Writes the answer to a file if the task asks for one that does not exist yet.
fn write(chat: &Chat<'_>) -> Vec<DemoCall> {
    let is_asked = words(chat.task).any(|word| ["write", "save", "store"].contains(&word.as_str()));
    let is_new = |path: &&str| {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        ["md", "txt", "csv", "json", "html"].contains(&ending) && !chat.listed().contains(path)
    };
    let names = chat.task.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/'));
    let path = names.into_iter().find(is_new).filter(|_| is_asked && chat.is_unused("write_file"));
    let content = format!("# {}\n\n{}\n", chat.task.trim(), answer(chat));
    path.map(|path| call("write_file", json!({ "path": path, "content": content }))).into_iter().collect()
}

/// In endless mode, makes one or two of the calls that are possible: which ones depends on the turn and the seed.
fn go_on(chat: &Chat<'_>) -> Vec<DemoCall> {
    if chat.request.mode != DemoMode::Endless {
        return Vec::new();
    }
    let (turn, mut rng) = (chat.turns, Rng::new(chat.request.seed ^ ((chat.turns as u64) << 40)));
    let (listed, keywords, read) = (chat.listed(), keywords(chat.task), chat.calls_of("read_file").count());
    let mut word = || keywords.get(rng.up_to(keywords.len() as u64) as usize).map_or("turn", String::as_str);
    let query = format!("{} {}", word(), word());
    let mut calls = vec![
        call("search_files", json!({ "query": query })),
        call("calculate", json!({ "expression": format!("{} * {}", turn + 1, rng.up_to(1000)) })),
        call("now", json!({})),
        call("list_files", json!({})),
    ];
    calls.extend(listed.get(read % listed.len().max(1)).map(|path| call("read_file", json!({ "path": path }))));
    calls.retain(|(name, _)| chat.offers(name));
    if calls.is_empty() {
        let host = chat.request.tools.iter().find(|tool| is_host_tool(&tool.name));
        calls.extend(host.map(|tool| call(&tool.name, arguments(&tool.parameters, chat.task))));
    }
    let first = turn % calls.len().max(1);
    calls.rotate_left(first);
    calls.truncate(if rng.up_to(2) > 0 { 2 } else { 1 });
    calls
}
