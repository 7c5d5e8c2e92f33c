//! How tool outcomes read to the model: the answer's text, its slug, cut where it is too long (SEMANTICS 6).

use super::config::ToolSpec;
use super::event::ToolOutcome;
use super::failure::Slug;
use super::ids::CallId;

/// The answer to a call, before the counter line.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Answer {
    pub content: String,
    pub slug: Option<Slug>,
    /// For people, where the call failed.
    pub error: Option<String>,
}

impl Answer {
    /// A call that was answered without having run.
    #[must_use]
    pub fn refused(slug: Slug, error: String) -> Self {
        Answer { content: format!("Error: {error}"), slug: Some(slug), error: Some(error) }
    }

    /// Exactly `text`, as `stopped`, `cancelled`, `not run`.
    #[must_use]
    pub fn word(text: &str, slug: Option<Slug>) -> Self {
        Answer { content: text.to_owned(), slug, error: Some(text.to_owned()) }
    }

    #[must_use]
    pub fn unknown_tool(name: &str, tools: &[ToolSpec]) -> Self {
        let names: Vec<&str> = tools.iter().map(|t| t.name.as_str()).collect();
        let known = if names.is_empty() { "there are none".into() } else { names.join(", ") };
        Answer::refused(Slug::UnknownTool, format!("there is no tool named {name:?}. Available tools: {known}"))
    }

    #[must_use]
    pub fn of(outcome: ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Executed { content, .. } => Answer { content, slug: None, error: None },
            ToolOutcome::Rejected { slug, message, .. } => Answer::refused(slug, message),
            ToolOutcome::Failed { message } => Answer::refused(Slug::ToolExecFailed, message),
            ToolOutcome::TimedOut { after_ms } => Answer::refused(
                Slug::Timeout,
                format!("timeout: the tool did not answer within {} s", Seconds(after_ms)),
            ),
            ToolOutcome::Cancelled => Answer::word("cancelled", Some(Slug::Cancelled)),
            ToolOutcome::Stopped => Answer::word("stopped", Some(Slug::Stopped)),
        }
    }
}

/// Cuts a result in the middle so that about `max` characters of it stay. `None` where it is short enough.
#[must_use]
pub fn cut(content: &str, max: usize, handle: &CallId) -> Option<String> {
    let total = content.chars().count();
    if total <= max {
        return None;
    }
    let half = max / 2;
    let head_end = content.char_indices().nth(half).map_or(content.len(), |(i, _)| i);
    let tail_start = content.char_indices().nth(total - half).map_or(content.len(), |(i, _)| i);
    let (head, tail) = (content.get(..head_end).unwrap_or(content), content.get(tail_start..).unwrap_or_default());
    let gone = total - 2 * half;
    Some(format!(
        "{head}\n[{gone} of {total} characters were cut here; read_result(\"{handle}\") reads the whole in parts]\n{tail}"
    ))
}

/// Milliseconds as seconds, without a useless fraction.
struct Seconds(u64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 % 1000 {
            0 => write!(f, "{}", self.0 / 1000),
            ms => write!(f, "{}.{}", self.0 / 1000, format!("{ms:03}").trim_end_matches('0')),
        }
    }
}
