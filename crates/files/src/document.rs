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
    /// The files inside of an archive or a mail, which can be read as `archive/path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PackedFile>,
}

/// A file inside of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    /// Relative and normalized, as [`Files::list`](crate::Files::list) has paths.
    pub path: String,
    /// Unpacked, in bytes.
    pub size: u64,
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
    /// An office document, an e-book or a ZIP archive: its content tells which.
    Package,
    /// A TAR archive.
    Tar,
    /// Packed by gzip.
    Gzip,
    /// A mail, a folder of mails, or a web page with its pictures (MHTML).
    Mail,
}

/// Tells the container of a file, or `None` for a file that can only be text or unknown. `head`: its first [`HEAD`] bytes.
#[must_use]
pub fn container(head: &[u8]) -> Option<Container> {
    const PACKAGES: &[&[u8]] = &[b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"];
    if PACKAGES.iter().any(|magic| head.starts_with(magic)) || is_workbook_in_xml(head) {
        return Some(Container::Package);
    }
    if head.starts_with(b"\x1f\x8b\x08") {
        return Some(Container::Gzip);
    }
    if is_tar(head) {
        return Some(Container::Tar);
    }
    if is_mail(head) {
        return Some(Container::Mail);
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

/// Whether these bytes begin with the header of a file in a TAR archive, whose checksum is right.
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..512) else { return false };
    let sum: u32 =
        header.iter().enumerate().map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) }).sum();
    let field = header.get(148..156).unwrap_or_default();
    let digits: String = field.iter().map(|byte| char::from(*byte)).filter(char::is_ascii_digit).collect();
    sum > 256 && u32::from_str_radix(&digits, 8) == Ok(sum)
}

/// Headers of mails, in lower case. A text may have a subject and a date above it; these come from programs.
const MAIL_HEADERS: &[&str] =
    &["mime-version", "received", "message-id", "return-path", "content-transfer-encoding", "delivered-to", "x-mailer"];

/// Whether these bytes begin with the header of a mail, perhaps below the line with which a folder of mails begins.
fn is_mail(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    let folder = text.starts_with("From ") && text.lines().next().is_some_and(|line| line.contains(':'));
    let (mut known, mut all) = (0, 0);
    for line in text.lines().skip(usize::from(folder)) {
        if line.is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) && all > 0 {
            continue;
        }
        let Some((name, _)) = line.split_once(':') else {
            // The head may end within a line.
            if all > 0 && head.len() >= HEAD && text.ends_with(line) {
                break;
            }
            return false;
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return false;
        }
        all += 1;
        known += usize::from(MAIL_HEADERS.contains(&name.to_ascii_lowercase().as_str()));
    }
    known > 0 && all > 1
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
