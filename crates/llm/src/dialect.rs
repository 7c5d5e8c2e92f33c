//! Defines a wire format: a writer for the conversation and a reader for the stream. One folder per format;
//! `providers.rs` says which kind of provider uses which format.

use std::borrow::Cow;
use std::fmt::Debug;

use serde_json::{Value, json};

use turnwise_engine::{
    AskedTool, AssistantMessage, Author, Correction, FinishReason, Image, Message, ModelError, ProviderConfig,
    ProviderKind, ReasoningEffort, Reply, Retry, RunConfig, Slug, ToolChoice, ToolMessage, ToolSpec, own_tools,
};

use super::abilities::ModelSettings;
use super::anthropic;
use super::call_ids::WireIds;
use super::endpoint;
use super::error_body::excerpt;
use super::gemini;
use super::json::{field, raw};
use super::openai;
use super::options::Options;
use super::providers::{WireFormat, wire};
use super::responses;
use super::servers::{Forcing, ServerRow};

/// Writes the conversation for one provider of a run, as bytes that only grow at their end.
///
/// A body is `start`, then each message of the frozen history; the shell keeps those bytes. For a request it forks the
/// writer and continues with `mark`, the messages of that request only, and `end`. Bytes once written never change, so
/// a format leaves anything that may still grow (a list of tool results) open, and closes it with the next write.
pub trait Encode: Debug {
    /// Everything before the first message.
    fn start(&mut self, out: &mut Vec<u8>);
    /// One more message.
    fn message(&mut self, message: &Message, out: &mut Vec<u8>);
    /// The end of the frozen history: what follows is for this request only. The place for a cache breakpoint, if the provider takes one.
    fn mark(&mut self, _out: &mut Vec<u8>) {}
    /// Everything after the last message: the tools, and which of them may be called. Every service puts the tools before the conversation in
    /// its prompt, so its cache keeps the conversation only as long as the same tools are declared.
    fn end(&mut self, tools: &[ToolSpec], choice: ToolChoice, out: &mut Vec<u8>);
    /// A copy of the writer in the same state.
    fn fork(&self) -> Box<dyn Encode>;
}

/// Assembles one reply from the events of its stream, or from one complete JSON response.
///
/// Invariants: a reply exists only if the end marker was seen; after an error nothing changes it.
pub(super) trait Assemble: Debug {
    /// Takes the data of one event, or one JSON value.
    fn event(&mut self, data: &[u8]);
    /// Whether any text, reasoning or tool call has arrived. Comments and empty events do not count.
    fn has_begun(&self) -> bool;
    /// Whether the rest of the stream no longer matters.
    fn is_done(&self) -> bool;
    /// The text so far; it only grows.
    fn content(&self) -> &str;
    /// The reasoning so far; it only grows.
    fn reasoning(&self) -> &str;
    /// The size of the reply's parts other than its texts. Beyond a limit of [`caps`] the reply has failed, so nothing
    /// more is kept.
    ///
    /// [`caps`]: turnwise_engine::caps
    fn load(&self) -> PartSizes;
    /// The reply or the error; `Err` if the stream ended without either.
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
pub(super) struct PartSizes {
    pub calls: usize,
    /// Bytes of the calls' ids, names and arguments.
    pub arguments: usize,
    /// Blocks, items or marks.
    pub parts: usize,
    /// Bytes that must be sent back unchanged.
    pub opaque: usize,
}

/// A stream without its end marker, and how much of it had arrived.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub chars: usize,
}

/// The reader for a kind of provider.
pub(super) fn assembly(kind: ProviderKind) -> Box<dyn Assemble> {
    match wire(kind).format {
        WireFormat::Chat => Box::new(openai::Assembly::default()),
        WireFormat::Responses => Box::new(responses::Assembly::default()),
        WireFormat::Messages => Box::new(anthropic::Assembly::default()),
        WireFormat::Gemini => Box::new(gemini::Assembly::default()),
    }
}

/// The name of a PDF if the API requires one.
pub(super) const PDF_NAME: &str = "document.pdf";

/// The effort for OpenAI Responses and OpenRouter.
pub(super) fn reasoning(effort: ReasoningEffort) -> Value {
    json!({ "effort": effort.as_str() })
}

/// Which tools a request in one of OpenAI's formats declares, and which of them may be called.
#[derive(Clone, Debug)]
pub(super) struct OfferedTools {
    asked: Option<AskedTool>,
    by_name: bool,
    /// The word that demands a call; `None`: no call can be demanded.
    required: Option<&'static str>,
    /// Whether `none` is respected: then a synthesis declares the tools, none of which may be called.
    keeps_tools: bool,
    /// Whether tools are declared in any case: the server refused a conversation with calls without them.
    declares_tools: bool,
    /// Whether a choice may be sent.
    takes_choice: bool,
    /// Whether the final report can be demanded by its name: then the other tools stay declared.
    forces_report: bool,
}

impl OfferedTools {
    pub fn of(p: &ProviderConfig, config: &RunConfig, settings: &ModelSettings, learnt: &[Correction]) -> Self {
        let (server, takes_choice) = (ServerRow::of(p), !learnt.contains(&Correction::NoToolChoice));
        let forces = server.forces_thinking || is_told_not_to_think(p, config);
        OfferedTools {
            asked: settings.choice(config),
            by_name: server.forcing == Forcing::ByName,
            required: forces.then_some(server.required),
            keeps_tools: respects_none(p) && takes_choice,
            declares_tools: learnt.contains(&Correction::DeclareTools),
            takes_choice,
            forces_report: endpoint::is_openai(p) && takes_choice && settings.forces,
        }
    }

    /// The run's choice, if it applies to the request.
    pub fn asked(&self, choice: ToolChoice) -> Option<&AskedTool> {
        self.asked.as_ref().filter(|_| choice == ToolChoice::Asked)
    }

    /// Whether a request declares a tool.
    pub fn offers(&self, choice: ToolChoice, tool: &ToolSpec) -> bool {
        match choice {
            ToolChoice::None => self.keeps_tools || self.declares_tools,
            ToolChoice::Report if self.forces_report => true,
            _ => choice.offers(tool) && self.asked(choice).is_none_or(|asked| self.keeps(asked) || asked.allows(tool)),
        }
    }

    /// Whether tools that may not be called stay declared: the server keeps to the choice that is written.
    fn keeps(&self, asked: &AskedTool) -> bool {
        (self.by_name && (self.required.is_some() || !matches!(asked, AskedTool::Tool(_))))
            || (self.declares_tools && *asked == AskedTool::None)
    }

    /// Writes the choice of a request that declares tools: a word, or a choice by name, which `name` writes.
    pub fn write(&self, choice: ToolChoice, out: &mut Vec<u8>, name: impl FnOnce(&mut Vec<u8>, &str)) {
        let word = match (choice, self.asked(choice)) {
            (ToolChoice::None, _) if self.takes_choice => "none",
            (ToolChoice::Report, _) if self.forces_report => {
                raw(out, ",\"tool_choice\":");
                return name(out, own_tools::REPORT);
            }
            (ToolChoice::None, _) | (_, None) => return,
            (_, Some(AskedTool::Auto)) => "auto",
            (_, Some(AskedTool::None)) => "none",
            (_, Some(AskedTool::Tool(tool))) if self.by_name && self.required.is_some() => {
                raw(out, ",\"tool_choice\":");
                return name(out, tool);
            }
            (_, Some(AskedTool::Required | AskedTool::Tool(_))) => match self.required {
                Some(word) => word,
                None => return,
            },
        };
        field(out, "tool_choice", word);
    }
}

/// Whether a server is known to respect the choice `none`. Ollama ignores it (litellm); of the servers that OpenRouter routes to, some know no
/// choice: 404 "No endpoints found that support the provided 'tool_choice' value" (zed#36094).
fn respects_none(p: &ProviderConfig) -> bool {
    match p.kind {
        ProviderKind::Openrouter => {
            ["openai/", "anthropic/", "google/"].iter().any(|vendor| p.model.starts_with(vendor))
        }
        ProviderKind::Openai => {
            matches!(endpoint::host(p), "api.openai.com" | "api.mistral.ai" | "codestral.mistral.ai")
        }
        ProviderKind::OpenaiResponses => endpoint::is_openai(p),
        _ => false,
    }
}

/// Converts a user message for a model that cannot read PDFs, or no pictures either: each is replaced by a note.
pub(super) fn attached<'a>(
    content: &'a str,
    images: &'a [Image],
    (takes_pictures, takes_pdfs): (bool, bool),
) -> (Cow<'a, str>, Cow<'a, [Image]>) {
    let is_taken = |image: &&Image| if image.is_pdf() { takes_pdfs } else { takes_pictures };
    if images.iter().all(|image| is_taken(&image)) {
        return (content.into(), images.into());
    }
    let notes = images.iter().filter(|image| !is_taken(image)).map(|image| -> &str { unread(image) });
    let texts: Vec<&str> = Some(content).filter(|text| !text.is_empty()).into_iter().chain(notes).collect();
    let kept: Vec<Image> = images.iter().filter(is_taken).cloned().collect();
    (texts.join("\n\n").into(), kept.into())
}

/// What stands in place of a picture or PDF that is not sent.
pub(super) fn unread(image: &Image) -> &'static str {
    match image.is_pdf() {
        true => "[a PDF was attached here; this model cannot read it]",
        false => "[a picture was attached here; this model cannot read it]",
    }
}

/// Whether a model of DeepSeek, Moonshot or Qwen is told not to think.
fn is_told_not_to_think(p: &ProviderConfig, config: &RunConfig) -> bool {
    let options = Options::of(p);
    config.reasoning == Some(ReasoningEffort::None)
        || options.get("thinking").and_then(|thinking| thinking.get("type")?.as_str()) == Some("disabled")
        || options.get("enable_thinking").and_then(Value::as_bool) == Some(false)
}

/// A tool's result for a format whose results are texts: a note replaces the images and PDFs. It comes first, because
/// the turn counter is the last line of a result.
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

/// The model that a writer writes for.
#[derive(Clone, Debug)]
pub(super) struct Me {
    author: Author,
    /// Whether the server takes back what only it can read.
    takes_opaque: bool,
    /// Whether it takes back its own ids.
    takes_ids: bool,
}

impl Me {
    pub fn new(p: &ProviderConfig, learnt: &[Correction]) -> Self {
        let refuses_ids = |it: &Correction| matches!(it, Correction::PlainIds | Correction::NineCharacterIds);
        Me {
            author: Author::from(p),
            takes_opaque: !learnt.contains(&Correction::NoOpaque),
            takes_ids: !learnt.iter().any(refuses_ids),
        }
    }

    /// Whether this model, at this address, wrote a message.
    pub fn wrote(&self, message: &AssistantMessage) -> bool {
        message.from.as_ref().is_some_and(|from| self.is(from))
    }

    /// The ids of a message's calls.
    pub fn ids(&self, message: &AssistantMessage, ids: &mut WireIds) {
        ids.take(message, self.takes_ids && self.wrote(message));
    }

    /// What the model needs back unchanged. It is an object with one entry, named after the format it came in. What another model
    /// wrote stays out: servers refuse the signatures and the encrypted thoughts of others.
    pub fn opaque<'a>(&self, message: &'a AssistantMessage, dialect: &str) -> Option<&'a Value> {
        let is_known = self.takes_opaque && message.from.as_ref().is_none_or(|from| self.is(from));
        message.opaque.as_ref().filter(|_| is_known)?.get(dialect)
    }

    fn is(&self, from: &Author) -> bool {
        let Author { kind, base_url, model } = &self.author;
        (*kind, model) == (from.kind, &from.model)
            && endpoint::base_of(*kind, base_url) == endpoint::base_of(*kind, &from.base_url)
    }
}

/// Whether the end of a reply says that its call could not be read: `malformed_tool_use` of Bedrock (opencode#46193), which gateways pass on,
/// as they do Gemini's reasons (sub2api#7098).
pub(super) fn is_malformed(reason: &str) -> bool {
    reason.to_ascii_lowercase().contains("malformed")
}

/// The error of a reply whose call the provider could not read: another sample may be readable.
pub(super) fn malformed(reason: &str, message: &str) -> ModelError {
    let said = if message.is_empty() { String::new() } else { format!(" It says: {}", excerpt(message)) };
    ModelError {
        slug: Slug::MalformedToolCall,
        message: format!("The model made a tool call that the provider could not read ({reason}).{said}"),
        status: None,
        retry_after_ms: None,
        retry: Retry::Yes,
    }
}

/// A partly received reply, for formats that signal its end in one event.
#[derive(Debug, Default)]
pub(super) struct UnfinishedReply {
    pub reply: Reply,
    /// Set by the end marker.
    pub finish: Option<FinishReason>,
    pub error: Option<ModelError>,
}

impl UnfinishedReply {
    /// Records an error reported by the provider. A reply whose end marker was seen is complete: later failures do not
    /// affect it.
    pub fn fail(&mut self, error: ModelError) {
        if self.finish.is_none() && self.error.is_none() {
            self.error = Some(error);
        }
    }

    /// Records that the provider could not complete the reply, with its own message.
    pub fn fail_with(&mut self, message: String) {
        self.fail(ModelError {
            slug: Slug::ProviderError,
            message,
            status: None,
            retry_after_ms: None,
            retry: Retry::Yes,
        });
    }

    /// Whether any text, reasoning or tool call has arrived.
    pub fn has_begun(&self) -> bool {
        let Reply { content, reasoning, tool_calls, .. } = &self.reply;
        !(content.is_empty() && reasoning.is_empty() && tool_calls.is_empty())
    }

    pub fn is_done(&self) -> bool {
        self.finish.is_some() || self.error.is_some()
    }

    /// The reply or the error; `Err` if neither its end nor an error was seen.
    pub fn finish(self) -> Result<Result<Reply, ModelError>, Unfinished> {
        let UnfinishedReply { mut reply, finish, error } = self;
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

/// How much of a reply had arrived.
pub(super) fn chars(reply: &Reply) -> usize {
    let calls: usize = reply.tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
    reply.content.chars().count() + reply.reasoning.chars().count() + calls
}
