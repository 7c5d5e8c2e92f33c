//! Markdown that grows at its end, as a model streams it. Only what follows the last settled place is parsed again, and only what is
//! new is answered: ten times the text is ten times the work, also if it is a single block.
//!
//! A block is settled once another one follows it, and a part of a long block once another part does. What comes later can still
//! change an earlier block in a few ways: the address of a link or a footnote may follow, a long paragraph may have emphasis from
//! its beginning to its end. The last parse, of the complete text, is therefore of the whole, and it is what counts. PURE.

use super::highlight::{Highlight, Plain};
use super::parse::{Definitions, Parsed, parse_parts};
use super::parts;
use super::{ListItem, Node};

/// Blocks that are shorter are settled as a whole, in bytes.
const SMALL: usize = 1 << 10;
/// What is parsed again is parsed less often from this length on, in bytes: it may be a block that has no parts.
const LARGE: usize = parts::LONG + 2 * parts::PIECE;
/// Then it has to grow by this part of its length.
const GROWTH: usize = 16;

/// How the blocks of a text change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The number of blocks at the beginning that stay.
    pub same: usize,
    /// If it is not 0, the block after those stays with so many of its first [parts], and the first node has those that follow.
    pub keep: usize,
    /// The blocks that follow, instead of all further ones.
    pub nodes: Vec<Node>,
}

/// A text that grows.
#[derive(Clone, Debug, Default)]
pub struct GrowingText<H: Highlight> {
    text: String,
    /// Up to here, in bytes, nothing is parsed again before the end.
    settled: usize,
    /// The blocks up to there.
    done: Vec<Node>,
    /// The block that goes on there.
    inside: Option<Inside<H>>,
    /// What was answered for the rest. The first block goes on, if one does.
    open: Vec<Node>,
    /// The length of the text when its rest was last parsed, and when its complete lines were.
    parsed: usize,
    lines: usize,
    highlight: H,
    definitions: Definitions,
    /// It has footnotes, whose numbers and texts concern all of it.
    whole: bool,
    work: usize,
}

/// The settled parts of a block.
#[derive(Clone, Debug)]
struct Inside<H: Highlight> {
    node: Node,
    count: usize,
    /// What has to precede the rest, so that it is parsed as a part of the block.
    prefix: String,
    code: Option<H::Block>,
}

/// What was settled in one step.
#[derive(Default)]
struct Fresh {
    /// The blocks that ended. The first one goes on, if one did before.
    ended: Vec<Node>,
    /// The parts of the next one.
    parts: Option<Node>,
    /// The first one is answered anew, with all its parts.
    anew: bool,
}

impl<H: Highlight> GrowingText<H> {
    /// The length of the text so far, in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.text.len()
    }

    /// The number of bytes that were parsed so far.
    #[must_use]
    pub fn work(&self) -> usize {
        self.work
    }

    /// Adds to the text, and returns what changes. With `last`, the text is complete, and the blocks are those of [`super::parse`].
    pub fn grow(&mut self, more: &str, last: bool) -> Changes {
        self.text.push_str(more);
        if last {
            return self.end();
        }
        let rest = if self.whole { self.text.len() } else { self.text.len() - self.settled };
        if rest > LARGE && self.text.len() - self.parsed < rest / GROWTH {
            return Changes { same: self.shown(), ..Changes::default() };
        }
        self.parsed = self.text.len();
        if !self.whole {
            let (done, settled) = (self.done.len(), self.inside.as_ref().map_or(0, |inside| inside.count));
            let mut fresh = Fresh::default();
            self.settle_lines(&mut fresh);
            let open = self.settle_rest(&mut fresh);
            if let Some(open) = open {
                return self.answer(done, settled, fresh, open);
            }
            // From now on, all of it is parsed, and what was just settled was not answered.
            self.whole = true;
            self.done.truncate(done);
            self.open.clear();
            self.inside = None;
        }
        self.all()
    }

    /// The number of blocks that were answered.
    fn shown(&self) -> usize {
        self.done.len() + self.open.len().max(usize::from(self.inside.is_some()))
    }

    /// Compares what was answered for the rest with what it is now.
    fn answer(&mut self, done: usize, settled: usize, fresh: Fresh, open: Vec<Node>) -> Changes {
        let mut now = fresh.ended;
        let mut next = open.iter();
        if let Some(mut parts) = fresh.parts {
            if let Some(more) = next.next() {
                parts::append(&mut parts, more.clone());
            }
            now.push(parts);
        }
        now.extend(next.cloned());
        let before = std::mem::replace(&mut self.open, open);
        let same = match fresh.anew {
            true => 0,
            false => before.iter().zip(&now).take_while(|(before, now)| before == now).count(),
        };
        let mut nodes = now.split_off(same.min(now.len()));
        let mut keep = 0;
        if !fresh.anew
            && let (Some(before), Some(now)) = (before.get(same), nodes.first_mut())
        {
            let settled = if same == 0 { settled } else { 0 };
            let divided = settled > 0 || parts::is_divided(before) && parts::is_divided(now);
            if divided && parts::continues(before, now) {
                let kept = parts::same(before, now);
                parts::remove_first(now, kept);
                keep = settled + kept;
            }
        }
        Changes { same: done + same, keep, nodes }
    }

    /// Settles what the complete lines settle.
    fn settle_lines(&mut self, fresh: &mut Fresh) {
        let end = self.text.rfind('\n').map_or(0, |at| at + 1);
        if end <= self.lines {
            return;
        }
        self.lines = end;
        while end > self.settled {
            let (source, before, mut parsed) = self.parse(end);
            if parsed.has_notes {
                self.whole = true;
                return;
            }
            if parsed.nodes.len() != parsed.blocks.len() {
                return;
            }
            let last_block = parsed.blocks.last().cloned().unwrap_or_default();
            let later = parsed.defined.iter().filter(|(span, ..)| span.start >= last_block.end).count();
            // All blocks but the last one have ended, and so has that one if an address follows. An address may go on in the next line.
            let ended = parsed.blocks.len() - usize::from(later == 0 && !parsed.blocks.is_empty());
            let boundary = match (ended.checked_sub(1).and_then(|last| parsed.blocks.get(last)), later) {
                (Some(last), _) => line_end(&source, last.end),
                (None, 2..) if parsed.blocks.is_empty() => {
                    parsed.defined.last().map_or(0, |(span, ..)| line_start(&source, span.start))
                }
                _ => 0,
            };
            if boundary > before {
                self.define(&parsed, boundary);
                for node in parsed.nodes.drain(..ended) {
                    self.end_block(node, fresh);
                }
                self.settled += boundary - before;
                continue;
            }
            let one = parsed.nodes.len() == 1 && end - self.settled >= SMALL;
            let Some(node) = parsed.nodes.pop().filter(|_| one) else { return };
            let Some(settled) = self.settle_parts(&source, &parsed, node, fresh) else { return };
            self.define(&parsed, settled);
            self.settled += settled - before;
        }
    }

    /// Parses from the settled place to this one. Returns what was parsed, and how much of it precedes the settled place.
    fn parse(&mut self, end: usize) -> (String, usize, Parsed) {
        let prefix = self.inside.as_ref().map_or("", |inside| inside.prefix.as_str());
        let source = format!("{prefix}{}", self.text.get(self.settled..end).unwrap_or_default());
        self.work += source.len();
        let before = prefix.len();
        let mut parsed = parse_parts(&source, &self.definitions, &mut |lang, code| Plain.spans(lang, &code));
        if let (Some(inside), Some(first)) = (&self.inside, parsed.nodes.first_mut()) {
            go_on(&inside.node, first);
        }
        (source, before, parsed)
    }

    fn define(&mut self, parsed: &Parsed, end: usize) {
        for (_, label, address) in parsed.defined.iter().filter(|(span, ..)| span.end <= end) {
            self.definitions.entry(label.clone()).or_insert_with(|| address.clone());
        }
    }

    /// Settles a block, or the last parts of the one that goes on.
    fn end_block(&mut self, mut node: Node, fresh: &mut Fresh) {
        if let Some(mut inside) = self.inside.take() {
            let mut parts = fresh.parts.take().unwrap_or_else(|| parts::shell(&inside.node));
            let goes_on = parts::continues(&inside.node, &node);
            if goes_on {
                self.match_spacing(&mut inside, &mut node, &mut parts, fresh);
                highlight_more(&mut node, &mut inside.code, &mut self.highlight);
                parts::append(&mut inside.node, node.clone());
                parts::append(&mut parts, node.clone());
            }
            self.done.push(inside.node);
            fresh.ended.push(parts);
            if goes_on {
                return;
            }
        }
        highlight(&mut node, &mut self.highlight);
        self.done.push(node.clone());
        fresh.ended.push(node);
    }

    /// Settles the first parts of a block that goes on. Returns how much of the source they are; `None`: none can be settled yet.
    fn settle_parts(&mut self, source: &str, parsed: &Parsed, mut node: Node, fresh: &mut Fresh) -> Option<usize> {
        let block = parsed.blocks.first()?;
        let start = line_start(source, block.start);
        let head =
            |lines| source.get(start..).unwrap_or_default().split_inclusive('\n').take(lines).map(str::len).sum();
        let last = parsed.parts.last().map(|at| line_start(source, *at));
        let (settled, prefix) = match &node {
            Node::List { items, .. } if items.len() > 1 && items.len() == parsed.parts.len() => (last?, 0),
            Node::Table(table) if table.rows.len() > 1 && table.rows.len() == parsed.parts.len() => (last?, head(2)),
            Node::CodeBlock { spans, .. } => {
                let first: usize = head(1);
                let line = source.get(start..start + first)?.trim_start();
                let lines = source.get(start + first..)?.matches('\n').count();
                let code: usize = spans.iter().map(|span| span.text.matches('\n').count()).sum();
                if !(line.starts_with("```") || line.starts_with("~~~")) || lines != code {
                    return None;
                }
                (source.len(), first)
            }
            _ => return None,
        };
        if matches!(node, Node::List { .. } | Node::Table(_)) {
            parts::truncate(&mut node, parsed.parts.len() - 1);
        }
        let prefix = source.get(start..start + prefix)?.to_owned();
        self.keep_parts(node, prefix, fresh);
        Some(settled)
    }

    /// Adds settled parts to the block that goes on, which may begin with them.
    fn keep_parts(&mut self, mut node: Node, prefix: String, fresh: &mut Fresh) {
        let mut inside = match self.inside.take() {
            Some(inside) if parts::continues(&inside.node, &node) => inside,
            other => {
                if let Some(inside) = other {
                    fresh.ended.push(fresh.parts.take().unwrap_or_else(|| parts::shell(&inside.node)));
                    self.done.push(inside.node);
                }
                let code = match &node {
                    Node::CodeBlock { lang, .. } => Some(self.highlight.begin(lang)),
                    _ => None,
                };
                Inside { node: parts::shell(&node), count: 0, prefix, code }
            }
        };
        let mut parts = fresh.parts.take().unwrap_or_else(|| parts::shell(&node));
        self.match_spacing(&mut inside, &mut node, &mut parts, fresh);
        highlight_more(&mut node, &mut inside.code, &mut self.highlight);
        inside.count += parts::count(&node);
        parts::append(&mut inside.node, node.clone());
        parts::append(&mut parts, node);
        parts::end_piece(&mut parts);
        fresh.parts = Some(parts);
        self.inside = Some(inside);
    }

    /// One blank line between two items makes paragraphs in all of a list.
    fn match_spacing(&self, inside: &mut Inside<H>, node: &mut Node, parts: &mut Node, fresh: &mut Fresh) {
        if parts::count(&inside.node) == 0 {
            return;
        }
        match (is_loose(&inside.node), is_loose(node)) {
            (true, false) => loosen(node),
            (false, true) => {
                loosen(&mut inside.node);
                // What has ended is not a part of this list, except for what was answered of it before.
                fresh.anew |= fresh.ended.is_empty();
                *parts = inside.node.clone();
            }
            _ => {}
        }
    }

    /// Settles pieces of a long paragraph, and returns the blocks of what is left. `None`: there are footnotes.
    fn settle_rest(&mut self, fresh: &mut Fresh) -> Option<Vec<Node>> {
        loop {
            if self.whole {
                return None;
            }
            let (source, before, mut parsed) = self.parse(self.text.len());
            if parsed.has_notes {
                return None;
            }
            if parsed.nodes.len() == 1
                && matches!(parsed.nodes.first(), Some(Node::Paragraph(_)))
                && source.len() > if self.inside.is_some() { 2 * parts::PIECE } else { parts::LONG }
                && !source.trim_start().starts_with('<')
                && let Some((piece, at)) = self.piece(&source)
            {
                self.define(&parsed, at);
                self.keep_parts(piece, String::new(), fresh);
                self.settled += at - before;
                continue;
            }
            let mut highlighter = self.highlight.clone();
            let mut nodes = parsed.nodes.iter_mut();
            if let Some(inside) = &self.inside {
                match nodes.next() {
                    Some(first) if parts::continues(&inside.node, first) => {
                        if parts::count(&inside.node) > 0 && is_loose(&inside.node) {
                            loosen(first);
                        }
                        highlight_more(first, &mut inside.code.clone(), &mut highlighter);
                    }
                    other => {
                        other.into_iter().for_each(|first| highlight(first, &mut highlighter));
                        nodes.by_ref().for_each(|node| highlight(node, &mut highlighter));
                        drop(nodes);
                        parsed.nodes.insert(0, parts::shell(&inside.node));
                        return Some(parsed.nodes);
                    }
                }
            }
            nodes.for_each(|node| highlight(node, &mut highlighter));
            return Some(parsed.nodes);
        }
    }

    /// The first piece of a long paragraph, and its length.
    fn piece(&mut self, source: &str) -> Option<(Node, usize)> {
        let mut at = 0;
        // What begins in a piece and does not end in it may end later, unless that would be very far.
        for _ in 0..4 {
            at += parts::break_after(source.get(at..)?, parts::PIECE / if at == 0 { 1 } else { 8 })?;
            let rest = source.len() - at;
            if rest < parts::PIECE / 2 {
                return None;
            }
            let text = source.get(..at)?;
            self.work += text.len();
            let mut parsed = parse_parts(text, &self.definitions, &mut |lang, code| Plain.spans(lang, &code));
            let Some(Node::Paragraph(mut children)) = parsed.nodes.pop().filter(|_| parsed.nodes.is_empty()) else {
                continue;
            };
            let is_open = |child: &Node| matches!(child, Node::Text(text) if text.contains(['*', '_', '`', '[', '<', '~', '$', '\\']));
            if children.iter().any(is_open) && source.len() < LARGE {
                continue;
            }
            let space = text.get(text.trim_end().len()..)?;
            match children.last_mut() {
                Some(Node::Text(last)) => last.push_str(space),
                _ if space.is_empty() => {}
                _ => children.push(Node::Text(space.to_owned())),
            }
            return Some((Node::Paragraph(children), at));
        }
        None
    }

    /// Parses the complete text.
    fn end(&mut self) -> Changes {
        self.settled = 0;
        self.all()
    }

    /// Parses the whole text, and returns what changes.
    fn all(&mut self) -> Changes {
        self.work += self.text.len();
        let mut highlighter = H::default();
        let mut nodes =
            parse_parts(&self.text, &Definitions::new(), &mut |lang, code| highlighter.spans(lang, &code)).nodes;
        let mut shown = std::mem::take(&mut self.done);
        let mut open = std::mem::take(&mut self.open).into_iter();
        if let Some(mut inside) = self.inside.take() {
            if let Some(first) = open.next() {
                parts::append(&mut inside.node, first);
            }
            shown.push(inside.node);
        }
        shown.extend(open);
        let same =
            shown.iter().zip(&nodes).take_while(|(shown, node)| parts::joined(shown) == parts::joined(node)).count();
        let mut rest = nodes.split_off(same);
        rest.iter_mut().for_each(parts::divide);
        shown.truncate(same);
        shown.extend(rest.iter().cloned());
        self.open = shown;
        Changes { same, keep: 0, nodes: rest }
    }
}

/// Gives the rest of a list the number that the list begins with, if it is its rest.
fn go_on(node: &Node, rest: &mut Node) {
    if let (Node::List { start, .. }, Node::List { start: other, .. }) = (node, rest)
        && start.is_some() == other.is_some()
    {
        *other = *start;
    }
}

/// Highlights the blocks of code in a block.
fn highlight<H: Highlight>(node: &mut Node, highlighter: &mut H) {
    match node {
        Node::CodeBlock { lang, spans } => *spans = highlighter.spans(lang, &code(spans)),
        Node::Quote(children) => children.iter_mut().for_each(|child| highlight(child, highlighter)),
        Node::List { items, .. } => {
            items.iter_mut().flat_map(|item| &mut item.children).for_each(|child| highlight(child, highlighter));
        }
        _ => {}
    }
}

/// The same for the next parts of one that goes on.
fn highlight_more<H: Highlight>(node: &mut Node, block: &mut Option<H::Block>, highlighter: &mut H) {
    match (node, block) {
        (Node::CodeBlock { spans, .. }, Some(block)) => {
            *spans = highlighter.lines(block, &code(spans));
            spans.retain(|span| !span.text.is_empty());
        }
        (node, _) => highlight(node, highlighter),
    }
}

fn code(spans: &[super::CodeSpan]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

/// Whether a list has paragraphs in its items.
fn is_loose(node: &Node) -> bool {
    let has_paragraph = |item: &ListItem| item.children.iter().any(|child| matches!(child, Node::Paragraph(_)));
    matches!(node, Node::List { items, .. } if items.iter().any(has_paragraph))
}

/// Makes paragraphs of the texts in the items of a list.
fn loosen(node: &mut Node) {
    let Node::List { items, .. } = node else { return };
    for item in items {
        let mut children: Vec<Node> = Vec::with_capacity(item.children.len());
        let mut text = Vec::new();
        for child in item.children.drain(..) {
            match child {
                Node::Paragraph(_)
                | Node::Heading { .. }
                | Node::List { .. }
                | Node::CodeBlock { .. }
                | Node::Quote(_)
                | Node::Table(_)
                | Node::Rule => {
                    if !text.is_empty() {
                        children.push(Node::Paragraph(std::mem::take(&mut text)));
                    }
                    children.push(child);
                }
                inline => text.push(inline),
            }
        }
        if !text.is_empty() {
            children.push(Node::Paragraph(text));
        }
        item.children = children;
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// Where the line that ends before this place, or contains it, ends.
fn line_end(text: &str, at: usize) -> usize {
    if text.get(..at).is_none_or(|before| before.is_empty() || before.ends_with('\n')) {
        return at;
    }
    text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |more| at + more + 1)
}
