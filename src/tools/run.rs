//! Runs one built-in tool whose arguments have passed its schema.

use serde_json::Value;

#[cfg(feature = "worker")]
use super::calculate;
use super::files::Files;
#[cfg(feature = "worker")]
pub use super::search::Index;
use super::{now, read};
use crate::engine::EpochMillis;

/// The index is empty without full-text search.
#[cfg(not(feature = "worker"))]
#[derive(Debug, Default)]
pub struct Index;

/// Returns the tool's result, or a message for the model.
///
/// # Errors
/// The tool's own failure, as a message for the model.
#[cfg_attr(not(feature = "worker"), allow(unused_variables))] // the index
pub async fn run<F: Files>(
    name: &str,
    args: &Value,
    files: &mut F,
    index: &mut Index,
    at: EpochMillis,
) -> Result<String, String> {
    match name {
        #[cfg(feature = "worker")]
        "calculate" => calculate::calculate(text(args, "expression")),
        "list_files" => Ok(read::list_files(files, text(args, "prefix"))),
        "read_file" => read::read_file(files, text(args, "path"), number(args, "offset"), number(args, "limit")).await,
        "write_file" => read::write_file(files, text(args, "path"), text(args, "content")),
        "read_result" => {
            read::read_result(files, text(args, "handle"), number(args, "offset"), number(args, "length")).await
        }
        #[cfg(feature = "worker")]
        "search_files" => super::search::search_files(files, index, text(args, "query"), number(args, "limit")).await,
        "now" => Ok(now::now(at)),
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

fn text<'a>(args: &'a Value, key: &str) -> &'a str {
    args.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(args: &Value, key: &str) -> Option<usize> {
    // Schemas let whole floats such as 5.0 pass as integers.
    let value = args.get(key)?;
    let number = value.as_u64().or_else(|| value.as_f64().filter(|f| *f >= 0.0).map(|f| f as u64))?;
    usize::try_from(number).ok()
}
