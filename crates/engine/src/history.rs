//! The conversation and what was already sent to the shell: a frozen part that only grows, hashed as it grows.
//!
//! Invariant: a message is never changed once it was sent, so a turn costs its own bytes, not the history's.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize, Serializer};

use super::config::{AskedTool, ReasoningEffort, RunConfig};
use super::digest::sha256_hex;
use super::ids::{BaseId, CallId};
use super::interface::ToolChoice;
use super::message::{AssistantMessage, Image, Message, ToolCall, ToolMessage};
use super::provider::ProviderConfig;

/// All messages of a run, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    messages: Vec<Message>,
    base: BaseId,
    /// How many messages the shell has.
    sent: usize,
    /// Bytes of all messages, for estimates where a provider gives no usage.
    bytes: u64,
    /// SHA-256 over the head and the first `sent` messages, hex.
    chain: String,
}

/// The size of the next request: an estimate that the provider's own count corrects at each reply, and what was removed to
/// make requests fit (retries.md#context-window).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ContextCount {
    /// Tokens of the history as it was when the provider last counted.
    pub counted: u64,
    /// Bytes of the history then; what came later is about four bytes per token.
    pub at_bytes: u64,
    /// The turn whose request the provider refused as too long: it is tried again once.
    pub overflowed_in: u32,
    /// Calls whose whole result is in the workspace.
    pub kept: BTreeSet<CallId>,
    /// Calls whose result was removed from the history.
    pub stubbed: BTreeSet<CallId>,
}

/// The addition of one request.
#[derive(Debug)]
pub struct Outgoing {
    pub base: BaseId,
    pub append: Vec<Message>,
    pub request_hash: String,
}

impl History {
    #[must_use]
    pub fn new(config: &RunConfig, messages: Vec<Message>) -> Self {
        let bytes = messages.iter().map(weigh).sum();
        History { messages, base: BaseId(1), sent: 0, bytes, chain: head_hash(config) }
    }

    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn push(&mut self, message: Message) {
        self.bytes += weigh(&message);
        self.messages.push(message);
    }

    /// Appends to the last tool result, before it is ever sent.
    pub fn extend_last(&mut self, text: &str) {
        let unsent = self.messages.len() > self.sent;
        if let Some(Message::Tool(tool)) = self.messages.last_mut().filter(|_| unsent) {
            tool.content.push_str(text);
            self.bytes += text.len() as u64;
        }
    }

    /// Repairs the calls of the last reply, before it is ever sent: the model reads its calls as they ran, not as they could not be
    /// read.
    pub fn repair_calls(&mut self, repaired: impl Fn(&ToolCall) -> Option<String>) {
        let unsent = self.messages.get_mut(self.sent..).unwrap_or_default();
        let last = unsent.iter_mut().rev().find_map(|message| match message {
            Message::Assistant(said) => Some(said),
            _ => None,
        });
        for call in last.into_iter().flat_map(|said| &mut said.tool_calls) {
            call.repaired = repaired(call);
        }
    }

    /// Shortens tool results, oldest first, as long as `stub` gives a shorter text. The text already sent is then outdated:
    /// the next request starts a new base.
    pub fn shorten(&mut self, config: &RunConfig, mut stub: impl FnMut(&ToolMessage) -> Option<String>) {
        let before = self.bytes;
        for message in &mut self.messages {
            if let Message::Tool(tool) = message
                && let Some(short) = stub(tool).filter(|short| short.len() < tool.content.len())
            {
                self.bytes = self.bytes.saturating_sub((tool.content.len() - short.len()) as u64);
                self.bytes = self.bytes.saturating_sub(weigh_images(&tool.images));
                tool.content = short;
                tool.images.clear();
            }
        }
        if self.bytes != before {
            self.start_over(config);
        }
    }

    /// What was handed out is gone or outdated: the next request starts a new base.
    pub fn start_over(&mut self, config: &RunConfig) {
        (self.base, self.sent, self.chain) = (BaseId(self.base.0 + 1), 0, head_hash(config));
    }

    /// Another system message at the beginning.
    pub fn set_system(&mut self, text: String) {
        let new = Message::system(text);
        match self.messages.first_mut() {
            Some(first @ Message::System { .. }) => {
                self.bytes = self.bytes.saturating_sub(weigh(first)) + weigh(&new);
                *first = new;
            }
            _ => {
                self.bytes += weigh(&new);
                self.messages.insert(0, new);
            }
        }
    }

    /// Freezes what was added since the last request, and hashes the request (trajectory.md#what-is-in-it, `request_hash`).
    pub fn send(&mut self, provider: &ProviderConfig, tail: &[Message], tools: ToolChoice) -> Outgoing {
        let append = self.messages.get(self.sent..).unwrap_or_default().to_vec();
        for message in &append {
            self.chain = link(&self.chain, &Said(message));
        }
        self.sent = self.messages.len();
        let request_hash = link(&self.chain, &Last { provider, tail, tools });
        Outgoing { base: self.base, append, request_hash }
    }
}

/// The hash of a request with these messages in its frozen part, computed anew (trajectory.md#what-is-in-it): what a record says of a
/// request is checked against what is shown of it.
#[must_use]
pub fn request_hash<'m>(
    config: &RunConfig,
    frozen: impl IntoIterator<Item = &'m Message>,
    provider: &ProviderConfig,
    tail: &[Message],
    tools: ToolChoice,
) -> String {
    let chain = frozen.into_iter().fold(head_hash(config), |chain, message| link(&chain, &Said(message)));
    link(&chain, &Last { provider, tail, tools })
}

/// What all requests of a run share, and what is specific to one.
#[derive(Serialize)]
struct RequestHead<'a> {
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningEffort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'a AskedTool>,
    tools: &'a [super::config::ToolSpec],
}

#[derive(Serialize)]
struct Last<'a> {
    provider: &'a ProviderConfig,
    tail: &'a [Message],
    tools: ToolChoice,
}

/// A message without what decides only how a server reads it: which model wrote it, the ids that this model gave, repairs.
struct Said<'a>(&'a Message);

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Message::Assistant(said)
                if said.from.is_some()
                    || said.tool_calls.iter().any(|call| call.wire_id.is_some() || call.repaired.is_some()) =>
            {
                let call = |call: &ToolCall| ToolCall { wire_id: None, repaired: None, ..call.clone() };
                let tool_calls = said.tool_calls.iter().map(call).collect();
                Message::Assistant(AssistantMessage { from: None, tool_calls, ..said.clone() }).serialize(to)
            }
            message => message.serialize(to),
        }
    }
}

fn head_hash(config: &RunConfig) -> String {
    let RunConfig { temperature, top_p, reasoning, tool_choice, tools, .. } = config;
    let tool_choice = tool_choice.as_ref();
    link("", &RequestHead { temperature: *temperature, top_p: *top_p, reasoning: *reasoning, tool_choice, tools })
}

/// SHA-256 of the chain so far and the next part as RFC 8785 JSON, hex.
fn link(chain: &str, part: &impl Serialize) -> String {
    // A part that is no JSON (a number that is not finite) cannot come from options; it would hash as empty.
    let json = serde_json_canonicalizer::to_vec(part).unwrap_or_default();
    sha256_hex(&[chain.as_bytes(), &json])
}

/// About 1,500 tokens, at 4 bytes a token: what providers count for a picture of common size.
const IMAGE_WEIGHT: usize = 6_000;

/// The token cost of a picture does not depend on its bytes. A page of a PDF costs about as much and takes some 50 KB; the
/// provider's own count corrects it.
fn weigh_image(image: &Image) -> usize {
    if image.is_pdf() { IMAGE_WEIGHT.max(image.data.len() / 8) } else { IMAGE_WEIGHT }
}

fn weigh_images(images: &[Image]) -> u64 {
    images.iter().map(weigh_image).sum::<usize>() as u64
}

fn weigh(message: &Message) -> u64 {
    let images = match message {
        Message::User { images, .. } | Message::Tool(ToolMessage { images, .. }) => weigh_images(images),
        Message::System { .. } | Message::Assistant(_) => 0,
    };
    let n = match message {
        Message::System { content } | Message::User { content, .. } => content.len(),
        Message::Tool(tool) => tool.content.len(),
        Message::Assistant(a) => {
            a.content.len() + a.tool_calls.iter().map(|c| c.name.len() + c.arguments.len()).sum::<usize>()
        }
    };
    images + n as u64
}
