//! The tools' view of the run's workspace, which is backed by blobs in the worker and plain maps in tests.

use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use crate::document::Document;

/// One file. Its content is read only when a tool asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Grows with every change of the workspace; the same version of a path has the same content.
    pub version: u64,
    /// In bytes.
    pub size: u64,
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

    /// The bytes of a file.
    fn read(&self, path: &str) -> impl Future<Output = Result<Vec<u8>, String>>;

    /// The file as a document, if it is one that is not text itself, such as a PDF. It is converted once for each version.
    ///
    /// The error is a sentence without the file's name that says why the document has no text.
    fn document(&self, _path: &str) -> impl Future<Output = Result<Option<Rc<Document>>, String>> {
        std::future::ready(Ok(None))
    }

    /// Stores the complete new content of a normalized path.
    fn write(&mut self, path: String, content: String);

    /// Asks an engine. The request and the answer are JSON; the engine gets the contents of the files at `paths`, in order.
    fn ask(&self, _engine: Engine, _request: &str, _paths: &[&str]) -> impl Future<Output = Result<String, String>> {
        std::future::ready(Err("files cannot be queried here".to_owned()))
    }
}

/// Maximum size of a file that can be read as text, in bytes.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;

/// The reason why a file has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoText {
    Binary,
    TooLarge,
}

/// The text of a file, or the reason why it has none.
///
/// # Errors
/// Why reading failed.
pub async fn read_text<F: Files>(files: &F, path: &str, info: FileInfo) -> Result<Result<String, NoText>, String> {
    if info.size > MAX_TEXT_BYTES {
        return Ok(Err(NoText::TooLarge));
    }
    let bytes = files.read(path).await?;
    Ok(decode(bytes).ok_or(NoText::Binary))
}

/// What a file says: its own text, or that of the document that it is.
#[derive(Clone, Debug, PartialEq)]
pub enum FileContent {
    Text(String),
    Document(Rc<Document>),
    /// A document without text, and the sentence that says why, without the file's name.
    Silent(String),
    None(NoText),
}

impl FileContent {
    /// The text, if there is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            FileContent::Text(text) => Some(text),
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
    Ok(read_text(files, path, info).await?.map_or_else(FileContent::None, FileContent::Text))
}

/// Decodes UTF-8 (and drops a byte order mark); `None` if it is not UTF-8 or contains NUL.
fn decode(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    let text = String::from_utf8(bytes).ok()?;
    Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
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
