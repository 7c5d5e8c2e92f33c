//! SHA-256 as text.

use sha2::{Digest, Sha256};

/// SHA-256 over these bytes, one part after the other, in hex.
#[must_use]
pub fn sha256_hex(parts: &[&[u8]]) -> String {
    let digest = parts.iter().fold(Sha256::new(), |sha, part| sha.chain_update(part)).finalize();
    let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)).collect()
}
