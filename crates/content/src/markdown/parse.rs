//! The parser: builds nodes from pulldown-cmark's events. Only in workers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{
    Alignment, BrokenLink, CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

use super::formulas::Formulas;
use super::highlight::{self, Highlight, Highlighter, Plain};
use super::{Align, CodeSpan, ListItem, MAX_DEPTH, MarkdownTable, Node, TableCell, TaskMark, safe_href};

/// Empty cells at the end of a row of a table that are kept; those before them always are.
const KEPT_CELLS: usize = 16;

/// Converts Markdown (CommonMark with tables, strikethrough, task lists, footnotes, formulas and bare addresses) to nodes; code is
/// not highlighted. Accepts any input and never panics.
#[must_use]
pub fn parse(markdown: &str) -> Vec<Node> {
    parse_with(markdown, &mut Plain)
}

/// As [`parse`], with code highlighted.
#[must_use]
pub fn parse_highlighted(markdown: &str) -> Vec<Node> {
    highlight::load();
    parse_with(markdown, &mut Highlighter::default())
}

/// As [`parse`], with code as `highlight` makes it.
pub fn parse_with(markdown: &str, highlight: &mut impl Highlight) -> Vec<Node> {
    parse_parts(markdown, &Definitions::new(), &mut |lang, code| highlight.spans(lang, &code)).nodes
}

/// The addresses that an earlier part of the text defines (`[label]: address`), by label.
pub(super) type Definitions = HashMap<String, String>;

/// Makes the spans of a block of code, by its language.
type Spans<'a> = &'a mut dyn FnMut(&str, String) -> Vec<CodeSpan>;

/// The nodes of a text, and where they are in it. Places are bytes.
pub(super) struct Parsed {
    pub(super) nodes: Vec<Node>,
    /// The blocks that the nodes are made from, in order. As many as nodes, unless there are footnotes.
    pub(super) blocks: Vec<Range<usize>>,
    /// Where the items or the rows of the last block begin.
    pub(super) parts: Vec<usize>,
    /// The addresses that the text defines, and where, in order.
    pub(super) defined: Vec<(Range<usize>, String, String)>,
    /// It defines footnotes.
    pub(super) has_notes: bool,
}

/// Parses a text that follows one with these `definitions`.
pub(super) fn parse_parts(markdown: &str, definitions: &Definitions, highlight: Spans<'_>) -> Parsed {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
    let (markdown, formulas) = match Formulas::take_out(markdown) {
        Some((marked, formulas)) => (Cow::Owned(marked), formulas),
        None => (Cow::Borrowed(markdown), Formulas::default()),
    };
    let mut build = Build {
        stack: vec![Frame::new(FrameKind::Root)],
        skipped: 0,
        notes: Vec::new(),
        labels: HashMap::new(),
        formulas,
        highlight,
    };
    let earlier = |link: BrokenLink<'_>| Some((definitions.get(&label(&link.reference))?.clone().into(), "".into()));
    let mut parser = Parser::new_with_broken_link_callback(&markdown, options, Some(earlier)).into_offset_iter();
    let (mut blocks, mut parts, mut depth, mut has_notes) = (Vec::new(), Vec::new(), 0_usize, false);
    for (event, range) in parser.by_ref() {
        match &event {
            Event::Start(tag) => {
                match depth {
                    0 => {
                        blocks.push(build.formulas.source(range.start)..build.formulas.source(range.end));
                        parts.clear();
                    }
                    1 if matches!(tag, Tag::Item | Tag::TableRow) => parts.push(build.formulas.source(range.start)),
                    _ => {}
                }
                has_notes |= matches!(tag, Tag::FootnoteDefinition(_));
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => {
                blocks.push(build.formulas.source(range.start)..build.formulas.source(range.end));
                parts.clear();
            }
            _ => {}
        }
        build.event(event);
    }
    let defined = parser.reference_definitions().iter().map(|(name, defined)| {
        let span = build.formulas.source(defined.span.start)..build.formulas.source(defined.span.end);
        (span, label(name), build.formulas.restore(&defined.dest))
    });
    let mut defined: Vec<_> = defined.collect();
    defined.sort_by_key(|(span, ..)| span.start);
    Parsed { nodes: build.finish(), blocks, parts, defined, has_notes }
}

/// A label as labels are compared: without regard to case and spaces.
fn label(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// An open container and its content so far.
struct Frame {
    kind: FrameKind,
    children: Vec<Node>,
}

enum FrameKind {
    Root,
    Paragraph,
    Heading(u8),
    List { start: Option<u64>, items: Vec<ListItem> },
    Item { task: Option<TaskMark> },
    Code { lang: String },
    Quote,
    Table(MarkdownTable),
    Row { cells: Vec<TableCell> },
    Cell,
    Strong,
    Emphasis,
    Strike,
    Link { href: Option<String> },
    Footnote(String),
    Image { href: Option<String> },
}

impl Frame {
    fn new(kind: FrameKind) -> Self {
        Frame { kind, children: Vec::new() }
    }
}

struct Build<'a> {
    /// Never empty: only `finish` removes the root.
    stack: Vec<Frame>,
    /// Open containers beyond the depth limit: they have no frame.
    skipped: usize,
    /// Footnotes in the order in which they are first mentioned, and their places by label.
    notes: Vec<Vec<Node>>,
    labels: HashMap<String, usize>,
    formulas: Formulas<'a>,
    highlight: Spans<'a>,
}

impl Build<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(end) => self.close(end),
            // Its own mathematics is not enabled: formulas were taken out before.
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(label) => {
                let number = number(self.note(&label));
                let in_link = |frame: &Frame| matches!(frame.kind, FrameKind::Link { .. });
                // A link contains no other link.
                match self.stack.iter().any(in_link) {
                    true => self.text(&format!("[{number}]")),
                    false => self.push(Node::FootnoteMark(number)),
                }
            }
            Event::Code(text) => self.push(Node::Code(self.formulas.restore(&text))),
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.push(Node::Break),
            Event::Rule => self.push(Node::Rule),
            Event::TaskListMarker(checked) => {
                let state = if checked { TaskMark::Done } else { TaskMark::Open };
                if let Some(FrameKind::Item { task }) =
                    self.stack.iter_mut().rev().map(|f| &mut f.kind).find(|k| matches!(k, FrameKind::Item { .. }))
                {
                    *task = Some(state);
                }
            }
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        let kind = match tag {
            Tag::Heading { level, .. } => FrameKind::Heading(level_number(level)),
            Tag::BlockQuote(_) => FrameKind::Quote,
            Tag::CodeBlock(kind) => FrameKind::Code { lang: self.formulas.restore(&language(&kind)) },
            Tag::List(start) => FrameKind::List { start, items: Vec::new() },
            Tag::Item => FrameKind::Item { task: None },
            Tag::Table(align) => FrameKind::Table(MarkdownTable {
                align: align.into_iter().map(alignment).collect(),
                ..MarkdownTable::default()
            }),
            Tag::TableHead | Tag::TableRow => FrameKind::Row { cells: Vec::new() },
            Tag::TableCell => FrameKind::Cell,
            Tag::Emphasis => FrameKind::Emphasis,
            Tag::Strong => FrameKind::Strong,
            Tag::Strikethrough => FrameKind::Strike,
            Tag::Link { link_type, dest_url, .. } => FrameKind::Link { href: self.href(link_type, &dest_url) },
            Tag::Image { link_type, dest_url, .. } => FrameKind::Image { href: self.href(link_type, &dest_url) },
            Tag::FootnoteDefinition(label) => FrameKind::Footnote(label.into_string()),
            // A block of raw HTML is a paragraph of text.
            _ => FrameKind::Paragraph,
        };
        // An item, row or cell is inside its list or table, and may have a frame exactly if that has one.
        let room = match kind {
            FrameKind::Item { .. } | FrameKind::Row { .. } | FrameKind::Cell => self.skipped == 0,
            _ => self.skipped == 0 && self.depth() < MAX_DEPTH,
        };
        if room {
            self.stack.push(Frame::new(kind));
        } else {
            self.skipped += 1;
        }
    }

    fn close(&mut self, end: TagEnd) {
        if self.skipped > 0 {
            self.skipped -= 1;
            if matches!(end, TagEnd::Paragraph | TagEnd::Item | TagEnd::TableRow | TagEnd::CodeBlock) {
                self.text("\n");
            }
            return;
        }
        if self.stack.len() < 2 {
            return;
        }
        let Some(Frame { kind, children }) = self.stack.pop() else { return };
        match kind {
            FrameKind::Root => {}
            FrameKind::Paragraph => self.push(Node::Paragraph(children)),
            FrameKind::Heading(level) => self.push(Node::Heading { level, children }),
            FrameKind::List { start, items } => self.push(Node::List { start, items }),
            FrameKind::Item { task } => {
                let item = ListItem { task, footnote: None, children };
                if let Some(Frame { kind: FrameKind::List { items, .. }, .. }) = self.stack.last_mut() {
                    items.push(item);
                }
            }
            FrameKind::Code { lang } => {
                let text = children.into_iter().map(|node| if let Node::Text(t) = node { t } else { String::new() });
                let text = self.formulas.restore(&text.collect::<String>());
                let spans = (self.highlight)(&lang, text);
                self.push(Node::CodeBlock { lang, spans });
            }
            FrameKind::Quote => self.push(Node::Quote(children)),
            FrameKind::Table(table) => self.push(Node::Table(table)),
            FrameKind::Row { mut cells } => {
                // The parser fills each row up to the width of its table: a wide table of short rows is mostly that.
                while cells.len() > KEPT_CELLS && cells.last().is_some_and(Vec::is_empty) {
                    cells.pop();
                }
                if let Some(Frame { kind: FrameKind::Table(table), .. }) = self.stack.last_mut() {
                    if end == TagEnd::TableHead { table.head = cells } else { table.rows.push(cells) }
                }
            }
            FrameKind::Cell => {
                if let Some(Frame { kind: FrameKind::Row { cells }, .. }) = self.stack.last_mut() {
                    cells.push(children);
                }
            }
            FrameKind::Strong => self.push(Node::Strong(children)),
            FrameKind::Emphasis => self.push(Node::Emphasis(children)),
            FrameKind::Strike => self.push(Node::Strike(children)),
            FrameKind::Link { href: Some(href) } => self.push(Node::Link { href, children }),
            // The address is not safe: the text is kept without the link.
            FrameKind::Link { href: None } => children.into_iter().for_each(|child| self.push(child)),
            FrameKind::Footnote(label) => {
                let at = self.note(&label);
                if let Some(note) = self.notes.get_mut(at) {
                    note.extend(children);
                }
            }
            FrameKind::Image { href } => {
                let alt = self.formulas.restore(&super::plain_text(&children));
                self.push(Node::Image { alt, href });
            }
        }
    }

    /// The number of containers that count towards the limit: all frames except the root, items, rows and cells.
    fn depth(&self) -> usize {
        let counted = |f: &&Frame| {
            !matches!(f.kind, FrameKind::Root | FrameKind::Item { .. } | FrameKind::Row { .. } | FrameKind::Cell)
        };
        self.stack.iter().filter(counted).count()
    }

    fn text(&mut self, text: &str) {
        if let Some(frame) = self.stack.last_mut() {
            if let Some(Node::Text(last)) = frame.children.last_mut() {
                last.push_str(text);
            } else {
                frame.children.push(Node::Text(text.to_owned()));
            }
        }
    }

    fn push(&mut self, node: Node) {
        match node {
            Node::Text(text) => self.text(&text),
            node => {
                if let Some(frame) = self.stack.last_mut() {
                    frame.children.push(node);
                }
            }
        }
    }

    /// The index of a footnote.
    fn note(&mut self, label: &str) -> usize {
        // Labels are compared without regard to case.
        let next = self.notes.len();
        let at = *self.labels.entry(label.to_lowercase()).or_insert(next);
        if at == next {
            self.notes.push(Vec::new());
        }
        at
    }

    /// The footnotes follow the text, as a numbered list.
    fn finish(mut self) -> Vec<Node> {
        let mut nodes = self.stack.drain(..).next().map(|root| root.children).unwrap_or_default();
        if !self.notes.is_empty() {
            let notes = std::mem::take(&mut self.notes).into_iter().enumerate();
            let item = |(at, children)| ListItem { task: None, footnote: Some(number(at)), children };
            nodes.extend([Node::Rule, Node::List { start: Some(1), items: notes.map(item).collect() }]);
        }
        self.formulas.put_back(&mut nodes);
        super::bare::link(&mut nodes);
        nodes
    }

    fn href(&self, kind: LinkType, address: &str) -> Option<String> {
        let address = self.formulas.restore(address);
        if kind == LinkType::Email { safe_href(&format!("mailto:{address}")) } else { safe_href(&address) }
    }
}

/// The number of the footnote at this index.
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1)
}

fn language(kind: &CodeBlockKind<'_>) -> String {
    match kind {
        CodeBlockKind::Indented => String::new(),
        CodeBlockKind::Fenced(info) => info.split([' ', ',', '\t']).next().unwrap_or_default().to_owned(),
    }
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn alignment(align: Alignment) -> Align {
    match align {
        Alignment::None => Align::None,
        Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}
