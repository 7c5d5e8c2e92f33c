//! Function names in the form that providers accept. The tools of a run already have such names (`embed` checks them);
//! names invented by a model may not, and a single one in the history would make a server reject every later request.

use std::borrow::Cow;
use std::fmt::Write;

/// The maximum length that all providers accept.
const MOST: usize = 64;

/// A name for OpenAI, and for all servers that use its formats.
pub(super) fn openai(name: &str) -> Cow<'_, str> {
    plain(name, |c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The name with every disallowed character replaced by `_`, and never empty. The same name always gives the same result.
pub(super) fn plain(name: &str, allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !name.is_empty() && name.len() <= MOST && name.chars().all(&allowed) {
        return Cow::Borrowed(name);
    }
    let plain: String = name.chars().take(MOST).map(|c| if allowed(c) { c } else { '_' }).collect();
    Cow::Owned(if plain.is_empty() { "_".to_owned() } else { plain })
}

/// Converts an id or a name to characters that Anthropic accepts (`^[a-zA-Z0-9_-]+$`): others are replaced by their code
/// point, so that different ids stay different. The history also contains calls of other providers' models, and
/// invented ones.
pub(super) fn safe(text: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !text.is_empty() && text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::from(if text.is_empty() { "_" } else { "" });
    for c in text.chars() {
        if fits(c) {
            safe.push(c);
        } else {
            let _ = write!(safe, "_{:x}_", u32::from(c)); // writing to a string does not fail
        }
    }
    Cow::Owned(safe)
}
