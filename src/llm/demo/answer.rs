//! The demo model's answer: Markdown assembled from the tools' results.

use crate::engine::DemoMode;

use super::evidence::{Quote, quotes};
use super::scene::{BUILTIN, Scene, Step};
use super::share;
use super::sums::{Sum, sums};
use super::words::{code_list, count, keywords};

/// Maximum number of calculations shown, latest first.
const MAX_CALCULATIONS: usize = 8;

/// Maximum number of characters shown of a host tool's result.
const MAX_RESULT: usize = 600;

/// The answer of a run that ended by itself.
pub(super) fn answer(scene: &Scene<'_>) -> String {
    let mut text = String::new();
    if scene.is_last() {
        text.push_str("The turn counter says to finish, so this is what was found so far.\n\n");
    }
    text.push_str(&body(scene));
    text
}

/// The answer to the prompt at a limit.
pub(super) fn synthesis(scene: &Scene<'_>, mode: DemoMode) -> String {
    let prompt = scene.ending.unwrap_or_default().to_lowercase();
    let why = [
        ("asked to finish", "I was asked to finish"),
        ("context window", "The context window is full"),
        ("time is up", "The time is up"),
        ("token budget", "The token budget is used up"),
        ("cost budget", "The cost budget is used up"),
        ("maximum", "The limit of turns is reached"),
    ];
    let why = why.iter().find(|(words, _)| prompt.contains(words)).map_or("Time to conclude", |(_, why)| why);
    let calls = count(scene.steps.len(), "tool call");
    let turns = count(scene.turns, "turn");
    let mut text = format!("## Conclusion\n\n{why}. In {turns} I made {calls}");
    let names = scene.steps.iter().fold(Vec::new(), |mut names, step| {
        if !names.contains(&step.name) {
            names.push(step.name);
        }
        names
    });
    text.push_str(&if names.is_empty() { ".\n\n".to_owned() } else { format!(" ({}).\n\n", code_list(names)) });
    text.push_str(&body(scene));
    if mode == DemoMode::Endless {
        text.push_str("\n\nThis demo mode never finishes by itself; only a limit, Stop or Cancel ends it.");
    }
    text
}

/// The findings, calculations and written files; if there are none, suggestions of what to try.
fn body(scene: &Scene<'_>) -> String {
    let parts = [
        scene.given.put_together(),
        share::reports(scene),
        from_files(scene),
        calculated(scene),
        time(scene),
        host_results(scene),
        written(scene),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { nothing(scene) } else { parts.join("\n\n") }
}

fn from_files(scene: &Scene<'_>) -> Option<String> {
    let quotes = quotes(scene);
    let read: Vec<String> = scene.of("read_file").filter(|s| !s.failed).map(|s| s.arg("path").into_owned()).collect();
    let Some(best) = quotes.first() else {
        return (!read.is_empty()).then(|| {
            let names = code_list(read.iter().map(String::as_str));
            let words = keywords(scene.task).join(", ");
            format!("I read {names}; no line there mentions what was asked for ({words}).")
        });
    };
    let mut text = format!("**The best match is in `{}`**{}:\n\n> {}", best.path, under(best), best.text);
    let more: Vec<String> =
        quotes.iter().skip(1).map(|quote| format!("- `{}`{}: {}", quote.path, under(quote), quote.text)).collect();
    if !more.is_empty() {
        text.push_str(&format!("\n\nMore that matches:\n\n{}", more.join("\n")));
    }
    let mut sources: Vec<&str> = Vec::new();
    for path in quotes.iter().map(|quote| quote.path.as_str()) {
        if !sources.contains(&path) {
            sources.push(path);
        }
    }
    text.push_str(&format!("\n\nSource: {}.", code_list(sources)));
    Some(text)
}

fn under(quote: &Quote) -> String {
    if quote.heading.is_empty() { String::new() } else { format!(" under \"{}\"", quote.heading) }
}

fn calculated(scene: &Scene<'_>) -> Option<String> {
    let asked = sums(scene.task);
    let mut lines = Vec::new();
    for step in scene.of("calculate") {
        let expression = step.arg("expression");
        let sum = asked.iter().find(|sum| sum.expression == expression);
        let money = sum.and_then(|sum| sum.money.as_deref()).map(|money| format!(" {money}")).unwrap_or_default();
        lines.push(if step.failed {
            format!("- `{expression}` could not be calculated: {}", first_line(step))
        } else {
            let is_check = asked.iter().any(|sum| checks(scene, sum).as_deref() == Some(&*expression));
            let check = if is_check { " (check)" } else { "" };
            format!("- `{expression}` = **{}{money}**{check}", value(step))
        });
    }
    let lines = lines.get(lines.len().saturating_sub(MAX_CALCULATIONS)..).unwrap_or_default();
    (!lines.is_empty()).then(|| format!("Calculated, not guessed:\n\n{}", lines.join("\n")))
}

/// The expression that checks a finished calculation.
pub(super) fn checks(scene: &Scene<'_>, sum: &Sum) -> Option<String> {
    let step = scene.of("calculate").find(|step| !step.failed && step.arg("expression") == sum.expression)?;
    sum.check(value(step))
}

/// The value of a result: `351` for `351` and for `15% of 2340 = 351`.
fn value<'a>(step: &Step<'a>) -> &'a str {
    let line = step.result.lines().next().unwrap_or_default();
    line.rsplit_once(" = ").map_or(line, |(_, value)| value).trim()
}

fn time(scene: &Scene<'_>) -> Option<String> {
    let step = scene.of("now").filter(|step| !step.failed).last()?;
    Some(format!("It is {}.", first_line(step)))
}

fn host_results(scene: &Scene<'_>) -> Option<String> {
    let blocks: Vec<String> = scene
        .steps
        .iter()
        .filter(|step| !BUILTIN.contains(&step.name))
        .map(|step| {
            let said = if step.failed { "answered with an error" } else { "answered" };
            let shown: String = step.result.chars().take(MAX_RESULT).collect();
            let cut = if shown.len() < step.result.len() { "…" } else { "" };
            let quoted: Vec<String> = shown.lines().map(|line| format!("> {line}")).collect();
            format!("`{}` {said}:\n\n{}{cut}", step.name, quoted.join("\n"))
        })
        .collect();
    (!blocks.is_empty()).then(|| blocks.join("\n\n"))
}

fn written(scene: &Scene<'_>) -> Option<String> {
    let step = scene.of("write_file").last()?;
    let path = step.arg("path");
    Some(if step.failed {
        format!("`{path}` could not be written: {}", first_line(step))
    } else {
        format!("This answer is also in `{path}`.")
    })
}

fn nothing(scene: &Scene<'_>) -> String {
    let listed = scene.listed().len();
    let words = keywords(scene.task).join(", ");
    let found = match (scene.steps.is_empty(), listed) {
        (true, _) => "I made no tool calls".to_owned(),
        (false, 0) => "The workspace has no files, and the task has nothing to calculate".to_owned(),
        (false, n) => format!("None of the {} mentions what was asked for ({words})", count(n, "file")),
    };
    format!(
        "{found}. I am a scripted demo, not an AI: I can search and quote the files of the workspace, calculate (\
         *What is 15 % of 2,340?*), and tell the time. Ask with words that occur in the files, or choose a model."
    )
}

fn first_line<'a>(step: &Step<'a>) -> &'a str {
    step.result.lines().next().unwrap_or_default()
}
