//! The meaning of each slug as text: the only table for tooltips and for sentences about failures.

use crate::engine::Slug;

/// The texts for a slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlugWords {
    /// A complete sentence.
    pub meaning: &'static str,
    /// The same as a clause after "because".
    pub because: &'static str,
}

/// A slug with its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlugView {
    pub name: &'static str,
    pub meaning: &'static str,
}

impl From<Slug> for SlugView {
    fn from(slug: Slug) -> Self {
        SlugView { name: slug.as_str(), meaning: words(slug).meaning }
    }
}

/// Returns the texts for a slug.
#[must_use]
pub fn words(slug: Slug) -> SlugWords {
    let (meaning, because) = match slug {
        Slug::NoTools => ("The reply ran no tool.", "the reply ran no tool"),
        Slug::EmptyResponse => ("The reply was empty.", "the reply was empty"),
        Slug::ReasoningOnly => {
            ("The reply held reasoning, but no text and no tool call.", "the reply held reasoning and nothing else")
        }
        Slug::TextOnly => {
            ("The reply was text, where a tool call is needed.", "the reply was text without a tool call")
        }
        Slug::MalformedToolCall => {
            ("The arguments of a tool call are not valid JSON.", "the arguments of a tool call were not valid JSON")
        }
        Slug::UnknownTool => ("There is no tool of that name.", "the model called a tool that does not exist"),
        Slug::ToolExecFailed => ("The tool ran and failed.", "a tool failed"),
        Slug::ToolLimit => (
            "Too many tool calls in one turn; this one was not run.",
            "the model made more tool calls than one turn may run",
        ),
        Slug::ContextGuard => {
            ("The conversation is too long for the model.", "the conversation was too long for the model")
        }
        Slug::FinalReportMissing => (
            "The last turn must end in a report, and the reply had none.",
            "the last turn must end in a report and the reply had none",
        ),
        Slug::FinalReportInvalidFormat => (
            "The report is empty or not in the format asked for.",
            "the report was empty or not in the format asked for",
        ),
        Slug::FinalReportSchemaFail => {
            ("The report does not fit the run's JSON Schema.", "the report did not fit its JSON Schema")
        }
        Slug::RetriesExhausted => ("No attempt of the turn is left.", "no attempt was left"),
        Slug::ProviderError => ("The provider answered with an error.", "the provider answered with an error"),
        Slug::RateLimited => ("The provider got too many requests.", "the provider got too many requests"),
        Slug::InvalidArguments => (
            "The arguments of a tool call do not fit its schema.",
            "the arguments of a tool call did not fit its schema",
        ),
        Slug::ProgressOnly => ("The reply only reported progress.", "the reply only reported progress"),
        Slug::TruncatedOutput => {
            ("The reply was cut off by its length limit.", "the reply was cut off by its length limit")
        }
        Slug::SynthesisToolCall => {
            ("The model called a tool in its synthesis.", "the model called a tool instead of concluding")
        }
        Slug::AuthError => ("The provider refused the key.", "the provider refused the key"),
        Slug::QuotaError => ("The account has no quota or credit left.", "the account had no quota or credit left"),
        Slug::NetworkError => ("There was no readable answer.", "there was no readable answer"),
        Slug::Timeout => ("A deadline passed.", "a deadline passed"),
        Slug::StreamCut => ("The answer broke off before its end.", "the answer broke off before its end"),
        Slug::Stopped => ("Ended by Stop.", "it was stopped"),
        Slug::Cancelled => ("Ended by Cancel.", "it was cancelled"),
        Slug::Interrupted => ("The page was closed in the middle of it.", "the page was closed in the middle of it"),
        Slug::ReplyTooLarge => ("The reply was larger than what is accepted.", "the reply was too large"),
        Slug::Refused => ("The call was not approved.", "a call was not approved"),
        Slug::MaxTurnsExhausted => ("The turn limit was reached without an answer.", "the turn limit was reached"),
        Slug::LlmError => ("The model could not be used.", "the model could not be used"),
        Slug::MaxTurnsSynthesisFailed => {
            ("The synthesis at the turn limit failed.", "the synthesis at the turn limit failed")
        }
        Slug::StopSynthesisFailed => ("The synthesis after Stop failed.", "the synthesis after Stop failed"),
        Slug::ContextSynthesisFailed => {
            ("The synthesis in a full context window failed.", "the synthesis in a full context window failed")
        }
        Slug::WallTimeSynthesisFailed => {
            ("The synthesis at the time limit failed.", "the synthesis at the time limit failed")
        }
        Slug::TokensSynthesisFailed => {
            ("The synthesis at the token limit failed.", "the synthesis at the token limit failed")
        }
        Slug::CostSynthesisFailed => {
            ("The synthesis at the cost limit failed.", "the synthesis at the cost limit failed")
        }
    };
    SlugWords { meaning, because }
}

/// Returns whether the model's reply caused the failure, which the model is then informed of. All other failures are caused
/// by the connection, the provider or the user.
#[must_use]
pub fn is_models_doing(slug: Slug) -> bool {
    match slug {
        Slug::NoTools
        | Slug::EmptyResponse
        | Slug::ReasoningOnly
        | Slug::TextOnly
        | Slug::MalformedToolCall
        | Slug::UnknownTool
        | Slug::ToolExecFailed
        | Slug::ToolLimit
        | Slug::FinalReportMissing
        | Slug::FinalReportInvalidFormat
        | Slug::FinalReportSchemaFail
        | Slug::InvalidArguments
        | Slug::ProgressOnly
        | Slug::TruncatedOutput
        | Slug::Refused
        | Slug::SynthesisToolCall => true,
        Slug::ContextGuard
        | Slug::RetriesExhausted
        | Slug::ProviderError
        | Slug::RateLimited
        | Slug::AuthError
        | Slug::QuotaError
        | Slug::NetworkError
        | Slug::Timeout
        | Slug::StreamCut
        | Slug::ReplyTooLarge
        | Slug::Stopped
        | Slug::Cancelled
        | Slug::Interrupted
        | Slug::MaxTurnsExhausted
        | Slug::LlmError
        | Slug::MaxTurnsSynthesisFailed
        | Slug::StopSynthesisFailed
        | Slug::ContextSynthesisFailed
        | Slug::WallTimeSynthesisFailed
        | Slug::TokensSynthesisFailed
        | Slug::CostSynthesisFailed => false,
    }
}
