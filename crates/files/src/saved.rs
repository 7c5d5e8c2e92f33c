//! What a query tool answers: the first rows or values, and the whole result as a file. The limits that its parts share.

use serde::{Deserialize, Serialize};

/// Maximum number of characters of a result that a model sees at once; below the engine's limit, so that these tools say
/// what is missing.
pub const MAX_SHOWN: usize = 16_000;
/// Maximum number of rows or values that are shown.
pub const MAX_ROWS_SHOWN: usize = 100;
/// Maximum number of rows or values of one result.
pub const MAX_ROWS: usize = 1_000_000;
/// Maximum size of a saved result, in bytes.
pub const MAX_SAVED: usize = 64 << 20;
/// Maximum size of a file that is queried, in bytes.
pub const MAX_QUERIED: u64 = 256 << 20;

/// The format of a saved result, by the extension of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedFormat {
    Csv,
    Tsv,
    /// One array.
    Json,
    /// One value per line.
    Jsonl,
}

impl SavedFormat {
    /// The format for a path.
    ///
    /// # Errors
    /// The extensions that are known.
    pub fn of(path: &str) -> Result<Self, String> {
        match path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
            Some("csv") => Ok(SavedFormat::Csv),
            Some("tsv") => Ok(SavedFormat::Tsv),
            Some("json") => Ok(SavedFormat::Json),
            Some("jsonl" | "ndjson") => Ok(SavedFormat::Jsonl),
            _ => Err(format!("`save_as` is {path}; its name has to end in .csv, .tsv, .json or .jsonl")),
        }
    }
}

/// What a filter found: the answer of the jq module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryResult {
    /// The first values, each as JSON on one line.
    pub shown: Vec<String>,
    /// The number of all values.
    pub total: usize,
    /// Whether the filter was ended after [`MAX_ROWS`] values.
    pub cut: bool,
    /// The whole result as a file, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// The error that ended the filter; what it found before is in `shown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
