//! The request body of Gemini; the model is part of the URL.
//!
//! The tools come after the contents, so that the conversation sent before is a byte prefix of the one sent next.
//! Contents that may still grow stay open: consecutive replies of the model are one content (a call must follow a
//! user's turn), and so are the results of the calls of one turn (there must be as many as calls). A user message is
//! always a content of its own: next to results it would be rejected.

use serde::Deserialize;
use serde_json::{Value, json};

use turnwise_engine::{
    AskedTool, AssistantMessage, Correction, Image, Message, ProviderConfig, ReasoningEffort, RunConfig, ToolCall,
    ToolChoice, ToolMessage, ToolSpec, own_tools,
};

use super::super::abilities::{ModelSettings, Off};
use super::super::dialect::{Encode, Me};
use super::super::json::{arguments, field, raw, write};
use super::super::options::Options;
use super::wire::{MarkPosition, SignedPart};
use super::{DIALECT, wire_name};

/// Encodes requests for one provider of a run.
#[derive(Clone, Debug)]
pub struct Encoder {
    head: Vec<u8>,
    /// The run's own tool choice.
    asked: Option<AskedTool>,
    /// Whether the model rejects calls without a signature.
    wants_signatures: bool,
    place: EncodeState,
    /// The calls of the last reply: our id, and the id known to Gemini.
    calls: Vec<(String, Option<String>)>,
    me: Me,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EncodeState {
    /// Before the system text.
    Start,
    /// Before the first content.
    System,
    /// Between contents.
    Contents,
    /// Inside a content of the model whose parts are not closed.
    Model,
    /// Inside a content of results whose parts are not closed.
    Answers,
}

/// The value that Gemini accepts as the signature of a call made by another model.
/// <https://ai.google.dev/gemini-api/docs/thought-signatures>
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

impl Encoder {
    #[must_use]
    pub fn new(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> Self {
        let (options, wants_signatures) = (Options::of(p), wants_signatures(&p.model));
        // Thoughts are not requested: models that do not think respond to that with an error.
        let (mut settings, all) = (Vec::new(), Options::default());
        let taken = ModelSettings::of(p, config, learnt);
        all.set("temperature", taken.temperature, &mut settings);
        all.set("topP", taken.top_p, &mut settings);
        all.set("maxOutputTokens", p.max_output_tokens, &mut settings);
        let thinking = taken.effort.map(|effort| thinking(effort, &taken));
        all.set("thinkingConfig", thinking, &mut settings);
        let mut fields = Vec::new();
        if let [_, settings @ ..] = settings.as_slice()
            && options.begin("generationConfig", &mut fields)
        {
            fields.push(b'{');
            fields.extend_from_slice(settings);
            fields.push(b'}');
        }
        options.write(&mut fields);
        let mut head = b"{".to_vec();
        if let [_, fields @ ..] = fields.as_slice() {
            head.extend_from_slice(fields);
            head.push(b',');
        }
        let asked = taken.choice(config);
        Encoder { head, asked, wants_signatures, place: EncodeState::Start, calls: Vec::new(), me: Me::new(p, learnt) }
    }

    /// Moves to the position where the next part, or the next content, is written.
    fn go(&mut self, to: EncodeState, out: &mut Vec<u8>) {
        let opening = match to {
            EncodeState::Model => "{\"role\":\"model\",\"parts\":[",
            EncodeState::Answers => "{\"role\":\"user\",\"parts\":[",
            EncodeState::Start | EncodeState::System | EncodeState::Contents => "",
        };
        match self.place {
            EncodeState::Start | EncodeState::System => raw(out, "\"contents\":["),
            at if at == to && to != EncodeState::Contents => return out.push(b','),
            EncodeState::Contents => out.push(b','),
            EncodeState::Model | EncodeState::Answers => raw(out, "]},"),
        }
        raw(out, opening);
        self.place = to;
    }

    fn user(&mut self, content: &str, images: &[Image], out: &mut Vec<u8>) {
        self.go(EncodeState::Contents, out);
        raw(out, "{\"role\":\"user\",\"parts\":[");
        // Empty parts are rejected, and so is an empty text alone.
        let text = if content.is_empty() && images.is_empty() { " " } else { content };
        if !text.is_empty() {
            text_part(text, out);
        }
        for (index, image) in images.iter().enumerate() {
            raw(out, if index > 0 || !text.is_empty() { "," } else { "" });
            attached(image, out);
        }
        raw(out, "]}");
    }

    fn model(&mut self, message: &AssistantMessage, out: &mut Vec<u8>) {
        let kept = self.me.opaque(message, DIALECT).and_then(|kept| Vec::<SignedPart>::deserialize(kept).ok());
        let kept = kept.unwrap_or_default();
        let mut parts = in_order(message, &kept).unwrap_or_else(|| by_kind(message, &kept));
        if parts.is_empty() {
            parts.push(ReplyPart { what: PartContent::Text(" "), signature: None });
        }
        self.remember(&parts);
        let mut first_call = true;
        for part in &parts {
            let is_call = matches!(part.what, PartContent::Call(..));
            let stand_in = (is_call && first_call && self.wants_signatures).then_some(NO_SIGNATURE);
            first_call &= !is_call;
            self.go(EncodeState::Model, out);
            self.part(part, part.signature.or(stand_in), out);
        }
    }

    /// Remembers the ids of a reply's calls. Gemini pairs calls and results by their order and name, and by the id if it gave
    /// one. In that case the model's own id is sent, not the engine's (which differs where ids repeat, and in sub-agents),
    /// because the signature covers the call as received. If it gave none, none is sent: older models have no ids.
    fn remember(&mut self, parts: &[ReplyPart<'_>]) {
        let ids = parts.iter().filter_map(|part| match part.what {
            PartContent::Call(call, id) => Some((call, id)),
            PartContent::Text(_) | PartContent::Thought(_) => None,
        });
        if self.place != EncodeState::Model {
            self.calls.clear();
        }
        for (call, id) in ids.clone() {
            let again = ids.clone().filter(|(_, other)| *other == id).count() > 1;
            let known = match id {
                "" => None,
                // Two calls with the same id would be one: our ids keep them apart.
                id => Some(if again { call.id.0.clone() } else { id.to_owned() }),
            };
            self.calls.push((call.id.0.clone(), known));
        }
    }

    fn id(&self, ours: &str, out: &mut Vec<u8>) {
        if let Some((_, Some(id))) = self.calls.iter().find(|(id, _)| id == ours) {
            raw(out, "\"id\":");
            write(out, id);
            out.push(b',');
        }
    }

    fn part(&self, part: &ReplyPart<'_>, signature: Option<&str>, out: &mut Vec<u8>) {
        match part.what {
            PartContent::Text(text) => {
                raw(out, "{\"text\":");
                write(out, text);
            }
            PartContent::Thought(text) => {
                raw(out, "{\"thought\":true");
                field(out, "text", text);
            }
            PartContent::Call(call, _) => {
                raw(out, "{\"functionCall\":{");
                self.id(&call.id.0, out);
                raw(out, "\"name\":");
                write(out, &wire_name(&call.name));
                raw(out, ",\"args\":");
                raw(out, &arguments(call.written()));
                out.push(b'}');
            }
        }
        if let Some(signature) = signature {
            field(out, "thoughtSignature", signature);
        }
        out.push(b'}');
    }

    fn answer(&mut self, tool: &ToolMessage, out: &mut Vec<u8>) {
        self.go(EncodeState::Answers, out);
        raw(out, "{\"functionResponse\":{");
        self.id(&tool.call_id.0, out);
        raw(out, "\"name\":");
        write(out, &wire_name(&tool.name));
        raw(out, if tool.is_error { ",\"response\":{\"error\":" } else { ",\"response\":{\"result\":" });
        write(out, &tool.content);
        raw(out, "}}}");
        // Parts of their own: only newer models accept them inside the response.
        for image in &tool.images {
            out.push(b',');
            attached(image, out);
        }
    }
}

fn attached(image: &Image, out: &mut Vec<u8>) {
    raw(out, "{\"inlineData\":{\"mimeType\":\"");
    raw(out, &image.media_type);
    raw(out, "\",\"data\":\"");
    raw(out, &image.data);
    raw(out, "\"}}");
}

impl Encode for Encoder {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.place = EncodeState::Start;
        self.calls.clear();
        out.extend_from_slice(&self.head);
    }

    fn message(&mut self, message: &Message, out: &mut Vec<u8>) {
        match message {
            Message::System { content } if self.place == EncodeState::Start => {
                self.place = EncodeState::System;
                if !content.is_empty() {
                    raw(out, "\"systemInstruction\":{\"parts\":[");
                    text_part(content, out);
                    raw(out, "]},");
                }
            }
            Message::System { content } => self.user(content, &[], out),
            Message::User { content, images } => self.user(content, images, out),
            Message::Assistant(message) => self.model(message, out),
            Message::Tool(tool) => self.answer(tool, out),
        }
    }

    /// All tools stay declared, also where none may be called, or one only: they come before the conversation in the prompt, so its cache keeps
    /// the conversation only then; and a model that sees calls of unknown functions keeps calling them.
    fn end(&mut self, tools: &[ToolSpec], choice: ToolChoice, out: &mut Vec<u8>) {
        raw(
            out,
            match self.place {
                EncodeState::Start | EncodeState::System => "\"contents\":[]",
                EncodeState::Contents => "]",
                EncodeState::Model | EncodeState::Answers => "]}]",
            },
        );
        for (index, tool) in tools.iter().enumerate() {
            raw(out, if index > 0 { "," } else { ",\"tools\":[{\"functionDeclarations\":[" });
            raw(out, "{\"name\":");
            write(out, &wire_name(&tool.name));
            field(out, "description", &tool.description);
            // `parameters` supports only a part of JSON Schema.
            field(out, "parametersJsonSchema", &tool.parameters);
            out.push(b'}');
        }
        if !tools.is_empty() {
            raw(out, "]}]");
            let (mode, only) = match (choice, &self.asked) {
                (ToolChoice::Auto, _) | (ToolChoice::Asked, None) => ("", None),
                (ToolChoice::None, _) | (ToolChoice::Asked, Some(AskedTool::None)) => ("NONE", None),
                (ToolChoice::Report, _) => ("ANY", Some(own_tools::REPORT)),
                (ToolChoice::Asked, Some(AskedTool::Auto)) => ("AUTO", None),
                (ToolChoice::Asked, Some(AskedTool::Required)) => ("ANY", None),
                (ToolChoice::Asked, Some(AskedTool::Tool(name))) => ("ANY", Some(name.as_str())),
            };
            if !mode.is_empty() {
                raw(out, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"");
                raw(out, mode);
                out.push(b'"');
                if let Some(name) = only {
                    raw(out, ",\"allowedFunctionNames\":[");
                    write(out, &wire_name(name));
                    out.push(b']');
                }
                raw(out, "}}");
            }
        }
        out.push(b'}');
    }

    fn fork(&self) -> Box<dyn Encode> {
        Box::new(self.clone())
    }
}

/// One part of a reply and its signature.
#[derive(Debug)]
struct ReplyPart<'a> {
    what: PartContent<'a>,
    signature: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
enum PartContent<'a> {
    Text(&'a str),
    Thought(&'a str),
    /// A call, and the id that the model gave it.
    Call(&'a ToolCall, &'a str),
}

/// The reply's parts in their original order; `None` if its texts or its calls have changed.
fn in_order<'a>(message: &'a AssistantMessage, kept: &'a [SignedPart]) -> Option<Vec<ReplyPart<'a>>> {
    let (mut text, mut reasoning) = (message.content.as_str(), message.reasoning.as_str());
    let mut calls = message.tool_calls.iter();
    let mut parts = Vec::with_capacity(kept.len());
    for mark in kept {
        let what = match &mark.part {
            MarkPosition::Text(bytes) => {
                let (piece, rest) = text.split_at_checked(*bytes)?;
                text = rest;
                PartContent::Text(piece)
            }
            MarkPosition::Thought(bytes) => {
                let (piece, rest) = reasoning.split_at_checked(*bytes)?;
                reasoning = rest;
                PartContent::Thought(piece)
            }
            MarkPosition::Call(id) => PartContent::Call(calls.next()?, id),
        };
        // Thoughts are useless without their signature, and so are empty texts.
        let has_words = match what {
            PartContent::Text(text) => !text.is_empty(),
            PartContent::Thought(_) => false,
            PartContent::Call(..) => true,
        };
        if has_words || mark.signature.is_some() {
            parts.push(ReplyPart { what, signature: mark.signature.as_deref() });
        }
    }
    (text.is_empty() && calls.next().is_none()).then_some(parts)
}

/// The text, then the calls, each with its signature if their number is still the same.
fn by_kind<'a>(message: &'a AssistantMessage, kept: &'a [SignedPart]) -> Vec<ReplyPart<'a>> {
    let text = Some(message.content.as_str()).filter(|text| !text.is_empty());
    let text = text.map(|text| ReplyPart { what: PartContent::Text(text), signature: None });
    let of_calls = kept.iter().filter_map(|mark| match &mark.part {
        MarkPosition::Call(id) => Some((id.as_str(), mark.signature.as_deref())),
        MarkPosition::Text(_) | MarkPosition::Thought(_) => None,
    });
    let fits = of_calls.clone().count() == message.tool_calls.len();
    let known = of_calls.filter(|_| fits).chain(std::iter::repeat(("", None)));
    let calls = message.tool_calls.iter().zip(known);
    let calls = calls.map(|(call, (id, signature))| ReplyPart { what: PartContent::Call(call, id), signature });
    text.into_iter().chain(calls).collect()
}

fn text_part(text: &str, out: &mut Vec<u8>) {
    raw(out, "{\"text\":");
    write(out, text);
    out.push(b'}');
}

/// Gemini 3 takes a level, older models a number of tokens.
fn thinking(effort: ReasoningEffort, settings: &ModelSettings) -> Value {
    let tokens = match (effort, settings.off) {
        (ReasoningEffort::None, Off::Tokens(tokens)) => tokens,
        (effort, _) if settings.in_words => return json!({ "thinkingLevel": effort.as_str() }),
        (ReasoningEffort::None, _) => 0,
        (ReasoningEffort::Minimal, _) => 512,
        (ReasoningEffort::Low, _) => 2048,
        (ReasoningEffort::Medium, _) => 8192,
        (ReasoningEffort::High | ReasoningEffort::Xhigh | ReasoningEffort::Max, _) => 24_576,
    };
    json!({ "thinkingBudget": tokens })
}

/// Whether the model is Gemini 3 or later; names like `gemini-flash-latest` refer to the newest model.
fn wants_signatures(model: &str) -> bool {
    let name = model.trim().trim_start_matches("models/");
    name.starts_with("gemini-") && !["gemini-1", "gemini-2"].iter().any(|old| name.starts_with(old))
}
