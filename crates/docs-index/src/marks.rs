//! Simple text searches that need no parser: text between two markers, attributes of a tag, strings in scripts.

/// The text between `before` and the next `after`.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let tail = text.get(text.find(before)? + before.len()..)?;
    tail.get(..tail.find(after)?)
}

/// The quoted string that follows `name` and `=` or `:`, as in attributes, variables and keys.
pub fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        rest = rest.get(at + name.len()..)?;
        let tail = rest.trim_start_matches(['"', '\'', ' ', '\n', '\t']);
        let Some(tail) = tail.strip_prefix(['=', ':']) else { continue };
        let tail = tail.trim_start();
        let Some(quote) = tail.chars().next().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let tail = tail.get(1..)?;
        return tail.get(..tail.find(quote)?);
    }
    None
}

/// The first tag that starts with `open` (`<meta name="x"`), up to its `>`.
pub fn tag<'a>(text: &'a str, open: &str) -> Option<&'a str> {
    let tail = text.get(text.find(open)?..)?;
    tail.get(..tail.find('>')?)
}

/// The content of `<meta name="…">`; attributes may be in either order.
pub fn meta<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = html;
    while let Some(at) = rest.find("<meta") {
        rest = rest.get(at + 5..)?;
        let tag = rest.get(..rest.find('>')?)?;
        if value(tag, "name").is_some_and(|named| named.eq_ignore_ascii_case(name)) {
            return value(tag, "content");
        }
    }
    None
}

/// A short hash of a text (FNV-1a): for versions, not for security.
pub fn hash(text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// Collapses runs of white space and trims the ends.
pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Truncates to this number of characters.
pub fn cut(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Unescapes the inside of a JavaScript string literal, as generators write it in `JSON.parse('…')`.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let mut chars = tail.chars().skip(1);
        let Some(escaped) = chars.next() else { return out };
        let mut length = 1 + escaped.len_utf8();
        match escaped {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'u' | 'x' => {
                let digits = if escaped == 'u' { 4 } else { 2 };
                let code = tail.get(length..length + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                // Surrogates encode a character only in pairs; single ones do not occur outside JSON.
                out.push(code.and_then(char::from_u32).unwrap_or('\u{FFFD}'));
                length += if code.is_some() { digits } else { 0 };
            }
            other => out.push(other),
        }
        rest = tail.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
