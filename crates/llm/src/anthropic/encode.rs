//! The request body of the Messages API.
//!
//! The last message and its last block stay open: consecutive user messages and tool results form one message (the API
//! wants all results of a reply in the next message, before any text), and a block may get a cache breakpoint (`marks.rs`).
//! The next write closes them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use turnwise_engine::{
    AskedTool, AssistantMessage, Correction, Image, Message, ProviderConfig, RunConfig, ToolChoice, ToolMessage,
    ToolSpec, own_tools,
};

use super::super::abilities::ModelSettings;
use super::super::call_ids::{IdRule, WireIds};
use super::super::dialect::{Encode, Me};
use super::super::endpoint;
use super::super::json::{arguments, field, raw, write};
use super::super::marks::{BREAKPOINT, BlockWriter, CacheMarked};
use super::super::names;
use super::super::options::Options;
use super::DIALECT;
use super::blocks::{self, AssistantBlock};
use super::thinking::{Thinking, binds_tools};

/// Placeholder where the API requires a text: it rejects blank texts, and messages that end with a thought.
const NO_TEXT: &str = "(no text)";

const OWN_HOST: &str = "api.anthropic.com";

const NONE: &str = "{\"type\":\"none\"}";

const FORCED_REPORT: &str = "{\"type\":\"tool\",\"name\":\"final_report\"}";

/// Encodes requests for one provider of a run.
#[derive(Clone, Debug)]
pub struct Encoder {
    head: Vec<u8>,
    /// The run's own tool choice.
    asked: Option<AskedTool>,
    /// Whether a tool call may be forced.
    forces: bool,
    /// Whether the final report may be forced, too: this is the service itself, not another one with the same format, and it did not refuse.
    forces_report: bool,
    /// Whether the model's thoughts are bound to the tools of their request.
    binds_tools: bool,
    /// Whether the history has thoughts.
    thought: bool,
    open: OpenPosition,
    /// The names of the tools that the history calls.
    called: BTreeSet<String>,
    me: Me,
    ids: WireIds,
    /// Whether each message with calls has a thought, signed or not: DeepSeek refuses it otherwise (hermes-agent#22313).
    needs_thoughts: bool,
}

/// The state at the end of the bytes written so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenPosition {
    /// The head: the system text may still follow.
    Head,
    /// The start of the list of messages.
    Messages,
    /// A block of a user message, without its closing brace.
    User,
    /// The same for an assistant message.
    Assistant,
}

impl Encoder {
    /// A writer that adds breakpoints.
    pub fn marked(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> CacheMarked<Self> {
        CacheMarked::new(Self::new(p, config, learnt))
    }

    #[must_use]
    pub fn new(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> Self {
        let options = Options::of(p);
        let settings = ModelSettings::of(p, config, learnt);
        let thinking = Thinking::of(&settings);
        let mut head = b"{\"model\":".to_vec();
        write(&mut head, &p.model);
        options.set("max_tokens", Some(thinking.max_tokens(p.max_output_tokens)), &mut head);
        raw(&mut head, ",\"stream\":true");
        // Other providers of the same run accept up to 2.
        options.set("temperature", settings.temperature.map(|t| if t > 1.0 { 1.0 } else { t }), &mut head);
        options.set("top_p", settings.top_p, &mut head);
        thinking.write(options, &mut head);
        options.write(&mut head);
        Encoder {
            head,
            asked: settings.choice(config),
            forces: settings.forces,
            forces_report: endpoint::host(p) == OWN_HOST && !learnt.contains(&Correction::NoToolChoice),
            binds_tools: binds_tools(&p.model),
            thought: false,
            open: OpenPosition::Head,
            called: BTreeSet::new(),
            me: Me::new(p, learnt),
            ids: WireIds::new(IdRule::Safe(64).corrected(learnt)),
            needs_thoughts: learnt.contains(&Correction::SendThoughts),
        }
    }

    /// Begins a block, in the open message or in a new one. The next write adds its closing brace.
    fn block(&mut self, role: OpenPosition, out: &mut Vec<u8>) {
        if self.open == role {
            return raw(out, "},");
        }
        self.close(out);
        if self.open != OpenPosition::Messages {
            out.push(b',');
        }
        let name = if role == OpenPosition::Assistant { "assistant" } else { "user" };
        raw(out, &format!("{{\"role\":\"{name}\",\"content\":["));
        self.open = role;
    }

    /// Ends the open message, or the head.
    fn close(&mut self, out: &mut Vec<u8>) {
        match self.open {
            OpenPosition::Head => {
                raw(out, ",\"messages\":[");
                self.open = OpenPosition::Messages;
            }
            OpenPosition::Messages => {}
            OpenPosition::User | OpenPosition::Assistant => raw(out, "}]}"),
        }
    }

    fn text(&mut self, role: OpenPosition, text: &str, out: &mut Vec<u8>) {
        self.block(role, out);
        raw(out, "{\"type\":\"text\"");
        field(out, "text", text);
    }

    fn user(&mut self, content: &str, images: &[Image], out: &mut Vec<u8>) {
        for image in images {
            self.block(OpenPosition::User, out);
            attached(image, out);
        }
        if !blocks::is_blank(content) {
            self.text(OpenPosition::User, content, out);
        } else if self.open != OpenPosition::User {
            self.text(OpenPosition::User, NO_TEXT, out);
        }
    }

    fn result(&mut self, tool: &ToolMessage, out: &mut Vec<u8>) {
        self.block(OpenPosition::User, out);
        raw(out, "{\"type\":\"tool_result\"");
        field(out, "tool_use_id", &self.ids.of(&tool.call_id));
        let blank = blocks::is_blank(&tool.content);
        if tool.images.is_empty() {
            if !blank {
                field(out, "content", &tool.content);
            }
        } else {
            let mut before = ",\"content\":[";
            if !blank {
                raw(out, ",\"content\":[{\"type\":\"text\"");
                field(out, "text", &tool.content);
                before = "},";
            }
            for image in &tool.images {
                raw(out, before);
                attached(image, out);
                before = "},";
            }
            raw(out, "}]");
        }
        if tool.is_error {
            raw(out, ",\"is_error\":true");
        }
    }

    /// Writes an assistant message. An empty one is left out.
    fn assistant(&mut self, message: &AssistantMessage, out: &mut Vec<u8>) {
        let mut ends_with_thought = false;
        self.me.ids(message, &mut self.ids);
        let pieces = blocks::in_order(message, self.me.opaque(message, DIALECT));
        let has_thought = pieces.iter().any(|piece| matches!(piece, AssistantBlock::Thought(_)));
        if self.needs_thoughts && !has_thought && !message.tool_calls.is_empty() {
            // Those of another model would be taken for the model's own.
            let own = if self.me.wrote(message) { message.reasoning.as_str() } else { "" };
            self.block(OpenPosition::Assistant, out);
            raw(out, "{\"type\":\"thinking\"");
            field(out, "thinking", if own.is_empty() { " " } else { own });
            field(out, "signature", "");
        }
        for piece in pieces {
            ends_with_thought = false;
            match piece {
                AssistantBlock::Text(text) => self.text(OpenPosition::Assistant, text, out),
                AssistantBlock::Thought(block) => {
                    self.thought = true;
                    self.block(OpenPosition::Assistant, out);
                    // Unchanged, except for its closing brace.
                    write(out, block);
                    out.pop();
                    ends_with_thought = true;
                }
                AssistantBlock::Call(call) => {
                    self.called.insert(names::safe(&call.name).into_owned());
                    self.block(OpenPosition::Assistant, out);
                    raw(out, "{\"type\":\"tool_use\"");
                    field(out, "id", &self.ids.of(&call.id));
                    field(out, "name", &names::safe(&call.name));
                    raw(out, ",\"input\":");
                    raw(out, arguments(call.written()).trim());
                }
            }
        }
        if ends_with_thought {
            self.text(OpenPosition::Assistant, NO_TEXT, out);
        }
    }

    /// The run's own tool choice, in the API's format.
    fn asked(&self) -> Cow<'static, str> {
        match &self.asked {
            None => "".into(),
            Some(AskedTool::None) => NONE.into(),
            Some(AskedTool::Auto) => "{\"type\":\"auto\"}".into(),
            Some(AskedTool::Required) => "{\"type\":\"any\"}".into(),
            Some(AskedTool::Tool(name)) => {
                format!("{{\"type\":\"tool\",\"name\":{}}}", Value::from(name.as_str())).into()
            }
        }
    }

    /// The tools to declare, and the value of `tool_choice`.
    fn offer<'a>(&self, tools: &'a [ToolSpec], choice: ToolChoice) -> (Vec<&'a ToolSpec>, Cow<'static, str>) {
        let all = || tools.iter().collect();
        // A history with tool blocks needs tools: without them the API rejects the request or returns an empty reply. By its documents another
        // choice spares the cache of the tools and the system text, not that of the messages; a measurement did not confirm it (local-operator#534).
        let none = || match self.called.is_empty() && tools.is_empty() {
            true => (Vec::new(), "".into()),
            false => (all(), NONE.into()),
        };
        match choice {
            ToolChoice::Auto | ToolChoice::Asked if tools.is_empty() => none(),
            ToolChoice::Auto => (all(), "".into()),
            ToolChoice::Asked => (all(), self.asked()),
            ToolChoice::None => none(),
            ToolChoice::Report => match tools.iter().find(|tool| tool.name == own_tools::REPORT) {
                None => none(),
                // A model that thinks rejects the demand, or obeys without a thought.
                Some(_) if self.forces && self.forces_report && !self.thought => (all(), FORCED_REPORT.into()),
                Some(_) if self.binds_tools => (all(), "".into()),
                Some(tool) => (vec![tool], "".into()),
            },
        }
    }
}

impl BlockWriter for Encoder {
    /// Any open block accepts a breakpoint: blank texts are never sent, and no message ends with a thought.
    fn is_open(&self) -> bool {
        matches!(self.open, OpenPosition::User | OpenPosition::Assistant)
    }
}

/// Writes an image or a PDF as a block, without its closing brace.
fn attached(image: &Image, out: &mut Vec<u8>) {
    raw(out, if image.is_pdf() { "{\"type\":\"document\"" } else { "{\"type\":\"image\"" });
    raw(out, ",\"source\":{\"type\":\"base64\"");
    field(out, "media_type", &image.media_type);
    field(out, "data", &image.data);
    out.push(b'}');
}

impl Encode for Encoder {
    fn start(&mut self, out: &mut Vec<u8>) {
        (self.open, self.thought) = (OpenPosition::Head, false);
        self.called.clear();
        self.ids.clear();
        out.extend_from_slice(&self.head);
    }

    fn message(&mut self, message: &Message, out: &mut Vec<u8>) {
        match message {
            // The first breakpoint: the tools and this text are the same in every request.
            Message::System { content } if self.open == OpenPosition::Head => {
                if !blocks::is_blank(content) {
                    raw(out, ",\"system\":[{\"type\":\"text\"");
                    field(out, "text", content);
                    raw(out, BREAKPOINT);
                    raw(out, "}]");
                }
                self.close(out);
            }
            // Another system text at the front would change the start of the request, and so invalidate the cache.
            Message::System { content } => self.user(content, &[], out),
            Message::User { content, images } => self.user(content, images, out),
            Message::Assistant(message) => self.assistant(message, out),
            Message::Tool(tool) => self.result(tool, out),
        }
    }

    fn end(&mut self, tools: &[ToolSpec], choice: ToolChoice, out: &mut Vec<u8>) {
        self.close(out);
        out.push(b']');
        let (offered, choice) = self.offer(tools, choice);
        let mut comma = ",\"tools\":[";
        for tool in &offered {
            raw(out, comma);
            comma = ",";
            raw(out, "{\"name\":");
            write(out, &tool.name);
            field(out, "description", &tool.description);
            field(out, "input_schema", &tool.parameters);
            out.push(b'}');
        }
        if offered.is_empty() && !choice.is_empty() {
            // The run no longer has tools: the ones that were called are declared by name.
            for name in &self.called {
                raw(out, comma);
                comma = ",";
                raw(out, "{\"name\":");
                write(out, name);
                raw(out, ",\"input_schema\":{\"type\":\"object\"}}");
            }
        }
        if comma == "," {
            out.push(b']');
        }
        if !choice.is_empty() {
            raw(out, ",\"tool_choice\":");
            raw(out, &choice);
        }
        out.push(b'}');
    }

    fn fork(&self) -> Box<dyn Encode> {
        Box::new(self.clone())
    }
}
