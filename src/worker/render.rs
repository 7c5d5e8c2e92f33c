//! Converts Markdown to nodes, and results to tables and charts, in a worker of its own, which no tool can block or end.

use std::rc::Rc;

use super::driver::{Driver, EndedCall};
use super::pool::CallEnd;
use super::workspace::Workspace;
use turnwise_protocol::tool_worker::{ChangedBlocks, DocumentTask, GrowingPart, WorkerAnswer, WorkerCall};

/// A text that takes longer than this is not worth waiting for.
const RENDER_MS: u64 = 10_000;

/// A shared handle to the render worker. Texts are rendered one after the other, in order.
#[derive(Clone)]
pub struct RenderHost {
    driver: Rc<Driver>,
}

/// The reason a text is not rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderError {
    /// The worker could not be started or crashed; a message for users.
    Worker(String),
    TimedOut,
    /// The host was closed.
    Closed,
}

impl RenderHost {
    /// Creates the host like [`super::ToolHost::new`], with one worker.
    #[must_use]
    pub fn new(worker_url: String) -> Self {
        RenderHost { driver: Driver::new(worker_url, Workspace::new(), 1) }
    }

    /// Returns the nodes of a Markdown text, as JSON text.
    ///
    /// # Errors
    /// If the text was not rendered; the page then shows it as it is.
    pub async fn render(&self, markdown: &str) -> Result<String, RenderError> {
        self.blocks(markdown, None).await.map(|blocks| blocks.nodes.text().to_owned())
    }

    /// Adds to a text that grows, and returns what has changed in it.
    ///
    /// # Errors
    /// As for [`RenderHost::render`].
    pub async fn render_changes(&self, part: GrowingPart, markdown: &str) -> Result<ChangedBlocks, RenderError> {
        self.blocks(markdown, Some(part)).await
    }

    async fn blocks(&self, markdown: &str, growing: Option<GrowingPart>) -> Result<ChangedBlocks, RenderError> {
        match self.ask(WorkerCall::Render { markdown: markdown.to_owned(), growing }).await? {
            WorkerAnswer::Nodes(blocks) => Ok(blocks),
            _ => Err(RenderError::Worker("the worker answered another question".to_owned())),
        }
    }

    /// Returns the table or chart in a text as JSON; `null`: there is none.
    ///
    /// # Errors
    /// If the worker did not answer.
    pub async fn figure(&self, task: DocumentTask, text: String) -> Result<String, RenderError> {
        match self.ask(WorkerCall::Document { task, text }).await? {
            WorkerAnswer::Document(json) => Ok(json),
            _ => Err(RenderError::Worker("the worker answered another question".to_owned())),
        }
    }

    async fn ask(&self, call: WorkerCall) -> Result<WorkerAnswer, RenderError> {
        let (_, ended) = self.driver.submit(call, RENDER_MS);
        match ended.await {
            Ok(EndedCall::Answer(answer) | EndedCall::Unwritten(answer, _)) => Ok(answer),
            Ok(EndedCall::Error(why) | EndedCall::Without(CallEnd::Crashed(why) | CallEnd::NoWorker(why))) => {
                Err(RenderError::Worker(why))
            }
            Ok(EndedCall::Without(CallEnd::TimedOut)) => Err(RenderError::TimedOut),
            Ok(EndedCall::Without(CallEnd::Aborted | CallEnd::Answered)) | Err(_) => Err(RenderError::Closed),
        }
    }

    /// Ends the worker. A later text starts a new one.
    pub fn close(&self) {
        self.driver.close();
    }
}

impl std::fmt::Debug for RenderHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RenderHost")
    }
}

impl std::fmt::Display for RenderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RenderError::Worker(why) => f.write_str(why),
            RenderError::TimedOut => f.write_str("rendering took too long"),
            RenderError::Closed => f.write_str("the renderer was closed"),
        }
    }
}

impl std::error::Error for RenderError {}
