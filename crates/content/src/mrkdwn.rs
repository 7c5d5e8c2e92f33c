//! Converts Slack's own markup (mrkdwn) to the closed set of Markdown nodes: bold, italic, strike, code, quotes, links.
//!
//! Invariants: no text becomes markup; a link is made only if [`web_href`] allows its address; nesting is bounded.

use super::markdown::{Class, CodeSpan, Node, web_href};

/// Slack accepts 3,000 characters per text. Texts longer than this are shown verbatim, because marks are searched repeatedly.
const LONG: usize = 6_000;
/// The maximum nesting of marks.
const DEPTH: usize = 6;

/// Returns the blocks of a text: paragraphs, quotes, code.
#[must_use]
pub fn blocks(text: &str) -> Vec<Node> {
    if text.len() > LONG {
        return vec![Node::Paragraph(vec![Node::Text(text.to_owned())])];
    }
    let mut blocks = Vec::new();
    for (place, part) in text.split("```").enumerate() {
        // Every second part is between fences.
        if place % 2 == 1 {
            let code = unescape(part.trim_matches('\n'));
            blocks.push(Node::CodeBlock {
                lang: String::new(),
                spans: vec![CodeSpan { class: Class::Plain, text: code }],
            });
        } else {
            lines(part, &mut blocks);
        }
    }
    blocks
}

/// Adds the lines between code blocks: quotes and paragraphs.
fn lines(text: &str, blocks: &mut Vec<Node>) {
    let mut group: Vec<&str> = Vec::new();
    let mut quoted = false;
    for line in text.trim_matches('\n').lines() {
        let (quote, line) = match line.strip_prefix("&gt;").or_else(|| line.strip_prefix('>')) {
            Some(rest) => (true, rest.trim_start()),
            None => (false, line),
        };
        if quote != quoted || (line.trim().is_empty() && !quote) {
            close(&mut group, quoted, blocks);
        }
        quoted = quote;
        if !line.trim().is_empty() {
            group.push(line);
        }
    }
    close(&mut group, quoted, blocks);
}

fn close(group: &mut Vec<&str>, quoted: bool, blocks: &mut Vec<Node>) {
    if group.is_empty() {
        return;
    }
    let mut children = Vec::new();
    for (place, line) in group.drain(..).enumerate() {
        if place > 0 {
            children.push(Node::Break);
        }
        children.extend(inlines(line, DEPTH));
    }
    let paragraph = Node::Paragraph(children);
    blocks.push(if quoted { Node::Quote(vec![paragraph]) } else { paragraph });
}

/// Returns the inline nodes of one line.
fn inlines(line: &str, depth: usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut plain = String::new();
    let mut rest = line;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let found = match first {
            '<' => angle(rest),
            '`' => code(rest),
            '*' | '_' | '~' if depth > 0 && !before.is_alphanumeric() => marked(rest, first, depth),
            _ => None,
        };
        match found {
            Some((node, length)) => {
                flush(&mut plain, &mut nodes);
                nodes.push(node);
                before = first;
                rest = rest.get(length..).unwrap_or_default();
            }
            None => {
                plain.push(first);
                before = first;
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    flush(&mut plain, &mut nodes);
    nodes
}

fn flush(plain: &mut String, nodes: &mut Vec<Node>) {
    if !plain.is_empty() {
        nodes.push(Node::Text(unescape(plain)));
        plain.clear();
    }
}

/// `*bold*`: marks directly adjoin the text inside, and the closing one ends a word.
fn marked(rest: &str, mark: char, depth: usize) -> Option<(Node, usize)> {
    let inside = rest.get(1..)?;
    if inside.starts_with(char::is_whitespace) {
        return None;
    }
    let end = inside.char_indices().find(|(at, c)| {
        let after = inside.get(at + 1..).and_then(|after| after.chars().next());
        let tight = inside.get(..*at).is_some_and(|text| !text.is_empty() && !text.ends_with(char::is_whitespace));
        *c == mark && tight && after.is_none_or(|after| !after.is_alphanumeric())
    })?;
    let children = inlines(inside.get(..end.0)?, depth - 1);
    let node = match mark {
        '*' => Node::Strong(children),
        '_' => Node::Emphasis(children),
        _ => Node::Strike(children),
    };
    Some((node, end.0 + 2))
}

fn code(rest: &str) -> Option<(Node, usize)> {
    let (inside, _) = rest.get(1..)?.split_once('`')?;
    (!inside.is_empty()).then(|| (Node::Code(unescape(inside)), inside.len() + 2))
}

/// `<https://…|words>`, `<@U1>`, `<#C1|name>`, `<!here>`.
fn angle(rest: &str) -> Option<(Node, usize)> {
    let (inside, _) = rest.get(1..)?.split_once('>')?;
    let length = inside.len() + 2;
    let (target, text) = inside.split_once('|').map_or((inside, None), |(target, text)| (target, Some(text)));
    let node = match target.chars().next()? {
        '@' => Node::Strong(vec![Node::Text(format!("@{}", text.unwrap_or(target.get(1..)?)))]),
        '#' => Node::Strong(vec![Node::Text(format!("#{}", text.unwrap_or(target.get(1..)?)))]),
        '!' => Node::Strong(vec![Node::Text(format!("@{}", text.unwrap_or(target.get(1..)?)))]),
        _ => link(&unescape(target), &unescape(text.unwrap_or(target))),
    };
    Some((node, length))
}

/// Returns a link if its address leads to the web or to a mailbox, otherwise its text.
#[must_use]
pub fn link(address: &str, label: &str) -> Node {
    let text = vec![Node::Text(label.to_owned())];
    match web_href(address) {
        Some(href) => Node::Link { href, children: text },
        None if label == address => Node::Text(format!("<{address}>")),
        None => Node::Text(format!("{label} <{address}>")),
    }
}

/// The three characters that Slack escapes.
fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}
