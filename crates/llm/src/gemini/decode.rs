//! Assembles a reply from chunks.
//!
//! The end marker is `finishReason`; older models send it in every chunk, and usage may come after it, so the stream is
//! read to its end.

use serde_json::Value;

use turnwise_engine::caps::{MAX_CALLS, MAX_PARTS};
use turnwise_engine::{FinishReason, ModelError, RawCall, Reply, Retry, Slug, Usage};

use super::super::classify::stream_error;
use super::super::dialect::{Assemble, PartSizes, Unfinished, UnfinishedReply, malformed as malformed_call};
use super::super::error_body::{excerpt, is_said};
use super::super::json::count;
use super::wire::{Candidate, Feedback, FunctionCall, MarkPosition, ResponseChunk, SignedPart, WirePart, WireUsage};
use super::{DIALECT, malformed, own_name};
use crate::lenient::Number;

/// The state of one reply.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    draft: UnfinishedReply,
    marks: Vec<SignedPart>,
    /// Bytes of the calls' ids, names and arguments.
    arguments: usize,
    /// Bytes of signatures.
    opaque: usize,
    /// The reason for a call that could not be read, and Gemini's message about it.
    malformed: Option<(String, String)>,
}

impl Assemble for Assembly {
    fn event(&mut self, data: &[u8]) {
        let data = data.trim_ascii();
        if self.is_done() || data.is_empty() || data == b"[DONE]" {
            return;
        }
        // A server that splits its text inside a character sends invalid UTF-8.
        let said = String::from_utf8_lossy(data);
        // Without `alt=sse` the response is one array of chunks; an error is also an array, with one element.
        let chunks = if said.starts_with('[') {
            serde_json::from_str::<Vec<ResponseChunk<'_>>>(&said)
        } else {
            serde_json::from_str(&said).map(|chunk| vec![chunk])
        };
        let Some(chunks) = chunks.ok().filter(|chunks| chunks.iter().any(ResponseChunk::says) || !is_odd(&said)) else {
            let message = format!("The stream sent something that is not a chunk of a reply: {}", excerpt(&said));
            return self.draft.fail_with(message);
        };
        for chunk in chunks {
            self.chunk(chunk);
        }
    }

    fn has_begun(&self) -> bool {
        self.draft.has_begun()
    }

    fn is_done(&self) -> bool {
        self.draft.error.is_some()
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
            parts: self.marks.len(),
            opaque: self.opaque,
        }
    }

    fn finish(self: Box<Self>) -> Result<Result<Reply, ModelError>, Unfinished> {
        let Assembly { mut draft, mut marks, malformed, .. } = *self;
        if let (Some((reason, message)), true) = (malformed, draft.error.is_none()) {
            let calls = &mut draft.reply.tool_calls;
            match malformed::call(&message) {
                // Other calls in such a reply are not what the model intended, so they are dropped.
                Some(call) => (*calls, marks) = (vec![call], Vec::new()),
                None if reason == MALFORMED || calls.is_empty() => {
                    return Ok(Err(malformed_call(&reason, &message)));
                }
                // A call although no tools were offered: it is answered as such.
                None => {}
            }
        }
        if draft.finish == Some(FinishReason::Stop) && !draft.reply.tool_calls.is_empty() {
            draft.finish = Some(FinishReason::ToolCalls);
        }
        if marks.iter().any(SignedPart::says_more) {
            draft.reply.opaque = Some(serde_json::json!({ DIALECT: marks }));
        }
        draft.finish()
    }
}

const MALFORMED: &str = "MALFORMED_FUNCTION_CALL";

impl Assembly {
    fn chunk(&mut self, chunk: ResponseChunk<'_>) {
        if let Some(error) = chunk.error.filter(is_said) {
            return self.draft.fail(stream_error(&error));
        }
        let reply = &mut self.draft.reply;
        if reply.id.is_empty() {
            reply.id.push_str(&chunk.response_id.0);
        }
        if reply.model.is_empty() {
            reply.model.push_str(&chunk.model_version.0);
        }
        if let Some(usage) = chunk.usage_metadata.0 {
            reply.usage = Some(tokens(&usage));
        }
        let is_first = |candidate: &Candidate<'_>| candidate.index.0.is_none_or(|index| index < 0.5);
        let candidate = chunk.candidates.0.into_iter().find(is_first);
        if let Some(candidate) = candidate {
            self.candidate(candidate);
        }
        let feedback = chunk.prompt_feedback.0.filter(|feedback| !feedback.block_reason.is_empty());
        if let Some(Feedback { block_reason, block_reason_message }) = feedback {
            self.draft.fail(blocked(&block_reason.0, &block_reason_message.0));
        }
    }

    fn candidate(&mut self, candidate: Candidate<'_>) {
        for part in candidate.content.0.map(|content| content.parts.0).unwrap_or_default() {
            self.part(part);
        }
        if candidate.finish_reason.is_empty() {
            return;
        }
        let (reason, message) = (candidate.finish_reason.0.into_owned(), candidate.finish_message.0.into_owned());
        self.draft.finish = Some(match reason.as_str() {
            // The second value comes from servers that imitate the API.
            "STOP" | "FUNCTION_CALL" => FinishReason::Stop,
            "MAX_TOKENS" => FinishReason::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => FinishReason::ContentFilter,
            MALFORMED | "UNEXPECTED_TOOL_CALL" => {
                self.malformed = Some((reason, message));
                FinishReason::Stop
            }
            _ => {
                let said = if message.is_empty() { String::new() } else { format!(" It says: {}", excerpt(&message)) };
                return self.draft.fail_with(format!("The provider ended the reply with \"{reason}\".{said}"));
            }
        });
    }

    fn part(&mut self, part: WirePart<'_>) {
        let reply = &mut self.draft.reply;
        if self.marks.len() > MAX_PARTS || reply.tool_calls.len() > MAX_CALLS {
            return;
        }
        let (is_thought, signature) = (part.thought == true, part.thought_signature.0);
        let place = match (part.function_call.0, part.text.map(|text| text.0)) {
            (Some(FunctionCall { id, name, args }), _) => {
                let id = id.0.into_owned();
                let arguments = args.map(|args| args.get()).filter(|args| *args != "null").unwrap_or("{}").to_owned();
                let name = own_name(&name.0).to_owned();
                self.arguments += id.len() + name.len() + arguments.len();
                reply.tool_calls.push(RawCall { id: id.clone(), name, arguments });
                MarkPosition::Call(id)
            }
            // A signature alone means an empty text; other parts (code that ran there) are ignored.
            (None, None) if signature.is_empty() => return,
            (None, text) if is_thought => {
                let text = text.unwrap_or_default();
                reply.reasoning.push_str(&text);
                MarkPosition::Thought(text.len())
            }
            (None, text) => {
                let text = text.unwrap_or_default();
                reply.content.push_str(&text);
                MarkPosition::Text(text.len())
            }
        };
        self.mark(place, Some(signature.into_owned()).filter(|signature| !signature.is_empty()));
    }

    /// Merges the pieces of one text into one part; a part with a signature stays separate.
    fn mark(&mut self, place: MarkPosition, signature: Option<String>) {
        self.opaque += signature.as_ref().map_or(0, String::len);
        let last = self.marks.last_mut().filter(|last| last.signature.is_none() && signature.is_none());
        match (last.map(|last| &mut last.part), &place) {
            (Some(MarkPosition::Text(so_far)), MarkPosition::Text(more))
            | (Some(MarkPosition::Thought(so_far)), MarkPosition::Thought(more)) => {
                *so_far += more;
            }
            _ => self.marks.push(SignedPart { part: place, signature }),
        }
    }
}

/// Whether a chunk without content has candidates that are none.
fn is_odd(said: &str) -> bool {
    let value = serde_json::from_str::<Value>(said).unwrap_or_default();
    value.get("candidates").is_some_and(|candidates| !candidates.is_array() && !candidates.is_null())
}

impl ResponseChunk<'_> {
    fn says(&self) -> bool {
        let says = |candidate: &Candidate<'_>| candidate.content.0.is_some() || !candidate.finish_reason.is_empty();
        self.candidates.0.iter().any(says)
    }
}

impl SignedPart {
    /// Whether the mark adds anything to the text and the calls.
    fn says_more(&self) -> bool {
        self.signature.is_some() || matches!(&self.part, MarkPosition::Call(id) if !id.is_empty())
    }
}

/// The error of a blocked request: nothing was written, and the same request would be blocked again.
fn blocked(reason: &str, message: &str) -> ModelError {
    let said = if message.is_empty() { String::new() } else { format!(" It says: {}", excerpt(message)) };
    ModelError {
        slug: Slug::ProviderError,
        message: format!(
            "The provider blocked the request ({reason}).{said} Rephrase the task, or choose another model."
        ),
        status: None,
        retry_after_ms: None,
        retry: Retry::Fatal,
    }
}

fn tokens(usage: &WireUsage) -> Usage {
    let sum = |a: Number, b: Number| count(Some(a.0.unwrap_or(0.0) + b.0.unwrap_or(0.0)));
    Usage {
        input: sum(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        output: sum(usage.candidates_token_count, usage.thoughts_token_count),
        cached: count(usage.cached_content_token_count.0),
        reasoning: count(usage.thoughts_token_count.0),
        estimated: false,
    }
}
