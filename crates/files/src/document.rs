//! A file that is not text itself, such as a PDF or a workbook, as text: Markdown with the places that its lines come from.

use serde::{Deserialize, Serialize};

/// Maximum size of a file that is read as a document, in bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 128 << 20;
/// The bytes at the start of a file that tell its container.
pub const HEAD: usize = 1_024;

/// The reason why a document has no text yet: the call has converted others for so long that its deadline is near.
pub const LATER: &str = "there was no time left to read it in this call; call again";

/// The text of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The format and the extent, such as `PDF, 12 pages`.
    pub kind: String,
    /// Markdown. A line such as `[page 7]` is above each page, slide and sheet.
    pub text: String,
    /// Sorted by line.
    #[serde(default)]
    pub places: Vec<DocumentPlace>,
    /// What was not read, one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A place in the document, and the line of the text with which it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DocumentPlace {
    /// Counted from 1.
    pub line: usize,
    /// Such as `page 7`, `slide 3`, `sheet Q1` or `section "Results"`.
    pub name: String,
    /// In a sheet: this line and those that follow are rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Rows>,
}

/// Rows of a sheet, one a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// The number of the first row, counted from 1.
    pub first: usize,
    /// The letters of the first and the last column.
    pub from: String,
    pub to: String,
}

/// The container of a document, told by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    Pdf,
    /// An office document, an e-book or an archive: its content tells which.
    Package,
}

/// Tells the container of a file, or `None` for a file that can only be text or unknown. `head`: its first [`HEAD`] bytes.
#[must_use]
pub fn container(head: &[u8]) -> Option<Container> {
    const PACKAGES: &[&[u8]] = &[b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"];
    if PACKAGES.iter().any(|magic| head.starts_with(magic)) || is_workbook_in_xml(head) {
        return Some(Container::Package);
    }
    // Readers accept a PDF that begins with other bytes, but a text about PDFs is no PDF.
    let at = head.windows(5).position(|bytes| bytes == b"%PDF-")?;
    let version = head.get(at + 5).is_some_and(u8::is_ascii_digit);
    let blank = head.get(..at)?.iter().all(u8::is_ascii_whitespace);
    (version && (blank || head.contains(&0))).then_some(Container::Pdf)
}

/// Whether a file is a workbook in XML: that of Excel 2003, or OpenDocument in one file.
fn is_workbook_in_xml(head: &[u8]) -> bool {
    // UTF-16 has a zero in each of these characters.
    let text: String = head.iter().filter(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    let start = text.trim_start_matches(|c: char| !c.is_ascii() || c.is_whitespace());
    let page = start.get(..200.min(start.len())).is_some_and(|start| start.to_ascii_lowercase().contains("<html"));
    start.starts_with("<?xml")
        && !page
        && (start.contains("urn:schemas-microsoft-com:office:spreadsheet")
            || start.contains("progid=\"Excel.Sheet\"")
            || start.contains("<office:document ") && start.contains("opendocument.spreadsheet"))
}

impl Document {
    /// The place of a line, counted from 1: `page 7`, or `sheet Q1, A12:F12`.
    #[must_use]
    pub fn place(&self, line: usize) -> Option<String> {
        let place = self.at(line)?;
        Some(match &place.rows {
            Some(rows) => rows.cells(&place.name, line - place.line, line - place.line),
            None => place.name.clone(),
        })
    }

    /// The first line of the place with that name, regardless of case and surrounding brackets.
    #[must_use]
    pub fn line_of(&self, name: &str) -> Option<usize> {
        let plain = |text: &str| text.trim_matches(['[', ']', ' ']).to_lowercase().replace('"', "");
        let wanted = plain(name);
        self.places.iter().find(|place| plain(&place.name) == wanted).map(|place| place.line)
    }

    /// Whether the line above which a place begins, such as `[page 7]`, is this one.
    #[must_use]
    pub fn begins(&self, line: usize) -> bool {
        self.places.binary_search_by_key(&line, |place| place.line).is_ok()
    }

    fn at(&self, line: usize) -> Option<&DocumentPlace> {
        let after = self.places.partition_point(|place| place.line <= line);
        self.places.get(after.checked_sub(1)?)
    }
}

impl Rows {
    fn cells(&self, sheet: &str, first: usize, last: usize) -> String {
        let (first, last) = (self.first + first, self.first + last);
        format!("{sheet}, {}{first}:{}{last}", self.from, self.to)
    }
}
