//! Assembles a reply from stream events.
//!
//! The end marker is `response.completed`, `response.incomplete` or `response.failed`. The contents of events that
//! close an item, and of the response that closes the stream, count only where deltas were missing: servers differ in
//! what they send.

use serde_json::Value;

use turnwise_engine::{FinishReason, ModelError, RawCall, Reply, Usage};

use super::super::classify::stream_error;
use super::super::dialect::{Assemble, PartSizes, Unfinished, UnfinishedReply};
use super::super::error_body::excerpt;
use super::super::json::{bytes, count};
use super::DIALECT;
use super::items::{ItemType, Items, index, text};

/// The state of one reply.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    draft: UnfinishedReply,
    items: Items,
    /// Bytes of the calls' ids, names and arguments.
    arguments: usize,
    /// Bytes of reasoning that is sent back unchanged.
    opaque: usize,
    refused: bool,
    /// The item and the part of it that the last piece of reasoning belonged to.
    reasoning_part: Option<(usize, u64)>,
}

/// The stage of an item, according to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemStage {
    Begun,
    /// It is complete. Its text counts if none has arrived in pieces.
    Whole {
        adds_text: bool,
    },
}

impl Assemble for Assembly {
    fn event(&mut self, data: &[u8]) {
        let data = data.trim_ascii();
        // Some servers end with the chat format's trailer.
        if self.draft.is_done() || data.is_empty() || data == b"[DONE]" {
            return;
        }
        // A server that splits its text inside a character sends invalid UTF-8.
        let said = String::from_utf8_lossy(data);
        match serde_json::from_str::<Value>(&said) {
            Ok(event @ Value::Object(_)) => self.on(&event, &said),
            _ => self.not_an_event(&said),
        }
    }

    fn has_begun(&self) -> bool {
        self.draft.has_begun() || self.items.has(ItemType::Call)
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
        let parts = self.items.len();
        PartSizes { calls: self.items.calls(), arguments: self.arguments, parts, opaque: self.opaque }
    }

    fn finish(mut self: Box<Self>) -> Result<Result<Reply, ModelError>, Unfinished> {
        self.draft.reply.tool_calls = self.items.calls_mut().map(std::mem::take).collect();
        self.draft.reply.opaque = self.items.kept().map(|kept| serde_json::json!({ DIALECT: kept }));
        self.draft.finish()
    }
}

impl Assembly {
    fn on(&mut self, event: &Value, said: &str) {
        let response = event.get("response").unwrap_or(&Value::Null);
        match text(event, "type") {
            "response.output_text.delta" => self.text(event, "delta"),
            "response.refusal.delta" => {
                self.refused = true;
                self.text(event, "delta");
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => self.thought(event),
            "response.function_call_arguments.delta" => {
                let piece = text(event, "delta");
                self.arguments += piece.len();
                if let Some(call) = self.call(event) {
                    call.arguments.push_str(piece);
                }
            }
            "response.function_call_arguments.done" => {
                let more = self.call(event).map_or(0, |call| finished(&mut call.arguments, text(event, "arguments")));
                self.arguments += more;
            }
            "response.output_item.added" => self.item(index(event), event.get("item"), ItemStage::Begun),
            "response.output_item.done" => {
                self.item(index(event), event.get("item"), ItemStage::Whole { adds_text: true });
            }
            "response.created" | "response.in_progress" | "response.queued" => self.named(response),
            kind @ ("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled") => {
                self.ended(response, kind.trim_start_matches("response."));
            }
            "error" => self.draft.fail(stream_error(event)),
            // Not streamed: the complete response.
            _ if text(event, "object") == "response" => self.ended(event, ""),
            _ if event.get("error").is_some_and(|error| !error.is_null()) => self.draft.fail(stream_error(event)),
            "" => self.not_an_event(said),
            // Events of a later version, and of the server's own tools.
            _ => {}
        }
    }

    fn text(&mut self, event: &Value, field: &str) {
        let piece = text(event, field);
        let at = self.items.of_delta(ItemType::Message, event);
        self.add_text(at, piece);
    }

    fn add_text(&mut self, at: usize, piece: &str) {
        self.draft.reply.content.push_str(piece);
        self.items.add_text(at, piece.len());
    }

    fn thought(&mut self, event: &Value) {
        let at = self.items.of_delta(ItemType::Reasoning, event);
        let part = ["summary_index", "content_index"].iter().find_map(|name| event.get(name)?.as_u64());
        self.add_thought(at, part.unwrap_or(0), text(event, "delta"));
    }

    /// Adds reasoning. The parts of a summary become paragraphs.
    fn add_thought(&mut self, at: usize, part: u64, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let reasoning = &mut self.draft.reply.reasoning;
        if self.reasoning_part.is_some_and(|last| last != (at, part)) && !reasoning.ends_with("\n\n") {
            reasoning.push_str("\n\n");
        }
        self.reasoning_part = Some((at, part));
        reasoning.push_str(piece);
        if let Some(item) = self.items.get_mut(at) {
            item.bytes += piece.len();
        }
    }

    fn call(&mut self, event: &Value) -> Option<&mut RawCall> {
        let at = self.items.of_delta(ItemType::Call, event);
        self.items.get_mut(at).map(|item| &mut item.call)
    }

    /// Takes an item that has begun, or that is complete.
    fn item(&mut self, index: Option<u64>, item: Option<&Value>, stage: ItemStage) {
        let Some((kind, whole)) = item.and_then(|item| Some((ItemType::of(item)?, item))) else { return };
        let at = self.items.of_item(kind, index, whole);
        let Some(item) = self.items.get_mut(at) else { return };
        let done = stage != ItemStage::Begun;
        let adds_text = stage == ItemStage::Whole { adds_text: true } && item.bytes == 0;
        item.done |= done;
        match kind {
            ItemType::Call => {
                let RawCall { id, name, arguments } = &mut item.call;
                self.arguments += finished(id, text(whole, "call_id")) + finished(name, text(whole, "name"));
                if done || arguments.is_empty() {
                    self.arguments += finished(arguments, text(whole, "arguments"));
                }
            }
            ItemType::Message => {
                let phase = whole.get("phase").filter(|phase| phase.is_string());
                item.phase = item.phase.take().or_else(|| phase.cloned());
                if adds_text {
                    self.whole_message(at, whole);
                }
            }
            ItemType::Reasoning => {
                // Without its encrypted content it could not be looked up: the server stores nothing.
                if done && !text(whole, "encrypted_content").is_empty() {
                    self.opaque += bytes(whole);
                    item.whole = Some(whole.clone());
                }
                if adds_text {
                    let part = |name| whole.get(name).and_then(Value::as_array).filter(|parts| !parts.is_empty());
                    let parts = part("summary").or_else(|| part("content"));
                    for (part, number) in parts.into_iter().flatten().zip(0..) {
                        self.add_thought(at, number, text(part, "text"));
                    }
                }
            }
        }
    }

    fn whole_message(&mut self, at: usize, item: &Value) {
        for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
            self.refused |= !text(part, "refusal").is_empty();
            self.add_text(at, text(part, "refusal"));
            self.add_text(at, text(part, "text"));
        }
    }

    fn named(&mut self, response: &Value) {
        finished(&mut self.draft.reply.id, text(response, "id"));
        finished(&mut self.draft.reply.model, text(response, "model"));
    }

    /// Takes the response that closes the stream, or the only one. `status` comes from its event, and counts if the
    /// response has none.
    fn ended(&mut self, response: &Value, status: &str) {
        self.named(response);
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            self.draft.reply.usage = Some(tokens(usage));
        }
        self.missing(response.get("output").and_then(Value::as_array).map_or(&[], Vec::as_slice));
        let said = text(response, "status");
        match if said.is_empty() { status } else { said } {
            "completed" => {
                self.draft.finish = Some(match (self.items.has(ItemType::Call), self.refused) {
                    (true, _) => FinishReason::ToolCalls,
                    (false, true) => FinishReason::Refusal,
                    (false, false) => FinishReason::Stop,
                });
            }
            "incomplete" => match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
                Some("max_output_tokens" | "max_tokens" | "length") => self.draft.finish = Some(FinishReason::Length),
                Some("content_filter") => self.draft.finish = Some(FinishReason::ContentFilter),
                reason => {
                    let reason = reason.unwrap_or("no reason given");
                    self.draft.fail_with(format!("The provider left the reply incomplete ({reason})."));
                }
            },
            status => match response.get("error").filter(|error| !error.is_null()) {
                Some(error) => self.draft.fail(stream_error(error)),
                None => self.draft.fail_with(format!("The provider ended the reply with \"{status}\".")),
            },
        }
    }

    /// Adds the items of the complete response that no event delivered. They may be numbered differently from the
    /// events, so an item counts only if no other of its kind has arrived.
    fn missing(&mut self, output: &[Value]) {
        let no_text = self.draft.reply.content.is_empty();
        let (no_thought, no_call) = (self.draft.reply.reasoning.is_empty(), !self.items.has(ItemType::Call));
        let nothing_kept = !self.items.keeps_reasoning();
        for (item, index) in output.iter().zip(0..) {
            let (wanted, adds_text) = match ItemType::of(item) {
                Some(ItemType::Message) => (no_text, true),
                Some(ItemType::Call) => (no_call, true),
                Some(ItemType::Reasoning) => (nothing_kept, no_thought),
                None => continue,
            };
            if wanted {
                self.item(Some(index), Some(item), ItemStage::Whole { adds_text });
            }
        }
        // Calls that were announced without arguments.
        let calls = output.iter().filter(|item| text(item, "type") == "function_call");
        if calls.clone().count() == self.items.calls_mut().count() {
            for (call, whole) in self.items.calls_mut().zip(calls).filter(|(call, _)| call.arguments.is_empty()) {
                self.arguments += finished(&mut call.arguments, text(whole, "arguments"));
            }
        }
    }

    fn not_an_event(&mut self, said: &str) {
        let message = format!("The stream sent something that is not an event of a reply: {}", excerpt(said));
        self.draft.fail_with(message);
    }
}

/// Replaces the text by the final one, if there is one. Returns the number of bytes by which the text grew.
fn finished(so_far: &mut String, whole: &str) -> usize {
    let before = so_far.len();
    if !whole.is_empty() && whole != so_far {
        whole.clone_into(so_far);
    }
    so_far.len().saturating_sub(before)
}

fn tokens(usage: &Value) -> Usage {
    let number = |path: &str| count(usage.pointer(path).and_then(Value::as_f64));
    Usage {
        input: number("/input_tokens"),
        output: number("/output_tokens"),
        cached: number("/input_tokens_details/cached_tokens"),
        reasoning: number("/output_tokens_details/reasoning_tokens"),
        estimated: false,
    }
}
