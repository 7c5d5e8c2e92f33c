//! However the bytes of a response are split, they decode the same, in every wire format.

use std::fs;
use std::path::PathBuf;

use turnwise_engine::*;
use turnwise_llm::Decoder;

/// The result of decoding one body.
#[derive(Debug, PartialEq)]
pub struct Decoded {
    pub result: Result<Reply, ModelError>,
    pub raw: RawResponse,
    pub text: String,
    pub reasoning: String,
    pub done: bool,
}

/// The files in a folder of `tests/fixtures`, by name.
pub fn fixtures(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder);
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    found
}

pub fn decode<'a>(kind: ProviderKind, parts: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = Decoder::new(&ProviderConfig { kind, ..ProviderConfig::default() });
    let (mut text, mut reasoning) = (String::new(), String::new());
    for part in parts {
        if let Some(delta) = decoder.push(part) {
            assert!(!delta.text.is_empty() || !delta.reasoning.is_empty(), "an empty delta");
            text.push_str(delta.text);
            reasoning.push_str(delta.reasoning);
        }
    }
    let done = decoder.is_done();
    let (result, raw) = decoder.finish();
    Decoded { result, raw, text, reasoning, done }
}

/// A small random generator, so that a failure names a seed that reproduces it.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Splits a body in two at every byte, byte by byte, and in chunks of seven whose deltas add up to the reply.
pub fn decodes_the_same_in_parts(kind: ProviderKind, name: &str, bytes: &[u8]) {
    let whole = decode(kind, [bytes]);
    for at in 0..=bytes.len() {
        assert_eq!(decode(kind, [&bytes[..at], &bytes[at..]]), whole, "{name} split at {at}");
    }
    assert_eq!(decode(kind, bytes.chunks(1)), whole, "{name} byte by byte");
    let sevens = decode(kind, bytes.chunks(7));
    if let Ok(reply) = sevens.result {
        assert_eq!((sevens.text, sevens.reasoning), (reply.content, reply.reasoning), "{name}: the deltas");
    }
}

/// Checks a thousand random splits of randomly chosen bodies.
pub fn decodes_the_same_in_random_parts(kind: ProviderKind, all: &[(String, Vec<u8>)]) {
    let whole: Vec<_> = all.iter().map(|(_, bytes)| decode(kind, [&bytes[..]])).collect();
    for seed in 0..1000 {
        let mut random = Random(seed);
        let which = random.below(all.len());
        let (name, bytes) = &all[which];
        let (mut parts, mut rest) = (Vec::new(), &bytes[..]);
        while !rest.is_empty() {
            let (part, tail) = rest.split_at(random.below(rest.len().min(90) + 1));
            parts.push(part);
            rest = tail;
        }
        assert_eq!(decode(kind, parts), whole[which], "{name} with seed {seed}");
    }
}
