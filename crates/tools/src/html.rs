//! Converts HTML to text for search: tags, comments, scripts and styles are removed, common entities become characters.
//! Newlines are kept, so that line numbers match the file. Not a parser: it never fails, and its output is never rendered.

/// The text of the page.
pub fn to_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len() / 2);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tail) = rest.split_at(at);
        entities(text, &mut out);
        let end = markup_end(tail);
        let (markup, after) = tail.split_at(end);
        if end == 1 {
            out.push('<');
        } else {
            out.push(' ');
            out.extend(markup.chars().filter(|c| *c == '\n'));
        }
        rest = after;
    }
    entities(rest, &mut out);
    out
}

/// The content of `<title>`, or else of the first `<h1>`.
pub fn title(html: &str) -> Option<String> {
    ["title", "h1"].iter().find_map(|tag| {
        let open = find(html, &format!("<{tag}"))?;
        let tail = html.get(open..)?;
        let tail = tail.get(tail.find('>')? + 1..)?;
        let inner = tail.get(..find(tail, &format!("</{tag}"))?)?;
        let text = to_text(inner).split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    })
}

/// The end of the markup that starts at `tail`; 1 if `<` is only a character.
fn markup_end(tail: &str) -> usize {
    let whole = tail.len();
    if tail.starts_with("<!--") {
        return tail.find("-->").map_or(whole, |end| end + 3);
    }
    if !tail.get(1..).unwrap_or_default().starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
    {
        return 1;
    }
    for tag in ["script", "style"] {
        let named = tail.get(1..=tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag));
        if named && let Some(end) = find(tail, &format!("</{tag}")) {
            return tail.get(end..).and_then(|t| t.find('>')).map_or(whole, |close| end + close + 1);
        }
    }
    tail.find('>').map_or(whole, |end| end + 1)
}

/// Case-insensitive for ASCII; `needle` is in lower case.
fn find(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes().windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

fn entities(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let entity = tail.find(';').filter(|end| *end <= 10).and_then(|end| Some((tail.get(1..end)?, end + 1)));
        match entity.and_then(|(name, length)| Some((character(name)?, length))) {
            Some((c, length)) => {
                out.push(c);
                rest = tail.get(length..).unwrap_or_default();
            }
            None => {
                out.push('&');
                rest = tail.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        "mdash" => Some('—'),
        "ndash" => Some('–'),
        "hellip" => Some('…'),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            // A newline would shift line numbers.
            char::from_u32(code).filter(|c| !c.is_control())
        }
    }
}
