//! Seeds and session ids. Ids are derived from the time and the seed: the same seed at the same time gives the same ids.

use turnwise_engine::retry::Rng;

/// Returns a seed for callers that set none, below 2^53 so that JSON keeps it exact.
#[must_use]
pub fn random_seed() -> u64 {
    // Ids and jitter are not secret: `Math.random` is good enough, and exists everywhere.
    (js_sys::Math::random() * 9_007_199_254_740_992.0) as u64
}

/// Returns `session_` and 12 hex digits.
#[must_use]
pub fn session_id(started_at: u64, seed: u64) -> String {
    let bits = Rng::new(!seed ^ started_at.rotate_left(20)).up_to(0xffff_ffff_ffff);
    format!("session_{bits:012x}")
}
