//! The demo model's requests and responses as data: it runs in a worker, and the page plays its response.

use serde::{Deserialize, Serialize};

use crate::engine::{DemoMode, Message, RequestId, ToolChoice, ToolSpec};

/// One request, with the whole conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DemoRequest {
    pub mode: DemoMode,
    pub seed: u64,
    pub request: RequestId,
    /// The number of this attempt in its turn, starting at 1, and the maximum number of attempts.
    pub attempt: u32,
    pub attempts: u32,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    pub choice: ToolChoice,
}

/// The result of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scripted {
    /// A server responded: its status, its headers (names in lower case), the chunks of its body, and how the body ends.
    Answer { status: u16, headers: Vec<(String, String)>, chunks: Vec<DemoChunk>, end: BodyEnd },
    /// The request reached no server; `message` is the error of `fetch`.
    NoAnswer { after_ms: u32, message: String },
    /// The server accepted the request and never responds.
    Silence,
}

/// The end of a body after its last chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyEnd {
    /// The connection closes.
    Closed,
    /// Nothing follows, and the connection stays open.
    Silent,
}

/// Some wire bytes, and their delay after the previous ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemoChunk {
    pub after_ms: u32,
    pub text: String,
}

impl Scripted {
    /// A normal stream.
    #[must_use]
    pub fn stream(chunks: Vec<DemoChunk>) -> Self {
        Scripted::answer(200, "text/event-stream", chunks)
    }

    pub(super) fn answer(status: u16, content_type: &str, chunks: Vec<DemoChunk>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Scripted::Answer { status, headers, chunks, end: BodyEnd::Closed }
    }
}
