//! The request body of Responses.
//!
//! The tools come after the input, so that the conversation sent before is a byte prefix of the one sent next.

use serde_json::{Value, json};

use turnwise_engine::{
    AssistantMessage, Correction, Image, Message, ProviderConfig, RunConfig, ToolCall, ToolChoice, ToolSpec,
};

use super::super::abilities::ModelSettings;
use super::super::call_ids::{IdRule, WireIds};
use super::super::dialect::{Encode, Me, OfferedTools, PDF_NAME, reasoning};
use super::super::json::{arguments, field, raw, write};
use super::super::names;
use super::super::options::Options;
use super::DIALECT;

/// Encodes requests for one provider of a run.
#[derive(Clone, Debug)]
pub struct Encoder {
    head: Vec<u8>,
    choice: OfferedTools,
    empty: bool,
    me: Me,
    ids: WireIds,
}

impl Encoder {
    #[must_use]
    pub fn new(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> Self {
        let options = Options::of(p);
        let mut head = b"{\"model\":".to_vec();
        write(&mut head, &p.model);
        raw(&mut head, ",\"stream\":true");
        options.set("store", Some(false), &mut head);
        options.set("include", may_reason(&p.model).then(|| json!(["reasoning.encrypted_content"])), &mut head);
        let settings = ModelSettings::of(p, config, learnt);
        options.set("temperature", settings.temperature, &mut head);
        options.set("top_p", settings.top_p, &mut head);
        options.set("max_output_tokens", p.max_output_tokens, &mut head);
        options.set("reasoning", settings.effort.map(reasoning), &mut head);
        options.write(&mut head);
        raw(&mut head, ",\"input\":[");
        Encoder {
            head,
            choice: OfferedTools::of(p, config, &settings, learnt),
            empty: true,
            me: Me::new(p, learnt),
            ids: WireIds::new(IdRule::Max(64).corrected(learnt)),
        }
    }

    /// Prepares for an item: writes the comma.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::take(&mut self.empty) {
            out.push(b',');
        }
    }

    fn role(&mut self, role: &str, content: &str, images: &[Image], out: &mut Vec<u8>) {
        self.begin(out);
        raw(out, "{\"role\":\"");
        raw(out, role);
        raw(out, "\",\"content\":");
        if images.is_empty() {
            write(out, content);
        } else {
            parts(content, images, out);
        }
        out.push(b'}');
    }

    /// Writes the reply in its original order if the stored data matches; otherwise its reasoning, then its text, then
    /// its calls.
    fn assistant(&mut self, message: &AssistantMessage, out: &mut Vec<u8>) {
        self.me.ids(message, &mut self.ids);
        let kept = self.me.opaque(message, DIALECT).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let pieces = in_order(message, kept).unwrap_or_else(|| {
            let reasoning = kept.iter().filter(|item| is_reasoning(item)).map(ReplyItem::Reasoning);
            let text = Some(ReplyItem::Text(&message.content, None));
            reasoning.chain(text).chain(message.tool_calls.iter().map(ReplyItem::Call)).collect()
        });
        // Reasoning without the item that followed it is rejected ("without its required following item").
        let mut reasoning = Vec::new();
        for piece in pieces {
            match piece {
                ReplyItem::Reasoning(item) => reasoning.push(item),
                ReplyItem::Text("", _) => {}
                ReplyItem::Text(..) | ReplyItem::Call(_) => {
                    for item in reasoning.drain(..) {
                        self.begin(out);
                        write(out, item);
                    }
                    self.begin(out);
                    item(&piece, &self.ids, out);
                }
            }
        }
    }
}

impl Encode for Encoder {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.empty = true;
        self.ids.clear();
        out.extend_from_slice(&self.head);
    }

    fn message(&mut self, message: &Message, out: &mut Vec<u8>) {
        match message {
            Message::System { content } => self.role("system", content, &[], out),
            Message::User { content, images } => self.role("user", content, images, out),
            Message::Assistant(message) => self.assistant(message, out),
            Message::Tool(tool) => {
                self.begin(out);
                raw(out, "{\"type\":\"function_call_output\"");
                field(out, "call_id", &self.ids.of(&tool.call_id));
                raw(out, ",\"output\":");
                if tool.images.is_empty() {
                    write(out, &tool.content);
                } else {
                    parts(&tool.content, &tool.images, out);
                }
                out.push(b'}');
            }
        }
    }

    fn end(&mut self, tools: &[ToolSpec], choice: ToolChoice, out: &mut Vec<u8>) {
        out.push(b']');
        let mut any = false;
        for tool in tools.iter().filter(|tool| self.choice.offers(choice, tool)) {
            raw(out, if any { "," } else { ",\"tools\":[" });
            any = true;
            raw(out, "{\"type\":\"function\"");
            field(out, "name", &names::openai(&tool.name));
            field(out, "description", &tool.description);
            field(out, "parameters", &tool.parameters);
            // Strict schemas are a subset of JSON Schema; without this field they are the default here.
            raw(out, ",\"strict\":false}");
        }
        if any {
            out.push(b']');
            self.choice.write(choice, out, |out, name| {
                raw(out, "{\"type\":\"function\"");
                field(out, "name", &names::openai(name));
                out.push(b'}');
            });
        }
        out.push(b'}');
    }

    fn fork(&self) -> Box<dyn Encode> {
        Box::new(self.clone())
    }
}

/// One item of a reply.
#[derive(Debug)]
enum ReplyItem<'a> {
    Reasoning(&'a Value),
    /// A text and its `phase`, which newer models need back.
    Text(&'a str, Option<&'a str>),
    Call(&'a ToolCall),
}

/// The reply's items in their original order; `None` if the text or the calls have changed.
fn in_order<'a>(message: &'a AssistantMessage, kept: &'a [Value]) -> Option<Vec<ReplyItem<'a>>> {
    if kept.is_empty() {
        return None;
    }
    let (mut text, mut calls) = (message.content.as_str(), message.tool_calls.iter());
    let mut pieces = Vec::with_capacity(kept.len());
    for item in kept {
        pieces.push(if is_reasoning(item) {
            ReplyItem::Reasoning(item)
        } else if let Some(bytes) = item.get("text").and_then(Value::as_u64) {
            let (piece, rest) = text.split_at_checked(usize::try_from(bytes).ok()?)?;
            text = rest;
            ReplyItem::Text(piece, item.get("phase").and_then(Value::as_str))
        } else {
            ReplyItem::Call(calls.next()?)
        });
    }
    (text.is_empty() && calls.next().is_none()).then_some(pieces)
}

fn is_reasoning(item: &Value) -> bool {
    item.get("type").and_then(Value::as_str) == Some("reasoning")
}

fn item(piece: &ReplyItem<'_>, ids: &WireIds, out: &mut Vec<u8>) {
    match piece {
        ReplyItem::Reasoning(item) => write(out, item),
        ReplyItem::Text(text, phase) => {
            // A text, not a list of parts: servers that check requests with OpenAI's own types (vLLM) demand the id and the status of
            // an item that has parts.
            raw(out, "{\"type\":\"message\",\"role\":\"assistant\"");
            field(out, "content", text);
            if let Some(phase) = phase {
                field(out, "phase", phase);
            }
            out.push(b'}');
        }
        ReplyItem::Call(call) => {
            raw(out, "{\"type\":\"function_call\"");
            field(out, "call_id", &ids.of(&call.id));
            field(out, "name", &names::openai(&call.name));
            field(out, "arguments", &arguments(call.written()));
            out.push(b'}');
        }
    }
}

fn parts(content: &str, images: &[Image], out: &mut Vec<u8>) {
    let mut before = b'[';
    if !content.is_empty() {
        raw(out, "[{\"type\":\"input_text\"");
        field(out, "text", content);
        out.push(b'}');
        before = b',';
    }
    for image in images {
        out.push(before);
        if image.is_pdf() {
            raw(out, "{\"type\":\"input_file\",\"filename\":\"");
            raw(out, PDF_NAME);
            raw(out, "\",\"file_data\":\"data:");
        } else {
            raw(out, "{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":\"data:");
        }
        raw(out, &image.media_type);
        raw(out, ";base64,");
        raw(out, &image.data);
        raw(out, "\"}");
        before = b',';
    }
    out.push(b']');
}

/// Whether a model may reason. OpenAI's models that never reason reject a request for their reasoning ("Encrypted
/// content is not supported with this model"); other servers ignore values that they do not know.
fn may_reason(model: &str) -> bool {
    let name = model.trim().trim_start_matches("ft:");
    let name = name.rsplit('/').next().unwrap_or(name);
    !["gpt-3", "gpt-4", "chatgpt-4"].iter().any(|known| name.starts_with(known))
}
