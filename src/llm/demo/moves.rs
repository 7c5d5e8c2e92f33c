//! The demo model's next move: tool calls, or an answer.
//!
//! Normal mode goes through stages (look around, read, work out, look deeper, check, write); a stage is over once its
//! calls were made, whatever their results, so every conversation ends. Endless mode has no last stage.

use serde_json::{Value, json};

use crate::engine::ToolSpec;

use super::random::Random;
use super::scene::{BUILTIN, Scene};
use super::share;
use super::sums::sums;
use super::words::{count, keywords, words};
use super::{answer, evidence, minimal};

/// One reply.
#[derive(Debug, Default)]
pub(super) struct Move {
    pub reasoning: String,
    pub text: String,
    /// Names and arguments.
    pub calls: Vec<(String, Value)>,
    /// Whether the length limit cuts it off.
    pub cut: bool,
    /// Whether all its calls have the same id.
    pub same_ids: bool,
    /// Whether the arguments of its first call are invalid JSON.
    pub broken_arguments: bool,
}

/// Number of files read at once.
const READS: usize = 2;

impl Move {
    pub fn say(text: String) -> Self {
        Move { reasoning: "I have what I need; I put it together.".to_owned(), text, ..Move::default() }
    }

    fn call(reasoning: &str, text: &str) -> Self {
        Move { reasoning: reasoning.to_owned(), text: text.to_owned(), ..Move::default() }
    }

    fn with(mut self, calls: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        self.calls.extend(calls.into_iter().map(|(name, args)| (name.to_owned(), args)));
        self
    }
}

/// The offered tools, and the conversation that shows which of them were used.
struct Desk<'a, 's> {
    scene: &'a Scene<'s>,
    tools: &'a [ToolSpec],
}

impl Desk<'_, '_> {
    fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Whether the tool is offered and was not used for this task yet.
    fn fresh(&self, name: &str) -> bool {
        self.has(name) && self.scene.of(name).next().is_none()
    }

    fn asked(&self, name: &str, arg: &str, value: &str) -> bool {
        self.scene.of(name).any(|step| step.arg(arg) == value)
    }

    /// Calculations that were not made yet.
    fn calculate(&self, expressions: impl IntoIterator<Item = String>) -> Vec<(&'static str, Value)> {
        let new = |expression: &String| self.has("calculate") && !self.asked("calculate", "expression", expression);
        expressions.into_iter().filter(new).map(|e| ("calculate", json!({ "expression": e }))).collect()
    }

    /// Files that were not read yet: the ones the task names, then the best hits.
    fn read(&self, most: usize) -> Vec<(&'static str, Value)> {
        let task = self.scene.task.to_lowercase();
        let listed = self.scene.listed();
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let named = listed.iter().filter(|path| task.contains(&name(path))).map(|path| (*path, None));
        let hits = self.scene.hits().into_iter().map(|(path, line, _)| (path, line));
        let mut calls: Vec<(&'static str, Value)> = Vec::new();
        let mut chosen: Vec<&str> = Vec::new();
        for (path, line) in named.chain(hits) {
            if !self.has("read_file") || chosen.len() >= most {
                break;
            }
            if chosen.contains(&path) || self.asked("read_file", "path", path) {
                continue;
            }
            chosen.push(path);
            // A long file is read in parts: start a little before the matching line.
            calls.push(match line {
                Some(line @ 300..) => ("read_file", json!({ "path": path, "offset": line - 40 })),
                _ => ("read_file", json!({ "path": path })),
            });
        }
        calls
    }
}

/// The next reply of a script that finishes.
pub(super) fn normal(scene: &Scene<'_>, tools: &[ToolSpec], random: &mut Random) -> Move {
    let desk = Desk { scene, tools };
    if scene.is_last() || scene.given.whole {
        return Move::say(answer::answer(scene));
    }
    let stages =
        [read_again, look_around, work_out_alone, hand_out, read, host_tools, work_out, look_deeper, check, write];
    let Some(mut next) = stages.iter().find_map(|stage| stage(&desk)) else {
        return Move::say(answer::answer(scene));
    };
    if let Some(remaining) = scene.remaining.filter(|_| scene.is_urgent()) {
        next.text =
            format!("The counter says {} left, so only what matters. {}", count(remaining as usize, "turn"), next.text);
    } else if let Some(opening) = random.pick(&["", "", "Next: ", "Good. "]).filter(|_| scene.turns > 0) {
        next.text.insert_str(0, opening);
    }
    next
}

/// Reads results again that the context guard removed, latest first, each only once.
fn read_again(desk: &Desk<'_, '_>) -> Option<Move> {
    if !desk.has("read_result") || desk.scene.is_urgent() {
        return None;
    }
    let gone = desk.scene.steps.iter().rev().filter(|step| step.is_removed() && step.name != "read_result");
    let gone = gone.filter(|step| !desk.asked("read_result", "handle", step.id)).take(READS + 1);
    let calls: Vec<_> = gone.map(|step| ("read_result", json!({ "handle": step.id }))).collect();
    let text = "Some results were removed to make room; I read again what I need.";
    (!calls.is_empty()).then(|| Move::call("Without them I would have to guess.", text).with(calls))
}

/// Whether the task is about numbers rather than files.
fn only_numbers(desk: &Desk<'_, '_>) -> bool {
    desk.has("calculate") && !sums(desk.scene.task).is_empty() && keywords(desk.scene.task).len() < 3
}

fn look_around(desk: &Desk<'_, '_>) -> Option<Move> {
    if only_numbers(desk) {
        return None;
    }
    let query = keywords(desk.scene.task).join(" ");
    let list = desk.fresh("list_files").then(|| ("list_files", json!({})));
    let search = (desk.fresh("search_files") && !query.is_empty()).then(|| ("search_files", json!({ "query": query })));
    let task = desk.scene.task.to_lowercase();
    let asks_time = ["today", "weekday", "what time", "which day", "what day", "the date", "right now"];
    let asks_time = asks_time.iter().any(|words| task.contains(words));
    let now = (desk.fresh("now") && asks_time).then(|| ("now", json!({})));
    let calls: Vec<_> = [list, search, now].into_iter().flatten().collect();
    let text = "First I look at what is there, and search it for the words of the task.";
    (!calls.is_empty()).then(|| Move::call(&format!("The task's telling words: {query}."), text).with(calls))
}

/// Makes one calculation per turn, unless few turns are left.
fn work_out_alone(desk: &Desk<'_, '_>) -> Option<Move> {
    if !only_numbers(desk) {
        return None;
    }
    let mut calls = desk.calculate(sums(desk.scene.task).into_iter().map(|sum| sum.expression));
    if !desk.scene.is_urgent() {
        calls.truncate(1);
    }
    let text = "I let the calculator do this one.";
    (!calls.is_empty()).then(|| Move::call("Numbers: I calculate, I do not guess.", text).with(calls))
}

/// Gives each file to a sub-agent if the task is meant for several.
fn hand_out(desk: &Desk<'_, '_>) -> Option<Move> {
    if !desk.fresh("spawn_subagents") || !share::asks_for_readers(desk.scene.task) {
        return None;
    }
    let tasks = share::tasks(desk.scene)?;
    let text = "I give each file to a sub-agent; they read in parallel.";
    Some(Move::call("Independent parts: several can work at once.", text).with([("spawn_subagents", tasks)]))
}

fn read(desk: &Desk<'_, '_>) -> Option<Move> {
    // Files that sub-agents read need no second reading.
    if desk.scene.of("spawn_subagents").next().is_some() {
        return None;
    }
    if desk.scene.of("read_file").next().is_some() || only_numbers(desk) {
        return None;
    }
    let mut calls = desk.read(READS);
    if calls.is_empty() && desk.has("read_file") {
        // Nothing was found: a README describes what there is.
        let listed = desk.scene.listed();
        let readme = listed.iter().find(|path| path.to_lowercase().contains("readme")).or(listed.first());
        calls.extend(readme.map(|path| ("read_file", json!({ "path": path }))));
    }
    let text = "I read the files that match best.";
    (!calls.is_empty()).then(|| Move::call("A snippet is not enough; I read around it.", text).with(calls))
}

/// Calls a tool of the host page: one whose name fits the task, or the first one if there is nothing else to do.
fn host_tools(desk: &Desk<'_, '_>) -> Option<Move> {
    let wanted = keywords(desk.scene.task);
    let fits = |tool: &ToolSpec| {
        let name = tool.name.replace(['_', '-', '.'], " ");
        keywords(&name).iter().any(|part| wanted.iter().any(|word| super::words::same(part, word)))
    };
    let mut host = desk.tools.iter().filter(|tool| !BUILTIN.contains(&tool.name.as_str()));
    let alone = !["search_files", "list_files", "read_file", "calculate", "now"].iter().any(|name| desk.has(name));
    let tool = if alone { host.next() } else { host.find(|tool| fits(tool)) }?;
    if !desk.fresh(&tool.name) {
        return None;
    }
    let mut next = Move::call("There is a tool for this.", &format!("I ask `{}`.", tool.name));
    next.calls.push((tool.name.clone(), minimal::arguments(&tool.parameters, desk.scene.task)));
    Some(next)
}

fn work_out(desk: &Desk<'_, '_>) -> Option<Move> {
    let mut calls = desk.calculate(sums(desk.scene.task).into_iter().map(|sum| sum.expression));
    // Nothing found and nothing to calculate: at least tell the time.
    let idle = calls.is_empty() && desk.scene.turns == 1 && desk.scene.listed().is_empty() && !only_numbers(desk);
    if idle && desk.fresh("now") {
        calls.push(("now", json!({})));
    }
    let text = "What can be calculated, I let the calculator do.";
    (!calls.is_empty()).then(|| Move::call("Numbers: I calculate, I do not guess.", text).with(calls))
}

/// Searches again with a word found in the first files, and reads the next best file.
fn look_deeper(desk: &Desk<'_, '_>) -> Option<Move> {
    let mut searches = desk.scene.of("search_files");
    let (first, second) = (searches.next()?, searches.next());
    if second.is_some() || desk.scene.is_urgent() || desk.scene.of("read_file").next().is_none() {
        return None;
    }
    let first = first.arg("query").into_owned();
    let longest = keywords(desk.scene.task).into_iter().max_by_key(String::len)?;
    let query = match evidence::next_word(desk.scene, &first) {
        Some(word) => format!("{longest} {word}"),
        None => longest,
    };
    if query == first {
        return None;
    }
    let calls = std::iter::once(("search_files", json!({ "query": query }))).chain(desk.read(1));
    let text = "One more look, with a word that came up, so that nothing better is missed.";
    Some(Move::call(&format!("Worth a second search: {query}."), text).with(calls))
}

fn check(desk: &Desk<'_, '_>) -> Option<Move> {
    if desk.scene.is_urgent() || !only_numbers(desk) {
        return None;
    }
    let checks = sums(desk.scene.task).into_iter().filter_map(|sum| answer::checks(desk.scene, &sum));
    let calls = desk.calculate(checks.collect::<Vec<_>>());
    let text = "I check the results the other way round.";
    (!calls.is_empty()).then(|| Move::call("A second way should lead to the same numbers.", text).with(calls))
}

/// Writes the answer to a file if the task asks for one that does not exist yet.
fn write(desk: &Desk<'_, '_>) -> Option<Move> {
    let task = desk.scene.task;
    if !desk.fresh("write_file") || !words(task).any(|word| matches!(word.as_str(), "write" | "save" | "store")) {
        return None;
    }
    let clean = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').to_owned();
    let is_new = |word: &String| {
        let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
        matches!(ending, "md" | "txt" | "csv" | "json" | "html") && !desk.scene.listed().contains(&word.as_str())
    };
    let path = task.split_whitespace().map(clean).find(is_new)?;
    let content = format!("# {}\n\n{}\n", task.trim(), answer::answer(desk.scene));
    let text = format!("I write this into `{path}`.");
    Some(
        Move::call("The task asks for a file.", &text)
            .with([("write_file", json!({ "path": path, "content": content }))]),
    )
}

/// Texts of endless mode while it continues.
const THOUGHTS: [&str; 4] = [
    "Not enough yet; I look further.",
    "Interesting, but there may be more.",
    "I would rather look at one more thing.",
    "Before I conclude, I check something else.",
];

/// The next reply of a script that never finishes.
pub(super) fn endless(scene: &Scene<'_>, tools: &[ToolSpec], random: &mut Random) -> Move {
    let desk = Desk { scene, tools };
    let turn = scene.turns;
    // By the second turn the files are known.
    if let Some(next) = (turn == 1).then(|| hand_out(&desk)).flatten() {
        return next;
    }
    let (listed, mut wanted) = (scene.listed(), keywords(scene.task));
    let mut kinds = Vec::new();
    for name in ["read_file", "search_files", "calculate", "read_file", "now", "list_files"] {
        if desk.has(name) && (name != "read_file" || !listed.is_empty()) {
            kinds.push(name);
        }
    }
    let thought = random.pick(&THOUGHTS).copied().unwrap_or_default();
    let mut next = Move::call("There is always one more thing to look at.", thought);
    let mut word = |random: &mut Random| {
        let at = random.between(0, u32::try_from(wanted.len()).unwrap_or(1)) as usize;
        if wanted.is_empty() { "turn".to_owned() } else { wanted.remove(at) }
    };
    if turn == 0 && desk.has("list_files") {
        next = next.with([("list_files", json!({}))]);
        kinds = if desk.has("search_files") { vec!["search_files"] } else { Vec::new() };
    } else if kinds.len() > 2 && random.between(0, 3) > 0 {
        // Two kinds of calls in one turn, in parallel.
        let by = turn % kinds.len();
        kinds.rotate_left(by);
        kinds.truncate(2);
        kinds.dedup();
    } else {
        kinds = random.pick(&kinds).into_iter().copied().collect();
    }
    let reads = scene.of("read_file").count();
    for kind in kinds {
        let args = match kind {
            "search_files" => json!({ "query": format!("{} {}", word(random), word(random)) }),
            "read_file" => json!({ "path": listed.get(reads % listed.len().max(1)) }),
            "calculate" => json!({ "expression": format!("{} * {}", turn + 1, random.between(2, 1000)) }),
            _ => json!({}),
        };
        next.calls.push((kind.to_owned(), args));
    }
    if next.calls.is_empty() {
        let host: Vec<&ToolSpec> = tools.iter().filter(|tool| !BUILTIN.contains(&tool.name.as_str())).collect();
        match random.pick(&host) {
            Some(tool) => next.calls.push((tool.name.clone(), minimal::arguments(&tool.parameters, scene.task))),
            None => return Move::say(answer::answer(scene)),
        }
    }
    if let Some(remaining) = scene.remaining.filter(|_| scene.is_urgent()) {
        let left = count(remaining as usize, "turn");
        next.text =
            format!("The counter says {left} left, but this demo mode never finishes by itself. I look further.");
    }
    next
}
