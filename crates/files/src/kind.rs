//! Detects the kind of a file by its first bytes and its name, so that it is shown accordingly.

use crate::encoding::{Recognized, recognize};

/// The kind of a file, as users see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Shown as it is.
    Text,
    /// Shown as a picture of this media type, regardless of any other content.
    Picture { media_type: &'static str, words: &'static str },
    /// Opened by the browser's own viewer.
    Pdf,
    /// Not shown; `words` is its format, if known.
    Binary { words: &'static str },
}

/// The number of bytes of a file that [`FileKind::detect`] examines.
pub const HEAD: usize = 4_096;

/// The offset and the bytes that identify files of a kind.
const SIGNATURES: &[(usize, &[u8], FileKind)] = &[
    (0, b"\x89PNG\r\n\x1a\n", picture("image/png", "PNG picture")),
    (0, b"\xff\xd8\xff", picture("image/jpeg", "JPEG picture")),
    (0, b"GIF8", picture("image/gif", "GIF picture")),
    (8, b"WEBP", picture("image/webp", "WebP picture")),
    (4, b"ftypavif", picture("image/avif", "AVIF picture")),
    (0, b"\0\0\x01\0", picture("image/x-icon", "Icon")),
    (0, b"%PDF-", FileKind::Pdf),
    (0, b"\x1f\x8b", binary("Gzip archive")),
    (0, b"7z\xbc\xaf\x27\x1c", binary("7-Zip archive")),
    (0, b"Rar!", binary("RAR archive")),
    (4, b"1AY&SY", binary("Bzip2 archive")),
    (0, b"\xfd7zXZ\0", binary("XZ archive")),
    (0, b"\x28\xb5\x2f\xfd", binary("Zstandard archive")),
    (257, b"ustar", binary("Tar archive")),
    (0, b"SQLite format 3\0", binary("SQLite database")),
    (0, b"\0asm", binary("WebAssembly module")),
    (0, b"\x7fELF", binary("Program")),
    (0, b"wOF", binary("Font")),
    (0, b"ID3", binary("Audio file")),
    (0, b"fLaC", binary("Audio file")),
    (0, b"OggS", binary("Audio file")),
    (8, b"WAVE", binary("Audio file")),
    (4, b"ftyp", binary("Video file")),
    (0, b"\x1aE\xdf\xa3", binary("Video file")),
    (0, b"\xd0\xcf\x11\xe0", binary("Office document")),
];

/// Formats based on ZIP archives, by file extension.
const ZIPPED: &[(&str, &str)] = &[
    (".docx", "Word document"),
    (".xlsx", "Excel workbook"),
    (".pptx", "PowerPoint presentation"),
    (".odt", "OpenDocument text"),
    (".ods", "OpenDocument spreadsheet"),
    (".odp", "OpenDocument presentation"),
    (".epub", "E-book"),
];

const fn picture(media_type: &'static str, text: &'static str) -> FileKind {
    FileKind::Picture { media_type, words: text }
}

const fn binary(text: &'static str) -> FileKind {
    FileKind::Binary { words: text }
}

/// Whether hardly any character is a control character; NUL bytes are judged with the encoding.
fn mostly_printable(text: &str) -> bool {
    let odd = |c: &char| c.is_ascii_control() && !matches!(c, '\0' | '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}');
    text.chars().filter(odd).count() * 50 <= text.len()
}

impl FileKind {
    /// Detects the kind. `head`: the first [`HEAD`] bytes of the file, or all of it.
    #[must_use]
    pub fn detect(name: &str, head: &[u8]) -> Self {
        let name = name.to_ascii_lowercase();
        let stands = |at: usize, bytes: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(bytes));
        if let Some((_, _, kind)) = SIGNATURES.iter().find(|(at, bytes, _)| stands(*at, bytes)) {
            return *kind;
        }
        if stands(0, b"PK\x03\x04") || stands(0, b"PK\x05\x06") {
            let known = ZIPPED.iter().find(|(end, _)| name.ends_with(end));
            return binary(known.map_or("ZIP archive", |(_, label)| label));
        }
        match recognize(head) {
            Recognized::Binary => return binary("Binary file"),
            Recognized::Text(decoded) if !mostly_printable(&decoded.text) => return binary("Binary file"),
            Recognized::Text(_) | Recognized::Old { .. } => {}
        }
        let text = String::from_utf8_lossy(head);
        let begins = text.trim_start_matches('\u{feff}').trim_start();
        if begins.starts_with("<svg") || (name.ends_with(".svg") && begins.starts_with('<')) {
            return picture("image/svg+xml", "SVG picture");
        }
        FileKind::Text
    }

    /// Returns the text shown next to the file's size.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            FileKind::Text => "Text",
            FileKind::Pdf => "PDF document",
            FileKind::Picture { words: text, .. } | FileKind::Binary { words: text } => text,
        }
    }
}
