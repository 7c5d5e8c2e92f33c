//! What the docs agent's worker can do.

use serde_json::Value;
use web_sys::Blob;

use turnwise_content::markdown::parse;
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{FetchedPage, SiteQuery, answer, web};
use turnwise_engine::EpochMillis;
use turnwise_protocol::tool_worker::{ChangedBlocks, DocumentTask, GrowingPart, WorkerAnswer, WorkerCall};
use turnwise_tools::run_basic;
use turnwise_worker::serve::{Abilities, BlobFiles};

const NOT_HERE: &str = "this worker cannot do that: it needs worker.js";

#[derive(Debug, Default)]
pub struct Basic;

impl Abilities for Basic {
    async fn render(&mut self, markdown: &str, growing: Option<GrowingPart>) -> Result<ChangedBlocks, String> {
        Ok(match growing {
            Some(part) if part.from > 0 => ChangedBlocks { lost: true, ..ChangedBlocks::default() },
            _ => ChangedBlocks { nodes: parse(markdown).as_slice().into(), ..ChangedBlocks::default() },
        })
    }

    async fn document(&self, _: DocumentTask, _: &str) -> Result<String, String> {
        Err(NOT_HERE.to_owned())
    }

    async fn docs(&self, site: &mut Option<Site>, ask: SiteQuery, texts: Vec<String>) -> Result<String, String> {
        answer::answer(site, ask, texts)
    }

    async fn page(&self, got: &FetchedPage, text: &str) -> Result<String, String> {
        serde_json::to_string(&web::read(got, text)).map_err(|error| error.to_string())
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
