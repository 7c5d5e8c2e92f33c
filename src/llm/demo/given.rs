//! The context of a plan step from earlier steps: one JSON object below its action. The demo model lists the results
//! one after the other, without judging them.

use serde_json::Value;

/// Maximum number of characters shown of a result.
const SHOWN: usize = 240;

/// The context that a task contains.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Whether it is the whole session so far: then there is nothing to look up.
    pub whole: bool,
    results: Vec<Said>,
}

#[derive(Debug)]
struct Said {
    order: u64,
    agent: String,
    result: String,
}

/// Splits a task into its action and its context.
pub(super) fn split(task: &str) -> (&str, Given) {
    let nothing = (task, Given::default());
    // The object is a single line, so the last match is its start.
    let Some((action, rest)) = task.rsplit_once("\n\n{") else { return nothing };
    let Ok(object) = serde_json::from_str::<Value>(&format!("{{{rest}")) else { return nothing };
    let whole = object.get("session_context").is_some();
    let key = if whole { "session_context" } else { "dependency_artifacts" };
    let Some(artifacts) = object.get(key).and_then(Value::as_array) else { return nothing };
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let said = |of: &Value| Said {
        order: of.get("step_order").and_then(Value::as_u64).unwrap_or_default(),
        agent: text(of, "agent"),
        result: text(of, "result"),
    };
    (action, Given { whole, results: artifacts.iter().map(said).collect() })
}

impl Given {
    /// The results, one after the other; `None` if there are none.
    pub fn put_together(&self) -> Option<String> {
        let lines: Vec<String> = self.results.iter().map(Said::line).collect();
        let orders: Vec<String> = self.results.iter().map(|said| said.order.to_string()).collect();
        let steps = match orders.split_last()? {
            (last, []) => format!("step {last}"),
            (last, head) => format!("steps {} and {last}", head.join(", ")),
        };
        Some(format!(
            "**From what {steps} found:**\n\n{}\n\nI am a scripted demo, not an AI: I put results side by side and weigh \
             nothing.",
            lines.join("\n")
        ))
    }
}

impl Said {
    /// Its best quote, or else its first line.
    fn line(&self) -> String {
        let mut lines = self.result.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.clone().next().unwrap_or("no result");
        let best = lines.find_map(|line| line.strip_prefix("> ")).unwrap_or(first);
        let shown: String = best.replace("**", "").chars().take(SHOWN).collect();
        format!("- **{}** (step {}): {shown}", self.agent, self.order)
    }
}
