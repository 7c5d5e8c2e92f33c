//! The extras of ODS: they are in its content, between the cells.

use std::collections::BTreeSet;

use super::ooxml::Parts;
use super::{Extras, SheetExtras, list_text, range};
use crate::markup::{Tag, Token, tokens};
use crate::parts::stored;
use crate::references::unescaped;

/// Rows and columns that one element may stand for: what follows the last value of a sheet often is one of a million rows.
const REPEATED: u32 = 1 << 20;

pub fn extras(bytes: &[u8]) -> Option<Extras> {
    let mut parts = Parts::new(bytes)?;
    let content = parts.text("content.xml")?;
    let mut extras = Extras::default();
    let mut reader = Reader::default();
    for token in tokens(&content) {
        reader.take(token, &mut extras, &mut parts);
    }
    let styles = parts.text("styles.xml").unwrap_or_default();
    for (kind, text) in headers(&styles) {
        extras.notes.push(format!("{kind}: {text}"));
    }
    if parts.names().iter().any(|name| name.starts_with("Basic/")) && content.contains("script:event-listener") {
        extras.notes.push("it has macros, which are not read".to_owned());
    }
    if content.contains("<table:tracked-changes") {
        extras.notes.push("it has tracked changes, whose earlier values are not read".to_owned());
    }
    Some(extras)
}

/// Texts of headers and footers of printed pages, without those that a program writes by itself: a word and the number of the page.
fn headers(styles: &str) -> BTreeSet<(&'static str, String)> {
    let mut found = BTreeSet::new();
    let mut open: Option<(&'static str, String, bool)> = None;
    let mut field = false;
    for token in tokens(styles) {
        match token {
            Token::Open(tag) if !tag.empty && tag.name == "header" => open = Some(("header", String::new(), false)),
            Token::Open(tag) if !tag.empty && tag.name == "footer" => open = Some(("footer", String::new(), false)),
            Token::Open(tag) if !tag.empty => {
                field = matches!(tag.name, "page-number" | "page-count" | "sheet-name" | "date" | "time" | "title");
                if let Some((.., fields)) = &mut open {
                    *fields |= field;
                }
            }
            Token::Text(text) if !field => {
                if let Some((_, out, _)) = &mut open {
                    out.push_str(&unescaped(text));
                }
            }
            Token::Close("header" | "footer") => {
                let Some((kind, text, fields)) = open.take() else { continue };
                let words: Vec<&str> =
                    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).collect();
                if words.len() > usize::from(fields) {
                    found.insert((kind, text.split_whitespace().collect::<Vec<_>>().join(" ")));
                }
            }
            Token::Close(name) => {
                field = false;
                if matches!(name, "p" | "region-left" | "region-center")
                    && let Some((_, out, _)) = &mut open
                {
                    out.push(' ');
                }
            }
            _ => {}
        }
    }
    found
}

#[derive(Default)]
struct Reader {
    sheet: Option<(String, SheetExtras)>,
    /// Names of lists to choose from, and the lists.
    validations: Vec<(String, String)>,
    /// Those of the lists that a cell has used.
    used: BTreeSet<String>,
    row: u32,
    column: u32,
    /// Columns that are declared so far.
    declared: u32,
    /// For how many rows and columns the current row and cell stand.
    rows: u32,
    cells: u32,
    /// Author and text of a comment.
    comment: Option<(String, String)>,
    /// Open elements within a comment or a frame.
    inside: Vec<String>,
    /// Target and text of a link.
    link: Option<(String, String)>,
    /// Name and text of something drawn, and whether it is told already.
    frame: Option<(String, String, bool)>,
}

impl Reader {
    fn take(&mut self, token: Token<'_>, extras: &mut Extras, parts: &mut Parts<'_>) {
        match token {
            Token::Open(tag) => {
                self.open(&tag, parts);
                if tag.empty {
                    self.close(tag.name, extras);
                } else if self.comment.is_some() || self.frame.is_some() {
                    self.inside.push(tag.name.to_owned());
                }
            }
            Token::Close(name) => {
                if (self.comment.is_some() || self.frame.is_some())
                    && let Some(at) = self.inside.iter().rposition(|open| open == name)
                {
                    self.inside.truncate(at);
                }
                self.close(name, extras);
            }
            Token::Text(text) => {
                let text = unescaped(text);
                let inside = self.inside.last().map(String::as_str).unwrap_or_default();
                if let Some((author, body)) = &mut self.comment {
                    match inside {
                        "creator" => author.push_str(&text),
                        "date" | "creator-initials" | "date-string" => {}
                        _ => body.push_str(&text),
                    }
                } else if let Some((_, body, _)) = &mut self.frame {
                    body.push_str(&text);
                } else if let Some((_, label)) = &mut self.link {
                    label.push_str(&text);
                }
            }
            Token::Raw(_) => {}
        }
    }

    fn at(&self) -> [u32; 4] {
        [self.row, self.column, self.row, self.column]
    }

    fn open(&mut self, tag: &Tag<'_>, parts: &mut Parts<'_>) {
        if tag.name == "content-validation" {
            let condition = tag.get("condition").unwrap_or_default();
            let list = condition.split_once("cell-content-is-in-list(").and_then(|(_, list)| list.rsplit_once(')'));
            let quoted = list.map(|(list, _)| list.trim().replace("\";\"", ";"));
            if let (Some(name), Some(list)) = (tag.get("name"), quoted) {
                self.validations.push((name, list_text(&list, ';')));
            }
        }
        if self.sheet.is_none() {
            if tag.name == "table" {
                self.sheet = Some((tag.get("name").unwrap_or_default(), SheetExtras::default()));
                (self.row, self.column, self.declared) = (0, 0, 0);
            }
            return;
        }
        let at = self.at();
        let repeated = |name| tag.number(name).unwrap_or(1).clamp(1, REPEATED);
        let hidden = tag.get("visibility").is_some_and(|value| matches!(value.as_str(), "collapse" | "filter"));
        let Some((_, sheet)) = &mut self.sheet else { return };
        match tag.name {
            "table-column" => {
                let count = repeated("number-columns-repeated");
                if hidden {
                    sheet.hidden_columns.add(self.declared, self.declared + count - 1);
                }
                self.declared = self.declared.saturating_add(count).min(REPEATED);
            }
            "table-row" => {
                self.rows = repeated("number-rows-repeated");
                self.column = 0;
                if hidden {
                    sheet.hidden_rows.add(self.row, self.row + self.rows - 1);
                }
            }
            "table-cell" | "covered-table-cell" => {
                self.cells = repeated("number-columns-repeated");
                let (right, down) =
                    (tag.number("number-columns-spanned").unwrap_or(1), tag.number("number-rows-spanned").unwrap_or(1));
                if right > 1 || down > 1 {
                    sheet.merged.push([at[0], at[1], at[0] + down.max(1) - 1, at[1] + right.max(1) - 1]);
                }
                if let Some(name) = tag.get("content-validation-name")
                    && self.used.insert(name.clone())
                    && let Some((_, list)) = self.validations.iter().find(|(own, _)| *own == name)
                {
                    sheet.line("list", &format!("{} and others: {list}", range(at)));
                }
            }
            "annotation" => {
                self.comment = Some((String::new(), String::new()));
                self.inside.clear();
            }
            "a" if self.comment.is_none() && self.frame.is_none() => {
                self.link = tag.get("href").map(|target| (target, String::new()));
            }
            "frame" | "custom-shape" if self.comment.is_none() && self.frame.is_none() => {
                self.frame = Some((tag.get("name").unwrap_or_default(), String::new(), false));
                self.inside.clear();
            }
            "image" if self.frame.as_ref().is_some_and(|(_, _, known)| !known) => {
                let (name, ..) = self.frame.clone().unwrap_or_default();
                sheet.line("picture", format!("at {}: {name}", range(at)).trim_end_matches([':', ' ']));
                self.frame = Some((name, String::new(), true));
            }
            "object" => {
                let path = tag.get("href").unwrap_or_default();
                let path = path.trim_start_matches("./").trim_end_matches('/').to_owned();
                let chart = parts.text(&format!("{path}/content.xml")).filter(|xml| xml.contains("chart:chart"));
                match chart {
                    Some(xml) => sheet.line("chart", &format!("at {}: {}", range(at), chart_text(&xml))),
                    None => sheet.line("object", &format!("at {}: {path}", range(at))),
                }
                self.frame = Some((String::new(), String::new(), true));
            }
            "data-pilot-table" => {
                sheet.line(
                    "pivot table",
                    &[tag.get("name"), tag.get("target-range-address")]
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .join(", "),
                );
            }
            "s" | "tab" | "line-break" => {
                if let Some((_, body)) = &mut self.comment {
                    body.push(' ');
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str, extras: &mut Extras) {
        let at = self.at();
        let Some((_, sheet)) = &mut self.sheet else { return };
        match name {
            "annotation" => {
                if let Some((author, text)) = self.comment.take() {
                    sheet.comment([at[0], at[1]], author.trim(), &text);
                }
            }
            "p" => {
                if let Some((_, body)) = &mut self.comment {
                    body.push(' ');
                }
                if let Some((_, body, _)) = &mut self.frame {
                    body.push(' ');
                }
            }
            "a" => {
                if let Some((target, label)) = self.link.take()
                    && label != target
                {
                    sheet.line("link", &format!("{}: {target}", range(at)));
                }
            }
            "frame" | "custom-shape" => {
                if let Some((_, text, false)) = self.frame.take()
                    && !text.trim().is_empty()
                {
                    sheet.line("text box", &format!("at {}: {}", range(at), text.trim()));
                }
            }
            "table-cell" | "covered-table-cell" if self.frame.is_none() => {
                self.column = self.column.saturating_add(self.cells).min(REPEATED);
            }
            "table-row" if self.frame.is_none() => self.row = self.row.saturating_add(self.rows).min(REPEATED),
            "table" if self.frame.is_none() => {
                if let Some((name, sheet)) = self.sheet.take() {
                    extras.sheets.insert(name, sheet);
                }
            }
            _ => {}
        }
    }
}

/// Kind, title and ranges of a chart.
fn chart_text(xml: &str) -> String {
    let (mut kind, mut title, mut series) = (String::new(), String::new(), Vec::new());
    let mut inside = Vec::new();
    for token in tokens(xml) {
        match token {
            Token::Open(tag) => {
                match tag.name {
                    "chart" => kind = tag.get("class").unwrap_or_default().replace("chart:", ""),
                    "series" => {
                        let (label, values) = (tag.get("label-cell-address"), tag.get("values-cell-range-address"));
                        series.push([label, values].into_iter().flatten().collect::<Vec<_>>().join(" = "));
                    }
                    _ => {}
                }
                if !tag.empty {
                    inside.push(tag.name);
                }
            }
            Token::Close(name) => {
                if let Some(at) = inside.iter().rposition(|open| *open == name) {
                    inside.truncate(at);
                }
            }
            Token::Text(text) if inside.contains(&"title") && !inside.contains(&"axis") => {
                title.push_str(&unescaped(text));
            }
            _ => {}
        }
    }
    let title = if title.trim().is_empty() { String::new() } else { format!(" \"{}\"", title.trim()) };
    format!("{kind}{title}: {}", series.join("; ")).trim_matches([':', ' ']).to_owned()
}

/// The content of a workbook as a package of its own, without the blanks between its elements: of one file of XML, as LibreOffice writes
/// with the ending `.fods`, or of a package that lacks its other parts. `calamine` refuses such blanks.
#[must_use]
pub fn package_of(content: &str) -> Option<Vec<u8>> {
    const KIND: &str = "application/vnd.oasis.opendocument.spreadsheet";
    let manifest = format!(
        "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"><manifest:file-entry \
         manifest:full-path=\"/\" manifest:media-type=\"{KIND}\"/></manifest:manifest>"
    );
    let mut dense = String::with_capacity(content.len());
    for part in content.split_inclusive('>') {
        // Blanks are part of a text, but not before an element of a table.
        let start = part.trim_start();
        let blank = ["<table:", "</table:", "<office:annotation", "<text:p"].iter().any(|tag| start.starts_with(tag));
        dense.push_str(if blank { start } else { part });
    }
    let files = [("mimetype", KIND), ("META-INF/manifest.xml", manifest.as_str()), ("content.xml", &dense)];
    stored(files.map(|(name, content)| (name.to_owned(), content.as_bytes().to_vec())).into())
}

/// A copy of a package that `calamine` refuses: it lacks a part, or has blanks between its cells.
#[must_use]
pub fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut parts = Parts::new(bytes)?;
    // What is encrypted is no XML.
    let content = parts.text("content.xml").filter(|content| content.trim_start().starts_with('<'))?;
    package_of(&content)
}
