//! Names of runs and sessions: made from the time and the seed, so the same seed at the same time gives the same ids.

use wasm_bindgen::JsValue;

/// A seed for callers that set none, below 2^53 so that JSON keeps it exact.
#[must_use]
pub fn random_seed() -> u64 {
    // Ids and jitter are no secrets: `Math.random` will do, and exists everywhere.
    (js_sys::Math::random() * 9_007_199_254_740_992.0) as u64
}

/// `run_YYYYMMDD_HHMMSS_` + 6 hex, UTC (SEMANTICS 10).
#[must_use]
pub fn run_id(started_at: u64, seed: u64) -> String {
    let iso = String::from(js_sys::Date::new(&JsValue::from_f64(started_at as f64)).to_iso_string());
    let (day, time) = iso.split_once('T').unwrap_or((&iso, ""));
    let mut id = String::from("run_");
    id.extend(day.chars().filter(char::is_ascii_digit));
    id.push('_');
    id.extend(time.chars().take(8).filter(char::is_ascii_digit));
    id.push('_');
    push_hex(&mut id, mix(seed ^ started_at), 6);
    id
}

/// `session_` + 12 hex.
#[must_use]
pub fn session_id(started_at: u64, seed: u64) -> String {
    let mut id = String::from("session_");
    push_hex(&mut id, mix(!seed ^ started_at.rotate_left(20)), 12);
    id
}

fn push_hex(out: &mut String, bits: u64, digits: u32) {
    out.extend((0..digits).rev().filter_map(|i| char::from_digit((bits >> (i * 4) & 15) as u32, 16)));
}

/// One step of SplitMix64.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
