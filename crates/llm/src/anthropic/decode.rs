//! Assembles a reply from stream events.
//!
//! The end marker is `message_stop`: the stop reason in `message_delta` counts only once the marker has arrived. Blocks
//! arrive one after the other, so texts and thoughts are one string each, and offsets separate the blocks.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Value, json};

use turnwise_engine::caps::{MAX_CALLS, MAX_PARTS};
use turnwise_engine::{FinishReason, ModelError, RawCall, Reply, TokenCount, Usage};

use super::super::classify::stream_error;
use super::super::dialect::{Assemble, PartSizes, Unfinished, UnfinishedReply, is_malformed, malformed};
use super::super::error_body::{excerpt, is_said};
use super::DIALECT;
use super::blocks::keep;
use super::wire::{BlockDelta, EventType, MisplacedBlock, StreamEvent, WireBlock, WireMessage, WireUsage};
use crate::lenient::{Number, Object};

/// Separates two thoughts, for users.
const GAP: &str = "\n\n";

/// The state of one reply.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    draft: UnfinishedReply,
    blocks: Vec<BlockSlot>,
    /// Bytes of the calls' ids, names and arguments.
    arguments: usize,
    /// Bytes of signatures and of redacted reasoning.
    opaque: usize,
    usage: Option<WireUsage>,
    /// Whether `message_start` was seen.
    begun: bool,
    /// The provider's stop reason; empty until it is known.
    stop: String,
}

/// A block that has begun; blocks are kept in order.
#[derive(Debug)]
struct BlockSlot {
    index: Number,
    part: BlockContent,
}

#[derive(Debug)]
enum BlockContent {
    /// The offset of its text.
    Text {
        start: usize,
    },
    /// The range of its text in the reasoning, and its signature.
    Thinking {
        text: Range<usize>,
        signature: String,
    },
    Redacted {
        data: String,
    },
    /// The index of the call, and whether its arguments came with the start of the block; deltas replace those.
    Call {
        at: usize,
        given: bool,
    },
    /// Blocks of server tools, and unknown ones.
    Other,
}

impl Assemble for Assembly {
    fn event(&mut self, data: &[u8]) {
        let data = data.trim_ascii();
        if self.is_done() || data.is_empty() {
            return;
        }
        if self.read(data).is_none() {
            match String::from_utf8_lossy(data) {
                // A server that splits its text inside a character sends invalid UTF-8.
                Cow::Owned(mended) if self.read(mended.as_bytes()).is_some() => {}
                text => self.not_an_event(&text),
            }
        }
    }

    fn has_begun(&self) -> bool {
        self.draft.has_begun()
    }

    fn is_done(&self) -> bool {
        self.draft.is_done()
    }

    fn content(&self) -> &str {
        &self.draft.reply.content
    }

    fn reasoning(&self) -> &str {
        &self.draft.reply.reasoning
    }

    fn load(&self) -> PartSizes {
        PartSizes {
            calls: self.draft.reply.tool_calls.len(),
            arguments: self.arguments,
            parts: self.blocks.len(),
            opaque: self.opaque,
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Result<Reply, ModelError>, Unfinished> {
        self.draft.reply.opaque = self.thoughts();
        self.draft.reply.usage = self.usage.as_ref().map(tokens);
        self.draft.finish()
    }
}

impl Assembly {
    /// Reads one event. `None`: not an object, or a malformed object of a known type.
    fn read(&mut self, data: &[u8]) -> Option<()> {
        if data.first() != Some(&b'{') {
            return None;
        }
        match serde_json::from_slice::<StreamEvent<'_>>(data) {
            Ok(event) => self.take(data, event),
            Err(_) => {
                let EventType { kind } = serde_json::from_slice(data).ok()?;
                match &*kind.0 {
                    ""
                    | "message"
                    | "message_start"
                    | "message_delta"
                    | "content_block_start"
                    | "content_block_delta" => None,
                    "error" => {
                        self.draft.fail(stream_error(&serde_json::from_slice(data).ok()?));
                        Some(())
                    }
                    _ => Some(()),
                }
            }
        }
    }

    fn take(&mut self, data: &[u8], event: StreamEvent<'_>) -> Option<()> {
        let StreamEvent { kind, index, message, content_block, delta, usage, error } = event;
        if let Some(error) = error.filter(is_said) {
            self.draft.fail(stream_error(&error));
            return Some(());
        }
        match &*kind.0 {
            "content_block_delta" => self.delta(index, &delta.0.unwrap_or_default()),
            "content_block_start" => {
                let elsewhere = || serde_json::from_slice::<MisplacedBlock<'_>>(data).ok()?.delta.0;
                self.begin(index, &content_block.0.or_else(elsewhere).unwrap_or_default());
            }
            "message_start" => match message.0 {
                Some(message) => self.answer(&message),
                None if is_missing(data, "message") => self.answer(&WireMessage::default()),
                None => return None,
            },
            "message_delta" => {
                let stop = delta.0.unwrap_or_default().stop_reason;
                if !stop.is_empty() {
                    self.stop = stop.0.into_owned();
                }
                self.count(usage);
            }
            "message_stop" => self.end(),
            "message" => {
                let answer: WireMessage<'_> = serde_json::from_slice(data).ok()?;
                // A whole reply without its content would be a success that says nothing.
                if answer.content.0.is_empty() && !is_list(data, "content") {
                    return None;
                }
                self.answer(&answer);
                self.end();
            }
            "error" => self.draft.fail(stream_error(&serde_json::from_slice(data).ok()?)),
            "" => return None,
            // `ping`, `content_block_stop`, and future types.
            _ => {}
        }
        Some(())
    }

    fn answer(&mut self, answer: &WireMessage<'_>) {
        self.begun = true;
        self.draft.reply.id = answer.id.0.to_string();
        self.draft.reply.model = answer.model.0.to_string();
        self.stop = answer.stop_reason.0.to_string();
        self.count(answer.usage);
        for block in &answer.content.0 {
            self.begin(Number(None), block);
        }
    }

    fn begin(&mut self, index: Number, block: &WireBlock<'_>) {
        let reply = &mut self.draft.reply;
        if self.blocks.len() > MAX_PARTS || reply.tool_calls.len() > MAX_CALLS {
            return;
        }
        self.opaque += block.signature.0.len() + block.data.0.len();
        let part = match &*block.kind.0 {
            "text" => {
                let start = reply.content.len();
                reply.content.push_str(&block.text.0);
                BlockContent::Text { start }
            }
            "thinking" => {
                let mut text = 0..0;
                think(&mut reply.reasoning, &mut text, &block.thinking.0);
                BlockContent::Thinking { text, signature: block.signature.0.to_string() }
            }
            "redacted_thinking" => BlockContent::Redacted { data: block.data.0.to_string() },
            "tool_use" => {
                let call = RawCall {
                    id: block.id.0.to_string(),
                    name: block.name.0.to_string(),
                    arguments: block.input.map(|input| input.get().to_owned()).unwrap_or_default(),
                };
                self.arguments += call.id.len() + call.name.len() + call.arguments.len();
                reply.tool_calls.push(call);
                BlockContent::Call { at: reply.tool_calls.len() - 1, given: true }
            }
            _ => BlockContent::Other,
        };
        self.blocks.push(BlockSlot { index, part });
    }

    fn delta(&mut self, index: Number, delta: &BlockDelta<'_>) {
        let reply = &mut self.draft.reply;
        match &*delta.kind.0 {
            "text_delta" => reply.content.push_str(&delta.text.0),
            "thinking_delta" => match part(&mut self.blocks, index) {
                Some(BlockContent::Thinking { text, .. }) => think(&mut reply.reasoning, text, &delta.thinking.0),
                _ => reply.reasoning.push_str(&delta.thinking.0),
            },
            "signature_delta" => {
                if let Some(BlockContent::Thinking { signature, .. }) = part(&mut self.blocks, index) {
                    signature.push_str(&delta.signature.0);
                    self.opaque += delta.signature.0.len();
                }
            }
            "input_json_delta" if !delta.partial_json.is_empty() => {
                if let Some(BlockContent::Call { at, given }) = part(&mut self.blocks, index)
                    && let Some(call) = reply.tool_calls.get_mut(*at)
                {
                    if std::mem::take(given) {
                        call.arguments.clear();
                    }
                    call.arguments.push_str(&delta.partial_json.0);
                    self.arguments += delta.partial_json.0.len();
                }
            }
            // `citations_delta`, and future types.
            _ => {}
        }
    }

    /// Updates the usage. Counts cover the whole reply so far, and an event may omit counts that did not change.
    fn count(&mut self, usage: Object<WireUsage>) {
        let Some(new) = usage.0 else { return };
        let old = self.usage.unwrap_or_default();
        let latest = |new: Number, old: Number| Number(new.0.or(old.0));
        self.usage = Some(WireUsage {
            input_tokens: latest(new.input_tokens, old.input_tokens),
            cache_creation_input_tokens: latest(new.cache_creation_input_tokens, old.cache_creation_input_tokens),
            cache_read_input_tokens: latest(new.cache_read_input_tokens, old.cache_read_input_tokens),
            output_tokens: latest(new.output_tokens, old.output_tokens),
            output_tokens_details: Object(new.output_tokens_details.0.or(old.output_tokens_details.0)),
        });
    }

    /// Handles the end marker. Before the reply has begun, it is ignored.
    fn end(&mut self) {
        if !self.begun {
            return;
        }
        if is_malformed(&self.stop) {
            return self.draft.fail(malformed(&self.stop, ""));
        }
        self.draft.finish = Some(match &*self.stop {
            "end_turn" | "stop_sequence" => FinishReason::Stop,
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "tool_use" => FinishReason::ToolCalls,
            "pause_turn" => FinishReason::Paused,
            "refusal" => FinishReason::Refusal,
            _ if self.draft.reply.tool_calls.is_empty() => FinishReason::Stop,
            _ => FinishReason::ToolCalls,
        });
    }

    /// Returns the blocks in order if one of them must be sent back unchanged. A thought without a signature, as in a
    /// reply that was cut off, is left out because the API would reject it.
    fn thoughts(&self) -> Option<Value> {
        let Reply { content, reasoning, .. } = &self.draft.reply;
        let (mut order, mut any) = (Vec::new(), false);
        for (at, slot) in self.blocks.iter().enumerate() {
            let later = self.blocks.get(at + 1..).unwrap_or_default();
            match &slot.part {
                BlockContent::Text { start } => {
                    let end = later.iter().find_map(|slot| match slot.part {
                        BlockContent::Text { start } => Some(start),
                        _ => None,
                    });
                    let text = content.get(*start..end.unwrap_or(content.len())).unwrap_or_default();
                    order.push(json!({ "type": "text", "chars": text.chars().count() }));
                }
                BlockContent::Thinking { signature, .. } if signature.is_empty() => {}
                BlockContent::Thinking { text, signature } => {
                    let text = reasoning.get(text.clone()).unwrap_or_default();
                    order.push(keep(&json!({ "type": "thinking", "thinking": text, "signature": signature })));
                    any = true;
                }
                BlockContent::Redacted { data } => {
                    order.push(keep(&json!({ "type": "redacted_thinking", "data": data })));
                    any = true;
                }
                BlockContent::Call { .. } => order.push(json!({ "type": "tool_use" })),
                BlockContent::Other => {}
            }
        }
        any.then(|| json!({ DIALECT: order }))
    }

    fn not_an_event(&mut self, text: &str) {
        self.draft.fail_with(format!("The stream sent something that is not an event of a reply: {}", excerpt(text)));
    }
}

/// The value of a field of an event.
fn field(data: &[u8], name: &str) -> Value {
    serde_json::from_slice::<Value>(data)
        .ok()
        .and_then(|mut event| event.get_mut(name).map(Value::take))
        .unwrap_or_default()
}

fn is_missing(data: &[u8], name: &str) -> bool {
    field(data, name).is_null()
}

fn is_list(data: &[u8], name: &str) -> bool {
    field(data, name).is_array()
}

/// Appends to a thought.
fn think(reasoning: &mut String, thought: &mut Range<usize>, more: &str) {
    if more.is_empty() {
        return;
    }
    if thought.start == thought.end {
        if !reasoning.is_empty() {
            reasoning.push_str(GAP);
        }
        thought.start = reasoning.len();
    }
    reasoning.push_str(more);
    thought.end = reasoning.len();
}

/// The block that a delta belongs to.
fn part(blocks: &mut [BlockSlot], index: Number) -> Option<&mut BlockContent> {
    blocks.iter_mut().rev().find(|slot| slot.index == index).map(|slot| &mut slot.part)
}

fn tokens(usage: &WireUsage) -> Usage {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates, as intended
    let count = |number: f64| TokenCount(number as u64);
    let cached = usage.cache_read_input_tokens.0.unwrap_or(0.0);
    let written = usage.cache_creation_input_tokens.0.unwrap_or(0.0);
    Usage {
        input: count(usage.input_tokens.0.unwrap_or(0.0) + written + cached),
        output: count(usage.output_tokens.0.unwrap_or(0.0)),
        cached: count(cached),
        reasoning: count(usage.output_tokens_details.0.and_then(|details| details.thinking_tokens.0).unwrap_or(0.0)),
        estimated: false,
    }
}
