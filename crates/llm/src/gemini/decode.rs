//! Assembles a reply from chunks.
//!
//! The end marker is `finishReason`; older models send it in every chunk, and usage may come after it, so the stream is
//! read to its end.

use turnwise_engine::caps::{MAX_CALLS, MAX_PARTS};
use turnwise_engine::{FinishReason, ModelError, RawCall, Reply, Retry, Slug, Usage};

use super::super::classify::stream_error;
use super::super::dialect::{Assemble, Draft, Load, Unfinished};
use super::super::error_body::excerpt;
use super::super::json::count;
use super::wire::{Call, Candidate, Chunk, Feedback, Mark, Part, Place, WireUsage};
use super::{DIALECT, malformed, own_name};

/// The state of one reply.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    draft: Draft,
    marks: Vec<Mark>,
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
            serde_json::from_str::<Vec<Chunk<'_>>>(&said)
        } else {
            serde_json::from_str(&said).map(|chunk| vec![chunk])
        };
        let Ok(chunks) = chunks else {
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

    fn load(&self) -> Load {
        Load {
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
                    return Ok(Err(malformed::error(&reason, &message)));
                }
                // A call although no tools were offered: it is answered as such.
                None => {}
            }
        }
        if draft.finish == Some(FinishReason::Stop) && !draft.reply.tool_calls.is_empty() {
            draft.finish = Some(FinishReason::ToolCalls);
        }
        if marks.iter().any(Mark::says_more) {
            draft.reply.opaque = Some(serde_json::json!({ DIALECT: marks }));
        }
        draft.finish()
    }
}

const MALFORMED: &str = "MALFORMED_FUNCTION_CALL";

impl Assembly {
    fn chunk(&mut self, chunk: Chunk<'_>) {
        if let Some(error) = chunk.error {
            return self.draft.fail(stream_error(&error));
        }
        let reply = &mut self.draft.reply;
        if let Some(id) = chunk.response_id.filter(|_| reply.id.is_empty()) {
            reply.id = id;
        }
        if let Some(model) = chunk.model_version.filter(|_| reply.model.is_empty()) {
            reply.model = model;
        }
        if let Some(usage) = chunk.usage_metadata {
            reply.usage = Some(tokens(&usage));
        }
        let candidate = chunk.candidates.into_iter().flatten().find(|candidate| candidate.index.unwrap_or(0) == 0);
        if let Some(candidate) = candidate {
            self.candidate(candidate);
        }
        if let Some(Feedback { block_reason: Some(reason), block_reason_message }) = chunk.prompt_feedback {
            self.draft.fail(blocked(&reason, block_reason_message.as_deref()));
        }
    }

    fn candidate(&mut self, candidate: Candidate<'_>) {
        for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            self.part(part);
        }
        let Some(reason) = candidate.finish_reason.filter(|reason| !reason.is_empty()) else { return };
        let message = candidate.finish_message.unwrap_or_default();
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

    fn part(&mut self, part: Part<'_>) {
        let reply = &mut self.draft.reply;
        if self.marks.len() > MAX_PARTS || reply.tool_calls.len() > MAX_CALLS {
            return;
        }
        let place = match (part.function_call, part.text) {
            (Some(Call { id, name, args }), _) => {
                let id = id.unwrap_or_default();
                let arguments = args.map(|args| args.get()).filter(|args| *args != "null").unwrap_or("{}").to_owned();
                let name = own_name(name.as_deref().unwrap_or_default()).to_owned();
                self.arguments += id.len() + name.len() + arguments.len();
                reply.tool_calls.push(RawCall { id: id.clone(), name, arguments });
                Place::Call(id)
            }
            (None, Some(text)) if part.thought == Some(true) => {
                reply.reasoning.push_str(&text);
                Place::Thought(text.len())
            }
            (None, Some(text)) => {
                reply.content.push_str(&text);
                Place::Text(text.len())
            }
            // A signature alone means an empty text; other parts (code that ran there) are ignored.
            (None, None) if part.thought_signature.is_none() => return,
            (None, None) if part.thought == Some(true) => Place::Thought(0),
            (None, None) => Place::Text(0),
        };
        self.mark(place, part.thought_signature.filter(|signature| !signature.is_empty()));
    }

    /// Merges the pieces of one text into one part; a part with a signature stays separate.
    fn mark(&mut self, place: Place, signature: Option<String>) {
        self.opaque += signature.as_ref().map_or(0, String::len);
        let last = self.marks.last_mut().filter(|last| last.signature.is_none() && signature.is_none());
        match (last.map(|last| &mut last.part), &place) {
            (Some(Place::Text(so_far)), Place::Text(more)) | (Some(Place::Thought(so_far)), Place::Thought(more)) => {
                *so_far += more;
            }
            _ => self.marks.push(Mark { part: place, signature }),
        }
    }
}

impl Mark {
    /// Whether the mark adds anything to the text and the calls.
    fn says_more(&self) -> bool {
        self.signature.is_some() || matches!(&self.part, Place::Call(id) if !id.is_empty())
    }
}

/// The error of a blocked request: nothing was written, and the same request would be blocked again.
fn blocked(reason: &str, message: Option<&str>) -> ModelError {
    let said = message.map(|message| format!(" It says: {}", excerpt(message))).unwrap_or_default();
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
    let sum = |a: Option<f64>, b: Option<f64>| count(Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)));
    Usage {
        input: sum(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        output: sum(usage.candidates_token_count, usage.thoughts_token_count),
        cached: count(usage.cached_content_token_count),
        reasoning: count(usage.thoughts_token_count),
        estimated: false,
    }
}
