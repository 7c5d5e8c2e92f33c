//! Gemini. <https://ai.google.dev/api/generate-content>
//!
//! A reply is a list of parts. Some carry a signature of the thinking that led to them, and the model needs each
//! signature back on its own part: Gemini 3 rejects a request whose calls lack theirs.

mod decode;
mod encode;
mod malformed;
mod wire;

use std::borrow::Cow;

use super::names;

pub(super) use decode::Assembly;
pub(super) use encode::Encoder;

/// The key under which this format stores what must be sent back: a list of `wire::SignedPart`.
const DIALECT: &str = "gemini";

/// A tool's name in the form that Gemini accepts. It must start with a letter or `_`: a name whose first character
/// after any `_` is not a letter gets one more `_` in front, which [`own_name`] removes again.
fn wire_name(name: &str) -> Cow<'_, str> {
    let plain = names::plain(name, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if starts_with_letter(&plain) { plain } else { Cow::Owned(format!("_{plain}")) }
}

/// The name that was passed to [`wire_name`].
fn own_name(name: &str) -> &str {
    if starts_with_letter(name) { name } else { name.strip_prefix('_').unwrap_or(name) }
}

fn starts_with_letter(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_alphabetic())
}
