//! What a run learns from a server that refuses a request: one named change to all further requests to it (semantics.md#corrections).

use serde::{Deserialize, Serialize};

/// A change to the requests to one provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Correction {
    /// `stream_options` is left out.
    NoUsageFlag,
    /// `max_tokens` becomes `max_completion_tokens`, or the other way round.
    OtherLimitName,
    /// `temperature` and `top_p` are left out.
    NoSampling,
    /// The reasoning effort is left out.
    NoEffort,
    /// The reasoning effort is `none`.
    EffortNone,
    /// The tool choice is left out.
    NoToolChoice,
    /// The model's own thoughts go back to it, in `reasoning_content`.
    SendThoughts,
    /// No thoughts go back.
    DropThoughts,
    /// Only the first message is a system message.
    OneSystemMessage,
    /// The roles of messages alternate.
    AlternateRoles,
    /// The ids of tool calls are nine letters and digits.
    NineCharacterIds,
    /// The text beside tool calls is an empty string, not `null`.
    EmptyText,
    /// Encrypted and signed thoughts do not go back.
    NoOpaque,
}

impl Correction {
    /// What the next request does, as the end of a sentence that begins with "The next request".
    #[must_use]
    pub fn said(self) -> &'static str {
        match self {
            Correction::NoUsageFlag => "does not ask for the usage of tokens",
            Correction::OtherLimitName => "gives the limit of output tokens its other name",
            Correction::NoSampling => "leaves out temperature and topP",
            Correction::NoEffort => "leaves out the reasoning effort",
            Correction::EffortNone => "sets the reasoning effort to none",
            Correction::NoToolChoice => "leaves out the tool choice",
            Correction::SendThoughts => "sends the model's thoughts back",
            Correction::DropThoughts => "sends no thoughts back",
            Correction::OneSystemMessage => "has one system message, the first",
            Correction::AlternateRoles => "has roles that alternate",
            Correction::NineCharacterIds => "has ids of nine characters",
            Correction::EmptyText => "has empty texts in place of null",
            Correction::NoOpaque => "sends no encrypted thoughts back",
        }
    }
}

/// What a run learnt, by the index of the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Learnt(Vec<(usize, Correction)>);

/// Corrections in one run.
const MOST: usize = 3;

/// Corrections in a row.
const MOST_IN_A_ROW: usize = 2;

impl Learnt {
    /// Learns a correction; `false`: it was learnt before, or too much was learnt. `in_a_row`: corrected attempts directly before.
    pub fn learn(&mut self, provider: usize, correction: Correction, in_a_row: usize) -> bool {
        let is_new = !self.0.contains(&(provider, correction)) && self.0.len() < MOST && in_a_row < MOST_IN_A_ROW;
        if is_new {
            self.0.push((provider, correction));
        }
        is_new
    }

    /// What was learnt about a provider.
    pub fn of(&self, provider: usize) -> Vec<Correction> {
        self.0.iter().filter(|(of, _)| *of == provider).map(|(_, correction)| *correction).collect()
    }
}
