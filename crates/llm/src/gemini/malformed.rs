//! A call that Gemini itself could not read, because the model wrote code or broken JSON. The response then has no
//! call, only the reason `MALFORMED_FUNCTION_CALL` or `UNEXPECTED_TOOL_CALL` and a message with the model's text.

use turnwise_engine::RawCall;

use super::own_name;

/// The call as the model wrote it, if the message contains it: `…: print(default_api.search(query="x"))`. It is
/// answered like every call whose arguments are invalid JSON, so the model learns what was wrong; the message is never
/// run, because it is not JSON.
pub(super) fn call(message: &str) -> Option<RawCall> {
    let (_, rest) = message.split_once("default_api")?;
    let rest = rest.strip_prefix(['.', ':'])?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')));
    let name = rest.get(..end.unwrap_or(rest.len())).filter(|name| !name.is_empty())?;
    Some(RawCall { id: String::new(), name: own_name(name).to_owned(), arguments: message.to_owned() })
}
