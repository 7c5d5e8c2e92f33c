//! Bare addresses: models write `https://…` without brackets, which Markdown leaves as text.

use super::{Node, safe_href};

/// A longer address stays text, in bytes.
const LONGEST: usize = 2_048;

/// Makes links of the web addresses in texts, except inside links.
#[cfg(feature = "docs")]
pub(super) fn link(nodes: &mut Vec<Node>) {
    let mut linked = Vec::with_capacity(nodes.len());
    for mut node in nodes.drain(..) {
        match &mut node {
            Node::Text(text) => {
                linked.extend(split(text));
                continue;
            }
            Node::Paragraph(children)
            | Node::Heading { children, .. }
            | Node::Quote(children)
            | Node::Strong(children)
            | Node::Emphasis(children)
            | Node::Strike(children) => link(children),
            Node::List { items, .. } => items.iter_mut().for_each(|item| link(&mut item.children)),
            Node::Table(table) => {
                let rows = std::iter::once(&mut table.head).chain(&mut table.rows);
                rows.flatten().for_each(link);
            }
            Node::CodeBlock { .. }
            | Node::Rule
            | Node::Code(_)
            | Node::Formula { .. }
            | Node::Link { .. }
            | Node::Image { .. }
            | Node::Break => {}
        }
        linked.push(node);
    }
    *nodes = linked;
}

/// Splits a plain text into texts and the web addresses in it, as links.
#[must_use]
pub fn split(text: &str) -> Vec<Node> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut before = String::new();
    while let Some(start) = rest.find("http") {
        let (words, from) = rest.split_at(start);
        before.push_str(words);
        let inside_a_word = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let found = if inside_a_word { Err("http".len()) } else { address(from) };
        match found.map(|address| (address, safe_href(address))) {
            Ok((address, Some(href))) => {
                if !before.is_empty() {
                    parts.push(Node::Text(std::mem::take(&mut before)));
                }
                parts.push(Node::Link { href, children: vec![Node::Text(address.to_owned())] });
                rest = from.get(address.len()..).unwrap_or_default();
            }
            Ok((address, None)) => {
                before.push_str(address);
                rest = from.get(address.len()..).unwrap_or_default();
            }
            Err(passed) => {
                let (words, after) = from.split_at(passed);
                before.push_str(words);
                rest = after;
            }
        }
    }
    before.push_str(rest);
    if !before.is_empty() || parts.is_empty() {
        parts.push(Node::Text(before));
    }
    parts
}

/// The address at the beginning of a text that begins with `http`. Punctuation at its end belongs to the sentence.
///
/// # Errors
/// There is none in the next bytes, whose number is returned.
fn address(text: &str) -> Result<&str, usize> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or_default();
    if !host.starts_with(|c: char| c.is_alphanumeric() || c == '[') {
        return Err("http".len());
    }
    let window = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default();
    let end = window.find(|c: char| c.is_whitespace() || c.is_control() || "<>\"'`".contains(c));
    if end.is_none() && window.len() < text.len() {
        return Err(window.len());
    }
    let mut found = window.get(..end.unwrap_or(window.len())).unwrap_or_default();
    // Brackets that were opened before the address.
    let surplus = |close: char, open: char| found.matches(close).count().saturating_sub(found.matches(open).count());
    let (mut round, mut square) = (surplus(')', '('), surplus(']', '['));
    loop {
        let closes = |surplus: &mut usize| {
            let own = *surplus == 0;
            *surplus = surplus.saturating_sub(1);
            own
        };
        let keep = match found.chars().next_back() {
            Some(')') => closes(&mut round),
            Some(']') => closes(&mut square),
            Some('.' | ',' | ';' | ':' | '!' | '?' | '*' | '_' | '~' | '}' | '|') => false,
            _ => true,
        };
        if keep {
            return Ok(found);
        }
        let mut chars = found.chars();
        chars.next_back();
        found = chars.as_str();
    }
}
