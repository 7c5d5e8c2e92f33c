//! The final-result protocol: a tool's result ends the run (SEMANTICS 6). Only tools marked `may_finish` can.

use serde_json::{Value, json};

const START: &str = "<<<FINAL_RESULT>>>";
const END: &str = "<<<END_FINAL_RESULT>>>";

/// The final result between the markers, as text and as JSON (`{"raw": …}` if it is not JSON). `None` if there are no
/// markers, or only white space between them.
#[must_use]
pub fn find(result: &str) -> Option<(String, Value)> {
    let (_, rest) = result.split_once(START)?;
    let (inner, _) = rest.split_once(END)?;
    let text = inner.trim();
    if text.is_empty() {
        return None;
    }
    let data = serde_json::from_str(text).unwrap_or_else(|_| json!({ "raw": text }));
    Some((text.to_owned(), data))
}
