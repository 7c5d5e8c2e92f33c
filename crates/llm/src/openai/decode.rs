//! Assembles a reply from chunks.
//!
//! The end marker is `finish_reason`; after it, until `[DONE]`, comes usage. The hot path allocates only to grow the reply's
//! own texts: most chunks of a stream differ from the previous one in a single string, so only that string is parsed.

use std::borrow::Cow;

use serde_json::{Map, Value};

use turnwise_engine::caps::MAX_PARTS;
use turnwise_engine::{FinishReason, ModelError, Reply, Retry, Slug, Usage};

use super::super::classify::stream_error;
use super::super::dialect::{Assemble, PartSizes, Unfinished, chars, is_malformed, malformed};
use super::super::error_body::{excerpt, is_said};
use super::super::json::{bytes, count};
use super::calls::PartialCalls;
use super::think::{Think, take_unopened};
use super::wire::{CompletionChunk, MessageFields, ReplyChoice, WireUsage};
use super::{DIALECT, EXTRAS};
use crate::lenient::WireText;

/// The state of one reply.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    /// OpenRouter's `reasoning_details`.
    details: Vec<Value>,
    /// Their size, in bytes.
    details_bytes: usize,
    reply: Reply,
    calls: PartialCalls,
    /// The index of the choice whose text is the reply.
    index: Option<f64>,
    /// Whether the calls are those of choices after the first.
    calls_of_others: bool,
    finish: Option<FinishReason>,
    refused: bool,
    error: Option<ModelError>,
    trailer: bool,
    pattern: Option<ChunkPattern>,
    think: Think,
}

/// The bytes around the text of the last chunk that only added text. A chunk with the same bytes around another string
/// differs in its text only: this is exact, not a guess.
#[derive(Debug)]
struct ChunkPattern {
    field: DeltaField,
    /// Ends with the string's opening quote.
    before: Vec<u8>,
    /// Starts with its closing quote.
    after: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum DeltaField {
    Content,
    Reasoning,
}

impl Assemble for Assembly {
    fn event(&mut self, data: &[u8]) {
        if self.is_done() || self.repeats_pattern(data) {
            return;
        }
        let data = data.trim_ascii();
        if data.is_empty() {
            return;
        }
        if data == b"[DONE]" {
            self.trailer = true;
            return;
        }
        match read_chunk(data) {
            Some(chunk) => self.chunk(data, chunk),
            // A server that splits its text inside a character sends invalid UTF-8.
            None => match String::from_utf8_lossy(data) {
                Cow::Owned(mended) => match read_chunk(mended.as_bytes()) {
                    Some(chunk) => self.chunk(mended.as_bytes(), chunk),
                    None => self.not_a_chunk(&mended),
                },
                Cow::Borrowed(text) => match without_repeats(data) {
                    Some(once) if once != text => match read_chunk(once.as_bytes()) {
                        Some(chunk) => self.chunk(once.as_bytes(), chunk),
                        None => self.not_a_chunk(text),
                    },
                    _ => self.not_a_chunk(text),
                },
            },
        }
    }

    fn has_begun(&self) -> bool {
        !(self.reply.content.is_empty() && self.reply.reasoning.is_empty() && self.calls.is_empty())
    }

    fn is_done(&self) -> bool {
        self.trailer || self.error.is_some()
    }

    fn content(&self) -> &str {
        &self.reply.content
    }

    fn reasoning(&self) -> &str {
        &self.reply.reasoning
    }

    fn load(&self) -> PartSizes {
        PartSizes {
            calls: self.calls.len(),
            arguments: self.calls.bytes(),
            parts: self.details.len(),
            opaque: self.details_bytes,
        }
    }

    fn finish(self: Box<Self>) -> Result<Result<Reply, ModelError>, Unfinished> {
        let Assembly { mut reply, calls, finish, refused, error, details, think, .. } = *self;
        if let Some(error) = error {
            return Ok(Err(error));
        }
        let Reply { content, reasoning, .. } = &mut reply;
        think.finish(content, reasoning);
        take_unopened(content, reasoning);
        let opaque = [(DIALECT, details), (EXTRAS, calls.extras())];
        let opaque = opaque.into_iter().filter(|(_, kept)| !kept.is_empty());
        let opaque: Map<String, Value> = opaque.map(|(name, kept)| (name.to_owned(), kept.into())).collect();
        reply.opaque = (!opaque.is_empty()).then_some(Value::Object(opaque));
        reply.tool_calls = calls.finish();
        let Some(finish) = finish else { return Err(Unfinished { chars: chars(&reply) }) };
        reply.finish = if refused && finish == FinishReason::Stop { FinishReason::Refusal } else { finish };
        Ok(Ok(reply))
    }
}

impl Assembly {
    fn repeats_pattern(&mut self, data: &[u8]) -> bool {
        let Some(pattern) = &self.pattern else { return false };
        let middle = data.strip_prefix(&*pattern.before).and_then(|rest| rest.strip_suffix(&*pattern.after));
        let Some(middle) = middle else { return false };
        let quoted = pattern.before.len().saturating_sub(1)..pattern.before.len() + middle.len() + 1;
        let Some(Ok(text)) = data.get(quoted).map(serde_json::from_slice::<WireText<'_>>) else { return false };
        match pattern.field {
            DeltaField::Content if self.think.is_text() => self.reply.content.push_str(&text.0),
            DeltaField::Content => self.text(&text.0),
            DeltaField::Reasoning => self.reply.reasoning.push_str(&text.0),
        }
        true
    }

    fn chunk(&mut self, data: &[u8], chunk: CompletionChunk<'_>) {
        let CompletionChunk { id, object, model, choices, usage, x_groq, error } = chunk;
        let mut choices = choices.0.into_iter();
        let first = choices.next();
        // Gateways over Copilot put the text into one choice and the calls into the next.
        let mut other_calls: Vec<_> = choices.flat_map(ReplyChoice::into_calls).collect();
        // What has no choice may be an error itself: with `object: "error"` (vLLM), or after a line `event: error`.
        let may_be_error = object.0 == "error" || (first.is_none() && other_calls.is_empty() && object.is_empty());
        let mut choice = first.unwrap_or_default();
        let itself = || may_be_error.then(|| error_itself(data)).flatten();
        let reported = |error: Option<Value>| error.filter(is_said);
        if let Some(error) = reported(error).or_else(|| reported(choice.error.take())).or_else(itself) {
            // A reply whose end marker was seen is complete: later failures do not affect it.
            if self.finish.is_none() {
                self.error = Some(stream_error(&error));
            }
            return;
        }
        if self.reply.id.is_empty() {
            self.reply.id.push_str(&id.0);
        }
        if self.reply.model.is_empty() {
            self.reply.model.push_str(&model.0);
        }
        let usage = usage.0.or_else(|| choice.usage.0.take()).or_else(|| x_groq.0?.usage.0);
        let only_text = usage.is_none() && choice.finish_reason.is_empty() && other_calls.is_empty();
        if let Some(usage) = usage {
            self.reply.usage = Some(tokens(&usage));
        }
        let reason = std::mem::take(&mut choice.finish_reason);
        if !self.is_first(&choice) {
            other_calls = choice.into_calls();
        } else if let Some(body) = choice.delta.0.or(choice.message.0) {
            self.body(data, &body, only_text);
        }
        if self.calls.is_empty() || self.calls_of_others {
            self.calls_of_others |= !other_calls.is_empty();
            self.calls.add(&other_calls);
        }
        self.finish_reason(&reason.0);
    }

    /// Whether a choice is the one whose text is the reply: the first that said anything. Without an index, or with one below 0, it is.
    fn is_first(&mut self, choice: &ReplyChoice<'_>) -> bool {
        let Some(index) = choice.index.0.filter(|index| *index >= 0.0) else { return true };
        let first = *self.index.get_or_insert(index);
        (first - index).abs() < 0.5
    }

    fn body(&mut self, data: &[u8], body: &MessageFields<'_>, only_text: bool) {
        let [first, second] = [&body.reasoning_content.0, &body.reasoning.0];
        let reasoning = if first.is_empty() { second } else { first };
        let calls = body.tool_calls.0.as_slice();
        let thoughts = &body.content.thoughts;
        self.text(&body.content.text.0);
        self.reply.content.push_str(&body.refusal.0);
        self.reply.reasoning.push_str(&reasoning.0);
        self.reply.reasoning.push_str(thoughts);
        self.refused |= !body.refusal.is_empty();
        self.calls.add(calls);
        for detail in body.details() {
            if self.details.len() > MAX_PARTS {
                break;
            }
            self.details_bytes += bytes(detail);
            add_detail(&mut self.details, detail);
        }
        let texts_only =
            calls.is_empty() && body.refusal.is_empty() && thoughts.is_empty() && body.details().is_empty();
        if only_text && texts_only {
            let learned = match (body.content.text.is_empty(), reasoning.is_empty()) {
                (false, true) => ChunkPattern::around(data, &body.content.text, DeltaField::Content),
                (true, false) => ChunkPattern::around(data, reasoning, DeltaField::Reasoning),
                _ => None,
            };
            if learned.is_some() {
                self.pattern = learned;
            }
        }
    }

    fn text(&mut self, piece: &str) {
        self.think.add(piece, &mut self.reply.content, &mut self.reply.reasoning);
    }

    fn finish_reason(&mut self, reason: &str) {
        self.finish = Some(match reason {
            "" => return,
            "stop" => FinishReason::Stop,
            "length" | "max_tokens" | "MAX_TOKENS" | "model_length" => FinishReason::Length,
            "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
            "content_filter" | "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" => {
                FinishReason::ContentFilter
            }
            reason if is_malformed(reason) => {
                self.error = Some(malformed(reason, ""));
                return;
            }
            // The providers' values for a reply that they could not complete.
            "error" | "insufficient_system_resource" | "abort" | "network_error" => {
                let message = format!("The provider ended the reply with \"{reason}\".");
                self.error = Some(provider_error(message));
                return;
            }
            _ if self.calls.is_empty() => FinishReason::Stop,
            _ => FinishReason::ToolCalls,
        });
    }

    fn not_a_chunk(&mut self, text: &str) {
        if self.finish.is_none() {
            // Gemini sends errors as an array with one element.
            let error = serde_json::from_str::<Vec<Value>>(text).ok();
            let error = error.and_then(|list| list.first()?.get("error").map(stream_error));
            let message = || format!("The stream sent something that is not a chunk of a reply: {}", excerpt(text));
            self.error = Some(error.unwrap_or_else(|| provider_error(message())));
        }
    }
}

impl ChunkPattern {
    fn around(data: &[u8], text: &WireText<'_>, field: DeltaField) -> Option<ChunkPattern> {
        let Cow::Borrowed(text) = text.0 else { return None };
        let start = (text.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let (before, after) = (data.get(..start)?, data.get(start + text.len()..)?);
        (before.last() == Some(&b'"') && after.first() == Some(&b'"')).then(|| ChunkPattern {
            field,
            before: before.to_vec(),
            after: after.to_vec(),
        })
    }
}

/// Merges consecutive pieces of one block (same type and index).
fn add_detail(details: &mut Vec<Value>, detail: &Value) {
    const GROWING: [&str; 3] = ["text", "summary", "data"];
    let same = |key: &str, other: &Value| detail.get(key) == other.get(key);
    let last =
        details.last_mut().filter(|last| detail.get("index").is_some() && same("index", last) && same("type", last));
    let (Some(Value::Object(last)), Value::Object(detail)) = (last, detail) else {
        return details.push(detail.clone());
    };
    for (key, value) in detail {
        match (last.get_mut(key), value) {
            (Some(Value::String(so_far)), Value::String(more)) if GROWING.contains(&key.as_str()) => {
                so_far.push_str(more);
            }
            (_, Value::Null) => {}
            _ => drop(last.insert(key.clone(), value.clone())),
        }
    }
}

/// The chunk, if it is an error itself: one that says something, or a status of MiniMax that is not 0.
fn error_itself(data: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(data).ok()?;
    let says = |name: &str| value.get(name).is_some_and(|said| said.is_string() && is_said(said));
    let reports = |name: &str| value.get(name).is_some_and(is_said);
    (says("message") || says("detail") || says("msg") || reports("errors") || reports("base_resp")).then_some(value)
}

/// Reads objects only: serde would also read a struct from an array, by position.
fn read_chunk(data: &[u8]) -> Option<CompletionChunk<'_>> {
    if data.first() == Some(&b'{') { serde_json::from_slice(data).ok() } else { None }
}

/// The same JSON with each field once, the last value of each: some servers repeat a field.
fn without_repeats(data: &[u8]) -> Option<String> {
    Some(serde_json::from_slice::<Value>(data).ok()?.to_string())
}

fn provider_error(message: String) -> ModelError {
    ModelError { slug: Slug::ProviderError, message, status: None, retry_after_ms: None, retry: Retry::Yes }
}

fn tokens(usage: &WireUsage) -> Usage {
    let cached = usage.prompt_tokens_details.0.as_ref().and_then(|details| details.cached_tokens.0);
    let elsewhere = [usage.prompt_cache_hit_tokens, usage.cached_tokens, usage.num_cached_tokens];
    let reasoning = usage.completion_tokens_details.0.as_ref().and_then(|details| details.reasoning_tokens.0);
    Usage {
        input: count(usage.prompt_tokens.0),
        output: count(usage.completion_tokens.0),
        cached: count(cached.or_else(|| elsewhere.iter().find_map(|number| number.0))),
        reasoning: count(reasoning),
        estimated: false,
    }
}
