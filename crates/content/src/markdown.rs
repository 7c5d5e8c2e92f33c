//! Markdown as a closed set of nodes: the only content that a model can make a page show.
//!
//! PURE. A page only draws nodes: the parser and the highlighting of code run in a worker, and what does not call
//! [`parse_highlighted`] does not link the grammars. Invariants: no node carries markup; raw HTML is [`Node::Text`]; every `href` is http(s), mailto, or
//! relative; no node makes a browser load anything (images are placeholders); nesting is at most [`MAX_DEPTH`].

use serde::{Deserialize, Serialize};

pub mod bare;
mod formulas;
pub mod grammars;
pub mod growing;
pub mod highlight;
mod parse;
pub mod parts;
pub use parse::{parse, parse_highlighted, parse_with};
pub mod target;

/// The maximum nesting of containers; deeper content loses its container and keeps its text.
pub const MAX_DEPTH: usize = 20;

/// A block or inline element of a Markdown text: an object with one key, or a string. No node carries markup; every `href`
/// is http(s), mailto or relative; no node makes a browser load anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "MarkdownNode"))]
#[serde(rename_all = "snake_case")]
pub enum Node {
    Paragraph(Vec<Node>),
    Heading {
        /// 1 to 6.
        level: u8,
        children: Vec<Node>,
    },
    List {
        /// The first number of an ordered list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
        items: Vec<ListItem>,
    },
    CodeBlock {
        /// The first word after the fence.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        lang: String,
        spans: Vec<CodeSpan>,
    },
    Quote(Vec<Node>),
    Table(MarkdownTable),
    Rule,
    /// A soft line break is a `\n` in the text.
    Text(String),
    Strong(Vec<Node>),
    Emphasis(Vec<Node>),
    Strike(Vec<Node>),
    Code(String),
    /// LaTeX, without its delimiters.
    Formula {
        tex: String,
        /// In a line of its own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        display: bool,
    },
    Link {
        href: String,
        children: Vec<Node>,
    },
    /// Not loaded: shown as its description, with a link if the address is safe.
    Image {
        alt: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        href: Option<String>,
    },
    /// The mark of a footnote, by its number. The note is in the list at the end.
    FootnoteMark(u32),
    Break,
}

/// One item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "MarkdownItem"))]
pub struct ListItem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMark>,
    /// Set for a footnote: its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footnote: Option<u32>,
    pub children: Vec<Node>,
}

/// The checkbox of a task item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "MarkdownTask"))]
#[serde(rename_all = "snake_case")]
pub enum TaskMark {
    Open,
    Done,
}

/// A table. Rows may be shorter than the header: empty cells at the end are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "MarkdownTable"))]
pub struct MarkdownTable {
    pub align: Vec<Align>,
    pub head: Vec<TableCell>,
    pub rows: Vec<Vec<TableCell>>,
}

/// The inline elements of one cell.
pub type TableCell = Vec<Node>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "MarkdownAlign"))]
#[serde(rename_all = "snake_case")]
pub enum Align {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// A run of code with one highlighting class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "CodeSpan"))]
pub struct CodeSpan {
    #[serde(default, skip_serializing_if = "Class::is_plain")]
    pub class: Class,
    pub text: String,
}

/// The class of a run of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "CodeClass"))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    #[default]
    #[cfg_attr(feature = "types", ts(skip))] // never in the JSON
    Plain,
    Comment,
    String,
    Number,
    Keyword,
    Function,
    Type,
    Constant,
    Name,
    Inserted,
    Deleted,
}

impl Class {
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Class::Plain
    }

    /// Returns the CSS class of such a run, in the app and in reports.
    #[must_use]
    pub fn css(self) -> &'static str {
        match self {
            Class::Plain => "",
            Class::Comment => "tok-comment",
            Class::String => "tok-string",
            Class::Number => "tok-number",
            Class::Keyword => "tok-keyword",
            Class::Function => "tok-function",
            Class::Type => "tok-type",
            Class::Constant => "tok-constant",
            Class::Name => "tok-name",
            Class::Inserted => "tok-inserted",
            Class::Deleted => "tok-deleted",
        }
    }
}

/// Returns the address if it is allowed in `href`: http(s) with a host that can be [told](target::host), mailto, relative or a
/// fragment. `None` for everything else (`javascript:`, `data:`, `file:`, …). Control characters, which browsers skip inside
/// schemes, are removed first.
#[must_use]
pub fn safe_href(address: &str) -> Option<String> {
    let address: String = address.trim().chars().filter(|c| !c.is_control()).collect();
    let head = address.split(['/', '?', '#']).next().unwrap_or_default();
    match head.split_once(':') {
        _ if address.is_empty() => None,
        Some((scheme, _)) => {
            let known = scheme.eq_ignore_ascii_case("mailto") || target::host(&address).is_some();
            known.then_some(address)
        }
        None => Some(address),
    }
}

/// Returns the address if it is allowed in a page that opens from disk: only http, https and mailto, with a host or a
/// mailbox. There, `//host/share` and `\\\\host\\share` are addresses of a file server, even with a colon in them.
#[must_use]
pub fn web_href(address: &str) -> Option<String> {
    let href = safe_href(address)?;
    let (scheme, rest) = href.split_once(':')?;
    let mail = scheme.eq_ignore_ascii_case("mailto") && !rest.is_empty();
    (mail || target::host(&href).is_some()).then_some(href)
}

/// Returns the number of elements that a page makes for the nodes, about.
#[must_use]
pub fn weight(nodes: &[Node]) -> usize {
    let of = |node: &Node| match node {
        Node::Paragraph(children)
        | Node::Heading { children, .. }
        | Node::Quote(children)
        | Node::Strong(children)
        | Node::Emphasis(children)
        | Node::Strike(children)
        | Node::Link { children, .. } => weight(children),
        Node::List { items, .. } => items.iter().map(|item| 1 + weight(&item.children)).sum(),
        Node::Table(table) => row_weight(&table.head) + table.rows.iter().map(|row| row_weight(row)).sum::<usize>(),
        Node::CodeBlock { spans, .. } => spans.len(),
        _ => 0,
    };
    nodes.iter().map(|node| 1 + of(node)).sum()
}

fn row_weight(row: &[TableCell]) -> usize {
    1 + row.iter().map(|cell| 1 + weight(cell)).sum::<usize>()
}

/// Returns whether there is a formula in the nodes.
#[must_use]
pub fn has_formula(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Formula { .. } => true,
        Node::Paragraph(children)
        | Node::Heading { children, .. }
        | Node::Quote(children)
        | Node::Strong(children)
        | Node::Emphasis(children)
        | Node::Strike(children)
        | Node::Link { children, .. } => has_formula(children),
        Node::List { items, .. } => items.iter().any(|item| has_formula(&item.children)),
        Node::Table(table) => std::iter::once(&table.head).chain(&table.rows).flatten().any(|cell| has_formula(cell)),
        _ => false,
    })
}

/// Returns whether the first letter of the nodes is from a right-to-left script (Hebrew, Arabic and related ones).
#[must_use]
pub fn is_rtl(nodes: &[Node]) -> bool {
    let text = plain_text(nodes);
    text.chars().find(|c| c.is_alphabetic()).is_some_and(|c| {
        matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
    })
}

/// Returns the text of the nodes without any markup, with blocks separated by newlines.
#[must_use]
pub fn plain_text(nodes: &[Node]) -> String {
    let mut out = String::new();
    write_text(nodes, &mut out);
    out.trim_end().to_owned()
}

fn write_text(nodes: &[Node], out: &mut String) {
    for node in nodes {
        match node {
            Node::Paragraph(children) | Node::Heading { children, .. } => {
                write_text(children, out);
                out.push('\n');
            }
            Node::List { items, .. } => {
                for item in items {
                    write_text(&item.children, out);
                    end_line(out);
                }
            }
            Node::CodeBlock { spans, .. } => {
                out.extend(spans.iter().map(|span| span.text.as_str()));
                end_line(out);
            }
            Node::Table(table) => {
                for row in std::iter::once(&table.head).chain(&table.rows) {
                    for cell in row {
                        write_text(cell, out);
                        out.push('\t');
                    }
                    end_line(out);
                }
            }
            Node::Quote(children)
            | Node::Strong(children)
            | Node::Emphasis(children)
            | Node::Strike(children)
            | Node::Link { children, .. } => write_text(children, out),
            Node::Text(text) | Node::Code(text) | Node::Formula { tex: text, .. } | Node::Image { alt: text, .. } => {
                out.push_str(text);
            }
            Node::FootnoteMark(number) => out.push_str(&format!("[{number}]")),
            Node::Rule | Node::Break => out.push('\n'),
        }
    }
}

fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}
