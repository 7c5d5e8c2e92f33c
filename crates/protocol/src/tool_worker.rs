//! The messages between the page and a worker. PURE: shapes and their JSON text, no ports.
//!
//! Page to worker, one message per request: the JSON text of a [`Request`] or, if files changed, an array of that text
//! followed by one `Blob` for each [`FileChange`] that has one, in order. Worker to page: the JSON text of a [`WorkerReply`], or
//! an array of that text and one `Blob` for each path that is written, or would be, in order. File contents are never inside the JSON.
//! A worker posts [`WorkerReply::Ready`] first and answers every request exactly once, in order; after [`WorkerReply::Fatal`] it can no
//! longer be used. Before all this, the loader of `worker.js` receives one `{boot: WebAssembly.Module | null}`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::record::RecordQuery;
use turnwise_content::markdown::Node;
use turnwise_demo_model::{DemoRequest, Scripted};
use turnwise_engine::ToolOutcome;
use turnwise_tools::Arguments;

pub use crate::DocumentTask;

/// One request: `{id, method, args}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    pub id: Ticket,
    #[serde(flatten)]
    pub call: WorkerCall,
}

/// Identifies the request that an answer belongs to; unique among all requests of one host. Late answers are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(pub u32);

/// A request to a worker. Read by [`Request::decode`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "method", content = "args", rename_all = "snake_case")]
pub enum WorkerCall {
    /// Check the arguments and run a built-in tool; answered with [`WorkerAnswer::Outcome`].
    Run {
        name: String,
        arguments: String,
        schema: SchemaRef,
        /// Milliseconds since 1970, for `now`.
        now: u64,
        /// The changes to the workspace since the last call that sent any; the blobs are transferred along with the text.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileChange>,
    },
    /// Check the arguments and see what a built-in tool would write; answered with [`WorkerAnswer::Preview`], or with
    /// [`WorkerAnswer::Checked`] if the call cannot run.
    Preview {
        name: String,
        arguments: String,
        schema: SchemaRef,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileChange>,
    },
    /// Check the arguments only; answered with [`WorkerAnswer::Checked`].
    Check { name: String, arguments: String, schema: SchemaRef },
    /// Convert Markdown to nodes; answered with [`WorkerAnswer::Nodes`].
    Render {
        markdown: String,
        /// Set if this is a part of a text that grows: the answer has only what changes.
        #[serde(skip_serializing_if = "Option::is_none")]
        growing: Option<GrowingPart>,
    },
    /// The text of the file whose blob is transferred along with the text, as the tools read it; answered with
    /// [`WorkerAnswer::Document`].
    Text { path: String },
    /// The text of the response whose body is transferred along with the text; answered with [`WorkerAnswer::Document`]: the JSON text of a
    /// `turnwise_docs_index::web::WebText`.
    Page { url: String, content_type: String },
    /// A question about the text of a record; answered with [`WorkerAnswer::Document`].
    Document { task: DocumentTask, text: String },
    /// A question about the record that this worker has open, or a request to open the record whose blob is transferred along
    /// with the text; answered with [`WorkerAnswer::Document`].
    View(RecordQuery),
    /// A question about the documentation site that this worker holds, with the fetched data as blobs alongside the text;
    /// answered with [`WorkerAnswer::Document`].
    Docs(Box<turnwise_docs_index::SiteQuery>),
    /// A request to the demo model; answered with [`WorkerAnswer::Demo`].
    Demo(Box<DemoRequest>),
}

/// A schema by number; its text is included the first time a worker receives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchemaRef {
    pub id: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub define: Option<Value>,
}

/// One path of the workspace that changed. `size: None`: removed, without a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    pub version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A message from a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerReply {
    /// `{id, result}`
    Result { id: Ticket, result: WorkerAnswer },
    /// `{id, error}`: the request could not be understood or served; the worker keeps running.
    Error { id: Ticket, error: String },
    /// `{ready}`: the engine version; the first message of every worker.
    Ready { ready: String },
    /// `{fatal}`: a panic or a failed start.
    Fatal { fatal: String },
}

/// A reply as JSON: one flat object, so that large results are deserialized directly.
#[derive(Serialize, Deserialize)]
struct ReplyObject {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Ticket>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<WorkerAnswer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ready: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fatal: Option<String>,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerAnswer {
    Outcome {
        outcome: ToolOutcome,
        /// Paths written, each with a blob alongside the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        writes: Vec<String>,
    },
    Checked(CheckedArguments),
    Preview(WritePreview),
    Nodes(ChangedBlocks),
    /// JSON text, or the text of an exported file.
    Document(String),
    Demo(Scripted),
}

/// What was added to a text that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowingPart {
    /// Numbers the text.
    pub text: u32,
    /// The length of what was sent of it before, in bytes; 0: this is its beginning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from: usize,
    /// The text is complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last: bool,
}

/// The blocks of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangedBlocks {
    /// The number of blocks at the beginning that are the same as in the last answer for this text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub same: usize,
    /// If it is not 0, the block after those stays with so many of its first parts (`turnwise_content::markdown::parts`), and the
    /// first node has those that follow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub keep: usize,
    /// The blocks after those.
    pub nodes: Nodes,
    /// This worker does not have the beginning of the text: it has to be sent from there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

/// Nodes as JSON text. Only who draws them reads them: whoever passes them on has no code for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nodes(Box<RawValue>);

impl Nodes {
    /// The nodes.
    ///
    /// # Errors
    /// The reason the text is not a list of nodes.
    pub fn read(&self) -> Result<Vec<Node>, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }

    /// The JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl From<&[Node]> for Nodes {
    fn from(nodes: &[Node]) -> Self {
        // Plain data with string keys: serializing cannot fail.
        Nodes(to_raw_value(nodes).unwrap_or_default())
    }
}

impl Default for Nodes {
    fn default() -> Self {
        Nodes::from([].as_slice())
    }
}

impl PartialEq for Nodes {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// What a call would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WritePreview {
    /// `Executed`: what the call answers if this is done.
    pub outcome: ToolOutcome,
    /// Its changes to files, as a unified diff; `None`: it writes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The number of lines that the diff leaves out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: usize,
    /// Paths that it would write, each with a blob alongside the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
}

/// Arguments that passed the check, or the outcome that rejects them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckedArguments {
    Valid(Arguments),
    Refused(ToolOutcome),
}

impl Request {
    /// The text of the message.
    #[must_use]
    pub fn encode(&self) -> String {
        // Plain data with string keys: serializing cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Finds the arguments first, then deserializes them according to the method. The code that serde derives for an adjacently
    /// tagged enum deserializes each type in two ways, which adds 60 KB to the module.
    ///
    /// # Errors
    /// The reason the text is not a request.
    pub fn decode(text: &str) -> Result<Self, serde_json::Error> {
        let RequestParts { id, method, args } = serde_json::from_str(text)?;
        let args = args.get();
        let call = match method.as_str() {
            "run" => {
                let RunArgs { name, arguments, schema, now, files } = serde_json::from_str(args)?;
                WorkerCall::Run { name, arguments, schema, now, files }
            }
            "preview" => {
                let PreviewArgs { name, arguments, schema, files } = serde_json::from_str(args)?;
                WorkerCall::Preview { name, arguments, schema, files }
            }
            "check" => {
                let CheckArgs { name, arguments, schema } = serde_json::from_str(args)?;
                WorkerCall::Check { name, arguments, schema }
            }
            "render" => {
                let RenderArgs { markdown, growing } = serde_json::from_str(args)?;
                WorkerCall::Render { markdown, growing }
            }
            "text" => {
                let TextArgs { path } = serde_json::from_str(args)?;
                WorkerCall::Text { path }
            }
            "page" => {
                let PageArgs { url, content_type } = serde_json::from_str(args)?;
                WorkerCall::Page { url, content_type }
            }
            "document" => {
                let DocumentArgs { task, text } = serde_json::from_str(args)?;
                WorkerCall::Document { task, text }
            }
            "view" => WorkerCall::View(serde_json::from_str(args)?),
            "docs" => WorkerCall::Docs(serde_json::from_str(args)?),
            "demo" => WorkerCall::Demo(serde_json::from_str(args)?),
            other => return Err(serde::de::Error::custom(format_args!("unknown method {other}"))),
        };
        Ok(Request { id, call })
    }
}

/// A request whose arguments are not deserialized yet.
#[derive(Deserialize)]
struct RequestParts<'a> {
    id: Ticket,
    method: String,
    #[serde(borrow)]
    args: &'a RawValue,
}

// The arguments of each method, as in `WorkerCall`.

#[derive(Deserialize)]
struct RunArgs {
    name: String,
    arguments: String,
    schema: SchemaRef,
    now: u64,
    #[serde(default)]
    files: Vec<FileChange>,
}

#[derive(Deserialize)]
struct PreviewArgs {
    name: String,
    arguments: String,
    schema: SchemaRef,
    #[serde(default)]
    files: Vec<FileChange>,
}

#[derive(Deserialize)]
struct CheckArgs {
    name: String,
    arguments: String,
    schema: SchemaRef,
}

#[derive(Deserialize)]
struct RenderArgs {
    markdown: String,
    #[serde(default)]
    growing: Option<GrowingPart>,
}

#[derive(Deserialize)]
struct TextArgs {
    path: String,
}

#[derive(Deserialize)]
struct PageArgs {
    url: String,
    content_type: String,
}

#[derive(Deserialize)]
struct DocumentArgs {
    task: DocumentTask,
    text: String,
}

impl WorkerReply {
    /// The text of the message.
    #[must_use]
    pub fn encode(self) -> String {
        let mut object = ReplyObject { id: None, result: None, error: None, ready: None, fatal: None };
        match self {
            WorkerReply::Result { id, result } => (object.id, object.result) = (Some(id), Some(result)),
            WorkerReply::Error { id, error } => (object.id, object.error) = (Some(id), Some(error)),
            WorkerReply::Ready { ready } => object.ready = Some(ready),
            WorkerReply::Fatal { fatal } => object.fatal = Some(fatal),
        }
        serde_json::to_string(&object).unwrap_or_default()
    }

    /// # Errors
    /// The reason the text is not a reply.
    pub fn decode(text: &str) -> Result<Self, serde_json::Error> {
        match serde_json::from_str(text)? {
            ReplyObject { id: Some(id), result: Some(result), .. } => Ok(WorkerReply::Result { id, result }),
            ReplyObject { id: Some(id), error: Some(error), .. } => Ok(WorkerReply::Error { id, error }),
            ReplyObject { ready: Some(ready), .. } => Ok(WorkerReply::Ready { ready }),
            ReplyObject { fatal: Some(fatal), .. } => Ok(WorkerReply::Fatal { fatal }),
            ReplyObject { .. } => Err(serde::de::Error::custom("not an answer, a ready message or a fatal error")),
        }
    }
}
