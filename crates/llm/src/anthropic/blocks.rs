//! The blocks of an assistant message, in the order in which they arrived.

use serde_json::{Value, json};

use turnwise_engine::{AssistantMessage, ToolCall};

/// One block of an assistant message.
#[derive(Clone, Copy, Debug)]
pub(super) enum AssistantBlock<'a> {
    /// Never blank.
    Text(&'a str),
    /// A complete `thinking` or `redacted_thinking` block.
    Thought(&'a Value),
    Call(&'a ToolCall),
}

/// Returns the blocks of a message. `kept` is their order as stored by the decoder; if it no longer fits the message (a
/// secret in the text was redacted, a call was dropped), thoughts come first, then the text, then the calls.
pub(super) fn in_order<'a>(message: &'a AssistantMessage, kept: Option<&'a Value>) -> Vec<AssistantBlock<'a>> {
    let kept = kept.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut pieces = as_kept(message, kept).unwrap_or_else(|| {
        let whole: Option<Vec<_>> = kept.iter().filter(|item| is(item, "thought")).map(thought).collect();
        let text = std::iter::once(AssistantBlock::Text(message.content.as_str()));
        let calls = message.tool_calls.iter().map(AssistantBlock::Call);
        whole.unwrap_or_default().into_iter().map(AssistantBlock::Thought).chain(text).chain(calls).collect()
    });
    pieces.retain(|piece| !matches!(piece, AssistantBlock::Text(text) if is_blank(text)));
    // A request that ends with such a message may not end with white space.
    if let Some(AssistantBlock::Text(text)) = pieces.last_mut() {
        *text = text.trim_end();
    }
    pieces
}

fn as_kept<'a>(message: &'a AssistantMessage, kept: &'a [Value]) -> Option<Vec<AssistantBlock<'a>>> {
    let (mut text, mut calls) = (message.content.as_str(), message.tool_calls.iter());
    let mut pieces = Vec::with_capacity(kept.len());
    for item in kept {
        pieces.push(match item.get("type").and_then(Value::as_str)? {
            "text" => {
                let chars = usize::try_from(item.get("chars")?.as_u64()?).ok()?;
                let (piece, rest) = split_at_char(text, chars)?;
                text = rest;
                AssistantBlock::Text(piece)
            }
            "tool_use" => AssistantBlock::Call(calls.next()?),
            _ => AssistantBlock::Thought(thought(item)?),
        });
    }
    (text.is_empty() && calls.next().is_none()).then_some(pieces)
}

/// The stored form of a thought.
pub(super) fn keep(block: &Value) -> Value {
    json!({ "type": "thought", "size": size(block), "block": block })
}

/// Returns a stored thought, or `None` if it was changed. The API rejects changed thoughts, and messages that have lost
/// some of their thoughts: redacting a secret in one thought therefore removes all thoughts of the message.
fn thought(item: &Value) -> Option<&Value> {
    let block = item.get("block").filter(|_| is(item, "thought"))?;
    (block.is_object() && item.get("size")?.as_u64()? == size(block)).then_some(block)
}

fn is(item: &Value, kind: &str) -> bool {
    item.get("type").and_then(Value::as_str) == Some(kind)
}

/// The total length of a block's texts, in bytes.
fn size(block: &Value) -> u64 {
    let texts = block.as_object().into_iter().flat_map(|block| block.values()).filter_map(Value::as_str);
    texts.map(|text| text.len() as u64).sum()
}

/// Splits after `chars` characters; `None` if the text has fewer.
fn split_at_char(text: &str, chars: usize) -> Option<(&str, &str)> {
    let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    text.split_at_checked(starts.nth(chars)?)
}

/// Whether the API rejects a text because it is blank.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
