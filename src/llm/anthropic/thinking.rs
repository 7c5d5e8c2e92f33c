//! How much a model thinks, in the parameters of its generation.

use serde_json::json;

use crate::engine::{ProviderConfig, ReasoningEffort, RunConfig};

use super::super::json::{field, raw};
use super::super::options::Options;

/// The API requires a limit. Every available model writes at least this much, and it is enough for a long report.
const MAX_TOKENS: u32 = 8192;

/// Room for the answer after the longest thought.
const ROOM: u32 = 1024;

#[derive(Clone, Copy, Debug)]
pub(super) struct Thinking {
    effort: Option<ReasoningEffort>,
    /// Whether the model takes an effort level. Models before Claude 4.6 take a number of tokens, which later models reject.
    by_word: bool,
}

impl Thinking {
    pub fn of(p: &ProviderConfig, config: &RunConfig) -> Self {
        Thinking { effort: config.reasoning, by_word: version(&p.model) >= (4, 6) }
    }

    pub fn is_on(self) -> bool {
        self.budget() > 0
    }

    /// The output limit. Thoughts count as output, so it is above their budget.
    pub fn max_tokens(self, given: Option<u32>) -> u32 {
        match (given, self.budget()) {
            (None, budget) => MAX_TOKENS + budget,
            (Some(given), 0) => given,
            (Some(given), budget) => given.max(budget + ROOM),
        }
    }

    pub fn write(self, options: Options<'_>, out: &mut Vec<u8>) {
        let Some(effort) = self.effort else { return };
        if options.begin("thinking", out) {
            match (effort, self.by_word) {
                (ReasoningEffort::None, _) => raw(out, "{\"type\":\"disabled\"}"),
                (_, true) => raw(out, "{\"type\":\"adaptive\"}"),
                (_, false) => {
                    raw(out, "{\"type\":\"enabled\"");
                    field(out, "budget_tokens", &self.budget());
                    out.push(b'}');
                }
            }
        }
        let word = match effort {
            ReasoningEffort::None => return,
            ReasoningEffort::Minimal => "low",
            other => other.as_str(),
        };
        options.set("output_config", self.by_word.then(|| json!({ "effort": word })), out);
    }

    /// The token budget for thoughts; the API requires at least 1,024.
    fn budget(self) -> u32 {
        match self.effort {
            None | Some(ReasoningEffort::None) => 0,
            Some(ReasoningEffort::Minimal) => 1024,
            Some(ReasoningEffort::Low) => 2048,
            Some(ReasoningEffort::Medium) => 8192,
            Some(ReasoningEffort::High) => 16_384,
        }
    }
}

/// `claude-opus-4-7` is 4.7, `claude-sonnet-4-20250514` is 4.0; 0 if the name has no version.
fn version(model: &str) -> (u32, u32) {
    let name = model.split_once("claude").map_or("", |(_, rest)| rest);
    // A longer number is a date.
    let parts = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let mut numbers = parts.map_while(|part| part.parse().ok().filter(|_| part.len() < 4));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}
