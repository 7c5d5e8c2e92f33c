//! One message as the model read it, truncated if it is long.

use serde::{Deserialize, Serialize};

use turnwise_engine::{CounterLevel, Message, ToolMessage};

use super::marks::{MarkedMessage, MessageMark};

/// The number of characters of a message that are shown at first.
pub const SHOWN: usize = 4_000;

/// A message for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageView {
    /// Index in its request, from 0.
    pub at: usize,
    pub role: MessageRole,
    /// `System`, `User`, `Assistant`, `search_files`
    pub name: String,
    /// Without the context and counter lines at its end.
    pub text: String,
    /// The number of characters of the text that are left out here.
    pub more: usize,
    /// `[Context 74% full]`, as the model read it.
    pub context: Option<String>,
    /// The counter line as the model read it, and its level.
    pub counter: Option<(CounterLevel, String)>,
    pub reasoning: String,
    /// Names and arguments, verbatim.
    pub calls: Vec<(String, String)>,
    pub images: usize,
    pub pdfs: usize,
    /// Whether provider-specific parts are sent along, such as signatures of thoughts.
    pub opaque: bool,
    pub mark: Option<MessageMark>,
    /// Whether it is for this request only and not kept in the history.
    pub once: bool,
    /// Whether it is the result of a call that failed.
    pub error: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    System,
    User,
    Assistant,
    Tool,
}

impl MessageRole {
    /// Returns the name of the role in requests.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            MessageRole::System => "system",
            MessageRole::User => "user",
            MessageRole::Assistant => "assistant",
            MessageRole::Tool => "tool",
        }
    }
}

impl MessageView {
    /// Builds the view of a message at an index of its request; `once`: it is not from the history; `most`: the maximum number of
    /// characters of its text.
    #[must_use]
    pub fn new(marked: &MarkedMessage, at: usize, once: bool, most: usize) -> Self {
        let mut view = MessageView {
            at,
            role: MessageRole::User,
            name: "User".to_owned(),
            text: String::new(),
            more: 0,
            context: None,
            counter: None,
            reasoning: String::new(),
            calls: Vec::new(),
            images: 0,
            pdfs: 0,
            opaque: false,
            mark: marked.mark,
            once,
            error: false,
        };
        if let Message::User { images, .. } | Message::Tool(ToolMessage { images, .. }) = &marked.message {
            view.pdfs = images.iter().filter(|image| image.is_pdf()).count();
            view.images = images.len() - view.pdfs;
        }
        let text: &str = match &marked.message {
            Message::System { content } => {
                (view.role, view.name) = (MessageRole::System, "System".to_owned());
                content
            }
            Message::User { content, .. } => content,
            Message::Assistant(said) => {
                (view.role, view.name) = (MessageRole::Assistant, "Assistant".to_owned());
                view.reasoning.clone_from(&said.reasoning);
                view.calls = said.tool_calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
                view.opaque = said.opaque.is_some();
                &said.content
            }
            Message::Tool(answer) => {
                (view.role, view.name) = (MessageRole::Tool, answer.name.clone());
                view.error = answer.is_error;
                let end = answer.content.len() - marked.counter.map_or(0, |(_, bytes)| bytes);
                let (rest, line) = answer.content.split_at_checked(end).unwrap_or((&answer.content, ""));
                view.counter = marked.counter.map(|(level, _)| (level, line.trim_start_matches('\n').to_owned()));
                let (rest, line) = rest.split_at_checked(rest.len() - marked.context).unwrap_or((rest, ""));
                view.context = (marked.context > 0).then(|| line.trim_start_matches('\n').to_owned());
                rest
            }
        };
        match text.char_indices().nth(most) {
            Some((cut, _)) => {
                view.text = text.get(..cut).unwrap_or(text).to_owned();
                view.more = text.get(cut..).unwrap_or_default().chars().count();
            }
            None => text.clone_into(&mut view.text),
        }
        view
    }

    /// Returns the whole text as it was sent, for a view that is not truncated.
    #[must_use]
    pub fn content(&self) -> String {
        let lines = [self.context.as_deref(), self.counter.as_ref().map(|(_, line)| line.as_str())];
        lines.into_iter().flatten().fold(self.text.clone(), |text, line| format!("{text}\n{line}"))
    }
}
