//! Bare addresses: models write `https://…` and `name@example.org` without brackets, which Markdown leaves as text.

use super::{Node, safe_href};

/// A longer address stays text, in bytes.
const LONGEST: usize = 2_048;

/// Makes links of the addresses in texts, except inside links.
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
            | Node::FootnoteMark(_)
            | Node::Break => {}
        }
        linked.push(node);
    }
    *nodes = linked;
}

/// Splits a plain text into texts and the addresses in it, as links.
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
                split_mail(&std::mem::take(&mut before), &mut parts);
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
    split_mail(&before, &mut parts);
    if parts.is_empty() {
        parts.push(Node::Text(before));
    }
    parts
}

/// Adds a text without web addresses; the mail addresses in it become links.
fn split_mail(text: &str, parts: &mut Vec<Node>) {
    // What is not yet added begins here.
    let mut from = 0;
    for (at, _) in text.match_indices('@') {
        let (before, after) = (text.get(from..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        let Some((name, host)) = mailbox(before, after) else { continue };
        let (start, end) = (at - name.len(), at + 1 + host.len());
        let address = format!("{name}@{host}");
        parts.extend(text.get(from..start).filter(|text| !text.is_empty()).map(|text| Node::Text(text.to_owned())));
        parts.push(Node::Link { href: format!("mailto:{address}"), children: vec![Node::Text(address)] });
        from = end;
    }
    parts.extend(text.get(from..).filter(|text| !text.is_empty()).map(|text| Node::Text(text.to_owned())));
}

/// The name and the host of a mail address, given what is before and after its `@`; `None`: it is no such address. Neither is the
/// address of a repository, `git@host:path`.
fn mailbox<'a>(before: &'a str, after: &'a str) -> Option<(&'a str, &'a str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._%+-".contains(c);
    let name = before.get(before.trim_end_matches(is_name).len()..)?.trim_start_matches(['.', '-']);
    let in_path = before.strip_suffix(name)?.ends_with(['/', ':', '@']);
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let host = after.get(..after.find(|c: char| !is_host(c)).unwrap_or(after.len()))?.trim_end_matches(['.', '-']);
    let (_, last) = host.rsplit_once('.')?;
    let rest = after.strip_prefix(host)?;
    let goes_on = rest.starts_with(['/', '@'])
        || rest.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| !c.is_whitespace()));
    let known = last.len() >= 2 && last.chars().all(|c| c.is_ascii_alphabetic()) && !host.starts_with('.');
    let fits = (1..=64).contains(&name.len()) && host.len() <= 255;
    (known && fits && !in_path && !goes_on).then_some((name, host))
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
