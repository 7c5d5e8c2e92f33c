//! Runs one built-in tool whose arguments have passed its schema.

use serde_json::Value;

use super::files::Files;
#[cfg(feature = "worker")]
pub use super::search::Index;
use super::table;
use crate::engine::EpochMillis;

/// The index is empty without full-text search.
#[cfg(not(feature = "worker"))]
#[derive(Debug, Default)]
pub struct Index;

/// A call of a built-in tool.
#[derive(Debug)]
pub struct Call<'a, F> {
    pub args: &'a Value,
    pub files: &'a mut F,
    /// For full-text search.
    pub index: &'a mut Index,
    pub at: EpochMillis,
}

/// Returns the tool's result, or a message for the model.
///
/// # Errors
/// The tool's own failure, as a message for the model.
pub async fn run<F: Files>(
    name: &str,
    args: &Value,
    files: &mut F,
    index: &mut Index,
    at: EpochMillis,
) -> Result<String, String> {
    table::run(name, Call { args, files, index, at }).await
}

impl<'a, F> Call<'a, F> {
    /// A text argument; empty if it is missing.
    pub(super) fn text(&self, key: &str) -> &'a str {
        self.args.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// A whole number.
    pub(super) fn number(&self, key: &str) -> Option<usize> {
        // Schemas let whole floats such as 5.0 pass as integers.
        let value = self.args.get(key)?;
        let number = value.as_u64().or_else(|| value.as_f64().filter(|f| *f >= 0.0).map(|f| f as u64))?;
        usize::try_from(number).ok()
    }
}

/// The tools that only tests have; any other name is unknown.
pub(super) fn test_tool(name: &str) -> Result<String, String> {
    match name {
        #[cfg(feature = "test-tools")]
        "loop_forever" => loop {
            std::hint::black_box(());
        },
        #[cfg(feature = "test-tools")]
        #[allow(clippy::panic)] // the test needs a crash
        "crash" => panic!("crash was called"),
        _ => Err(format!("there is no built-in tool `{name}`")),
    }
}
