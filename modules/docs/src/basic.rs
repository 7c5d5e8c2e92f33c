//! What the docs agent's worker can do.

use serde_json::Value;
use web_sys::Blob;

use turnwise_content::markdown::{Node, parse};
use turnwise_engine::EpochMillis;
use turnwise_protocol::tool_worker::{DocumentTask, WorkerAnswer, WorkerCall};
use turnwise_tools::run_basic;
use turnwise_worker::serve::{Abilities, BlobFiles};

const NOT_HERE: &str = "this worker cannot do that: it needs worker.js";

#[derive(Debug, Default)]
pub struct Basic;

impl Abilities for Basic {
    fn render(markdown: &str) -> Vec<Node> {
        parse(markdown)
    }

    fn document(_: DocumentTask, _: &str) -> Result<String, String> {
        Err(NOT_HERE.to_owned())
    }

    async fn run(
        &mut self,
        name: &str,
        args: &Value,
        files: &mut BlobFiles,
        at: EpochMillis,
    ) -> Result<String, String> {
        run_basic(name, args, files, at).await
    }

    async fn diff(&self, _: &BlobFiles, _: &[(String, Vec<u8>)]) -> (Option<String>, usize) {
        (None, 0)
    }

    async fn answer(&mut self, _: WorkerCall, _: Vec<Blob>) -> Result<WorkerAnswer, String> {
        Err(NOT_HERE.to_owned())
    }
}
