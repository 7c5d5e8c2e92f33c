//! Gemini. <https://ai.google.dev/api/generate-content>
//!
//! A reply is a list of parts. Some carry a signature of the thinking behind them, and the model wants each back on the
//! part that it came with: Gemini 3 refuses a request whose calls lack theirs.

mod decode;
mod encode;
mod malformed;
mod wire;

use std::borrow::Cow;

use super::names;

pub(super) use decode::Assembly;
pub(super) use encode::Encoder;

/// The name under which this format keeps what must be sent back: a list of `wire::Mark`.
const DIALECT: &str = "gemini";

/// A tool's name as Gemini takes it: it must start with a letter or `_`, so one that does not gets a `_` before it. A
/// name that starts so by itself gets one more, so that [`own_name`] finds the way back.
fn wire_name(name: &str) -> Cow<'_, str> {
    let plain = names::plain(name, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if starts_with_letter(&plain) { plain } else { Cow::Owned(format!("_{plain}")) }
}

/// The name that [`wire_name`] was given.
fn own_name(name: &str) -> &str {
    if starts_with_letter(name) { name } else { name.strip_prefix('_').unwrap_or(name) }
}

fn starts_with_letter(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_alphabetic())
}
