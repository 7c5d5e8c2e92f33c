//! Work given to sub-agents, one file each, and their reports.

use serde_json::{Value, json};

use super::scene::Scene;
use super::words::{keywords, words};

/// Maximum number of readers: the files of a small workspace are enough to see how it works.
const MOST: usize = 5;

/// Whether the task sounds like work for several agents.
pub(super) fn asks_for_readers(task: &str) -> bool {
    words(task).any(|word| matches!(word.as_str(), "parallel" | "readers" | "subagents" | "agents"))
}

/// One task per file: the files with the best hits first, then the others.
pub(super) fn tasks(scene: &Scene<'_>) -> Option<Value> {
    let about = keywords(scene.task).into_iter().filter(|word| !asks_for_readers(word)).collect::<Vec<_>>().join(" ");
    let mut paths: Vec<&str> = scene.hits().into_iter().map(|(path, ..)| path).chain(scene.listed()).collect();
    let mut seen = Vec::new();
    paths.retain(|path| {
        !seen.contains(path) && {
            seen.push(path);
            true
        }
    });
    paths.truncate(MOST);
    let task = |path: &&str| json!({ "task": format!("Read {path} and report what it says about {about}.") });
    let tasks: Vec<Value> = paths.iter().map(task).collect();
    (tasks.len() > 1).then(|| json!({ "tasks": tasks }))
}

/// The sub-agents' findings: one line each, with the file it is about.
pub(super) fn reports(scene: &Scene<'_>) -> Option<String> {
    let step = scene.of("spawn_subagents").find(|step| !step.failed)?;
    let reports: Vec<Value> = serde_json::from_str(step.result).ok()?;
    let tasks = step.args.get("tasks").and_then(Value::as_array)?;
    let lines = reports.iter().zip(tasks).map(|(report, task)| {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (task, said) = (text(task, "task"), text(report, "report"));
        let path = task.strip_prefix("Read ").and_then(|rest| rest.split(" and report").next()).unwrap_or("its part");
        let quote =
            said.lines().find_map(|line| line.strip_prefix("> ")).or_else(|| said.lines().find(|l| !l.is_empty()));
        let how = match (text(report, "status").as_str(), report.get("synthesized") == Some(&Value::Bool(true))) {
            ("success", false) => "",
            ("success", true) => " (concluded at its limit)",
            _ => " (failed)",
        };
        format!("- `{path}`{how}: {}", quote.unwrap_or("no report"))
    });
    let lines: Vec<String> = lines.collect();
    Some(format!("**{} sub-agents read a file each:**\n\n{}", lines.len(), lines.join("\n")))
}
