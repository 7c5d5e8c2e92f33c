//! The demo model's requests and answers as data: it runs in a worker, and the page plays its answer.

use serde::{Deserialize, Serialize};

use crate::engine::{DemoMode, Message, RequestId, ToolChoice, ToolSpec};

/// One request, with the whole conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DemoRequest {
    pub mode: DemoMode,
    pub seed: u64,
    pub request: RequestId,
    /// Which attempt of its turn this is, from 1, and how many there may be.
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
    /// A server answered: its status, its headers (names in lower case), its body as it comes, and how that ends.
    Answer { status: u16, headers: Vec<(String, String)>, chunks: Vec<DemoChunk>, end: BodyEnd },
    /// The request reached no server: what `fetch` says then.
    NoAnswer { after_ms: u32, message: String },
    /// The server took the request and says nothing.
    Silence,
}

/// What comes after the last chunk of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyEnd {
    /// The connection closes.
    Closed,
    /// Nothing, and the connection stays open.
    Silent,
}

/// Some wire bytes, and how long after the ones before they come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemoChunk {
    pub after_ms: u32,
    pub text: String,
}

impl Scripted {
    /// A stream as it should be.
    #[must_use]
    pub fn stream(chunks: Vec<DemoChunk>) -> Self {
        Scripted::answer(200, "text/event-stream", chunks)
    }

    pub(super) fn answer(status: u16, content_type: &str, chunks: Vec<DemoChunk>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Scripted::Answer { status, headers, chunks, end: BodyEnd::Closed }
    }
}
