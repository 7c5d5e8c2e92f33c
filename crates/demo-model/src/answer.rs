//! The demo model's answer: Markdown assembled from the tools' results.

use serde_json::Value;

use turnwise_engine::DemoMode;

use super::calculations::calculations;
use super::chat::{Chat, PastCall};
use super::programs;
use super::quotes::{Quote, quotes};
use super::text::{code_list, count, keywords};

/// Maximum number of calculations shown, latest first.
const MAX_CALCULATIONS: usize = 8;
/// Maximum number of characters shown of a host tool's result, and of the result of a plan's earlier step.
const MAX_RESULT: usize = 600;
const MAX_ARTIFACT: usize = 240;

/// The beginning of an answer that is made of the results of a plan's earlier steps.
const STEPS: &str = "**What step";

/// Tools that the script knows how to use, or ignores; all others belong to the host page.
const KNOWN_TOOLS: &str = " search_files read_file list_files write_file edit_file diff_files query_table \
    query_json read_result calculate now final_report progress_report batch spawn_subagents run_code \
    read_skill ";

/// Whether a tool belongs to the host page.
pub(super) fn is_host_tool(name: &str) -> bool {
    !KNOWN_TOOLS.split(' ').any(|known| known == name)
}

/// The answer of a run that ended by itself.
pub(super) fn answer(chat: &Chat<'_>) -> String {
    let early = "The turn counter says to finish, so this is what was found so far.\n\n";
    format!("{}{}", if chat.is_last_turn() { early } else { "" }, findings(chat))
}

/// The answer to the prompt at a limit.
pub(super) fn conclusion(chat: &Chat<'_>) -> String {
    let (turns, calls) = (count(chat.turns, "turn"), count(chat.calls.len(), "tool call"));
    let names = match chat.calls.is_empty() {
        true => String::new(),
        false => format!(" ({})", code_list(chat.calls.iter().map(|call| call.name))),
    };
    let end = match chat.request.mode {
        DemoMode::Endless => "\n\nThis demo mode never finishes by itself; only a limit, Stop or Cancel ends it.",
        DemoMode::Normal | DemoMode::Chaos => "",
    };
    let (reason, findings) = (chat.closing_reason, findings(chat));
    format!("## Conclusion\n\n{reason}. In {turns} I made {calls}{names}.\n\n{findings}{end}")
}

/// What the tools returned, one part per kind of tool; if nothing, suggestions of what to try.
fn findings(chat: &Chat<'_>) -> String {
    if let Some(found) = programs::answer(chat) {
        return found;
    }
    let parts = [from_steps, from_subagents, from_files, from_calculator, from_clock, from_host_tools, from_writing];
    let parts: Vec<String> = parts.iter().filter_map(|part| part(chat)).collect();
    if !parts.is_empty() {
        return parts.join("\n\n");
    }
    let found = match (chat.calls.is_empty(), chat.listed().len()) {
        (true, _) => "I made no tool calls".to_owned(),
        (false, 0) => "I found nothing to read about this, and the task has nothing to calculate".to_owned(),
        (false, n) => format!("None of the {} mentions what was asked for", count(n, "file")),
    };
    format!(
        "{found}. I am a scripted demo, not an AI, and I write English only: I can search and quote texts, calculate (\
         *What is 15 % of 2,340?*), and tell the time. Ask with words that occur in the texts, or choose a model."
    )
}

/// A part of the answer: its title above its lines. `None` without lines.
fn part(title: &str, lines: &[String]) -> Option<String> {
    (!lines.is_empty()).then(|| format!("{title}\n\n{}", lines.join("\n")))
}

/// The results of a plan's earlier steps, one after the other.
fn from_steps(chat: &Chat<'_>) -> Option<String> {
    let line = |artifact: &Value| {
        let result = field(artifact, "result");
        let mut shown = match result.starts_with(STEPS) {
            true => "put the results of the earlier steps side by side".to_owned(),
            false => best_line(result).replace("**", ""),
        };
        if let Some((end, _)) = shown.char_indices().nth(MAX_ARTIFACT) {
            shown.truncate(end);
            shown.push('…');
        }
        format!("- **{}** (step {}): {shown}", field(artifact, "agent"), field_number(artifact, "step_order"))
    };
    let mut lines: Vec<String> = chat.artifacts.iter().map(line).collect();
    let note = "\nI am a scripted demo, not an AI: I put results side by side and weigh nothing.";
    lines.extend((!lines.is_empty()).then(|| note.to_owned()));
    let steps: Vec<String> =
        chat.artifacts.iter().map(|artifact| field_number(artifact, "step_order").to_string()).collect();
    part(&format!("{STEPS}{} {} found:**", if steps.len() == 1 { "" } else { "s" }, sentence_list(&steps)), &lines)
}

/// The sub-agents' findings: one line each, with the file it is about.
fn from_subagents(chat: &Chat<'_>) -> Option<String> {
    let call = chat.calls_of("spawn_subagents").find(|call| !call.failed)?;
    let reports: Vec<Value> = serde_json::from_str(call.result).ok()?;
    let line = |(report, task): (&Value, &Value)| {
        let path = field(task, "task").strip_prefix("Read ").and_then(|rest| rest.split(" and report").next());
        let note = match (field(report, "status"), report.get("synthesized")) {
            ("success", Some(Value::Bool(true))) => " (concluded at its limit)",
            ("success", _) => "",
            _ => " (failed)",
        };
        format!("- `{}`{note}: {}", path.unwrap_or("its part"), best_line(field(report, "report")))
    };
    let lines: Vec<String> = reports.iter().zip(call.args.get("tasks")?.as_array()?).map(line).collect();
    part(&format!("**{} sub-agents read a file each:**", lines.len()), &lines)
}

fn field<'v>(object: &'v Value, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn field_number(object: &Value, key: &str) -> u64 {
    object.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// `1, 2 and 3`.
fn sentence_list(items: &[String]) -> String {
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The first quote of an answer of the demo model, or else its first line that is not a title.
fn best_line(answer: &str) -> &str {
    let quote = answer.lines().find_map(|line| line.strip_prefix("> "));
    let line = || answer.lines().map(str::trim).find(|line| !line.is_empty() && !line.ends_with(":**"));
    quote.or_else(line).map_or("no result", |line| line.trim_start_matches("- "))
}

fn from_files(chat: &Chat<'_>) -> Option<String> {
    let place = |quote: &Quote<'_>| match quote.heading.as_str() {
        "" => String::new(),
        heading => format!(" under \"{heading}\""),
    };
    let quotes = quotes(chat);
    let Some((best, others)) = quotes.split_first() else {
        let read = chat.calls_of("read_file").filter(|call| !call.failed).map(|call| call.arg("path"));
        let (names, words) = (code_list(read), keywords(chat.task).join(", "));
        let text = format!("I read {names}; no line there mentions what was asked for ({words}).");
        return (!names.is_empty()).then_some(text);
    };
    let line = |quote: &Quote<'_>| format!("- `{}`{}: {}", quote.path, place(quote), quote.text);
    let best_match = format!("**The best match is in `{}`**{}:\n\n> {}", best.path, place(best), best.text);
    let more = part("More that matches:", &others.iter().map(line).collect::<Vec<_>>());
    let source = format!("Source: {}.", code_list(quotes.iter().map(|quote| quote.path)));
    Some([Some(best_match), more, Some(source)].into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
}

fn from_calculator(chat: &Chat<'_>) -> Option<String> {
    let asked = calculations(chat.task);
    let line = |call: &PastCall<'_>| {
        let (expression, result) = (call.arg("expression"), call.result);
        match asked.iter().find(|calculation| calculation.expression == expression) {
            _ if call.failed => format!("- `{expression}` could not be calculated: {result}"),
            Some(calculation) => format!("- `{expression}` = **{}**", format!("{result} {}", calculation.money).trim()),
            None if asked.is_empty() => format!("- `{expression}` = **{result}**"),
            None => format!("- `{expression}` = **{result}** (check)"),
        }
    };
    let lines: Vec<String> = chat.calls_of("calculate").map(line).collect();
    part("Calculated, not guessed:", lines.get(lines.len().saturating_sub(MAX_CALCULATIONS)..)?)
}

fn from_clock(chat: &Chat<'_>) -> Option<String> {
    let call = chat.calls_of("now").filter(|call| !call.failed).last()?;
    Some(format!("It is {}.", call.result))
}

fn from_host_tools(chat: &Chat<'_>) -> Option<String> {
    let block = |call: &PastCall<'_>| {
        let shown: String = call.result.chars().take(MAX_RESULT).collect();
        let cut = if shown.len() < call.result.len() { "…" } else { "" };
        let outcome = if call.failed { "answered with an error" } else { "answered" };
        format!("`{}` {outcome}:\n\n> {}{cut}", call.name, shown.replace('\n', "\n> "))
    };
    let blocks: Vec<String> = chat.calls.iter().filter(|call| is_host_tool(call.name)).map(block).collect();
    (!blocks.is_empty()).then(|| blocks.join("\n\n"))
}

fn from_writing(chat: &Chat<'_>) -> Option<String> {
    let call = chat.calls_of("write_file").last()?;
    let path = call.arg("path");
    Some(match call.failed {
        true => format!("`{path}` could not be written: {}", call.result),
        false => format!("This answer is also in `{path}`."),
    })
}
