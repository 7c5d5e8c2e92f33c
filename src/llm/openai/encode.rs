//! The request body of Chat Completions.
//!
//! The tools come after the messages, so that the conversation sent before is a byte prefix of the one sent next.

use serde_json::json;

use crate::engine::{
    AssistantMessage, Correction, Image, Message, ProviderConfig, ProviderKind, ReasoningEffort, RunConfig, ToolChoice,
    ToolSpec,
};

use super::super::abilities::{Off, Settings};
use super::super::call_ids::WireIds;
use super::super::dialect::{Choice, Encode, Me, PDF_NAME, reasoning, without_images, without_pdfs};
use super::super::families::Thoughts;
use super::super::json::{arguments, field, raw, write};
use super::super::marks::{BREAKPOINT, Blocks, Marked};
use super::super::names;
use super::super::options::Options;
use super::super::profile::{Profile, profile};
use super::super::providers::{Wire, wire};
use super::DIALECT;

/// Encodes requests for one provider of a run.
#[derive(Clone, Debug)]
pub struct Encoder {
    head: Vec<u8>,
    choice: Choice,
    wire: &'static Wire,
    profile: Profile,
    me: Me,
    ids: WireIds,
    empty: bool,
    /// Whether texts are written as parts, which take a breakpoint.
    breakpoints: bool,
    open: Open,
    /// Whether the last message is the result of a call.
    after_result: bool,
}

/// What is still open of the last message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    /// The text of a user message, at its end.
    Text,
    /// The part with the text of a message.
    Part,
}

/// Whether Claude is reached through OpenRouter, which passes breakpoints on in parts of texts (litellm, pydantic-ai#4604). It caches nothing
/// without them.
pub fn takes_breakpoints(p: &ProviderConfig) -> bool {
    p.kind == ProviderKind::Openrouter && p.model.starts_with("anthropic/")
}

/// What the model says where a server takes no user message after a result.
const BRIDGE: &str = "(These are the results.)";

impl Encoder {
    /// A writer that adds breakpoints.
    pub fn marked(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> Marked<Self> {
        Marked::new(Self::new(p, config, learnt))
    }

    #[must_use]
    pub fn new(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> Self {
        let (options, wire, profile) = (Options::of(p), wire(p.kind), profile(p, learnt));
        let mut head = b"{\"model\":".to_vec();
        write(&mut head, &p.model);
        raw(&mut head, ",\"stream\":true");
        if profile.asks_for_usage {
            raw(&mut head, ",\"stream_options\":{\"include_usage\":true}");
        }
        let settings = Settings::of(p, config, learnt);
        options.set("temperature", settings.temperature, &mut head);
        options.set("top_p", settings.top_p, &mut head);
        let most = if profile.caps_completion { "max_completion_tokens" } else { "max_tokens" };
        options.set(most, p.max_output_tokens, &mut head);
        if wire.reasoning_is_object {
            options.set("reasoning", settings.effort.map(reasoning), &mut head);
        } else if let (Some(ReasoningEffort::None), Off::Type(word)) = (settings.effort, settings.off) {
            options.set("thinking", Some(json!({ "type": word })), &mut head);
        } else {
            options.set("reasoning_effort", settings.effort.map(ReasoningEffort::as_str), &mut head);
        }
        options.write(&mut head);
        raw(&mut head, ",\"messages\":[");
        Encoder {
            head,
            choice: Choice::of(p, config, &settings, learnt),
            breakpoints: takes_breakpoints(p),
            wire,
            profile,
            me: Me::new(p, learnt),
            ids: WireIds::new(profile.ids),
            empty: true,
            open: Open::Nothing,
            after_result: false,
        }
    }

    fn user(&mut self, content: &str, images: &[Image], out: &mut Vec<u8>) {
        if self.open == Open::Text && images.is_empty() {
            raw(out, "\\n\\n");
            return inside(out, content);
        }
        if self.after_result && !self.profile.user_after_tool {
            self.begin(out);
            raw(out, "{\"role\":\"assistant\"");
            field(out, "content", BRIDGE);
            out.push(b'}');
        }
        self.begin(out);
        raw(out, "{\"role\":\"user\"");
        if !images.is_empty() {
            raw(out, ",\"content\":");
            parts(content, images, out);
            out.push(b'}');
        } else if self.merges_user_messages() {
            raw(out, ",\"content\":\"");
            inside(out, content);
            self.open = Open::Text;
        } else {
            self.text(content, out);
        }
    }

    /// Writes the text of a message and its end, or leaves it open for a breakpoint, which a blank text does not take.
    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        if self.breakpoints && !text.trim().is_empty() {
            raw(out, ",\"content\":[{\"type\":\"text\"");
            field(out, "text", text);
            self.open = Open::Part;
        } else {
            field(out, "content", text);
            out.push(b'}');
        }
    }

    fn assistant(&mut self, message: &AssistantMessage, out: &mut Vec<u8>) {
        let own = self.me.wrote(message);
        self.me.ids(message, &mut self.ids);
        let (thoughts, has_calls) = (message.reasoning.as_str(), !message.tool_calls.is_empty());
        let thoughts = if own { thoughts } else { "" };
        raw(out, "{\"role\":\"assistant\",\"content\":");
        if self.profile.thoughts == Thoughts::Tags && !thoughts.is_empty() {
            write(out, &format!("<think>{thoughts}</think>{}", message.content));
        } else if message.content.is_empty() && has_calls && !self.profile.empty_beside_calls {
            raw(out, "null");
        } else {
            write(out, &message.content);
        }
        if let Thoughts::Field(name) = self.profile.thoughts {
            // Those of another model would be taken for the model's own; where there have to be some, a space does.
            let stand_in = if self.profile.needs_thoughts && has_calls { " " } else { "" };
            let thoughts = if thoughts.is_empty() { stand_in } else { thoughts };
            if !thoughts.is_empty() {
                field(out, name, thoughts);
            }
        }
        // OpenRouter needs the reasoning of a tool turn back unchanged.
        if let Some(details) = self.me.opaque(message, DIALECT) {
            field(out, "reasoning_details", details);
        }
        for (index, call) in message.tool_calls.iter().enumerate() {
            raw(out, if index == 0 { ",\"tool_calls\":[{\"id\":" } else { ",{\"id\":" });
            write(out, &self.ids.of(&call.id));
            raw(out, ",\"type\":\"function\",\"function\":{\"name\":");
            write(out, &names::openai(&call.name));
            field(out, "arguments", &arguments(call.written()));
            raw(out, "}}");
        }
        raw(out, if has_calls { "]}" } else { "}" });
    }

    /// Where the order of roles is checked, it is checked that they alternate.
    fn merges_user_messages(&self) -> bool {
        self.wire.merges_user_messages || !self.profile.user_after_tool
    }

    /// Prepares for a message: closes the previous one, and writes the comma.
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.after_result = false;
        self.close(out);
        if !std::mem::take(&mut self.empty) {
            out.push(b',');
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Text => raw(out, "\"}"),
            Open::Part => raw(out, "}]}"),
        }
    }
}

impl Encode for Encoder {
    fn start(&mut self, out: &mut Vec<u8>) {
        (self.empty, self.open, self.after_result) = (true, Open::Nothing, false);
        self.ids.clear();
        out.extend_from_slice(&self.head);
    }

    fn message(&mut self, message: &Message, out: &mut Vec<u8>) {
        match message {
            Message::System { content } if self.empty || self.profile.system_midway => {
                let is_first = self.empty;
                self.begin(out);
                raw(out, "{\"role\":\"system\"");
                self.text(content, out);
                // The tools and this text are the same in every request.
                if is_first && self.open == Open::Part {
                    raw(out, BREAKPOINT);
                    self.close(out);
                }
            }
            Message::System { content } => self.user(content, &[], out),
            Message::User { content, images } if self.wire.accepts_pdfs => self.user(content, images, out),
            Message::User { content, images } => {
                let (content, pictures) = without_pdfs(content, images);
                self.user(&content, &pictures, out);
            }
            Message::Assistant(message) => {
                self.begin(out);
                self.assistant(message, out);
            }
            Message::Tool(tool) => {
                self.begin(out);
                raw(out, "{\"role\":\"tool\"");
                field(out, "tool_call_id", &self.ids.of(&tool.call_id));
                self.text(&without_images(tool), out);
                self.after_result = true;
            }
        }
    }

    fn end(&mut self, tools: &[ToolSpec], choice: ToolChoice, out: &mut Vec<u8>) {
        self.close(out);
        out.push(b']');
        let mut any = false;
        for tool in tools.iter().filter(|tool| self.choice.offers(choice, tool)) {
            raw(out, if any { "," } else { ",\"tools\":[" });
            any = true;
            raw(out, "{\"type\":\"function\",\"function\":{\"name\":");
            write(out, &tool.name);
            field(out, "description", &tool.description);
            field(out, "parameters", &tool.parameters);
            raw(out, "}}");
        }
        if any {
            out.push(b']');
            self.choice.write(choice, out, |out, name| {
                raw(out, "{\"type\":\"function\",\"function\":{\"name\":");
                write(out, name);
                raw(out, "}}");
            });
        }
        out.push(b'}');
    }

    fn fork(&self) -> Box<dyn Encode> {
        Box::new(self.clone())
    }
}

impl Blocks for Encoder {
    fn is_open(&self) -> bool {
        self.open == Open::Part
    }
}

/// Writes a text and its attachments.
fn parts(content: &str, images: &[Image], out: &mut Vec<u8>) {
    raw(out, "[{\"type\":\"text\"");
    field(out, "text", content);
    for image in images {
        if image.is_pdf() {
            raw(out, "},{\"type\":\"file\",\"file\":{\"filename\":\"");
            raw(out, PDF_NAME);
            raw(out, "\",\"file_data\":\"data:");
        } else {
            raw(out, "},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:");
        }
        raw(out, &image.media_type);
        raw(out, ";base64,");
        raw(out, &image.data);
        raw(out, "\"}");
    }
    raw(out, "}]");
}

/// Writes a text as the inside of a JSON string, without the quotes.
fn inside(out: &mut Vec<u8>, text: &str) {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    raw(out, quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
}
