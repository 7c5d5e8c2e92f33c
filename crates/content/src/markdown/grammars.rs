//! The grammars of the languages that are highlighted: `grammars.bin`, which `tests/native/grammars.rs` makes from syntect's own.
//!
//! The file has the content of syntect's dump, for fewer languages and without compression inside: the module is compressed
//! for transfer, and the grammars then take a third of the space they need when compressed one by one. Most of a dump is
//! zeros of wide numbers, so a run of zeros is written as one zero and its length.

use syntect::dumps::from_uncompressed_data;
use syntect::parsing::SyntaxSet;

/// Loads the grammars; those of a language are unpacked for its first block.
#[must_use]
pub fn load() -> SyntaxSet {
    // The file is part of this module, and a test reads all of it.
    from_uncompressed_data(&unpack(include_bytes!("grammars.bin"))).unwrap_or_default()
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut dump = Vec::with_capacity(2 * packed.len());
    let mut bytes = packed.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            0 => dump.resize(dump.len() + bytes.next().map_or(0, |run| usize::from(*run)), 0),
            byte => dump.push(*byte),
        }
    }
    dump
}
