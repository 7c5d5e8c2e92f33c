//! Slugs: every failure has one, an explicit string, never derived from a type's name (SEMANTICS 7).

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! slugs {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Why an attempt, a tool call or a run failed. The set is open: later versions may add to it.
        /// `docs/semantics.md` lists those in use.
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
        }
    };
}

slugs! {
    NoTools = "no_tools",
    EmptyResponse = "empty_response",
    ReasoningOnly = "reasoning_only",
    TextOnly = "text_only",
    MalformedToolCall = "malformed_tool_call",
    UnknownTool = "unknown_tool",
    ToolExecFailed = "tool_exec_failed",
    ToolLimit = "tool_limit",
    ContextGuard = "context_guard",
    FinalReportMissing = "final_report_missing",
    FinalReportInvalidFormat = "final_report_invalid_format",
    FinalReportSchemaFail = "final_report_schema_fail",
    RetriesExhausted = "retries_exhausted",
    ProviderError = "provider_error",
    RateLimited = "rate_limited",
    InvalidArguments = "invalid_arguments",
    ProgressOnly = "progress_only",
    TruncatedOutput = "truncated_output",
    SynthesisToolCall = "synthesis_tool_call",
    AuthError = "auth_error",
    QuotaError = "quota_error",
    NetworkError = "network_error",
    Timeout = "timeout",
    StreamCut = "stream_cut",
    Stopped = "stopped",
    Cancelled = "cancelled",
    /// The page was closed in the middle of it.
    Interrupted = "interrupted",
    /// The call needed an approval that nobody gave.
    Refused = "refused",
    /// The reply passed a limit on what is accepted of a server.
    ReplyTooLarge = "reply_too_large",
    // Why a run failed: the first slug of its `ERR` record, the same string as its `termination_reason`.
    MaxTurnsExhausted = "max_turns_exhausted",
    LlmError = "llm_error",
    MaxTurnsSynthesisFailed = "max_turns_synthesis_failed",
    StopSynthesisFailed = "stop_synthesis_failed",
    ContextSynthesisFailed = "context_synthesis_failed",
    WallTimeSynthesisFailed = "wall_time_synthesis_failed",
    TokensSynthesisFailed = "tokens_synthesis_failed",
    CostSynthesisFailed = "cost_synthesis_failed",
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
