//! Bare addresses: models write `https://…` without brackets, which Markdown leaves as text.

use super::{Node, safe_href};

/// Makes links of the web addresses in texts, except inside links.
pub(super) fn link(nodes: &mut Vec<Node>) {
    let mut at = 0;
    while at < nodes.len() {
        let Some(node) = nodes.get_mut(at) else { return };
        match node {
            Node::Text(text) => {
                let parts = split(text);
                if parts.len() != 1 || !matches!(parts.first(), Some(Node::Text(_))) {
                    let count = parts.len();
                    nodes.splice(at..=at, parts);
                    at += count;
                    continue;
                }
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
            | Node::Link { .. }
            | Node::Image { .. }
            | Node::Break => {}
        }
        at += 1;
    }
}

fn split(text: &str) -> Vec<Node> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut before = String::new();
    while let Some(start) = rest.find("http") {
        let (words, from) = rest.split_at(start);
        before.push_str(words);
        let inside_a_word = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let address = address(from);
        match safe_href(address).filter(|_| !address.is_empty() && !inside_a_word) {
            Some(href) => {
                if !before.is_empty() {
                    parts.push(Node::Text(std::mem::take(&mut before)));
                }
                parts.push(Node::Link { href, children: vec![Node::Text(address.to_owned())] });
                rest = from.get(address.len()..).unwrap_or_default();
            }
            None => {
                before.push_str("http");
                rest = from.get("http".len()..).unwrap_or_default();
            }
        }
    }
    before.push_str(rest);
    if !before.is_empty() || parts.is_empty() {
        parts.push(Node::Text(before));
    }
    parts
}

/// The address at the beginning of a text; empty if there is none. Punctuation at its end belongs to the sentence.
fn address(text: &str) -> &str {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or_default();
    if !host.starts_with(|c: char| c.is_alphanumeric() || c == '[') {
        return "";
    }
    let end = text.find(|c: char| c.is_whitespace() || c.is_control() || "<>\"'`".contains(c)).unwrap_or(text.len());
    let mut found = text.get(..end).unwrap_or_default();
    loop {
        let open = |close: char, open: char| found.matches(open).count() >= found.matches(close).count();
        let keep = match found.chars().next_back() {
            Some(')') => open(')', '('),
            Some(']') => open(']', '['),
            Some('.' | ',' | ';' | ':' | '!' | '?' | '*' | '_' | '~' | '}' | '|') => false,
            _ => true,
        };
        if keep {
            return found;
        }
        let mut chars = found.chars();
        chars.next_back();
        found = chars.as_str();
    }
}
