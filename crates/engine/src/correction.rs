//! What a run learns from a server that refuses a request: one named change to all further requests to it (retries.md#corrections).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::config::{ReasoningEffort, RunConfig};

/// A change to the requests to one provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The reasoning effort is this one.
    Effort(ReasoningEffort),
    /// The tool choice is left out.
    NoToolChoice,
    /// The tools are declared where none may be called, too.
    DeclareTools,
    /// The model's own thoughts go back to it, in `reasoning_content`.
    SendThoughts,
    /// No thoughts go back.
    DropThoughts,
    /// Only the first message is a system message.
    OneSystemMessage,
    /// System messages are user messages.
    NoSystemMessage,
    /// The roles of messages alternate.
    AlternateRoles,
    /// The ids of tool calls are nine letters and digits.
    NineCharacterIds,
    /// The ids of tool calls are at most 40 letters, digits, `_` and `-`.
    PlainIds,
    /// The text beside tool calls is an empty string, not `null`.
    EmptyText,
    /// Encrypted and signed thoughts do not go back.
    NoOpaque,
    /// Notes stand in place of pictures and PDFs.
    NoImages,
    /// The schemas of tools have types, properties and lists of values only.
    PlainSchemas,
}

impl Correction {
    /// What the next request does, as the end of a sentence that begins with "The next request".
    #[must_use]
    pub fn said(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Correction::NoUsageFlag => "does not ask for the usage of tokens",
            Correction::OtherLimitName => "gives the limit of output tokens its other name",
            Correction::NoSampling => "leaves out temperature and topP",
            Correction::NoEffort => "leaves out the reasoning effort",
            Correction::Effort(effort) => return format!("sets the reasoning effort to {}", effort.as_str()).into(),
            Correction::NoToolChoice => "leaves out the tool choice",
            Correction::DeclareTools => "declares the tools, whether or not they may be called",
            Correction::SendThoughts => "sends the model's thoughts back",
            Correction::DropThoughts => "sends no thoughts back",
            Correction::OneSystemMessage => "has one system message, the first",
            Correction::NoSystemMessage => "has user messages in place of system messages",
            Correction::AlternateRoles => "has roles that alternate",
            Correction::NineCharacterIds => "has ids of nine characters",
            Correction::PlainIds => "has short ids of letters and digits",
            Correction::EmptyText => "has empty texts in place of null",
            Correction::NoOpaque => "sends no encrypted or signed thoughts back",
            Correction::NoImages => "has notes in place of pictures and PDFs",
            Correction::PlainSchemas => "describes the tools with plain schemas",
        })
    }

    /// What may help where the server still says the same: a template may refuse any system message by saying that roles must alternate
    /// (autogen#1037).
    fn further(self) -> Option<Correction> {
        match self {
            Correction::AlternateRoles | Correction::OneSystemMessage => Some(Correction::NoSystemMessage),
            Correction::Effort(_) => Some(Correction::NoEffort),
            _ => None,
        }
    }

    /// Whether the requests of a run with these settings can have what is changed.
    fn applies(self, config: &RunConfig) -> bool {
        let has_tools = !config.tools.is_empty();
        match self {
            Correction::NoSampling => config.temperature.is_some() || config.top_p.is_some(),
            Correction::NoEffort | Correction::Effort(_) => config.reasoning.is_some() || has_tools,
            Correction::OtherLimitName => config.providers.iter().any(|p| p.max_output_tokens.is_some()),
            Correction::NoToolChoice | Correction::DeclareTools | Correction::PlainSchemas => has_tools,
            Correction::NoUsageFlag
            | Correction::SendThoughts
            | Correction::DropThoughts
            | Correction::OneSystemMessage
            | Correction::NoSystemMessage
            | Correction::AlternateRoles
            | Correction::NineCharacterIds
            | Correction::PlainIds
            | Correction::EmptyText
            | Correction::NoOpaque
            | Correction::NoImages => true,
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
    /// Learns a correction, or a further one if it was learnt before. Returns what was learnt; `None`: nothing is left to try, it changes
    /// nothing, or too much was learnt. `in_a_row`: corrected attempts directly before.
    pub fn learn(
        &mut self,
        provider: usize,
        correction: Correction,
        config: &RunConfig,
        in_a_row: usize,
    ) -> Option<Correction> {
        let is_new = |it: &Correction| !self.0.contains(&(provider, *it));
        let next = Some(correction).filter(is_new).or_else(|| correction.further().filter(is_new));
        let next = next.filter(|next| self.0.len() < MOST && in_a_row < MOST_IN_A_ROW && next.applies(config))?;
        self.0.push((provider, next));
        Some(next)
    }

    /// What was learnt about a provider.
    pub fn of(&self, provider: usize) -> Vec<Correction> {
        self.0.iter().filter(|(of, _)| *of == provider).map(|(_, correction)| *correction).collect()
    }
}
