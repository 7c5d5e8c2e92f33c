//! A call of a built-in tool, as its row in `table.rs` receives it.

use serde_json::Value;

pub use super::search::FileIndex;
use turnwise_engine::EpochMillis;

/// A call of a built-in tool.
#[derive(Debug)]
pub(super) struct ToolInvocation<'a, F, I> {
    pub args: &'a Value,
    pub files: &'a mut F,
    /// For full-text search.
    pub index: &'a mut I,
    pub at: EpochMillis,
}

impl<'a, F, I> ToolInvocation<'a, F, I> {
    /// A text argument; empty if it is missing.
    pub fn text(&self, key: &str) -> &'a str {
        self.args.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// A whole number that may be negative.
    pub fn signed(&self, key: &str) -> Option<i64> {
        let value = self.args.get(key)?;
        value.as_i64().or_else(|| value.as_f64().map(|f| f as i64))
    }

    /// A whole number that is not negative.
    pub fn number(&self, key: &str) -> Option<usize> {
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
