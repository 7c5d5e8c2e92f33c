//! Synthesis: the tool-less call at a limit that asks for a conclusion, its texts and fallbacks (SEMANTICS 4).

use serde::{Deserialize, Serialize};

use super::config::{Preset, SynthesisConfig, SynthesisRole};
use super::message::Message;
use super::record::Trigger;

/// A synthesis in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Synthesis {
    pub trigger: Trigger,
    /// Text of a failed attempt (it called tools, or was cut): better than nothing at the end.
    pub fallback: String,
}

const RESEARCH: (&str, &str) = (
    "You have reached the maximum number of reasoning steps.",
    " Based on all the research and analysis you've done so far, provide a final conclusion or answer. Synthesize your \
     findings and provide the best response you can with the information gathered.",
);
const ORCHESTRATOR: (&str, &str) = (
    "You have reached the maximum number of turns.",
    " Please provide an answer based on the information you have gathered so far.",
);

/// The synthesis prompt as the model reads it.
#[must_use]
pub fn prompt(preset: Preset, config: &SynthesisConfig, trigger: Trigger) -> Message {
    let (reached, ask) = match preset {
        Preset::Research | Preset::Strict => RESEARCH,
        Preset::Orchestrator => ORCHESTRATOR,
    };
    let text = match (&config.prompt, trigger) {
        (Some(own), _) => own.clone(),
        (None, Trigger::MaxTurns) => format!("{reached}{ask}"),
        (None, Trigger::Stop) => format!("You have been asked to finish now.{ask}"),
        (None, Trigger::Context) => format!("Your context window is full.{ask}"),
        (None, Trigger::WallTime) => format!("Your time is up.{ask}"),
        (None, Trigger::Tokens) => format!("Your token budget is used up.{ask}"),
        (None, Trigger::Cost) => format!("Your cost budget is used up.{ask}"),
    };
    match config.role {
        SynthesisRole::User => Message::user(text),
        SynthesisRole::System => Message::system(text),
    }
}

/// The report if synthesis failed and there is nothing else to say.
#[must_use]
pub fn failed_report(trigger: Trigger, error: &str) -> String {
    let first = match trigger {
        Trigger::MaxTurns => "Reached maximum reasoning steps.",
        Trigger::Stop => "Stopped on request.",
        Trigger::Context => "The context window is full.",
        Trigger::WallTime => "The time limit was reached.",
        Trigger::Tokens => "The token budget is used up.",
        Trigger::Cost => "The cost budget is used up.",
    };
    format!("{first} Failed to synthesize: {error}")
}

/// The report when the limit is reached and synthesis is switched off.
pub const SWITCHED_OFF: &str = "Reached maximum reasoning steps.";
