//! Limits on what a server, a tool or a site may send, one for each kind of input (retries.md#limits-on-what-a-server-may-send).
//!
//! Past a limit of a reply the attempt fails with `reply_too_large` and is retried like a stream that was cut; a tool's
//! result is cut, and the model reads how much is missing; everything else is refused. All sizes are bytes unless their
//! name says otherwise. The limits are far above what models send and far below what a page can hold.

use serde_json::Value;

use super::failure::Slug;
use super::interface::{Event, ToolOutcome};
use super::message::{Image, ModelError, Retry};

/// A line, an event or a JSON value of a response.
pub const MAX_EVENT: usize = 4 * MIB;
/// The body of a response as it comes over the wire, framing included.
pub const MAX_STREAM: usize = 256 * MIB;
/// The text of a reply.
pub const MAX_TEXT: usize = 2 * MIB;
/// The reasoning of a reply.
pub const MAX_REASONING: usize = 2 * MIB;
/// Ids, names and arguments of all tool calls of a reply.
pub const MAX_ARGUMENTS: usize = 2 * MIB;
/// The name of the tool that a program calls.
const MAX_NAME: usize = 256;
/// Tool calls of a reply, those inside its batches counted apart, and sub-agents that one call asks for. How many of the
/// calls are run is [`super::Limits::tool_calls_per_turn`].
pub const MAX_CALLS: usize = 256;
/// Blocks, items or marks of a reply: its structure.
pub const MAX_PARTS: usize = 1024;
/// Data that a provider needs back unchanged (signatures, encrypted reasoning).
pub const MAX_OPAQUE: usize = 4 * MIB;
/// The raw response kept for the log of a failed attempt, and an error body: 128 KiB (retries.md#logs).
pub const RAW_CAP: usize = 128 * 1024;
/// The original result of a tool call. What the model reads of it is [`super::Limits::max_result_chars`].
pub const MAX_RESULT: usize = 4 * MIB;
/// The pictures and PDFs of one tool call, in base64.
pub const MAX_RESULT_IMAGES: usize = 20 * MIB;
/// A tool's result as data, as JSON text. What is larger, or nested deeper than 64 levels, is left out: a part of it would
/// be another value.
pub const MAX_STRUCTURED_CONTENT: usize = 256 * 1024;
/// Below the 128 levels that a record's JSON may have in all.
const MAX_DEPTH: usize = 64;
/// A provider's list of models.
pub const MAX_MODEL_LIST: usize = 8 * MIB;
/// A file of a documentation site.
pub const MAX_SITE_FILE: usize = 32 * MIB;

const MIB: usize = 1024 * 1024;

/// The limit that a reply passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    Line,
    Event,
    Stream,
    Text,
    Reasoning,
    Arguments,
    Calls,
    Parts,
    Opaque,
}

impl TooLarge {
    /// The failure of the attempt.
    #[must_use]
    pub fn error(self) -> ModelError {
        let most = match self {
            TooLarge::Line => format!("{} in one line", size(MAX_EVENT)),
            TooLarge::Event => format!("{} in one event", size(MAX_EVENT)),
            TooLarge::Stream => format!("{} in all", size(MAX_STREAM)),
            TooLarge::Text => format!("{} of text", size(MAX_TEXT)),
            TooLarge::Reasoning => format!("{} of reasoning", size(MAX_REASONING)),
            TooLarge::Arguments => format!("{} of tool arguments", size(MAX_ARGUMENTS)),
            TooLarge::Calls => format!("{MAX_CALLS} tool calls"),
            TooLarge::Parts => format!("{MAX_PARTS} parts"),
            TooLarge::Opaque => format!("{} of data to send back", size(MAX_OPAQUE)),
        };
        let message = format!("The reply was too large: at most {most} are accepted.");
        ModelError { slug: Slug::ReplyTooLarge, message, status: None, retry_after_ms: None, retry: Retry::Yes }
    }
}

/// Cuts what a tool answered, or a program asked for, at its limit. Called before the event is recorded, so that the record holds what the engine
/// saw.
pub fn cut_event(event: &mut Event) {
    let outcome = match event {
        Event::ToolFinished { outcome, .. } => outcome,
        // What remains is not JSON, so the call is answered with that.
        Event::ToolAsked { name, arguments, .. } => {
            name.truncate(name.floor_char_boundary(MAX_NAME));
            return arguments.truncate(arguments.floor_char_boundary(MAX_ARGUMENTS));
        }
        _ => return,
    };
    match outcome {
        ToolOutcome::Executed { content, images, structured_content, .. } => {
            cut_result(content, 0);
            cut_images(content, images);
            // `null` is what the field is without a value.
            structured_content.take_if(|data| data.is_null() || !is_kept(data));
        }
        ToolOutcome::Rejected { message, .. } | ToolOutcome::Failed { message } => cut_result(message, 0),
        ToolOutcome::TimedOut { .. } | ToolOutcome::Cancelled | ToolOutcome::Stopped => {}
    }
}

fn is_kept(data: &Value) -> bool {
    fn nested_within(data: &Value, levels: usize) -> bool {
        match data {
            Value::Array(values) => levels > 0 && values.iter().all(|value| nested_within(value, levels - 1)),
            Value::Object(fields) => levels > 0 && fields.values().all(|value| nested_within(value, levels - 1)),
            _ => true,
        }
    }
    nested_within(data, MAX_DEPTH) && data.to_string().len() <= MAX_STRUCTURED_CONTENT
}

/// Leaves out the pictures from the one on that passes [`MAX_RESULT_IMAGES`], and says how many.
fn cut_images(content: &mut String, images: &mut Vec<Image>) {
    let mut bytes = 0;
    let kept = images.iter().take_while(|image| {
        bytes += image.data.len();
        bytes <= MAX_RESULT_IMAGES
    });
    let (kept, all) = (kept.count(), images.len());
    if kept < all {
        images.truncate(kept);
        content.push_str(&format!("\n[{} of {all} pictures were left out: they are too large]", all - kept));
    }
}

/// Cuts a tool's result at [`MAX_RESULT`] and says so at its end. `missing` is the number of bytes left out before.
pub fn cut_result(content: &mut String, missing: usize) {
    if content.len() <= MAX_RESULT && missing == 0 {
        return;
    }
    let note = |kept: usize, whole: usize| format!("\n[the result was cut here: {kept} of {whole} bytes were kept]");
    let whole = content.len().saturating_add(missing);
    let room = MAX_RESULT - note(whole, whole).len();
    let kept = content.floor_char_boundary(room);
    content.truncate(kept);
    content.push_str(&note(kept, whole));
}

fn size(bytes: usize) -> String {
    format!("{} MiB", bytes / MIB)
}
