//! Whether and how long to wait before the next attempt (retries.md#retries-and-waiting).

use serde::{Deserialize, Serialize};

use super::config::RetryConfig;
use super::failure::Slug;
use super::message::{ModelError, Retry};

/// What to do after a request without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    Wait {
        ms: u64,
    },
    /// Fatal, or the server asked for a longer wait than the cap.
    GiveUp,
}

/// Decides by the error alone; whether an attempt is left is the caller's to know.
/// `attempt` is the one that failed, counted from 1.
#[must_use]
pub fn decide(config: &RetryConfig, error: &ModelError, attempt: u32, rng: &mut Rng) -> RetryDecision {
    match (error.retry, error.retry_after_ms) {
        (Retry::Fatal | Retry::With(_), _) => RetryDecision::GiveUp,
        (Retry::Yes, Some(ms)) if ms > config.retry_after_cap_ms => RetryDecision::GiveUp,
        (Retry::Yes, Some(ms)) => RetryDecision::Wait { ms },
        (Retry::Yes, None) if error.slug == Slug::RateLimited => {
            let least = doubled(config.rate_limit_ms, attempt);
            let ms = least.saturating_add(rng.up_to(least / 4));
            RetryDecision::Wait { ms: ms.min(config.retry_after_cap_ms) }
        }
        (Retry::Yes, None) => {
            let most = doubled(config.base_ms, attempt);
            RetryDecision::Wait { ms: rng.up_to(most.min(config.cap_ms)) }
        }
    }
}

fn doubled(base_ms: u64, attempt: u32) -> u64 {
    base_ms.saturating_mul(1 << attempt.saturating_sub(1).min(30))
}

/// SplitMix64: the run's only source of chance, from its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rng(u64);

impl Rng {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// A number of `0..=max`.
    pub fn up_to(&mut self, max: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        match max.checked_add(1) {
            Some(n) => z % n,
            None => z,
        }
    }
}
