//! The request body of Chat Completions.
//!
//! The tools come after the messages, so that the conversation sent before is a byte prefix of the one sent next.

use serde_json::{Value, json};

use turnwise_engine::{
    AssistantMessage, Correction, Image, Message, ProviderConfig, ProviderKind, ReasoningEffort, RunConfig, ToolChoice,
    ToolSpec,
};

use super::super::abilities::{ModelSettings, Off};
use super::super::call_ids::WireIds;
use super::super::dialect::{Encode, Me, OfferedTools, PDF_NAME, attached, reasoning, without_images};
use super::super::families::Thoughts;
use super::super::json::{arguments, field, raw, write};
use super::super::marks::{BREAKPOINT, BlockWriter, CacheMarked};
use super::super::names;
use super::super::options::Options;
use super::super::profile::{Profile, profile};
use super::super::servers::EffortField;
use super::{DIALECT, EXTRAS};

/// Encodes requests for one provider of a run.
#[derive(Clone, Debug)]
pub struct Encoder {
    head: Vec<u8>,
    choice: OfferedTools,
    profile: Profile,
    me: Me,
    ids: WireIds,
    empty: bool,
    /// Whether texts are written as parts, which take a breakpoint.
    breakpoints: bool,
    open: OpenMessage,
    /// Whether the last message is the result of a call.
    after_result: bool,
}

/// What is still open of the last message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum OpenMessage {
    #[default]
    Nothing,
    /// The text of a user message, at its end.
    Text,
    /// The part with the text of a message.
    Part,
    /// The parts of a user message with attachments.
    Parts,
}

/// Whether Claude is reached through OpenRouter, which passes breakpoints on in parts of texts (litellm, pydantic-ai#4604). It caches nothing
/// without them.
pub fn takes_breakpoints(p: &ProviderConfig) -> bool {
    p.kind == ProviderKind::Openrouter && p.model.starts_with("anthropic/")
}

/// What the model says where a server takes no user message after a result.
const RESULTS: &str = "(These are the results.)";

/// The same between two user messages that cannot be one.
const NOTED: &str = "(Noted.)";

impl Encoder {
    /// A writer that adds breakpoints.
    pub fn marked(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> CacheMarked<Self> {
        CacheMarked::new(Self::new(p, config, learnt))
    }

    #[must_use]
    pub fn new(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> Self {
        let (options, profile) = (Options::of(p), profile(p, learnt));
        let mut head = b"{\"model\":".to_vec();
        write(&mut head, &p.model);
        raw(&mut head, ",\"stream\":true");
        if profile.asks_for_usage {
            raw(&mut head, ",\"stream_options\":{\"include_usage\":true}");
        }
        let settings = ModelSettings::of(p, config, learnt);
        options.set("temperature", settings.temperature.filter(|_| profile.samples), &mut head);
        options.set("top_p", settings.top_p.filter(|_| profile.samples), &mut head);
        let most = if profile.caps_completion { "max_completion_tokens" } else { "max_tokens" };
        options.set(most, p.max_output_tokens, &mut head);
        match (profile.effort, settings.effort, settings.off) {
            (EffortField::No, ..) => {}
            (EffortField::Object, effort, _) => options.set("reasoning", effort.map(reasoning), &mut head),
            (EffortField::Word, Some(ReasoningEffort::None), Off::Type(word)) => {
                options.set("thinking", Some(json!({ "type": word })), &mut head);
            }
            (EffortField::Word, effort, _) => {
                options.set("reasoning_effort", effort.map(ReasoningEffort::as_str), &mut head);
            }
        }
        options.write(&mut head);
        raw(&mut head, ",\"messages\":[");
        Encoder {
            head,
            choice: OfferedTools::of(p, config, &settings, learnt),
            breakpoints: takes_breakpoints(p),
            profile,
            me: Me::new(p, learnt),
            ids: WireIds::new(profile.ids),
            empty: true,
            open: OpenMessage::Nothing,
            after_result: false,
        }
    }

    fn user(&mut self, content: &str, images: &[Image], out: &mut Vec<u8>) {
        let plain_urls = self.profile.plain_urls;
        match self.open {
            OpenMessage::Text if images.is_empty() => {
                raw(out, "\\n\\n");
                return inside(out, content);
            }
            OpenMessage::Parts => {
                out.push(b',');
                return parts(content, images, plain_urls, out);
            }
            // A text that was written cannot become a list of parts.
            OpenMessage::Text => self.bridge(NOTED, out),
            OpenMessage::Nothing | OpenMessage::Part if self.after_result && !self.profile.user_after_tool => {
                self.bridge(RESULTS, out);
            }
            OpenMessage::Nothing | OpenMessage::Part => {}
        }
        self.begin(out);
        raw(out, "{\"role\":\"user\"");
        let merges = self.profile.merges_user_messages();
        if !images.is_empty() {
            raw(out, ",\"content\":[");
            parts(content, images, plain_urls, out);
            self.open = OpenMessage::Parts;
            if !merges {
                self.close(out);
            }
        } else if merges {
            raw(out, ",\"content\":\"");
            inside(out, content);
            self.open = OpenMessage::Text;
        } else {
            self.text(content, out);
        }
    }

    fn bridge(&mut self, text: &str, out: &mut Vec<u8>) {
        self.begin(out);
        raw(out, "{\"role\":\"assistant\"");
        field(out, "content", text);
        if let (Thoughts::Field(name), true) = (self.profile.thoughts, self.profile.needs_thoughts) {
            field(out, name, " ");
        }
        out.push(b'}');
    }

    /// Writes the text of a message and its end, or leaves it open for a breakpoint, which a blank text does not take.
    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        if self.breakpoints && !text.trim().is_empty() {
            raw(out, ",\"content\":[{\"type\":\"text\"");
            field(out, "text", text);
            self.open = OpenMessage::Part;
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
            let stand_in = if self.profile.needs_thoughts { " " } else { "" };
            let thoughts = if thoughts.is_empty() { stand_in } else { thoughts };
            if !thoughts.is_empty() {
                field(out, name, thoughts);
            }
        }
        // OpenRouter needs the reasoning of a tool turn back unchanged.
        if let Some(details) = self.me.opaque(message, DIALECT) {
            field(out, "reasoning_details", details);
        }
        let extras = self.me.opaque(message, EXTRAS).and_then(Value::as_array);
        let extras = extras.filter(|extras| extras.len() == message.tool_calls.len());
        for (index, call) in message.tool_calls.iter().enumerate() {
            raw(out, if index == 0 { ",\"tool_calls\":[{\"id\":" } else { ",{\"id\":" });
            write(out, &self.ids.of(&call.id));
            // Gemini refuses calls without their signature.
            if let Some(extra) = extras.and_then(|extras| extras.get(index)).filter(|extra| !extra.is_null()) {
                field(out, "extra_content", extra);
            }
            raw(out, ",\"type\":\"function\",\"function\":{\"name\":");
            write(out, &names::openai(&call.name));
            field(out, "arguments", &arguments(call.written()));
            raw(out, "}}");
        }
        raw(out, if has_calls { "]}" } else { "}" });
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
            OpenMessage::Nothing => {}
            OpenMessage::Text => raw(out, "\"}"),
            OpenMessage::Part => raw(out, "}]}"),
            OpenMessage::Parts => raw(out, "]}"),
        }
    }
}

impl Encode for Encoder {
    fn start(&mut self, out: &mut Vec<u8>) {
        (self.empty, self.open, self.after_result) = (true, OpenMessage::Nothing, false);
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
                if is_first && self.open == OpenMessage::Part {
                    raw(out, BREAKPOINT);
                    self.close(out);
                }
            }
            Message::System { content } => self.user(content, &[], out),
            Message::User { content, images } => {
                let (content, images) = attached(content, images, (self.profile.images, self.profile.pdfs));
                self.user(&content, &images, out);
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

impl BlockWriter for Encoder {
    fn is_open(&self) -> bool {
        self.open == OpenMessage::Part
    }
}

/// Writes the parts of a text and its attachments.
fn parts(content: &str, images: &[Image], plain_urls: bool, out: &mut Vec<u8>) {
    // Some servers refuse an empty text beside a picture.
    let mut open = "{";
    if !content.is_empty() || images.is_empty() {
        raw(out, "{\"type\":\"text\"");
        field(out, "text", content);
        open = "},{";
    }
    for image in images {
        raw(out, open);
        open = "},{";
        if plain_urls {
            let name = if image.is_pdf() { "document_url" } else { "image_url" };
            raw(out, "\"type\":");
            write(out, name);
            field(out, name, &image.data_url());
            continue;
        }
        if image.is_pdf() {
            raw(out, "\"type\":\"file\",\"file\":{\"filename\":\"");
            raw(out, PDF_NAME);
            raw(out, "\",\"file_data\":\"data:");
        } else {
            raw(out, "\"type\":\"image_url\",\"image_url\":{\"url\":\"data:");
        }
        raw(out, &image.media_type);
        raw(out, ";base64,");
        raw(out, &image.data);
        raw(out, "\"}");
    }
    out.push(b'}');
}

/// Writes a text as the inside of a JSON string, without the quotes.
fn inside(out: &mut Vec<u8>, text: &str) {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    raw(out, quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
}
