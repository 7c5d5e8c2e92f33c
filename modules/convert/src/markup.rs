//! Markup as tokens: enough of XML and of HTML to find tables and the parts of workbooks. It never fails: what is no markup is text.

use super::references::unescaped;

/// A token of markup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    Open(Tag<'a>),
    /// The name without its prefix.
    Close(&'a str),
    /// Text as it is written; see [`unescaped`].
    Text(&'a str),
    /// Text in which nothing is escaped: a CDATA section.
    Raw(&'a str),
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tag<'a> {
    /// The name without its prefix.
    pub name: &'a str,
    attributes: &'a str,
    /// Whether it closes itself.
    pub empty: bool,
}

impl<'a> Tag<'a> {
    /// The value of an attribute, told by its name without prefix, regardless of case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        self.attributes().find(|(key, _)| local(key).eq_ignore_ascii_case(name)).map(|(_, value)| unescaped(value))
    }

    /// Whether an attribute is `1` or `true`.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }

    /// The number in an attribute.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.trim().parse().ok()
    }

    fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let mut rest = self.attributes;
        std::iter::from_fn(move || {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            let end = rest.find(|c: char| c.is_whitespace() || c == '=')?;
            let (name, after) = rest.split_at(end);
            let Some(value) = after.trim_start().strip_prefix('=') else {
                rest = after;
                return Some((name, ""));
            };
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
            let (value, after) = match quote {
                Some(quote) => {
                    let inner = value.get(1..).unwrap_or_default();
                    inner.split_once(quote).unwrap_or((inner, ""))
                }
                None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
            };
            rest = after;
            Some((name, value))
        })
    }
}

/// The part of a name behind its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The tokens of a text. Comments, instructions, declarations, scripts and styles are left out.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find('<').unwrap_or(rest.len());
            if at > 0 {
                let (text, after) = rest.split_at(at);
                rest = after;
                return Some(Token::Text(text));
            }
            let inner = rest.get(1..)?;
            if let Some(raw) = inner.strip_prefix("![CDATA[") {
                let (raw, after) = raw.split_once("]]>").unwrap_or((raw, ""));
                rest = after;
                return Some(Token::Raw(raw));
            }
            if let Some(comment) = inner.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, after)| after);
                continue;
            }
            if inner.starts_with(['!', '?']) {
                rest = inner.split_once('>').map_or("", |(_, after)| after);
                continue;
            }
            if !inner.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '_')) {
                let end = inner.find('<').map_or(rest.len(), |end| end + 1);
                let (text, after) = rest.split_at(end);
                rest = after;
                return Some(Token::Text(text));
            }
            let end = end_of_tag(inner);
            let tag = inner.get(..end).unwrap_or_default();
            rest = inner.get(end + 1..).unwrap_or_default();
            if let Some(name) = tag.strip_prefix('/') {
                return Some(Token::Close(local(name.trim())));
            }
            let (name, attributes) =
                tag.split_at(tag.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(tag.len()));
            let empty = attributes.ends_with('/');
            let name = local(name);
            let skipped = ["script", "style"].into_iter().find(|skipped| name.eq_ignore_ascii_case(skipped));
            if let Some(skipped) = skipped.filter(|_| !empty && !tag.contains(':')) {
                rest = closing(rest, skipped);
                continue;
            }
            return Some(Token::Open(Tag { name, attributes: attributes.trim_end_matches('/'), empty }));
        }
    })
}

/// The end of a tag: a `>` outside of quotes.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    // A quote that is never closed.
    tag.find('>').unwrap_or(tag.len())
}

/// What follows the end tag of that name.
fn closing<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("</") {
        if after.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return after.split_once('>').map_or("", |(_, after)| after);
        }
        rest = after;
    }
    ""
}

/// The text of markup in the encoding that it declares: by its mark, its declaration, or UTF-8; else Windows-1252.
#[must_use]
pub fn decoded(bytes: &[u8]) -> String {
    if let Some((encoding, mark)) = encoding_rs::Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0.into_owned();
    }
    let head: String = bytes.iter().take(1_024).map(|byte| char::from(*byte)).collect();
    let lower = head.to_ascii_lowercase();
    let declared = ["encoding=", "charset="].iter().find_map(|key| {
        let value = lower.split_once(key)?.1.trim_start_matches(['"', '\'']);
        let end = value.find(['"', '\'', ' ', ';', '>', '?', '/']).unwrap_or(value.len());
        encoding_rs::Encoding::for_label(value.get(..end)?.as_bytes())
    });
    match (declared, std::str::from_utf8(bytes)) {
        (None, Ok(text)) => text.to_owned(),
        (Some(encoding), _) if encoding != encoding_rs::UTF_8 => {
            encoding.decode_without_bom_handling(bytes).0.into_owned()
        }
        (_, Ok(text)) => text.to_owned(),
        // The end of a head may be within a character.
        (_, Err(error)) if error.error_len().is_none() => String::from_utf8_lossy(bytes).into_owned(),
        (_, Err(_)) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}

/// The same, without a copy of what is UTF-8.
#[must_use]
pub fn decoded_whole(bytes: Vec<u8>) -> String {
    let head = bytes.get(..200).unwrap_or(&bytes).to_ascii_lowercase();
    let says = |text: &[u8]| head.windows(text.len()).any(|part| part == text);
    let plain = head.starts_with(b"<") && (!says(b"encoding=") || says(b"encoding=\"utf-8"));
    if !plain {
        return decoded(&bytes);
    }
    String::from_utf8(bytes).unwrap_or_else(|error| decoded(error.as_bytes()))
}
