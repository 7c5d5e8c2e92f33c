//! What a wire format is: one that writes the conversation, one that reads the stream. One folder per format; which kind
//! of provider speaks which is said here and nowhere else.

use std::borrow::Cow;
use std::fmt::Debug;

use serde_json::Value;

use crate::engine::{
    AskedTool, FinishReason, Image, Message, ModelError, ProviderConfig, ProviderKind, ReasoningEffort, Reply, Retry,
    RunConfig, Slug, ToolChoice, ToolMessage, ToolSpec,
};

use super::anthropic;
use super::endpoint;
use super::gemini;
use super::json::raw;
use super::openai;
use super::responses;

/// Writes the conversation for one provider of a run, as bytes that only grow at their end.
///
/// A body is `start`, then each message of the frozen history; the shell keeps those bytes. For a request it forks the
/// writer and goes on with `mark`, the messages of that request only, and `end`. Bytes once written never change, so a
/// format that closes what may still grow (a list of tool results) leaves it open and closes it with what follows.
pub trait Encode: Debug {
    /// Everything before the first message.
    fn start(&mut self, out: &mut Vec<u8>);
    /// One message more.
    fn message(&mut self, message: &Message, out: &mut Vec<u8>);
    /// The frozen history ends here: the place of a cache breakpoint, where the provider knows such a thing.
    fn mark(&mut self, _out: &mut Vec<u8>) {}
    /// Everything after the last message: the tools, and which of them may be called.
    fn end(&mut self, tools: &[ToolSpec], choice: ToolChoice, out: &mut Vec<u8>);
    /// The same writer at the same place.
    fn fork(&self) -> Box<dyn Encode>;
}

/// Puts one reply together out of the events of its stream, or out of one whole JSON answer.
///
/// Invariants: a reply exists only where the end marker was seen; after an error nothing changes it any more.
pub(super) trait Assemble: Debug {
    /// The data of one event, or one JSON value.
    fn event(&mut self, data: &[u8]);
    /// Some text, reasoning or tool call came. Comments and empty events are none.
    fn has_begun(&self) -> bool;
    /// Nothing that could still come matters.
    fn is_done(&self) -> bool;
    /// The text so far; it only grows.
    fn content(&self) -> &str;
    /// The reasoning so far; it only grows.
    fn reasoning(&self) -> &str;
    /// The parts of the reply other than its texts. Past a limit of [`caps`] the reply has failed, so nothing more is kept.
    ///
    /// [`caps`]: crate::engine::caps
    fn load(&self) -> Load;
    /// The reply or the error; `Err` where the stream ended without either.
    fn finish(self: Box<Self>) -> Result<Result<Reply, ModelError>, Unfinished>;

    /// Handles a last event without an end: it counts only if it is complete.
    fn last_event(&mut self, data: &[u8]) {
        if data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok() {
            self.event(data);
        }
    }
}

/// The size of the parts of a partly decoded reply other than its texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    pub calls: usize,
    /// Bytes of the calls' ids, names and arguments.
    pub arguments: usize,
    /// Blocks, items or marks.
    pub parts: usize,
    /// Bytes that must be sent back unchanged.
    pub opaque: usize,
}

/// A stream without its end marker: how much had come.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub chars: usize,
}

/// The writer for a provider, with what the run asks of every model.
#[must_use]
pub fn encoder(p: &ProviderConfig, config: &RunConfig) -> Box<dyn Encode> {
    match p.kind {
        ProviderKind::OpenaiResponses => Box::new(responses::Encoder::new(p, config)),
        ProviderKind::Anthropic => Box::new(anthropic::Encoder::new(p, config)),
        ProviderKind::Gemini => Box::new(gemini::Encoder::new(p, config)),
        // The demo model answers in chat chunks, and what the page supplies is asked and answers in that shape.
        ProviderKind::Demo
        | ProviderKind::Openai
        | ProviderKind::Openrouter
        | ProviderKind::Ollama
        | ProviderKind::Lmstudio
        | ProviderKind::Llamacpp
        | ProviderKind::PromptApi
        | ProviderKind::Custom => Box::new(openai::Encoder::new(p, config)),
    }
}

/// The reader for a kind of provider.
pub(super) fn assembly(kind: ProviderKind) -> Box<dyn Assemble> {
    match kind {
        ProviderKind::OpenaiResponses => Box::new(responses::Assembly::default()),
        ProviderKind::Anthropic => Box::new(anthropic::Assembly::default()),
        ProviderKind::Gemini => Box::new(gemini::Assembly::default()),
        ProviderKind::Demo
        | ProviderKind::Openai
        | ProviderKind::Openrouter
        | ProviderKind::Ollama
        | ProviderKind::Lmstudio
        | ProviderKind::Llamacpp
        | ProviderKind::PromptApi
        | ProviderKind::Custom => Box::new(openai::Assembly::default()),
    }
}

/// The name of a PDF if the API requires one.
pub(super) const PDF_NAME: &str = "document.pdf";

/// `{"effort": …}`, of OpenAI Responses and OpenRouter.
pub(super) fn reasoning(effort: ReasoningEffort, out: &mut Vec<u8>) {
    raw(out, "{\"effort\":\"");
    raw(out, effort.as_str());
    raw(out, "\"}");
}

/// The run's own choice of a tool, as a writer goes by it.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    asked: Option<AskedTool>,
    /// Whether the server knows a choice by name, and goes by `none`. Others are offered no other tools than those that
    /// may be called.
    knows_names: bool,
}

impl Choice {
    pub fn of(p: &ProviderConfig, config: &RunConfig) -> Self {
        Choice { asked: config.tool_choice.clone(), knows_names: endpoint::knows_names(p) }
    }

    /// The run's choice, in a request that it holds for.
    pub fn asked(&self, choice: ToolChoice) -> Option<&AskedTool> {
        self.asked.as_ref().filter(|_| choice == ToolChoice::Asked)
    }

    /// Whether a request declares a tool.
    pub fn offers(&self, choice: ToolChoice, tool: &ToolSpec) -> bool {
        choice.offers(tool) && (self.knows_names || self.asked(choice).is_none_or(|asked| asked.allows(tool)))
    }

    /// The choice in OpenAI's words: a word, or `name`, which writes the choice by name.
    pub fn write(&self, choice: ToolChoice, out: &mut Vec<u8>, name: impl FnOnce(&mut Vec<u8>, &str)) {
        let word = match self.asked(choice) {
            None => return,
            Some(AskedTool::Auto) => "\"auto\"",
            Some(AskedTool::None) => "\"none\"",
            Some(AskedTool::Tool(tool)) if self.knows_names => {
                raw(out, ",\"tool_choice\":");
                return name(out, tool);
            }
            Some(AskedTool::Required | AskedTool::Tool(_)) => "\"required\"",
        };
        raw(out, ",\"tool_choice\":");
        raw(out, word);
    }
}

/// A user message for a model that cannot read PDFs: each is replaced by a note.
pub(super) fn without_pdfs<'a>(content: &'a str, images: &'a [Image]) -> (Cow<'a, str>, Cow<'a, [Image]>) {
    let pdfs = images.iter().filter(|image| image.is_pdf()).count();
    if pdfs == 0 {
        return (content.into(), images.into());
    }
    let notes = ["[a PDF was attached here; this model cannot read it]"].repeat(pdfs);
    let texts: Vec<&str> = Some(content).filter(|text| !text.is_empty()).into_iter().chain(notes).collect();
    let pictures: Vec<Image> = images.iter().filter(|image| !image.is_pdf()).cloned().collect();
    (texts.join("\n\n").into(), pictures.into())
}

/// A tool's answer for a format whose answers are texts: a note replaces the pictures and PDFs. It comes first, since the turn
/// counter is the last line of an answer.
pub(super) fn without_images(tool: &ToolMessage) -> Cow<'_, str> {
    match tool.images.len() {
        0 => (&tool.content).into(),
        n => format!(
            "[Left out: {n} {}. This API takes text only in tool results.]\n{}",
            if n == 1 { "picture or PDF" } else { "pictures or PDFs" },
            tool.content
        )
        .into(),
    }
}

/// Data that a provider needs back unchanged is an object with one entry, named after the format it came in: another provider of
/// the same run may speak another.
pub(super) fn own<'a>(opaque: Option<&'a Value>, dialect: &str) -> Option<&'a Value> {
    opaque?.get(dialect)
}

/// A reply in the making, for formats that say in one event that it ended.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub reply: Reply,
    /// Set by the end marker.
    pub finish: Option<FinishReason>,
    pub error: Option<ModelError>,
}

impl Draft {
    /// The provider reports an error. A reply whose end marker was seen is whole: what fails after it cannot take it back.
    pub fn fail(&mut self, error: ModelError) {
        if self.finish.is_none() && self.error.is_none() {
            self.error = Some(error);
        }
    }

    /// The provider could not complete the reply, in its own words.
    pub fn fail_with(&mut self, message: String) {
        self.fail(ModelError {
            slug: Slug::ProviderError,
            message,
            status: None,
            retry_after_ms: None,
            retry: Retry::Yes,
        });
    }

    /// Some text, reasoning or tool call came.
    pub fn has_begun(&self) -> bool {
        let Reply { content, reasoning, tool_calls, .. } = &self.reply;
        !(content.is_empty() && reasoning.is_empty() && tool_calls.is_empty())
    }

    pub fn is_done(&self) -> bool {
        self.finish.is_some() || self.error.is_some()
    }

    /// The reply or the error; `Err` where neither its end nor an error was seen.
    pub fn finish(self) -> Result<Result<Reply, ModelError>, Unfinished> {
        let Draft { mut reply, finish, error } = self;
        if let Some(error) = error {
            return Ok(Err(error));
        }
        match finish {
            Some(finish) => {
                reply.finish = finish;
                Ok(Ok(reply))
            }
            None => Err(Unfinished { chars: chars(&reply) }),
        }
    }
}

/// How much of a reply had come.
pub(super) fn chars(reply: &Reply) -> usize {
    let calls: usize = reply.tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
    reply.content.chars().count() + reply.reasoning.chars().count() + calls
}
