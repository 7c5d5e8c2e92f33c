//! The conversation and what was already sent to the shell: a frozen part that only grows, hashed as it grows.
//!
//! Invariants: a message is never changed once it was sent, so a turn costs its own bytes, not the history's. All messages are kept as
//! they were; what requests have of them may be shorter, and each change of that begins a new base.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize, Serializer};

use super::config::{AskedTool, ReasoningEffort, RunConfig};
use super::digest::sha256_hex;
use super::ids::{BaseId, CallId};
use super::interface::ToolChoice;
use super::message::{AssistantMessage, Image, Message, ToolCall, ToolMessage};
use super::own_tools;
use super::prompts;
use super::provider::ProviderConfig;

/// All messages of a run, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    messages: Vec<Message>,
    base: BaseId,
    /// How many messages the shell has.
    sent: usize,
    /// Bytes of what a request has of them, for estimates where a provider gives no usage.
    bytes: u64,
    /// About what a request has around these bytes: roles, ids, brackets.
    #[serde(default)]
    frames: u64,
    /// SHA-256 over the head and what was sent of the first `sent` messages, hex.
    chain: String,
    /// Where the task is: it is part of every request.
    #[serde(default)]
    task: usize,
    /// What requests have in place of a tool's result, by the place of its message.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    stubs: BTreeMap<usize, String>,
    /// The oldest messages that requests do not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
}

/// The oldest part of a conversation, which requests leave out to fit the context window (retries.md#context-window).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LeftOut {
    /// The first message after it.
    until: usize,
    /// Whether requests offer the tool that reads it.
    readable: bool,
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
    /// The size of a request that the provider refused as too long, if the run leaves turns out: the smallest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_at: Option<u64>,
    /// The provider refused a request that offered only the tool that reads what is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_no_tools: bool,
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
    /// The last message is the task.
    #[must_use]
    pub fn new(config: &RunConfig, messages: Vec<Message>) -> Self {
        let (bytes, frames) = (messages.iter().map(weigh).sum(), messages.iter().map(frame).sum());
        let task = messages.len().saturating_sub(1);
        let (base, sent, chain) = (BaseId(1), 0, head_hash(config));
        History { messages, base, sent, bytes, frames, chain, task, stubs: BTreeMap::new(), left_out: None }
    }

    /// The whole conversation.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The conversation as the next request has it.
    #[must_use]
    pub fn shown(&self) -> Vec<Cow<'_, Message>> {
        let Some(LeftOut { until, readable }) = self.left_out else { return self.shown_from(0).collect() };
        let mut shown: Vec<_> = self.kept_before(until).into_iter().filter_map(|at| self.shown_at(at)).collect();
        shown.push(Cow::Owned(self.note(until, readable)));
        shown.extend(self.shown_from(until));
        shown
    }

    fn shown_from(&self, from: usize) -> impl Iterator<Item = Cow<'_, Message>> {
        (from..self.messages.len()).filter_map(|at| self.shown_at(at))
    }

    fn shown_at(&self, at: usize) -> Option<Cow<'_, Message>> {
        let message = self.messages.get(at)?;
        Some(match (message, self.stubs.get(&at)) {
            (Message::Tool(tool), Some(stub)) => {
                Cow::Owned(Message::Tool(ToolMessage { content: stub.clone(), images: Vec::new(), ..tool.clone() }))
            }
            _ => Cow::Borrowed(message),
        })
    }

    /// The bytes of what the next request has of the conversation.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of the next request, with those around what is said.
    #[must_use]
    pub fn framed_bytes(&self) -> u64 {
        self.bytes + self.frames
    }

    pub fn push(&mut self, message: Message) {
        self.bytes += weigh(&message);
        self.frames += frame(&message);
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

    /// Puts `stub`, where it gives a shorter text, in place of the tool results before the message at `end`, oldest first. What was sent
    /// is then outdated: the next request starts a new base.
    pub fn shorten(&mut self, config: &RunConfig, end: usize, mut stub: impl FnMut(&ToolMessage) -> Option<String>) {
        let before = self.bytes;
        let from = self.left_out.map_or(0, |left| left.until);
        for (at, message) in self.messages.iter().enumerate().take(end).skip(from) {
            let Message::Tool(tool) = message else { continue };
            let (shown, images) = match self.stubs.get(&at) {
                Some(stub) => (stub.len(), 0),
                None => (tool.content.len(), weigh_images(&tool.images)),
            };
            if let Some(short) = stub(tool).filter(|short| short.len() < shown) {
                self.bytes = self.bytes.saturating_sub((shown - short.len()) as u64 + images);
                self.stubs.insert(at, short);
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
                self.frames += frame(&new);
                self.messages.insert(0, new);
                self.task += 1;
                self.stubs = std::mem::take(&mut self.stubs).into_iter().map(|(at, stub)| (at + 1, stub)).collect();
                if let Some(left) = &mut self.left_out {
                    left.until += 1;
                }
            }
        }
    }

    /// Freezes what was added since the last request, and hashes the request (trajectory.md#what-is-in-it, `request_hash`).
    pub fn send(&mut self, provider: &ProviderConfig, tail: &[Message], tools: ToolChoice) -> Outgoing {
        let unsent = if self.sent == 0 { self.shown() } else { self.shown_from(self.sent).collect() };
        let append: Vec<Message> = unsent.into_iter().map(Cow::into_owned).collect();
        for message in &append {
            self.chain = link(&self.chain, &Said(message));
        }
        self.sent = self.messages.len();
        let request_hash = link(&self.chain, &Last { provider, tail, tools });
        Outgoing { base: self.base, append, request_hash }
    }
}

/// What requests leave out. The oldest turns go first, each as a whole where that leaves enough, else as a prefix of the replies and
/// their tool results: a call is never separated from its result. What stays are the system message, the task, the message of the user
/// that what follows answers, and the newest reply with its results.
impl History {
    /// How many messages of the conversation requests leave out, those included that stay before the note.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out.map_or(0, |left| left.until.saturating_sub(self.lead()))
    }

    /// Whether a request offers the tool that reads what it leaves out.
    #[must_use]
    pub fn offers_earlier(&self) -> bool {
        self.left_out.is_some_and(|left| left.readable)
    }

    /// If a request has more than `most` bytes, leaves out as many of the oldest messages as it takes to have at most `target`, or as many
    /// as can be. Returns whether that made it shorter.
    pub fn leave_out(&mut self, config: &RunConfig, most: u64, target: u64, readable: bool) -> bool {
        let Some(until) = self.place_to_cut(most, target) else { return false };
        self.left_out = Some(LeftOut { until, readable });
        self.weigh_again(config);
        true
    }

    /// Requests no longer offer the tool that reads what they leave out.
    pub fn hide_earlier(&mut self, config: &RunConfig) {
        if let Some(left) = &mut self.left_out {
            left.readable = false;
            self.weigh_again(config);
        }
    }

    /// The first message of the newest reply, or of the user after it.
    #[must_use]
    pub fn newest(&self) -> usize {
        self.messages.iter().rposition(|message| !matches!(message, Message::Tool(_))).unwrap_or(0)
    }

    fn weigh_again(&mut self, config: &RunConfig) {
        let shown = self.shown();
        (self.bytes, self.frames) =
            (shown.iter().map(|message| weigh(message)).sum(), shown.iter().map(|message| frame(message)).sum());
        self.start_over(config);
    }

    /// The number of system messages at the beginning.
    fn lead(&self) -> usize {
        self.messages.iter().take_while(|message| matches!(message, Message::System { .. })).count()
    }

    /// The messages before a cut that stay.
    fn kept_before(&self, until: usize) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..self.lead().min(until)).collect();
        kept.extend((self.task < until).then_some(self.task));
        if !self.is_user(until) {
            kept.extend((0..until).rev().find(|at| self.is_user(*at)));
        }
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    fn is_user(&self, at: usize) -> bool {
        matches!(self.messages.get(at), Some(Message::User { .. }))
    }

    /// Where to cut, so that a request has at most `most` bytes. It is found as the conversation grew, each time it had become too long: a
    /// follow-up cuts where the run before it did, as long as neither has to cut again.
    fn place_to_cut(&self, most: u64, target: u64) -> Option<usize> {
        let mut sums = vec![0u64];
        for at in 0..self.messages.len() {
            sums.push(sums.last().unwrap_or(&0) + self.shown_at(at).map_or(0, |message| framed(&message)));
        }
        let sum = |from: usize, to: usize| {
            let at = |at: usize| sums.get(at).copied().unwrap_or(0);
            at(to) - at(from)
        };
        let size = |cut: Option<usize>, end: usize| match cut {
            None => sum(0, end),
            Some(cut) => {
                NOTE_BYTES + self.kept_before(cut).into_iter().map(|at| sum(at, at + 1)).sum::<u64>() + sum(cut, end)
            }
        };
        let mut cut = self.left_out.map(|left| left.until);
        for end in cut.unwrap_or(self.lead()) + 1..=self.messages.len() {
            // A request was sent when the user had said something, or all calls of a reply were answered.
            let asked = match self.messages.get(end - 1) {
                Some(Message::User { .. }) => true,
                Some(Message::Tool(_)) => !matches!(self.messages.get(end), Some(Message::Tool(_))),
                _ => end == self.messages.len(),
            };
            if asked && size(cut, end) > most {
                cut = self.next_cut(cut, end, |cut| size(Some(cut), end), target).or(cut);
            }
        }
        let shorter = |cut: &usize| size(Some(*cut), self.messages.len()) < self.framed_bytes();
        cut.filter(|cut| self.left_out.is_none_or(|left| left.until < *cut)).filter(shorter)
    }

    /// The first place after a cut from where the messages before `end` have at most `target` bytes, or as few as they can.
    fn next_cut(&self, cut: Option<usize>, end: usize, size: impl Fn(usize) -> u64, target: u64) -> Option<usize> {
        let begins = |at: &usize| matches!(self.messages.get(*at), Some(Message::User { .. } | Message::Assistant(_)));
        let mut places = (cut.unwrap_or(self.lead()) + 1..end).filter(begins).peekable();
        let mut last = None;
        while let Some(at) = places.next() {
            last = Some(at);
            if size(at) <= target {
                // The rest of the turn goes too, if enough is left without it.
                let turn = std::iter::once(at).chain(places).find(|at| self.is_user(*at));
                return turn.filter(|turn| size(*turn) >= target / 2).or(last);
            }
        }
        last
    }

    /// The mark in place of what is left out.
    fn note(&self, until: usize, readable: bool) -> Message {
        let left = self.messages.get(self.lead()..until).unwrap_or_default();
        let turns = left.iter().filter(|message| matches!(message, Message::User { .. })).count();
        let results = left.iter().filter(|message| matches!(message, Message::Tool(_))).count();
        prompts::left_out(left.len(), turns, results, readable)
    }

    /// What `read_earlier` answers: messages from a number on, as text of at most about `room` characters, with the pictures if it is a
    /// single message. `Err` says what is wrong with the arguments.
    pub(super) fn read_earlier(&self, arguments: &str, room: usize) -> Result<(String, Vec<Image>), String> {
        let asked = own_tools::earlier_asked(arguments)?;
        let left = self.messages.get(self.lead()..).unwrap_or_default();
        let left = left.get(..self.left_out()).unwrap_or_default();
        Ok(prompts::earlier(left, asked, room))
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

/// A note in place of messages is not larger.
const NOTE_BYTES: u64 = 280;

/// The token cost of a picture does not depend on its bytes. A page of a PDF costs about as much and takes some 50 KB; the
/// provider's own count corrects it.
fn weigh_image(image: &Image) -> usize {
    if image.is_pdf() { IMAGE_WEIGHT.max(image.data.len() / 8) } else { IMAGE_WEIGHT }
}

fn weigh_images(images: &[Image]) -> u64 {
    images.iter().map(weigh_image).sum::<usize>() as u64
}

/// A message in a request: what is said, and what is around it.
pub(super) fn framed(message: &Message) -> u64 {
    weigh(message) + frame(message)
}

fn frame(message: &Message) -> u64 {
    match message {
        Message::Assistant(said) => 40 + 60 * said.tool_calls.len() as u64,
        Message::Tool(_) => 60,
        Message::System { .. } | Message::User { .. } => 40,
    }
}

/// About four of these are a token.
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
