//! How much a model thinks, in the parameters of its generation.

use serde_json::json;

use turnwise_engine::ReasoningEffort;

use super::super::abilities::{ModelSettings, Off};
use super::super::json::{field, raw};
use super::super::options::Options;

/// The API requires a limit. Every available model writes at least this much, and it is enough for a long report.
const MAX_TOKENS: u32 = 8192;

/// Room for the answer after the longest thought.
const ROOM: u32 = 1024;

/// Whether signed thoughts of a model are refused in a request with other tools than the one they come from (rig: `binds_context`).
pub(super) fn binds_tools(model: &str) -> bool {
    const MODELS: [&str; 5] = ["opus-5-5", "sonnet-5-5", "haiku-5-5", "fable", "mythos"];
    let name = model.replace('.', "-");
    MODELS.iter().any(|known| name.contains(known))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Thinking {
    effort: Option<ReasoningEffort>,
    /// Whether the model takes an effort level. Others take a number of tokens, which these reject.
    in_words: bool,
    /// The type of no thinking.
    off: &'static str,
}

impl Thinking {
    pub fn of(settings: &ModelSettings) -> Self {
        let ModelSettings { effort, in_words, off, .. } = *settings;
        Thinking { effort, in_words, off: if let Off::Type(word) = off { word } else { "disabled" } }
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
            match (effort, self.in_words) {
                (ReasoningEffort::None, _) => {
                    raw(out, "{\"type\":\"");
                    raw(out, self.off);
                    raw(out, "\"}");
                }
                (_, true) => raw(out, "{\"type\":\"adaptive\"}"),
                (_, false) => {
                    raw(out, "{\"type\":\"enabled\"");
                    field(out, "budget_tokens", &self.budget());
                    out.push(b'}');
                }
            }
        }
        let says = self.in_words && effort != ReasoningEffort::None;
        options.set("output_config", says.then(|| json!({ "effort": effort.as_str() })), out);
    }

    /// The token budget for thoughts; the API requires at least 1,024.
    fn budget(self) -> u32 {
        match self.effort {
            None | Some(ReasoningEffort::None) => 0,
            Some(ReasoningEffort::Minimal) => 1024,
            Some(ReasoningEffort::Low) => 2048,
            Some(ReasoningEffort::Medium) => 8192,
            Some(ReasoningEffort::High) => 16_384,
            Some(ReasoningEffort::Xhigh | ReasoningEffort::Max) => 32_768,
        }
    }
}
