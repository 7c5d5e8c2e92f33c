//! Names of functions as providers take them. The tools of a run have such names already (`embed` checks them); names
//! that a model made up do not, and one of those in the history would make a server refuse every later request.

use std::borrow::Cow;

/// The longest name that all providers take.
const MOST: usize = 64;

/// As OpenAI takes it, and all that speak its formats.
pub(super) fn openai(name: &str) -> Cow<'_, str> {
    plain(name, |c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The name with every character that is not allowed as `_`, and never empty. The same name always gives the same one.
pub(super) fn plain(name: &str, allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !name.is_empty() && name.len() <= MOST && name.chars().all(&allowed) {
        return Cow::Borrowed(name);
    }
    let plain: String = name.chars().take(MOST).map(|c| if allowed(c) { c } else { '_' }).collect();
    Cow::Owned(if plain.is_empty() { "_".to_owned() } else { plain })
}
