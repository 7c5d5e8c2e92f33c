//! Encodings of old: which one a text is in, by its bytes, and texts written in it. PURE: bytes in, text out.
//!
//! This is a part of the tools' worker (`main.rs` exports it), loaded on first use. Deliberately absent: UTF-8, UTF-16 and UTF-32
//! (`turnwise_files::encoding`), and in the worker also reading, which the browser's `TextDecoder` does.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EncoderResult, Encoding};
use turnwise_files::encoding::{DecodedText, EncodingOrigin, TextEncoding};

/// The name of the encoding that these bytes are likely in. `bytes`: not UTF-8.
///
/// ```
/// assert_eq!(turnwise_encoding::guess(b"St\xfchle f\xfcr 12 \x80"), "windows-1252");
/// ```
#[must_use]
pub fn guess(bytes: &[u8]) -> &'static str {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny).name()
}

/// The text of bytes: by the label of an encoding if it is known and fits, and else by a guess.
#[must_use]
pub fn decode(bytes: &[u8], label: Option<&str>) -> DecodedText {
    let declared = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    let whole = declared.and_then(|encoding| {
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        Some((text, encoding, EncodingOrigin::Declared))
    });
    let (text, encoding, origin) = whole.unwrap_or_else(|| {
        let encoding = Encoding::for_label(guess(bytes).as_bytes()).unwrap_or(encoding_rs::WINDOWS_1252);
        (encoding.decode_without_bom_handling(bytes).0, encoding, EncodingOrigin::Guessed)
    });
    let faults = text.matches(char::REPLACEMENT_CHARACTER).count();
    let encoding = TextEncoding { name: encoding.name().to_owned(), bom: false, origin };
    DecodedText { text: text.into_owned(), encoding, faults }
}

/// The bytes of a text in the encoding with this label.
///
/// # Errors
/// The first character that the encoding does not have.
///
/// ```
/// assert_eq!(turnwise_encoding::encode("Stühle", "windows-1252").unwrap(), b"St\xfchle");
/// assert_eq!(turnwise_encoding::encode("a → b", "windows-1252"), Err('→'));
/// ```
pub fn encode(text: &str, label: &str) -> Result<Vec<u8>, char> {
    let Some(encoding) = Encoding::for_label(label.as_bytes()) else {
        return Err(char::REPLACEMENT_CHARACTER);
    };
    let mut encoder = encoding.new_encoder();
    let most = encoder.max_buffer_length_from_utf8_without_replacement(text.len());
    let mut bytes = Vec::with_capacity(most.unwrap_or(text.len() * 4));
    match encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true) {
        (EncoderResult::Unmappable(character), _) => Err(character),
        (EncoderResult::InputEmpty | EncoderResult::OutputFull, _) => Ok(bytes),
    }
}
