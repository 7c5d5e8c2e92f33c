//! Seeds and session ids. Ids are derived from the time and the seed: the same seed at the same time gives the same ids.

/// Returns a seed for callers that set none, below 2^53 so that JSON keeps it exact.
#[must_use]
pub fn random_seed() -> u64 {
    // Ids and jitter are not secret: `Math.random` is good enough, and exists everywhere.
    (js_sys::Math::random() * 9_007_199_254_740_992.0) as u64
}

/// Returns `session_` and 12 hex digits.
#[must_use]
pub fn session_id(started_at: u64, seed: u64) -> String {
    let mut id = String::from("session_");
    let bits = mix(!seed ^ started_at.rotate_left(20));
    id.extend((0..12).rev().filter_map(|i| char::from_digit((bits >> (i * 4) & 15) as u32, 16)));
    id
}

/// One step of SplitMix64.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
