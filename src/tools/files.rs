//! What tools see of the run's workspace, which is backed by blobs in the worker and plain maps in tests.

use std::collections::BTreeMap;
use std::future::Future;

/// One file. Contents are read when a tool asks for them, never before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Grows with every change of the workspace; the same version of a path is the same content.
    pub version: u64,
    /// Bytes.
    pub size: u64,
}

/// The workspace as it was when the call began; writes are seen by later calls only.
pub trait Files {
    /// All files, by normal path.
    fn list(&self) -> &BTreeMap<String, FileInfo>;

    /// The bytes of a file.
    fn read(&self, path: &str) -> impl Future<Output = Result<Vec<u8>, String>>;

    /// Keeps a whole new content for a normal path.
    fn write(&mut self, path: String, content: String);
}

/// Bytes of a file that may be read as text at all.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Why a file has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoText {
    Binary,
    TooLarge,
}

/// The text of a file, or why it has none.
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

/// UTF-8 (a byte order mark is dropped) without NUL, or nothing.
fn decode(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    let text = String::from_utf8(bytes).ok()?;
    Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// `1.2 KB`, for users and models.
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
