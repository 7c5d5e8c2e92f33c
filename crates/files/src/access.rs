//! The tools' view of the run's workspace, which is backed by blobs in the worker and plain maps in tests.

use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use crate::document::Document;
use crate::encoding::{DecodedText, EncodingOrigin, Recognized, TextEncoding, recognize};
use crate::kind::FileKind;

/// One file. Its content is read only when a tool asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Grows with every change of the workspace; the same version of a path has the same content.
    pub version: u64,
    /// In bytes.
    pub size: u64,
}

/// A file that was looked up by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The size is that of the content as it is read, unpacked.
    pub info: FileInfo,
    /// How the content is packed, such as `inside notes.zip` or `unpacked from gzip`. Such a file can be read, not changed.
    pub packed: Option<String>,
}

/// An engine of the query tools, which a worker loads on first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sql,
    Jq,
}

/// The workspace as it was when the call began; only later calls see its writes.
pub trait Files {
    /// All files, by normalized path.
    fn list(&self) -> &BTreeMap<String, FileInfo>;

    /// A file by its normalized path: one of the list, or one inside an archive, such as `notes.zip/a.txt`. `None`: there is none.
    fn find(&self, path: &str) -> impl Future<Output = Result<Option<FoundFile>, String>> {
        std::future::ready(Ok(self.list().get(path).map(|info| FoundFile { info: *info, packed: None })))
    }

    /// The bytes of a file.
    fn read(&self, path: &str) -> impl Future<Output = Result<Vec<u8>, String>>;

    /// The bytes `from..to` of a file, without those beyond its end.
    fn read_part(&self, path: &str, from: u64, to: u64) -> impl Future<Output = Result<Vec<u8>, String>> {
        async move {
            let bytes = self.read(path).await?;
            let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
            Ok(bytes.get(at(from)..at(to)).unwrap_or_default().to_vec())
        }
    }

    /// The text of bytes in an encoding that needs tables: the one with this label, or else one that is guessed. A label that does not
    /// fit the bytes does not count.
    ///
    /// # Errors
    /// A sentence that says why it cannot be read.
    fn decode(&self, _bytes: &[u8], _label: Option<&str>) -> impl Future<Output = Result<DecodedText, String>> {
        std::future::ready(Err("it is text in an encoding that cannot be read here".to_owned()))
    }

    /// The bytes of a text in an encoding that needs tables; the inner error is a character that it does not have.
    ///
    /// # Errors
    /// A sentence that says why it cannot be written.
    fn encode(&self, _text: &str, _encoding: &str) -> impl Future<Output = Result<Result<Vec<u8>, char>, String>> {
        std::future::ready(Err("it is text in an encoding that cannot be written here".to_owned()))
    }

    /// The file as a document, if it is one that is not text itself, such as a PDF. It is converted once for each version.
    ///
    /// The error is a sentence without the file's name that says why the document has no text.
    fn document(&self, _path: &str) -> impl Future<Output = Result<Option<Rc<Document>>, String>> {
        std::future::ready(Ok(None))
    }

    /// Stores the complete new content of a normalized path.
    fn write(&mut self, path: String, content: Vec<u8>);

    /// Asks an engine. The request and the answer are JSON; the engine gets the contents of the files at `paths`, in order.
    fn ask(&self, _engine: Engine, _request: &str, _paths: &[&str]) -> impl Future<Output = Result<String, String>> {
        std::future::ready(Err("files cannot be queried here".to_owned()))
    }
}

/// Maximum size of a file that can be read as text, in bytes.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;

/// The reason why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoText {
    /// What it is, such as `PNG picture` or `Binary file`.
    Binary(&'static str),
    TooLarge,
    /// A sentence without the file's name.
    Encoding(String),
}

/// The text of a file, or the reason why it has none.
///
/// # Errors
/// Why reading failed.
pub async fn read_text<F: Files>(files: &F, path: &str, info: FileInfo) -> Result<Result<DecodedText, NoText>, String> {
    if info.size > MAX_TEXT_BYTES {
        return Ok(Err(NoText::TooLarge));
    }
    let bytes = files.read(path).await?;
    Ok(decode(files, path, bytes).await)
}

/// The text of the bytes of a file: the one function that decides what is text, and in which encoding.
///
/// # Errors
/// The reason why it has none.
pub async fn decode<F: Files>(files: &F, path: &str, bytes: Vec<u8>) -> Result<DecodedText, NoText> {
    // Nearly all files; without a copy.
    let bytes = if bytes.iter().any(|byte| matches!(byte, 0 | 0x1b)) || bytes.starts_with(b"\xef\xbb\xbf") {
        bytes
    } else {
        match String::from_utf8(bytes) {
            Ok(text) => {
                let encoding = TextEncoding { name: "UTF-8".to_owned(), bom: false, origin: EncodingOrigin::Certain };
                return Ok(DecodedText { text, encoding, faults: 0 });
            }
            Err(error) => error.into_bytes(),
        }
    };
    let binary = || {
        let head = bytes.get(..bytes.len().min(crate::kind::HEAD)).unwrap_or_default();
        NoText::Binary(match FileKind::detect(path, head) {
            FileKind::Text => "Binary file",
            kind => kind.label(),
        })
    };
    match recognize(&bytes) {
        Recognized::Text(decoded) => Ok(decoded),
        Recognized::Binary => Err(binary()),
        Recognized::Old { declared } => {
            let decoded = files.decode(&bytes, declared.as_deref()).await.map_err(NoText::Encoding)?;
            // No guess fits what is no text.
            if decoded.faults * 20 > decoded.text.len() { Err(binary()) } else { Ok(decoded) }
        }
    }
}

/// What a file says: its own text, or that of the document that it is.
#[derive(Clone, Debug, PartialEq)]
pub enum FileContent {
    Text {
        text: String,
        /// What has to be said about it before it is shown, such as an encoding that was guessed.
        note: Option<String>,
    },
    Document(Rc<Document>),
    /// A document without text, and the sentence that says why, without the file's name.
    Silent(String),
    None(NoText),
}

impl FileContent {
    /// A text, as it is shown.
    #[must_use]
    pub fn of_text(decoded: DecodedText) -> Self {
        let note = decoded.note();
        FileContent::Text { text: decoded.shown(), note }
    }

    /// The text, if there is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            FileContent::Text { text, .. } => Some(text),
            FileContent::Document(document) => Some(&document.text),
            FileContent::Silent(_) | FileContent::None(_) => None,
        }
    }

    /// The place of a line in a document.
    #[must_use]
    pub fn place(&self, line: usize) -> Option<String> {
        match self {
            FileContent::Document(document) => document.place(line),
            _ => None,
        }
    }
}

/// What a file says. Only files up to `most` bytes are read as text; a document has limits of its own.
///
/// # Errors
/// Why reading failed.
pub async fn read_content<F: Files>(files: &F, path: &str, info: FileInfo, most: u64) -> Result<FileContent, String> {
    match files.document(path).await {
        Ok(Some(document)) => return Ok(FileContent::Document(document)),
        Err(reason) => return Ok(FileContent::Silent(reason)),
        Ok(None) => {}
    }
    if info.size > most {
        return Ok(FileContent::None(NoText::TooLarge));
    }
    Ok(read_text(files, path, info).await?.map_or_else(FileContent::None, FileContent::of_text))
}

/// Formats a size as `1.2 KB`, for users and models.
#[must_use]
pub fn size_text(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (1_000, "KB"),
        _ => (1_000_000, "MB"),
    };
    let tenths = (bytes * 10).div_ceil(unit);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}
