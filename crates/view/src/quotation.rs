//! The passage that a task quotes at its beginning.

/// Adds a passage to a draft, as a quotation.
#[must_use]
pub fn add(draft: &str, passage: &str) -> String {
    let quoted: Vec<String> = passage.trim().lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    let before = draft.trim_end();
    let gap = if before.is_empty() { "" } else { "\n\n" };
    format!("{before}{gap}{}\n\n", quoted.join("\n"))
}

/// Splits a task into the passage that it quotes at its beginning, without the marks, and the rest: what [`add`] wrote.
#[must_use]
pub fn split(task: &str) -> (Option<String>, &str) {
    let (mut lines, mut rest) = (Vec::new(), task);
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        // A task may begin with ">= 5" as well.
        let Some(quoted) = line.strip_prefix("> ").or_else(|| (line == ">").then_some("")) else { break };
        lines.push(quoted.trim());
        rest = after;
    }
    match rest.trim_start() {
        // A task that only quotes has no other heading.
        "" => (None, task),
        rest => ((!lines.is_empty()).then(|| lines.join("\n")), rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_found_again() {
        let task = format!("{}Why?", add("", "Rust.\n\nIt compiles.  "));
        assert_eq!(task, "> Rust.\n>\n> It compiles.\n\nWhy?");
        assert_eq!(split(&task), (Some("Rust.\n\nIt compiles.".to_owned()), "Why?"));
        assert_eq!(add("First this. ", "that"), "First this.\n\n> that\n\n");
    }

    #[test]
    fn what_quotes_nothing_stays_whole() {
        for task in ["Why?", ">= 5, or not?\nAnd now?", ">5", "> Only a quotation.", ""] {
            assert_eq!(split(task), (None, task), "{task:?}");
        }
    }
}
