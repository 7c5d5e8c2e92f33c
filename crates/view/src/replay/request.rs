//! One request: its content, and the model it was sent to.

use serde::{Deserialize, Serialize};

use crate::provider;
use turnwise_content::format::{bytes, clock_exact, counted};
use turnwise_engine::{AskedTool, Message, RunConfig, ToolChoice, ToolMessage, own_tools};

use super::fold::Replay;
use super::message::{MessageView, SHOWN};

/// The number of messages that are shown at first, from the beginning and from the end.
const FIRST: usize = 2;
const LAST: usize = 12;

/// A request for display, with the messages that are shown at first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestView {
    /// Index among all requests, from 0.
    pub index: usize,
    /// `Request 3 of 12, turn 2, attempt 1`
    pub title: String,
    /// The sub-agent that sent it, if any.
    pub line: Option<String>,
    /// `00:01.250`
    pub at: String,
    /// A short name for the model.
    pub provider: String,
    /// `14 messages, 5.1 KB`
    pub size: String,
    pub messages: Vec<MessageView>,
    /// The total number of messages.
    pub of: usize,
    /// The tools that are offered: name and description.
    pub tools: Vec<(String, String)>,
    /// `3 tools offered`
    pub choice: String,
    pub temperature: Option<f64>,
    /// The hash from the record, in hex.
    pub hash: String,
    /// The request before it in the same line of work.
    pub previous: Option<usize>,
    /// Whether the history was sent again in full, because a part of it was left out.
    pub rebuilt: bool,
}

impl Replay {
    /// Returns the content of a request.
    #[must_use]
    pub fn request_view(&self, index: usize) -> Option<RequestView> {
        let (sent, line) = (self.requests.get(index)?, self.line_of(index)?);
        let of = self.marked(index).count();
        let messages = if of <= FIRST + LAST {
            self.message_views(index, 0..of)
        } else {
            let mut shown = self.message_views(index, 0..FIRST);
            shown.append(&mut self.message_views(index, of - LAST..of));
            shown
        };
        let offered = self.offered(index);
        let provider = line.config.providers.get(sent.provider).map(provider::name).unwrap_or_default();
        let size: usize = self.messages(index).map(weight).sum();
        let attempt = if sent.attempt > 1 { format!(", attempt {}", sent.attempt) } else { String::new() };
        Some(RequestView {
            index,
            title: format!("Request {} of {}, turn {}{attempt}", index + 1, self.requests.len(), sent.turn),
            line: line.name.clone(),
            at: clock_exact(sent.at_ms),
            provider,
            size: format!("{}, {}", counted(of as u64, "message"), bytes(size as u64)),
            messages,
            of,
            choice: choice(sent.tools, &line.config, offered.len()),
            tools: offered,
            temperature: line.config.temperature,
            hash: sent.hash.clone(),
            previous: sent.previous,
            rebuilt: sent.previous.and_then(|at| self.requests.get(at)).is_some_and(|before| before.base != sent.base),
        })
    }

    /// Returns some of its messages.
    #[must_use]
    pub fn message_views(&self, index: usize, range: std::ops::Range<usize>) -> Vec<MessageView> {
        self.views(index, range, SHOWN)
    }

    /// Returns one of its messages in full.
    #[must_use]
    pub fn whole_message(&self, index: usize, at: usize) -> Option<MessageView> {
        self.views(index, at..at.checked_add(1)?, usize::MAX).pop()
    }

    pub(super) fn views(&self, index: usize, range: std::ops::Range<usize>, most: usize) -> Vec<MessageView> {
        let frozen = self.frozen(index);
        let each = self.marked(index).enumerate().skip(range.start).take(range.len());
        each.map(|(at, marked)| MessageView::new(marked, at, at >= frozen, most)).collect()
    }

    /// Returns the names and descriptions of the tools that a request offers.
    pub(super) fn offered(&self, index: usize) -> Vec<(String, String)> {
        let (Some(sent), Some(line)) = (self.requests.get(index), self.line_of(index)) else { return Vec::new() };
        let earlier = sent.earlier.then(own_tools::earlier_spec);
        let tools = line.config.tools.iter().chain(&earlier).filter(|tool| sent.tools.offers(tool));
        tools.map(|tool| (tool.name.clone(), tool.description.clone())).collect()
    }
}

/// Describes what a request lets the model do with its tools.
pub(super) fn choice(tool_choice: ToolChoice, config: &RunConfig, count: usize) -> String {
    let tools = counted(count as u64, "tool");
    match (tool_choice, &config.tool_choice) {
        (ToolChoice::Asked, Some(AskedTool::None)) => format!("{tools}, none may be called"),
        (ToolChoice::Asked, Some(AskedTool::Required)) => format!("{tools}, one must be called"),
        (ToolChoice::Asked, Some(AskedTool::Tool(name))) => format!("{tools}, {name} must be called"),
        (ToolChoice::Auto | ToolChoice::Asked, _) if count == 0 => "no tools".to_owned(),
        (ToolChoice::Auto | ToolChoice::Asked, _) => format!("{tools} offered"),
        (ToolChoice::None, _) => "no tools: the request asks for a conclusion".to_owned(),
        (ToolChoice::Report, _) => "final_report only, forced where the provider allows it".to_owned(),
    }
}

fn weight(message: &Message) -> usize {
    match message {
        Message::System { content } => content.len(),
        Message::User { content, images } | Message::Tool(ToolMessage { content, images, .. }) => {
            content.len() + images.iter().map(|image| image.data.len()).sum::<usize>()
        }
        Message::Assistant(said) => {
            said.content.len()
                + said.tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
        }
    }
}
