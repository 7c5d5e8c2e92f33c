//! The numbers that bound a run, as configured (SEMANTICS 6, 8).

use serde::{Deserialize, Serialize};

use super::reply::Usage;

/// Bounds of a run (SEMANTICS 6, 8). Times in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryLimits"),
    ts(rename = "TrajectoryLimits")
)]
#[serde(default)]
pub struct Limits {
    pub tool_timeout_ms: u64,
    pub parallel_tools: u32,
    pub tool_calls_per_turn: u32,
    pub max_result_chars: usize,
    /// Maximum number of sub-agents per run.
    // `x-later`: version 1 did not have it from the start, so records without it are valid.
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub children: u32,
    /// Wall time of a sub-agent, after which it concludes.
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub child_ms: u64,
    /// Deadlines of one request, counted from its release: response headers, the first part of a reply, all of it.
    pub headers_ms: u64,
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub first_token_ms: u64,
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub request_ms: u64,
    /// Longest pause in a stream.
    pub idle_ms: u64,
    /// Wall time of a segment, after which it wraps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
    /// Input and output tokens of the whole run, after which it wraps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars of the whole run, after which it wraps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(range(min = 0.0)))]
    pub cost: Option<f64>,
    /// The model's context window; when it is full, the oldest tool results are removed, and if that is not enough the run wraps up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

/// Waits before a request is sent again (SEMANTICS 8), in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryRetry"),
    ts(rename = "TrajectoryRetry")
)]
#[serde(default)]
pub struct RetryConfig {
    pub base_ms: u64,
    pub cap_ms: u64,
    /// First wait after `rate_limited` if the server does not say how long; doubles with each attempt, up to
    /// `retry_after_cap_ms`.
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub rate_limit_ms: u64,
    /// If a server asks for a longer wait, the run ends and reports the time.
    pub retry_after_cap_ms: u64,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryPrice"),
    ts(rename = "TrajectoryPrice")
)]
pub struct Price {
    #[cfg_attr(feature = "types", schemars(range(min = 0.0)))]
    pub input: f64,
    #[cfg_attr(feature = "types", schemars(range(min = 0.0)))]
    pub output: f64,
    /// Of input tokens read from the provider's cache.
    #[cfg_attr(feature = "types", schemars(range(min = 0.0)))]
    pub cached: f64,
}

impl Price {
    /// US dollars for the tokens of one reply.
    #[must_use]
    pub fn of(self, usage: Usage) -> f64 {
        let fresh = usage.input.0.saturating_sub(usage.cached.0);
        let dollars = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        dollars(fresh, self.input) + dollars(usage.cached.0, self.cached) + dollars(usage.output.0, self.output)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tool_timeout_ms: 30_000,
            parallel_tools: 4,
            tool_calls_per_turn: 32,
            max_result_chars: 20_000,
            children: 16,
            child_ms: 300_000,
            headers_ms: 120_000,
            first_token_ms: 120_000,
            request_ms: 600_000,
            idle_ms: 60_000,
            wall_ms: None,
            tokens: None,
            cost: None,
            context_tokens: None,
        }
    }
}

impl Default for RetryConfig {
    fn default() -> Self {
        RetryConfig { base_ms: 500, cap_ms: 8_000, rate_limit_ms: 5_000, retry_after_cap_ms: 60_000 }
    }
}
