//! The request body of the Messages API.
//!
//! The content of a message stays open, and its last block too: consecutive user messages and tool results are one
//! message (the API wants every result of a reply in the next message, before any text), and the last block of the
//! frozen history takes the cache breakpoint, in the request only. What follows closes them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::engine::{
    AskedTool, AssistantMessage, Image, Message, ProviderConfig, RunConfig, ToolChoice, ToolMessage, ToolSpec,
    own_tools,
};

use super::super::dialect::{Encode, own};
use super::super::json::{arguments, json, raw};
use super::super::options::Options;
use super::DIALECT;
use super::blocks::{self, Piece};
use super::thinking::Thinking;

/// Stands where the API insists on a text: blank ones are refused, and so is a message that ends with a thought.
const NO_TEXT: &str = "(no text)";

const NONE: &str = "{\"type\":\"none\"}";

const BREAKPOINT: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// Encodes for one provider of a run.
#[derive(Clone, Debug)]
pub struct Encoder {
    head: Vec<u8>,
    /// The run's own choice of a tool.
    asked: Option<AskedTool>,
    /// A model that thinks refuses a temperature, and to be forced to call a tool.
    thinks: bool,
    open: Open,
    /// The names of the tools that the history calls.
    called: BTreeSet<String>,
}

/// How the bytes so far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// The head: the system text may still come.
    Head,
    /// The start of the list of messages.
    Messages,
    /// A block of a user message, without its closing brace.
    User,
    /// The same of an assistant message.
    Assistant,
}

impl Encoder {
    #[must_use]
    pub fn new(p: &ProviderConfig, config: &RunConfig) -> Self {
        let options = Options::of(p);
        let thinking = Thinking::of(p, config);
        let mut head = b"{\"model\":".to_vec();
        json(&mut head, &p.model);
        options.whole("max_tokens", Some(thinking.max_tokens(p.max_output_tokens)), &mut head);
        raw(&mut head, ",\"stream\":true");
        let thinks = match options.get("thinking") {
            Some(given) => given.get("type").and_then(Value::as_str) != Some("disabled"),
            None => thinking.is_on(),
        };
        if !thinks {
            // Other providers of the same run may go up to 2.
            options.number("temperature", config.temperature.map(|t| if t > 1.0 { 1.0 } else { t }), &mut head);
            options.number("top_p", config.top_p, &mut head);
        }
        thinking.write(options, &mut head);
        options.write(&mut head);
        Encoder { head, asked: config.tool_choice.clone(), thinks, open: Open::Head, called: BTreeSet::new() }
    }

    /// A block begins, in the message that is open or in a new one. Its closing brace comes with what follows.
    fn block(&mut self, role: Open, out: &mut Vec<u8>) {
        if self.open == role {
            return raw(out, "},");
        }
        self.close(out);
        if self.open != Open::Messages {
            out.push(b',');
        }
        let name = if role == Open::Assistant { "assistant" } else { "user" };
        raw(out, &format!("{{\"role\":\"{name}\",\"content\":["));
        self.open = role;
    }

    /// Ends the message that is open, or the head.
    fn close(&mut self, out: &mut Vec<u8>) {
        match self.open {
            Open::Head => {
                raw(out, ",\"messages\":[");
                self.open = Open::Messages;
            }
            Open::Messages => {}
            Open::User | Open::Assistant => raw(out, "}]}"),
        }
    }

    fn text(&mut self, role: Open, text: &str, out: &mut Vec<u8>) {
        self.block(role, out);
        raw(out, "{\"type\":\"text\",\"text\":");
        json(out, text);
    }

    fn user(&mut self, content: &str, images: &[Image], out: &mut Vec<u8>) {
        for image in images {
            self.block(Open::User, out);
            attached(image, out);
        }
        if !blocks::is_blank(content) {
            self.text(Open::User, content, out);
        } else if self.open != Open::User {
            self.text(Open::User, NO_TEXT, out);
        }
    }

    fn result(&mut self, tool: &ToolMessage, out: &mut Vec<u8>) {
        self.block(Open::User, out);
        raw(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
        json(out, &blocks::safe(&tool.call_id.0));
        let blank = blocks::is_blank(&tool.content);
        if tool.images.is_empty() {
            if !blank {
                raw(out, ",\"content\":");
                json(out, &tool.content);
            }
        } else {
            let mut before = ",\"content\":[";
            if !blank {
                raw(out, ",\"content\":[{\"type\":\"text\",\"text\":");
                json(out, &tool.content);
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

    /// A message of nothing is left out.
    fn assistant(&mut self, message: &AssistantMessage, out: &mut Vec<u8>) {
        let mut ends_with_thought = false;
        for piece in blocks::in_order(message, own(message.opaque.as_ref(), DIALECT)) {
            ends_with_thought = false;
            match piece {
                Piece::Text(text) => self.text(Open::Assistant, text, out),
                Piece::Thought(block) => {
                    self.block(Open::Assistant, out);
                    // As it came, but for the brace at its end.
                    json(out, block);
                    out.pop();
                    ends_with_thought = true;
                }
                Piece::Call(call) => {
                    self.called.insert(blocks::safe(&call.name).into_owned());
                    self.block(Open::Assistant, out);
                    raw(out, "{\"type\":\"tool_use\",\"id\":");
                    json(out, &blocks::safe(&call.id.0));
                    raw(out, ",\"name\":");
                    json(out, &blocks::safe(&call.name));
                    raw(out, ",\"input\":");
                    raw(out, arguments(&call.arguments).trim());
                }
            }
        }
        if ends_with_thought {
            self.text(Open::Assistant, NO_TEXT, out);
        }
    }

    /// The run's own choice, in the words of the API.
    fn asked(&self) -> Cow<'static, str> {
        match &self.asked {
            None => "".into(),
            Some(AskedTool::None) => NONE.into(),
            Some(AskedTool::Required) if !self.thinks => "{\"type\":\"any\"}".into(),
            Some(AskedTool::Tool(name)) if !self.thinks => {
                format!("{{\"type\":\"tool\",\"name\":{}}}", Value::from(name.as_str())).into()
            }
            Some(AskedTool::Auto | AskedTool::Required | AskedTool::Tool(_)) => "{\"type\":\"auto\"}".into(),
        }
    }

    /// The tools to declare, and the word for which of them may be called.
    fn offer<'a>(&self, tools: &'a [ToolSpec], choice: ToolChoice) -> (Vec<&'a ToolSpec>, Cow<'static, str>) {
        // A history with tool blocks needs tools: without them the request is refused, or answered with nothing.
        let none = || match self.called.is_empty() {
            true => (Vec::new(), "".into()),
            false => (tools.iter().collect(), NONE.into()),
        };
        match choice {
            ToolChoice::Auto | ToolChoice::Asked if tools.is_empty() => none(),
            ToolChoice::Auto => (tools.iter().collect(), "".into()),
            ToolChoice::Asked => (tools.iter().collect(), self.asked()),
            ToolChoice::None => none(),
            ToolChoice::Report => match tools.iter().find(|tool| tool.name == own_tools::REPORT) {
                None => none(),
                // Not forced: a model that thinks refuses that, and newer ones think unless they are told not to.
                Some(tool) => (vec![tool], "".into()),
            },
        }
    }
}

/// A picture or a PDF as a block, but for the brace at its end.
fn attached(image: &Image, out: &mut Vec<u8>) {
    raw(out, if image.is_pdf() { "{\"type\":\"document\"" } else { "{\"type\":\"image\"" });
    raw(out, ",\"source\":{\"type\":\"base64\",\"media_type\":");
    json(out, &image.media_type);
    raw(out, ",\"data\":");
    json(out, &image.data);
    out.push(b'}');
}

impl Encode for Encoder {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.open = Open::Head;
        self.called.clear();
        out.extend_from_slice(&self.head);
    }

    fn message(&mut self, message: &Message, out: &mut Vec<u8>) {
        match message {
            // The first breakpoint: the tools and this text are the same in every request.
            Message::System { content } if self.open == Open::Head => {
                if !blocks::is_blank(content) {
                    raw(out, ",\"system\":[{\"type\":\"text\",\"text\":");
                    json(out, content);
                    raw(out, BREAKPOINT);
                    raw(out, "}]");
                }
                self.close(out);
            }
            // Another system text in front would change the start of the request, and with it all that is cached.
            Message::System { content } => self.user(content, &[], out),
            Message::User { content, images } => self.user(content, images, out),
            Message::Assistant(message) => self.assistant(message, out),
            Message::Tool(tool) => self.result(tool, out),
        }
    }

    /// The second breakpoint. Whatever is open takes one: blank texts are never sent, and no message ends with a thought.
    fn mark(&mut self, out: &mut Vec<u8>) {
        if matches!(self.open, Open::User | Open::Assistant) {
            raw(out, BREAKPOINT);
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
            json(out, &tool.name);
            raw(out, ",\"description\":");
            json(out, &tool.description);
            raw(out, ",\"input_schema\":");
            json(out, &tool.parameters);
            out.push(b'}');
        }
        if offered.is_empty() && !choice.is_empty() {
            // The run has no tools any more: those that were called are declared by their names.
            for name in &self.called {
                raw(out, comma);
                comma = ",";
                raw(out, "{\"name\":");
                json(out, name);
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
