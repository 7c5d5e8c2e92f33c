//! Slugs: every failure has one, an explicit string, never derived from a type's name (retries.md#slugs).
//!
//! One row has everything about a slug; a row with a part missing does not compile.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The rank of slugs that a model cannot act on.
const LAST: u8 = u8::MAX;

macro_rules! slugs {
    ($($(#[$doc:meta])* $name:ident = $text:literal {
        meaning: $meaning:literal,
        because: $because:literal,
        rank: $rank:expr,
        notice: $notice:expr,
    })*) => {
        /// Why an attempt, a tool call or a run failed. The set is open: later versions may add to it.
        /// `docs/retries.md` lists those in use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(
            feature = "types",
            derive(schemars::JsonSchema, ts_rs::TS),
            schemars(with = "String", extend("pattern" = "^[a-z][a-z_]*$")),
            ts(type = "string")
        )]
        pub enum Slug { $($(#[$doc])* $name,)* }

        impl Slug {
            /// All slugs, in the order of the table.
            pub const ALL: &'static [Slug] = &[$(Slug::$name,)*];

            /// The wire value.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Slug::$name => $text,)* }
            }

            /// The slug of a wire value.
            #[must_use]
            pub fn parse(text: &str) -> Option<Slug> {
                match text { $($text => Some(Slug::$name),)* _ => None }
            }

            /// What it means for users, as a sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Slug::$name => $meaning,)* }
            }

            /// The same after "because".
            #[must_use]
            pub fn because(self) -> &'static str {
                match self { $(Slug::$name => $because,)* }
            }

            /// How well a model can act on it; of several slugs, the smallest rank comes first.
            #[must_use]
            pub fn rank(self) -> u8 {
                match self { $(Slug::$name => $rank,)* }
            }

            /// What the model did wrong, and why the turn did not progress: the first part of the system notice.
            /// `None`: the model did not cause the failure, or reads about it in the answer to its call.
            #[must_use]
            pub fn notice(self) -> Option<&'static str> {
                match self { $(Slug::$name => $notice,)* }
            }
        }
    };
}

slugs! {
    NoTools = "no_tools" {
        meaning: "The reply ran no tool.",
        because: "the reply ran no tool",
        rank: LAST,
        notice: Some("Your last reply ran no tool, so the turn did not progress."),
    }
    EmptyResponse = "empty_response" {
        meaning: "The reply was empty.",
        because: "the reply was empty",
        rank: 12,
        notice: Some("Your last reply was empty, so the turn did not progress."),
    }
    ReasoningOnly = "reasoning_only" {
        meaning: "The reply held reasoning, but no text and no tool call.",
        because: "the reply held reasoning and nothing else",
        rank: 11,
        notice: Some("Your last reply held only reasoning, no text and no tool call, so the turn did not progress."),
    }
    TextOnly = "text_only" {
        meaning: "The reply was text, where a tool call is needed.",
        because: "the reply was text without a tool call",
        rank: 10,
        notice: Some("Your last reply was text without a tool call, and text alone neither progresses the turn nor \
            ends the run."),
    }
    MalformedToolCall = "malformed_tool_call" {
        meaning: "The arguments of a tool call are not valid JSON.",
        because: "the arguments of a tool call were not valid JSON",
        rank: 4,
        notice: Some("The arguments of your tool call were not valid JSON, so nothing was run and the turn did not \
            progress. The answer to the call says where the JSON breaks."),
    }
    UnknownTool = "unknown_tool" {
        meaning: "There is no tool of that name.",
        because: "the model called a tool that does not exist",
        rank: 6,
        notice: Some("You called a tool that does not exist, so nothing was run and the turn did not progress. The \
            answer to the call lists the tools there are."),
    }
    ToolExecFailed = "tool_exec_failed" {
        meaning: "The tool ran and failed.",
        because: "a tool failed",
        rank: LAST,
        notice: None,
    }
    ToolLimit = "tool_limit" {
        meaning: "Too many tool calls in one turn; this one was not run.",
        because: "the model made more tool calls than one turn may run",
        rank: 7,
        notice: Some("You made more tool calls than one turn may run, so the turn did not progress."),
    }
    ContextGuard = "context_guard" {
        meaning: "The conversation is too long for the model.",
        because: "the conversation was too long for the model",
        rank: LAST,
        notice: None,
    }
    FinalReportMissing = "final_report_missing" {
        meaning: "The last turn must end in a report, and the reply had none.",
        because: "the last turn must end in a report and the reply had none",
        rank: 3,
        notice: Some("This turn must end with a final_report, and your last reply had none."),
    }
    FinalReportInvalidFormat = "final_report_invalid_format" {
        meaning: "The report is empty or not in the format asked for.",
        because: "the report was empty or not in the format asked for",
        rank: 2,
        notice: Some("Your final_report was refused: its format is not the one asked for, or it is empty. The answer \
            to the call says what is wrong."),
    }
    FinalReportSchemaFail = "final_report_schema_fail" {
        meaning: "The report does not fit the run's JSON Schema.",
        because: "the report did not fit its JSON Schema",
        rank: 1,
        notice: Some("Your final_report was refused: its content does not fit the run's JSON Schema. The answer to \
            the call names the path that failed."),
    }
    RetriesExhausted = "retries_exhausted" {
        meaning: "No attempt of the turn is left.",
        because: "no attempt was left",
        rank: LAST,
        notice: None,
    }
    ProviderError = "provider_error" {
        meaning: "The provider answered with an error.",
        because: "the provider answered with an error",
        rank: LAST,
        notice: None,
    }
    RateLimited = "rate_limited" {
        meaning: "The provider got too many requests.",
        because: "the provider got too many requests",
        rank: LAST,
        notice: None,
    }
    InvalidArguments = "invalid_arguments" {
        meaning: "The arguments of a tool call do not fit its schema.",
        because: "the arguments of a tool call did not fit its schema",
        rank: 5,
        notice: Some("The arguments of your tool call do not fit the tool's schema, so nothing was run and the turn \
            did not progress. The answer to the call names the path that failed."),
    }
    ProgressOnly = "progress_only" {
        meaning: "The reply only reported progress.",
        because: "the reply only reported progress",
        rank: 13,
        notice: Some("You only reported progress. A progress report is shown to the user but does not progress the \
            turn."),
    }
    TruncatedOutput = "truncated_output" {
        meaning: "The reply was cut off by its length limit.",
        because: "the reply was cut off by its length limit",
        rank: 9,
        notice: Some("Your last reply was cut off by its length limit, so it was not taken as the answer and none of \
            its tool calls were run."),
    }
    SynthesisToolCall = "synthesis_tool_call" {
        meaning: "The model called a tool in its synthesis.",
        because: "the model called a tool instead of concluding",
        rank: LAST,
        notice: Some("You called a tool, but no tools are available any more and the call was not run."),
    }
    AuthError = "auth_error" {
        meaning: "The provider refused the key.",
        because: "the provider refused the key",
        rank: LAST,
        notice: None,
    }
    QuotaError = "quota_error" {
        meaning: "The account has no quota or credit left.",
        because: "the account had no quota or credit left",
        rank: LAST,
        notice: None,
    }
    NetworkError = "network_error" {
        meaning: "There was no readable answer.",
        because: "there was no readable answer",
        rank: LAST,
        notice: None,
    }
    Timeout = "timeout" {
        meaning: "A deadline passed.",
        because: "a deadline passed",
        rank: LAST,
        notice: None,
    }
    StreamCut = "stream_cut" {
        meaning: "The answer broke off before its end.",
        because: "the answer broke off before its end",
        rank: LAST,
        notice: None,
    }
    Stopped = "stopped" {
        meaning: "Ended by Stop.",
        because: "it was stopped",
        rank: LAST,
        notice: None,
    }
    Cancelled = "cancelled" {
        meaning: "Ended by Cancel.",
        because: "it was cancelled",
        rank: LAST,
        notice: None,
    }
    /// The page was closed during it.
    Interrupted = "interrupted" {
        meaning: "The page was closed in the middle of it.",
        because: "the page was closed in the middle of it",
        rank: LAST,
        notice: None,
    }
    /// The call needed an approval that nobody gave.
    Refused = "refused" {
        meaning: "The call was not approved.",
        because: "a call was not approved",
        rank: 8,
        notice: Some("Your tool call was refused, so nothing was run and the turn did not progress. The answer to \
            the call says why."),
    }
    /// The reply exceeded a limit on what is accepted from a server.
    ReplyTooLarge = "reply_too_large" {
        meaning: "The reply was larger than what is accepted.",
        because: "the reply was too large",
        rank: LAST,
        notice: None,
    }
    Refusal = "refusal" {
        meaning: "The model refused.",
        because: "the model refused",
        rank: LAST,
        notice: None,
    }
    ContentFilter = "content_filter" {
        meaning: "The provider's content filter stopped the reply.",
        because: "the provider's content filter stopped the reply",
        rank: LAST,
        notice: None,
    }
    // Why a run failed: a slug of its `ERR` record, the same string as its `termination_reason`. It comes first, except after a
    // refusal or a filter, which say more.
    MaxTurnsExhausted = "max_turns_exhausted" {
        meaning: "The turn limit was reached without an answer.",
        because: "the turn limit was reached",
        rank: LAST,
        notice: None,
    }
    LlmError = "llm_error" {
        meaning: "The model could not be used.",
        because: "the model could not be used",
        rank: LAST,
        notice: None,
    }
    MaxTurnsSynthesisFailed = "max_turns_synthesis_failed" {
        meaning: "The synthesis at the turn limit failed.",
        because: "the synthesis at the turn limit failed",
        rank: LAST,
        notice: None,
    }
    StopSynthesisFailed = "stop_synthesis_failed" {
        meaning: "The synthesis after Stop failed.",
        because: "the synthesis after Stop failed",
        rank: LAST,
        notice: None,
    }
    ContextSynthesisFailed = "context_synthesis_failed" {
        meaning: "The synthesis in a full context window failed.",
        because: "the synthesis in a full context window failed",
        rank: LAST,
        notice: None,
    }
    WallTimeSynthesisFailed = "wall_time_synthesis_failed" {
        meaning: "The synthesis at the time limit failed.",
        because: "the synthesis at the time limit failed",
        rank: LAST,
        notice: None,
    }
    TokensSynthesisFailed = "tokens_synthesis_failed" {
        meaning: "The synthesis at the token limit failed.",
        because: "the synthesis at the token limit failed",
        rank: LAST,
        notice: None,
    }
    CostSynthesisFailed = "cost_synthesis_failed" {
        meaning: "The synthesis at the cost limit failed.",
        because: "the synthesis at the cost limit failed",
        rank: LAST,
        notice: None,
    }
}

impl std::fmt::Display for Slug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Slug {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Slug {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        Slug::parse(&text).ok_or_else(|| serde::de::Error::custom("unknown slug"))
    }
}
