//! All that the tools' worker can do: every tool, documents, records, figures, the demo model, highlighted code.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::Uint8Array;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use turnwise_content::markdown::{Node, parse_highlighted};
use turnwise_engine::EpochMillis;
use turnwise_files::document::{Document, HEAD, LATER, MAX_DOCUMENT_BYTES, container};
use turnwise_files::{Engine, FileInfo, Files, MAX_TEXT_BYTES};
use turnwise_protocol::record;
use turnwise_protocol::tool_worker::{DocumentTask, FileChange, WorkerAnswer, WorkerCall};
use turnwise_tools::change::{Previous, unified};
use turnwise_tools::{FileIndex, read, run};
use turnwise_view::replay::Viewer;
use turnwise_worker::documents;
use turnwise_worker::serve::{Abilities, BlobFiles, gone};

use crate::{engines, parts};

/// What the worker keeps between calls, apart from the files.
#[derive(Default)]
pub struct Complete {
    index: FileIndex,
    documents: Documents,
    /// The record that is open in the viewer.
    viewer: Option<Viewer>,
}

impl Abilities for Complete {
    fn render(markdown: &str) -> Vec<Node> {
        parse_highlighted(markdown)
    }

    fn document(task: DocumentTask, text: &str) -> Result<String, String> {
        documents::answer(task, text)
    }

    async fn run(
        &mut self,
        name: &str,
        args: &Value,
        files: &mut BlobFiles,
        at: EpochMillis,
    ) -> Result<String, String> {
        self.documents.began.set(clock());
        let mut files = WithDocuments { files, documents: &self.documents };
        run(name, args, &mut files, &mut self.index, at).await
    }

    async fn diff(&self, files: &BlobFiles, writes: &[(String, String)]) -> (Option<String>, usize) {
        let (mut diffs, mut omitted) = (Vec::new(), 0);
        for (path, content) in writes {
            let bytes = match files.list().get(path) {
                Some(info) if info.size > MAX_TEXT_BYTES => Err("is too large to be shown"),
                Some(_) => files.read(path).await.map(Some).map_err(|_| "cannot be read"),
                None => Ok(None),
            };
            let before = match &bytes {
                Ok(Some(bytes)) => Previous::Content(bytes),
                Ok(None) => Previous::Nothing,
                Err(why) => Previous::Unknown(why),
            };
            let change = unified(path, before, content);
            omitted += change.omitted;
            diffs.push(change.diff);
        }
        ((!diffs.is_empty()).then(|| diffs.join("\n")), omitted)
    }

    async fn answer(&mut self, call: WorkerCall, blobs: Vec<Blob>) -> Result<WorkerAnswer, String> {
        match call {
            WorkerCall::View(ask) => Ok(WorkerAnswer::Document(self.view(&ask, blobs).await?)),
            WorkerCall::Demo(request) => Ok(WorkerAnswer::Demo(turnwise_demo_model::script(&request))),
            WorkerCall::Text { path } => Ok(WorkerAnswer::Document(self.text(path, blobs).await?)),
            _ => Err("the worker does not know this request".to_owned()),
        }
    }
}

impl Complete {
    async fn view(&mut self, ask: &record::RecordQuery, blobs: Vec<Blob>) -> Result<String, String> {
        match (ask, &mut self.viewer) {
            (record::RecordQuery::Open, _) => {
                let blob = blobs.into_iter().next().ok_or("the request came without a record")?;
                let text = JsFuture::from(blob.text()).await.map_err(|_| "the file could not be read")?;
                let opened = Viewer::open(&text.as_string().unwrap_or_default());
                let opened = opened.map(|(viewer, opened)| {
                    self.viewer = Some(viewer);
                    opened
                });
                Ok(serde_json::to_string(&opened).unwrap_or_default())
            }
            (record::RecordQuery::Compare { before, after }, _) => Ok(Viewer::compare(before, after)),
            (ask, Some(viewer)) => viewer.answer(ask),
            (_, None) => Err("no record is open".to_owned()),
        }
    }

    /// The text of one file that is in no workspace.
    async fn text(&self, path: String, blobs: Vec<Blob>) -> Result<String, String> {
        let documents = Documents::default();
        documents.began.set(clock());
        let mut files = BlobFiles::default();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a size is a whole number far below 2^53
        let size = blobs.first().map(|blob| blob.size() as u64);
        files.apply(vec![FileChange { path: path.clone(), version: 1, size }], blobs);
        read::shown_text(&WithDocuments { files: &mut files, documents: &documents }, &path).await
    }
}

/// What was found about files that may be documents. A file is converted once for each version.
#[derive(Default)]
struct Documents {
    known: RefCell<BTreeMap<String, (u64, KnownDocument)>>,
    /// When the call began, by the page's clock for durations.
    began: Cell<f64>,
}

/// `None`: the file is not a document. The error says why a document has no text.
type KnownDocument = Result<Option<Rc<Document>>, String>;

/// The documents that a worker keeps have at most so much text, in bytes; then it forgets them and converts them again.
const MAX_KEPT_TEXT: usize = 96 << 20;
/// A call that has run for so long converts no more documents, so that what it has converted is not lost to its deadline.
const ENOUGH_MS: f64 = 12_000.0;
/// All documents of a call are read within this time; what has not been read of a PDF then is left out. A call has 30 seconds by default.
const MAX_MS: f64 = 20_000.0;

/// The files of a call, with the documents among them as text.
struct WithDocuments<'a> {
    files: &'a mut BlobFiles,
    documents: &'a Documents,
}

impl WithDocuments<'_> {
    /// Reads and converts a file.
    async fn convert(&self, path: &str, info: FileInfo) -> KnownDocument {
        let blob = self.files.blob(path)?;
        let head = blob.slice_with_f64_and_f64(0.0, HEAD as f64).map_err(|_| gone(path))?;
        let head = JsFuture::from(head.array_buffer()).await.map_err(|_| gone(path))?;
        let Some(container) = container(&Uint8Array::new(&head).to_vec()) else { return Ok(None) };
        if info.size > MAX_DOCUMENT_BYTES {
            return Err("it is too large to be read as a document".to_owned());
        }
        let bytes = JsFuture::from(blob.array_buffer()).await.map_err(|_| gone(path))?;
        let before = clock() - self.documents.began.get();
        let bytes = Uint8Array::new(&bytes);
        let (document, late) = parts::document(container, &bytes, path, MAX_MS - before).await?;
        // The next call begins with it, so it has the whole time then.
        if late && before > 1_000.0 {
            return Err(LATER.to_owned());
        }
        Ok(Some(Rc::new(document)))
    }
}

impl Files for WithDocuments<'_> {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        self.files.list()
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.files.read(path).await
    }

    fn write(&mut self, path: String, content: String) {
        self.files.write(path, content);
    }

    async fn document(&self, path: &str) -> Result<Option<Rc<Document>>, String> {
        let Some(info) = self.list().get(path).copied() else { return Ok(None) };
        if let Some((version, known)) = self.documents.known.borrow().get(path)
            && *version == info.version
        {
            return known.clone();
        }
        if clock() - self.documents.began.get() > ENOUGH_MS {
            return Err(LATER.to_owned());
        }
        let document = self.convert(path, info).await;
        if document.as_ref().is_err_and(|reason| reason == LATER) {
            return document;
        }
        let mut known = self.documents.known.borrow_mut();
        let text = |(_, known): &(u64, KnownDocument)| {
            known.as_ref().ok().and_then(|d| d.as_ref()).map_or(0, |d| d.text.len())
        };
        if known.values().map(text).sum::<usize>() > MAX_KEPT_TEXT {
            known.clear();
        }
        known.insert(path.to_owned(), (info.version, document.clone()));
        document
    }

    async fn ask(&self, engine: Engine, request: &str, paths: &[&str]) -> Result<String, String> {
        let blobs = paths.iter().map(|path| self.files.blob(path).cloned());
        engines::ask(engine, request, &blobs.collect::<Result<Vec<Blob>, String>>()?).await
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn clock() -> f64;
}

impl std::fmt::Debug for Complete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Complete")
    }
}
