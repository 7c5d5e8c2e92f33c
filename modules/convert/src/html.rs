//! HTML of mails and web archives as Markdown: headings, lists, tables, link targets. Not a parser: it never fails, what it does not
//! know it passes over, and its output is never rendered as HTML.

use super::references::unescaped;
use super::text::TextBuilder;

/// Tables nested deeper are written as lines: mails use them for their layout.
const MAX_TABLES: usize = 64;

/// Writes a page.
pub fn write(html: &str, text: &mut TextBuilder) {
    let mut writer =
        Writer { text, line: String::new(), tables: Vec::new(), lists: 0, heading: None, link: None, pre: 0 };
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (before, markup) = rest.split_at(at);
        writer.characters(before);
        rest = writer.markup(markup);
        if writer.text.is_full() {
            return;
        }
    }
    writer.characters(rest);
    writer.end_line();
    while writer.tables.pop().is_some() {}
}

/// A table while it is read.
#[derive(Default)]
struct OpenTable {
    cells: Vec<String>,
    /// Whether a row was written, below which the rule of a Markdown table is.
    ruled: bool,
    /// Whether a cell is open, whose text is collected in the line.
    open: bool,
    /// The line before the cell began.
    outer: String,
}

struct Writer<'a> {
    text: &'a mut TextBuilder,
    line: String,
    tables: Vec<OpenTable>,
    lists: usize,
    heading: Option<usize>,
    /// The target of the link that is open, and where its text begins in the line.
    link: Option<(String, usize)>,
    pre: usize,
}

impl Writer<'_> {
    fn characters(&mut self, raw: &str) {
        if raw.is_empty() {
            return;
        }
        let text = unescaped(raw);
        if self.pre > 0 {
            let mut lines = text.split('\n');
            self.line.push_str(lines.next().unwrap_or_default().trim_end_matches('\r'));
            for line in lines {
                self.end_line();
                self.line.push_str(line.trim_end_matches('\r'));
            }
            return;
        }
        for c in text.chars() {
            if !matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{a0}') {
                self.line.push(c);
            } else if !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
        }
    }

    /// Takes one piece of markup; returns what follows it.
    fn markup<'t>(&mut self, tail: &'t str) -> &'t str {
        if let Some(comment) = tail.strip_prefix("<!--") {
            return comment.find("-->").and_then(|end| comment.get(end + 3..)).unwrap_or_default();
        }
        let inner = tail.get(1..).unwrap_or_default();
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            self.line.push('<');
            return inner;
        }
        let Some(end) = tag_end(inner) else { return "" };
        let (tag, rest) = (inner.get(..end).unwrap_or_default(), inner.get(end + 1..).unwrap_or_default());
        let closes = tag.starts_with('/');
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric())
            .map(|c| c.to_ascii_lowercase())
            .collect();
        if !closes && matches!(name.as_str(), "script" | "style" | "title" | "template") {
            return after(rest, &format!("</{name}"));
        }
        if closes {
            self.closes(&name);
        } else {
            self.opens(&name, tag);
        }
        rest
    }

    fn opens(&mut self, name: &str, tag: &str) {
        match name {
            "br" => self.break_line(),
            "hr" => self.block(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.block();
                self.heading = name.get(1..).and_then(|level| level.parse().ok());
            }
            "ul" | "ol" => {
                self.break_line();
                self.lists += 1;
            }
            "li" => {
                self.break_line();
                if self.in_table() {
                    self.line.push_str("- ");
                } else {
                    self.line.push_str(&format!("{}- ", "  ".repeat(self.lists.saturating_sub(1).min(8))));
                }
            }
            "pre" => {
                self.block();
                self.pre += 1;
            }
            "table" => {
                self.block();
                if self.tables.len() < MAX_TABLES {
                    self.tables.push(OpenTable::default());
                }
            }
            "tr" => self.end_row(),
            "td" | "th" => {
                self.end_cell();
                if let Some(table) = self.tables.last_mut() {
                    table.open = true;
                    table.outer = std::mem::take(&mut self.line);
                }
            }
            "a" => {
                self.link = attribute(tag, "href")
                    .filter(|href| href.starts_with("http") || href.starts_with("mailto:"))
                    .map(|href| (href, self.line.len()));
            }
            "img" => {
                if let Some(alt) = attribute(tag, "alt").filter(|alt| !alt.trim().is_empty()) {
                    self.line.push_str(&format!("[picture: {}]", alt.trim()));
                }
            }
            "p" | "div" | "section" | "article" | "blockquote" | "dl" | "dt" | "dd" | "header" | "footer"
            | "center" | "form" => self.block(),
            _ => {}
        }
    }

    fn closes(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.end_heading(),
            "p" | "div" | "section" | "article" | "blockquote" | "dl" | "dt" | "dd" | "center" => self.block(),
            "li" => self.break_line(),
            "ul" | "ol" => {
                self.lists = self.lists.saturating_sub(1);
                self.block();
            }
            "pre" => {
                self.block();
                self.pre = self.pre.saturating_sub(1);
            }
            "td" | "th" => self.end_cell(),
            "tr" => self.end_row(),
            "table" => {
                self.end_row();
                self.tables.pop();
                if !self.in_table() {
                    self.text.gap();
                }
            }
            "a" => {
                if let Some((href, from)) = self.link.take() {
                    let shown = self.line.get(from..).unwrap_or_default().trim();
                    if !shown.is_empty() && shown != href && !href.ends_with(shown) {
                        self.line.push_str(&format!(" ({href})"));
                    }
                }
            }
            _ => {}
        }
    }

    fn in_table(&self) -> bool {
        self.tables.iter().any(|table| table.open)
    }

    /// Begins a new line, with a gap before it; in a cell, a space.
    fn block(&mut self) {
        if self.heading.is_some() {
            return;
        }
        let said = !self.line.trim().is_empty();
        self.break_line();
        if said && !self.in_table() && self.lists == 0 {
            self.text.gap();
        }
    }

    fn break_line(&mut self) {
        if !self.in_table() && self.heading.is_none() {
            self.end_line();
        } else if !self.line.is_empty() && !self.line.ends_with(' ') {
            self.line.push(' ');
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.link = None;
        if self.pre > 0 || !line.trim().is_empty() {
            self.text.line(line.trim_end());
        }
    }

    fn end_heading(&mut self) {
        let Some(level) = self.heading.take() else { return };
        let heading = std::mem::take(&mut self.line);
        let heading = heading.trim();
        if heading.is_empty() {
            return;
        }
        if self.in_table() {
            self.line = format!("{heading} ");
            return;
        }
        self.text.gap();
        self.text.place(&format!("section \"{}\"", heading.chars().take(80).collect::<String>()), None);
        self.text.line(&format!("{} {heading}", "#".repeat(level)));
        self.text.gap();
    }

    fn end_cell(&mut self) {
        self.end_heading();
        if let Some(table) = self.tables.last_mut()
            && table.open
        {
            let cell = std::mem::replace(&mut self.line, std::mem::take(&mut table.outer));
            table.cells.push(cell.split_whitespace().collect::<Vec<_>>().join(" "));
            table.open = false;
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        let Some(table) = self.tables.last_mut() else { return };
        let cells = std::mem::take(&mut table.cells);
        if cells.iter().all(String::is_empty) {
            return;
        }
        let first = !std::mem::replace(&mut table.ruled, true);
        // A table in a cell of another is its text.
        if self.in_table() {
            self.line.push_str(
                &cells.iter().filter(|cell| !cell.is_empty()).map(|cell| format!("{cell} ")).collect::<String>(),
            );
            return;
        }
        if let [only] = cells.as_slice() {
            self.text.line(only);
            return;
        }
        let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        self.text.line(&format!("| {} |", escaped.join(" | ")));
        if first {
            self.text.line(&format!("|{}", " --- |".repeat(cells.len())));
        }
    }
}

/// The end of a tag: a `>` outside of quotes.
fn tag_end(inner: &str) -> Option<usize> {
    let mut quote = None;
    let mut value = false;
    for (at, c) in inner.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') if value => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        value = c == '=' || (value && c.is_whitespace());
    }
    // A quote that is never closed.
    inner.find('>')
}

fn after<'t>(text: &'t str, end: &str) -> &'t str {
    let at = text.as_bytes().windows(end.len()).position(|window| window.eq_ignore_ascii_case(end.as_bytes()));
    let Some(rest) = at.and_then(|at| text.get(at..)) else { return "" };
    rest.find('>').and_then(|close| rest.get(close + 1..)).unwrap_or_default()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let at = rest.as_bytes().windows(name.len()).position(|window| window.eq_ignore_ascii_case(name.as_bytes()))?;
        let before = rest.get(..at)?.chars().next_back();
        rest = rest.get(at + name.len()..)?;
        let Some(value) = rest.trim_start().strip_prefix('=') else { continue };
        if before.is_some_and(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')) {
            continue;
        }
        let value = value.trim_start();
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value.get(1..)?.split(quote).next()?,
            _ => value.split(|c: char| c.is_whitespace()).next()?,
        };
        return Some(unescaped(value));
    }
}
