//! Texts written back as they came: in their encoding, with their byte order mark. What a change does not touch keeps its bytes.

use std::ops::Range;

use turnwise_engine::hidden;
use turnwise_files::Files;
use turnwise_files::encoding::{DecodedText, TextEncoding, byte_order_mark, encode_unicode};

/// The bytes of a text, with the byte order mark of its encoding if there was one.
///
/// # Errors
/// A sentence: a character that the encoding does not have, or tables that cannot be loaded.
pub async fn encoded<F: Files>(files: &F, text: &str, encoding: &TextEncoding) -> Result<Vec<u8>, String> {
    let mut bytes = if encoding.bom { byte_order_mark(&encoding.name).to_vec() } else { Vec::new() };
    bytes.extend(part(files, text, encoding).await?);
    Ok(bytes)
}

/// The bytes of a file in which `new` takes the place of a part of its text. `bytes`: those that were decoded.
///
/// # Errors
/// As [`encoded`], and if the part cannot be found in the bytes.
pub async fn replaced<F: Files>(
    files: &F,
    bytes: &[u8],
    decoded: &DecodedText,
    at: Range<usize>,
    new: &str,
) -> Result<Vec<u8>, String> {
    let encoding = &decoded.encoding;
    let mark = if encoding.bom { byte_order_mark(&encoding.name) } else { b"" };
    let new = part(files, new, encoding).await?;
    let range = match byte_range(files, bytes.get(mark.len()..).unwrap_or_default(), decoded, at.clone()).await? {
        Some(range) => range.start + mark.len()..range.end + mark.len(),
        None => {
            return Err(format!(
                "the passage cannot be told from its neighbours in the bytes of this {} file; write_file can replace the whole file",
                encoding.shown()
            ));
        }
    };
    let mut out = bytes.get(..range.start).unwrap_or_default().to_vec();
    out.extend(new);
    out.extend(bytes.get(range.end..).unwrap_or_default());
    Ok(out)
}

async fn part<F: Files>(files: &F, text: &str, encoding: &TextEncoding) -> Result<Vec<u8>, String> {
    if let Some(bytes) = encode_unicode(text, &encoding.name) {
        return Ok(bytes);
    }
    // All encodings of old but one agree on ASCII.
    if text.is_ascii() && encoding.name != "ISO-2022-JP" {
        return Ok(text.as_bytes().to_vec());
    }
    files.encode(text, &encoding.name).await?.map_err(|missing| {
        format!(
            "the file is in {name}, which has no character {missing} ({}); use characters of {name}, or write_file with the \
             whole text, which then becomes UTF-8",
            hidden::code_point(missing),
            name = encoding.shown()
        )
    })
}

/// The bytes of a part of the text. `None`: they cannot be told.
async fn byte_range<F: Files>(
    files: &F,
    bytes: &[u8],
    decoded: &DecodedText,
    at: Range<usize>,
) -> Result<Option<Range<usize>>, String> {
    let (Some(before), Some(old)) = (decoded.text.get(..at.start), decoded.text.get(at.clone())) else {
        return Ok(None);
    };
    if decoded.encoding.is_utf8() {
        return Ok(utf8_offset(bytes, at.start).zip(utf8_offset(bytes, at.end)).map(|(start, end)| start..end));
    }
    // A character that stands for a fault has no bytes of its own, and some characters have two encodings of the same length.
    let Ok(before_bytes) = part(files, before, &decoded.encoding).await else { return Ok(None) };
    let Ok(old_bytes) = part(files, old, &decoded.encoding).await else { return Ok(None) };
    let range = before_bytes.len()..before_bytes.len() + old_bytes.len();
    let (Some(head), Some(found)) = (bytes.get(..range.start), bytes.get(range.clone())) else { return Ok(None) };
    if head == before_bytes && found == old_bytes {
        return Ok(Some(range));
    }
    if encode_unicode("", &decoded.encoding.name).is_some() {
        return Ok(Some(range).filter(|_| found == old_bytes));
    }
    let same = |bytes: DecodedText, text: &str| bytes.text == text;
    let label = Some(decoded.encoding.name.as_str());
    let fits = same(files.decode(head, label).await?, before) && same(files.decode(found, label).await?, old);
    Ok(fits.then_some(range))
}

/// The place in the bytes of a place in their text, in which each fault is one U+FFFD.
fn utf8_offset(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut text, mut offset) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        if at <= text + chunk.valid().len() {
            return Some(offset + at - text);
        }
        text += chunk.valid().len();
        offset += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            text += char::REPLACEMENT_CHARACTER.len_utf8();
            offset += chunk.invalid().len();
            if at < text {
                return None;
            }
        }
    }
    (at == text).then_some(offset)
}
