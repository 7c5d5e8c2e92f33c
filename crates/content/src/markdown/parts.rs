//! The parts of a block that can be drawn one after the other: the items of a list, the rows of a table, the pieces of a long paragraph
//! or of long code. While a text grows, a page adds parts to a block that it shows, and a browser lays out the last piece alone.
//! Between two pieces is an empty text, or an empty span of code.

use super::{Class, CodeSpan, Node, row_weight, weight};

/// The usual length of a piece of a paragraph, in bytes.
pub const PIECE: usize = 2 << 10;
/// Shorter paragraphs are not divided, nor is shorter code, in bytes.
pub const LONG: usize = 8 << 10;
/// The usual length of a piece of code, in bytes.
pub const CODE_PIECE: usize = 1 << 10;

/// Returns the pieces of a paragraph.
pub fn pieces(children: &[Node]) -> impl Iterator<Item = &[Node]> {
    children.split(is_mark).filter(|piece| !piece.is_empty())
}

/// Returns the pieces of a block of code.
pub fn code_pieces(spans: &[CodeSpan]) -> impl Iterator<Item = &[CodeSpan]> {
    spans.split(is_code_mark).filter(|piece| !piece.is_empty())
}

/// Returns the [weights](weight) of the parts of a block.
#[must_use]
pub fn weights(node: &Node) -> Vec<usize> {
    match node {
        Node::List { items, .. } => items.iter().map(|item| 1 + weight(&item.children)).collect(),
        Node::Table(table) => table.rows.iter().map(|row| row_weight(row)).collect(),
        Node::Paragraph(children) => pieces(children).map(weight).collect(),
        Node::CodeBlock { spans, .. } => code_pieces(spans).map(<[CodeSpan]>::len).collect(),
        _ => Vec::new(),
    }
}

/// Returns the number of parts of a block; 0: it has none.
#[must_use]
pub fn count(node: &Node) -> usize {
    match node {
        Node::List { items, .. } => items.len(),
        Node::Table(table) => table.rows.len(),
        Node::Paragraph(children) => pieces(children).count(),
        Node::CodeBlock { spans, .. } => code_pieces(spans).count(),
        _ => 0,
    }
}

/// Whether the parts of a block have elements of their own.
#[must_use]
pub fn is_divided(node: &Node) -> bool {
    match node {
        Node::List { .. } | Node::Table(_) => true,
        Node::Paragraph(children) => children.iter().any(is_mark),
        // Code without any text has an empty span.
        Node::CodeBlock { spans, .. } => spans.len() > 1 && spans.iter().any(is_code_mark),
        _ => false,
    }
}

/// Whether both are the same block, but for their parts.
#[must_use]
pub fn continues(node: &Node, more: &Node) -> bool {
    match (node, more) {
        (Node::List { start, .. }, Node::List { start: other, .. }) => start == other,
        (Node::Table(table), Node::Table(other)) => table.align == other.align && table.head == other.head,
        (Node::Paragraph(_), Node::Paragraph(_)) => true,
        (Node::CodeBlock { lang, .. }, Node::CodeBlock { lang: other, .. }) => lang == other,
        _ => false,
    }
}

/// Returns how many parts at the beginning of two such blocks are equal.
#[must_use]
pub fn same(node: &Node, other: &Node) -> usize {
    fn equal<T: PartialEq>(ours: impl Iterator<Item = T>, others: impl Iterator<Item = T>) -> usize {
        ours.zip(others).take_while(|(one, other)| one == other).count()
    }
    match (node, other) {
        (Node::List { items, .. }, Node::List { items: others, .. }) => equal(items.iter(), others.iter()),
        (Node::Table(table), Node::Table(other)) => equal(table.rows.iter(), other.rows.iter()),
        (Node::Paragraph(children), Node::Paragraph(others)) => equal(pieces(children), pieces(others)),
        (Node::CodeBlock { spans, .. }, Node::CodeBlock { spans: others, .. }) => {
            equal(code_pieces(spans), code_pieces(others))
        }
        _ => 0,
    }
}

/// Returns a block without its parts.
#[must_use]
pub fn shell(node: &Node) -> Node {
    let mut shell = node.clone();
    truncate(&mut shell, 0);
    shell
}

/// Removes all parts but the first ones.
pub fn truncate(node: &mut Node, keep: usize) {
    match node {
        Node::List { items, .. } => items.truncate(keep),
        Node::Table(table) => table.rows.truncate(keep),
        Node::Paragraph(children) => children.truncate(end_of(children, keep, is_mark)),
        Node::CodeBlock { spans, .. } => spans.truncate(end_of(spans, keep, is_code_mark)),
        _ => {}
    }
}

/// Removes the first parts.
pub fn remove_first(node: &mut Node, count: usize) {
    match node {
        Node::List { items, .. } => drop(items.drain(..count.min(items.len()))),
        Node::Table(table) => drop(table.rows.drain(..count.min(table.rows.len()))),
        Node::Paragraph(children) => drop(children.drain(..end_of(children, count, is_mark))),
        Node::CodeBlock { spans, .. } => drop(spans.drain(..end_of(spans, count, is_code_mark))),
        _ => {}
    }
}

/// Adds parts to those of a block.
pub fn append(node: &mut Node, more: Node) {
    match (node, more) {
        (Node::List { items, .. }, Node::List { items: more, .. }) => items.extend(more),
        (Node::Table(table), Node::Table(more)) => table.rows.extend(more.rows),
        (Node::Paragraph(children), Node::Paragraph(more)) => {
            if !children.last().is_none_or(is_mark) && !more.is_empty() {
                children.push(mark());
            }
            children.extend(more);
        }
        (Node::CodeBlock { spans, .. }, Node::CodeBlock { spans: more, .. }) => {
            if !spans.last().is_none_or(is_code_mark) && !more.is_empty() {
                spans.push(code_mark());
            }
            spans.extend(more);
        }
        _ => {}
    }
}

/// Ends the last piece of a block: it is divided from now on.
pub(super) fn end_piece(node: &mut Node) {
    match node {
        Node::Paragraph(children) if !children.last().is_none_or(is_mark) => children.push(mark()),
        Node::CodeBlock { spans, .. } if !spans.last().is_none_or(is_code_mark) => spans.push(code_mark()),
        _ => {}
    }
}

/// Divides long paragraphs and long code into pieces.
pub fn divide(node: &mut Node) {
    match node {
        Node::Paragraph(children) if children.iter().map(length).sum::<usize>() > LONG => {
            let mut divided = Vec::with_capacity(children.len());
            let mut filled = 0;
            for child in children.drain(..) {
                let Node::Text(text) = child else {
                    filled += length(&child);
                    divided.push(child);
                    continue;
                };
                let mut rest = text.as_str();
                while let Some(at) = break_after(rest, PIECE.saturating_sub(filled)) {
                    let (before, after) = rest.split_at(at);
                    divided.extend([Node::Text(before.to_owned()), mark()]);
                    (rest, filled) = (after, 0);
                }
                filled += rest.len();
                divided.push(Node::Text(rest.to_owned()));
            }
            *children = divided;
        }
        Node::CodeBlock { spans, .. } if spans.iter().map(|span| span.text.len()).sum::<usize>() > LONG => {
            let mut divided = Vec::with_capacity(spans.len());
            let mut filled = 0;
            for CodeSpan { class, text } in spans.drain(..) {
                let mut rest = text.as_str();
                while let Some(at) = line_after(rest, CODE_PIECE.saturating_sub(filled)) {
                    let (before, after) = rest.split_at(at);
                    divided.extend([CodeSpan { class, text: before.to_owned() }, code_mark()]);
                    (rest, filled) = (after, 0);
                }
                filled += rest.len();
                if !rest.is_empty() {
                    divided.push(CodeSpan { class, text: rest.to_owned() });
                }
            }
            *spans = divided;
        }
        _ => {}
    }
}

/// Returns a block as it is parsed: not divided.
#[must_use]
pub fn joined(node: &Node) -> Node {
    match node {
        Node::Paragraph(children) if is_divided(node) => {
            let mut joined: Vec<Node> = Vec::with_capacity(children.len());
            for child in children {
                match (joined.last_mut(), child) {
                    (Some(Node::Text(last)), Node::Text(text)) => last.push_str(text),
                    (_, Node::Text(text)) if text.is_empty() => {}
                    _ => joined.push(child.clone()),
                }
            }
            Node::Paragraph(joined)
        }
        Node::CodeBlock { lang, spans } if spans.len() > 1 => {
            let mut joined: Vec<CodeSpan> = Vec::with_capacity(spans.len());
            for span in spans.iter().filter(|span| !span.text.is_empty()) {
                match joined.last_mut() {
                    Some(last) if last.class == span.class => last.text.push_str(&span.text),
                    _ => joined.push(span.clone()),
                }
            }
            Node::CodeBlock { lang: lang.clone(), spans: joined }
        }
        _ => node.clone(),
    }
}

/// Returns where a paragraph can be divided: the first place after so many bytes at which a word begins. No block begins with a letter.
pub(super) fn break_after(text: &str, least: usize) -> Option<usize> {
    let from = text.ceil_char_boundary(least.max(1));
    let before = text.get(..from)?.chars().next_back()?;
    let mut last = before;
    for (at, letter) in text.get(from..)?.char_indices() {
        let ends = last.is_whitespace() || "。！？、，".contains(last);
        if ends && letter.is_alphabetic() {
            return Some(from + at);
        }
        last = letter;
    }
    None
}

/// Returns where the first line after so many bytes begins, if there is one.
fn line_after(text: &str, least: usize) -> Option<usize> {
    let from = text.ceil_char_boundary(least.saturating_sub(1));
    let at = from + text.get(from..)?.find('\n')? + 1;
    (at < text.len()).then_some(at)
}

/// The number of children that the first pieces have, with the mark after them.
fn end_of<T>(children: &[T], pieces: usize, is_mark: fn(&T) -> bool) -> usize {
    if pieces == 0 {
        return 0;
    }
    let marks = children.iter().enumerate().filter(|(_, child)| is_mark(child));
    marks.map(|(at, _)| at + 1).nth(pieces - 1).unwrap_or(children.len())
}

fn length(node: &Node) -> usize {
    match node {
        Node::Text(text) | Node::Code(text) => text.len(),
        Node::Strong(children) | Node::Emphasis(children) | Node::Strike(children) | Node::Link { children, .. } => {
            children.iter().map(length).sum()
        }
        _ => 1,
    }
}

fn mark() -> Node {
    Node::Text(String::new())
}

fn code_mark() -> CodeSpan {
    CodeSpan { class: Class::Plain, text: String::new() }
}

fn is_mark(node: &Node) -> bool {
    matches!(node, Node::Text(text) if text.is_empty())
}

fn is_code_mark(span: &CodeSpan) -> bool {
    span.text.is_empty()
}
