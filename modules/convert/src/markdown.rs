//! The model of a document as Markdown. Markup that only changes the look is dropped, and nothing is escaped except what would
//! end a table cell: the text is read and searched, not rendered.

use anydoc::model::{Block, Cell, CellSlot, Document, Inline, List, Table};

use super::limits::MAX_DEPTH;
use super::lost::Lost;
use super::symbols::{is_private, unknown};
use super::text::{MARK, TextBuilder};

/// Writes the body and the notes. Headings, and marks of slides, become places.
pub fn write(document: &Document, text: &mut TextBuilder, lost: &mut Lost) {
    let mut writer = Writer { text, lost, slides: 0, depth: 0 };
    writer.blocks(&document.blocks, "");
    for note in &document.notes {
        writer.text.gap();
        let body = flat(&note.blocks, writer.lost);
        writer.text.line(&format!("[^{}]: {body}", note.id));
    }
}

struct Writer<'a> {
    text: &'a mut TextBuilder,
    lost: &'a mut Lost,
    slides: usize,
    depth: usize,
}

impl Writer<'_> {
    fn blocks(&mut self, blocks: &[Block], prefix: &str) {
        if self.depth >= MAX_DEPTH {
            let rest = flat(blocks, self.lost);
            if !rest.is_empty() {
                self.text.line(&format!("{prefix}{rest}"));
            }
            return;
        }
        self.depth += 1;
        for block in blocks {
            if self.text.is_full() {
                break;
            }
            self.block(block, prefix);
        }
        self.depth -= 1;
    }

    fn block(&mut self, block: &Block, prefix: &str) {
        match block {
            Block::Heading { level, content, .. } => {
                let heading = one_line(&inline(content, self.lost));
                if heading.is_empty() {
                    return;
                }
                self.text.gap();
                if self.slides == 0 && prefix.is_empty() {
                    self.text.place(&format!("section \"{}\"", shortened(&heading)), None);
                }
                self.text.line(&format!("{prefix}{} {heading}", "#".repeat(usize::from((*level).clamp(1, 6)))));
                self.text.gap();
            }
            Block::Paragraph(content) => {
                let paragraph = inline(content, self.lost);
                if paragraph.starts_with(MARK) {
                    self.slides += 1;
                    self.text.marked(&format!("slide {}", self.slides));
                } else if !paragraph.trim().is_empty() {
                    self.lines(&paragraph, prefix);
                    if prefix.is_empty() {
                        self.text.gap();
                    }
                }
            }
            Block::List(list) => {
                self.list(list, prefix);
                if prefix.is_empty() {
                    self.text.gap();
                }
            }
            Block::Table(table) => self.table(table, prefix),
            Block::BlockQuote(blocks) => {
                self.blocks(blocks, &format!("{prefix}> "));
                self.text.gap();
            }
            Block::CodeBlock { lang, text } => {
                self.text.line(&format!("{prefix}```{}", lang.as_deref().unwrap_or_default()));
                self.lines(text, prefix);
                self.text.line(&format!("{prefix}```"));
            }
            Block::Rule => self.text.line(&format!("{prefix}---")),
            Block::Math(tex) => self.lines(&format!("$$ {} $$", tex.trim()), prefix),
        }
    }

    fn lines(&mut self, lines: &str, prefix: &str) {
        for line in lines.trim_end().split('\n') {
            self.text.line(&format!("{prefix}{line}"));
        }
    }

    fn list(&mut self, list: &List, prefix: &str) {
        for (number, item) in (list.start..).zip(&list.items) {
            let marker = match &item.marker_label {
                Some(label) => label.clone(),
                None => list.marker.label(number),
            };
            let mut blocks = item.blocks.iter();
            let first = match item.blocks.first() {
                Some(Block::Paragraph(content)) => {
                    blocks.next();
                    inline(content, self.lost).trim().replace('\n', &format!("\n{prefix}  "))
                }
                _ => String::new(),
            };
            self.text.line(&format!("{prefix}{marker} {first}"));
            self.blocks(blocks.as_slice(), &format!("{prefix}  "));
        }
    }

    /// A table of one cell is a frame around its content.
    fn table(&mut self, table: &Table, prefix: &str) {
        if let [row] = table.grid.as_slice()
            && let [CellSlot::Origin(cell)] = row.as_slice()
        {
            return self.blocks(&cell.blocks, prefix);
        }
        let lost = &mut *self.lost;
        let rows: Vec<Vec<String>> =
            table.grid.iter().map(|row| row.iter().map(|one| slot(one, lost)).collect()).collect();
        let width = rows.iter().map(Vec::len).max().unwrap_or_default();
        if width == 0 || rows.iter().flatten().all(String::is_empty) {
            return;
        }
        if prefix.is_empty() {
            self.text.gap();
        }
        for (number, row) in rows.iter().enumerate() {
            let empty = String::new();
            let cells: Vec<&str> = (0..width).map(|column| row.get(column).unwrap_or(&empty).as_str()).collect();
            self.text.line(&format!("{prefix}| {} |", cells.join(" | ")));
            if number == 0 {
                self.text.line(&format!("{prefix}|{}", " --- |".repeat(width)));
            }
        }
        if prefix.is_empty() {
            self.text.gap();
        }
    }
}

fn slot(slot: &CellSlot, lost: &mut Lost) -> String {
    match slot {
        CellSlot::Origin(cell) => cell_text(cell, lost),
        CellSlot::Covered { .. } => String::new(),
    }
}

fn cell_text(cell: &Cell, lost: &mut Lost) -> String {
    flat(&cell.blocks, lost).replace('|', "\\|")
}

/// The text of blocks on one line.
fn flat(blocks: &[Block], lost: &mut Lost) -> String {
    let mut parts = Vec::new();
    collect(blocks, &mut parts, lost, 0);
    one_line(&parts.join(" "))
}

fn collect(blocks: &[Block], parts: &mut Vec<String>, lost: &mut Lost, depth: usize) {
    if depth > 2 * MAX_DEPTH {
        lost.one("block(s) in too deep a table");
        return;
    }
    for block in blocks {
        match block {
            Block::Heading { content, .. } | Block::Paragraph(content) => parts.push(inline(content, lost)),
            Block::List(list) => list.items.iter().for_each(|item| collect(&item.blocks, parts, lost, depth + 1)),
            Block::Table(table) => {
                for slot in table.grid.iter().flatten() {
                    if let CellSlot::Origin(cell) = slot {
                        collect(&cell.blocks, parts, lost, depth + 1);
                    }
                }
            }
            Block::BlockQuote(blocks) => collect(blocks, parts, lost, depth + 1),
            Block::CodeBlock { text, .. } | Block::Math(text) => parts.push(text.clone()),
            Block::Rule => {}
        }
    }
}

/// Plain text, with the target of a link that its text does not show, the references of notes, and what is struck through as such: in a
/// contract it is no longer valid.
fn inline(content: &[Inline], lost: &mut Lost) -> String {
    let mut out = String::new();
    let mut struck = false;
    for one in content {
        let strikes = matches!(one, Inline::Text { text, style } if style.strike && !text.trim().is_empty());
        // Spaces between struck words are struck or not.
        if strikes != struck && !matches!(one, Inline::Text { text, .. } if text.trim().is_empty()) {
            out.push_str("~~");
            struck = strikes;
        }
        match one {
            Inline::Text { text, .. } => push_known(&mut out, text),
            Inline::Link { content, target } => {
                let label = inline(content, lost);
                match target {
                    anydoc::model::LinkTarget::External(url)
                        if !url.contains(label.trim()) || label.trim().is_empty() =>
                    {
                        out.push_str(&format!("[{label}]({url})"));
                    }
                    _ => out.push_str(&label),
                }
            }
            Inline::Image { alt, .. } if alt.trim().is_empty() => lost.one("picture(s) without a description"),
            Inline::Image { alt, .. } => match one_line(alt).strip_prefix("Embedded object: ") {
                Some(kind) => {
                    lost.one("embedded object(s)");
                    out.push_str(&format!("[embedded object {kind}]"));
                }
                None => out.push_str(&format!("[picture: {}]", one_line(alt))),
            },
            Inline::NoteRef(id) => out.push_str(&format!("[^{id}]")),
            Inline::LineBreak => out.push('\n'),
            Inline::Math(tex) => out.push_str(&format!("${tex}$")),
            Inline::Checkbox(checked) => out.push_str(anydoc::model::checkbox_text(*checked)),
            Inline::Anchor(_) => {}
        }
    }
    if struck {
        out.push_str("~~");
    }
    out
}

/// Appends text. A character whose meaning is its font's own becomes its code, since the font is not known here.
fn push_known(out: &mut String, text: &str) {
    if text.starts_with(MARK) {
        return out.push_str(text);
    }
    for one in text.chars() {
        if is_private(one) { out.push_str(&unknown(one.into(), "")) } else { out.push(one) }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(heading: &str) -> String {
    const MOST: usize = 80;
    match heading.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", heading.get(..end).unwrap_or(heading).trim_end()),
        None => heading.to_owned(),
    }
}
