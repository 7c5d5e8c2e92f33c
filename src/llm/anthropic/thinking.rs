//! How much a model thinks, in the parameters of its generation.

use serde_json::json;

use crate::engine::{ProviderConfig, ReasoningEffort, RunConfig};

use super::super::json::{field, raw};
use super::super::options::Options;

/// The API requires a limit. Every available model writes at least this much, and it is enough for a long report.
const MAX_TOKENS: u32 = 8192;

/// Room for the answer after the longest thought.
const ROOM: u32 = 1024;

/// What a model takes. Sources, none of them tried on the service: @ai-sdk/anthropic 4.0.105, rig-core 0.46, pi#7961 (November 2026).
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    line: Line,
    version: (u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Opus,
    Sonnet,
    Haiku,
    Fable,
    Mythos,
    Other,
}

/// How a model is told not to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Off {
    /// `thinking` of this type.
    Type(&'static str),
    /// It always thinks.
    Never,
}

impl Model {
    pub fn of(p: &ProviderConfig) -> Self {
        let lines = [
            ("opus", Line::Opus),
            ("sonnet", Line::Sonnet),
            ("haiku", Line::Haiku),
            ("fable", Line::Fable),
            ("mythos", Line::Mythos),
        ];
        let line = lines.iter().find(|(name, _)| p.model.contains(name)).map_or(Line::Other, |(_, line)| *line);
        Model { line, version: version(&p.model) }
    }

    /// Whether it takes a temperature and `top_p` while it does not think. Newer models refuse them always.
    pub fn takes_sampling(self) -> bool {
        match self.line {
            Line::Opus => self.version < (4, 7),
            Line::Sonnet | Line::Fable | Line::Mythos => self.version < (5, 0),
            Line::Haiku => self.version < (5, 5),
            Line::Other => true,
        }
    }

    /// Whether it takes a forced tool choice while it does not think. Newer models refuse one always.
    pub fn takes_forced_choice(self) -> bool {
        match self.line {
            Line::Opus | Line::Sonnet => self.version < (5, 5),
            Line::Fable | Line::Mythos => self.version < (5, 1),
            Line::Haiku | Line::Other => true,
        }
    }

    /// Whether it takes an effort level. Models before Claude 4.6 take a number of tokens, which later models reject.
    fn takes_words(self) -> bool {
        self.version >= (4, 6)
    }

    fn off(self) -> Off {
        match self.line {
            Line::Fable | Line::Mythos => Off::Never,
            Line::Opus if self.version >= (5, 5) => Off::Never,
            Line::Sonnet if self.version >= (5, 5) => Off::Type("between_tools"),
            _ => Off::Type("disabled"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Thinking {
    effort: Option<ReasoningEffort>,
    model: Model,
}

impl Thinking {
    pub fn of(p: &ProviderConfig, config: &RunConfig) -> Self {
        let model = Model::of(p);
        let effort = config.reasoning.map(|effort| match (effort, model.off()) {
            // The least there is.
            (ReasoningEffort::None, Off::Never) => ReasoningEffort::Minimal,
            (effort, _) => effort,
        });
        Thinking { effort, model }
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
            match (effort, self.model.takes_words()) {
                (ReasoningEffort::None, _) => {
                    let off = if let Off::Type(off) = self.model.off() { off } else { "disabled" };
                    raw(out, "{\"type\":\"");
                    raw(out, off);
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
        let word = match effort {
            ReasoningEffort::None => return,
            ReasoningEffort::Minimal => "low",
            other => other.as_str(),
        };
        options.set("output_config", self.model.takes_words().then(|| json!({ "effort": word })), out);
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

/// `claude-opus-4-7` is 4.7, `claude-sonnet-4-20250514` is 4.0; 0 if the name has no version.
fn version(model: &str) -> (u32, u32) {
    let name = model.split_once("claude").map_or("", |(_, rest)| rest);
    // A longer number is a date.
    let parts = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let mut numbers = parts.map_while(|part| part.parse().ok().filter(|_| part.len() < 4));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}
