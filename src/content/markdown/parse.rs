//! The parser: builds nodes from pulldown-cmark's events. Only in workers; the small worker does not highlight code.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

#[cfg(feature = "worker")]
use super::highlight::Highlighter;
use super::{Align, Cell, Item, MAX_DEPTH, Node, Table, Task, safe_href};

/// Converts Markdown (CommonMark with tables, strikethrough and task lists) to nodes. Accepts any input and never panics.
#[must_use]
pub fn parse(markdown: &str) -> Vec<Node> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut build = Build { stack: vec![Frame::new(Kind::Root)], skipped: 0, highlighter: Default::default() };
    for event in Parser::new_ext(markdown, options) {
        build.event(event);
    }
    build.finish()
}

/// The highlighter without grammars.
#[cfg(not(feature = "worker"))]
#[derive(Default)]
struct Highlighter;

#[cfg(not(feature = "worker"))]
impl Highlighter {
    fn spans(&mut self, _lang: &str, code: String) -> Vec<super::Span> {
        vec![super::Span { class: super::Class::Plain, text: code }]
    }
}

/// An open container and its content so far.
struct Frame {
    kind: Kind,
    children: Vec<Node>,
}

enum Kind {
    Root,
    Paragraph,
    Heading(u8),
    List { start: Option<u64>, items: Vec<Item> },
    Item { task: Option<Task> },
    Code { lang: String },
    Quote,
    Table(Table),
    Row { cells: Vec<Cell> },
    Cell,
    Strong,
    Emphasis,
    Strike,
    Link { href: Option<String> },
    Image { href: Option<String> },
}

impl Frame {
    fn new(kind: Kind) -> Self {
        Frame { kind, children: Vec::new() }
    }
}

struct Build {
    /// Never empty: only `finish` removes the root.
    stack: Vec<Frame>,
    /// Open containers beyond the depth limit: they have no frame.
    skipped: usize,
    highlighter: Highlighter,
}

impl Build {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(end) => self.close(end),
            // Math and footnotes are not enabled; if they ever are, their text is kept.
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.text(&text),
            Event::Code(text) => self.push(Node::Code(text.into_string())),
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.push(Node::Break),
            Event::Rule => self.push(Node::Rule),
            Event::TaskListMarker(checked) => {
                let state = if checked { Task::Done } else { Task::Open };
                if let Some(Kind::Item { task }) =
                    self.stack.iter_mut().rev().map(|f| &mut f.kind).find(|k| matches!(k, Kind::Item { .. }))
                {
                    *task = Some(state);
                }
            }
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        let kind = match tag {
            Tag::Heading { level, .. } => Kind::Heading(level_number(level)),
            Tag::BlockQuote(_) => Kind::Quote,
            Tag::CodeBlock(kind) => Kind::Code { lang: language(&kind) },
            Tag::List(start) => Kind::List { start, items: Vec::new() },
            Tag::Item => Kind::Item { task: None },
            Tag::Table(align) => {
                Kind::Table(Table { align: align.into_iter().map(alignment).collect(), ..Table::default() })
            }
            Tag::TableHead | Tag::TableRow => Kind::Row { cells: Vec::new() },
            Tag::TableCell => Kind::Cell,
            Tag::Emphasis => Kind::Emphasis,
            Tag::Strong => Kind::Strong,
            Tag::Strikethrough => Kind::Strike,
            Tag::Link { link_type, dest_url, .. } => Kind::Link { href: href(link_type, &dest_url) },
            Tag::Image { link_type, dest_url, .. } => Kind::Image { href: href(link_type, &dest_url) },
            // A block of raw HTML is a paragraph of text.
            _ => Kind::Paragraph,
        };
        // An item, row or cell is inside its list or table, and may have a frame exactly if that has one.
        let room = match kind {
            Kind::Item { .. } | Kind::Row { .. } | Kind::Cell => self.skipped == 0,
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
            Kind::Root => {}
            Kind::Paragraph => self.push(Node::Paragraph(children)),
            Kind::Heading(level) => self.push(Node::Heading { level, children }),
            Kind::List { start, items } => self.push(Node::List { start, items }),
            Kind::Item { task } => {
                let item = Item { task, children };
                if let Some(Frame { kind: Kind::List { items, .. }, .. }) = self.stack.last_mut() {
                    items.push(item);
                }
            }
            Kind::Code { lang } => {
                let text = children.into_iter().map(|node| if let Node::Text(t) = node { t } else { String::new() });
                let spans = self.highlighter.spans(&lang, text.collect());
                self.push(Node::CodeBlock { lang, spans });
            }
            Kind::Quote => self.push(Node::Quote(children)),
            Kind::Table(table) => self.push(Node::Table(table)),
            Kind::Row { mut cells } => {
                while cells.last().is_some_and(Vec::is_empty) {
                    cells.pop();
                }
                if let Some(Frame { kind: Kind::Table(table), .. }) = self.stack.last_mut() {
                    if end == TagEnd::TableHead { table.head = cells } else { table.rows.push(cells) }
                }
            }
            Kind::Cell => {
                if let Some(Frame { kind: Kind::Row { cells }, .. }) = self.stack.last_mut() {
                    cells.push(children);
                }
            }
            Kind::Strong => self.push(Node::Strong(children)),
            Kind::Emphasis => self.push(Node::Emphasis(children)),
            Kind::Strike => self.push(Node::Strike(children)),
            Kind::Link { href: Some(href) } => self.push(Node::Link { href, children }),
            // The address is not safe: the text is kept without the link.
            Kind::Link { href: None } => children.into_iter().for_each(|child| self.push(child)),
            Kind::Image { href } => self.push(Node::Image { alt: super::plain_text(&children), href }),
        }
    }

    /// The number of containers that count towards the limit: all frames except the root, items, rows and cells.
    fn depth(&self) -> usize {
        let counted = |f: &&Frame| !matches!(f.kind, Kind::Root | Kind::Item { .. } | Kind::Row { .. } | Kind::Cell);
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

    fn finish(mut self) -> Vec<Node> {
        self.stack.drain(..).next().map(|root| root.children).unwrap_or_default()
    }
}

fn href(kind: LinkType, address: &str) -> Option<String> {
    if kind == LinkType::Email { safe_href(&format!("mailto:{address}")) } else { safe_href(address) }
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
