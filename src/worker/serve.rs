//! The worker's main loop: one request at a time, answered in order. It uses the global scope of a dedicated worker;
//! in Node.js the loader of `worker.js` provides the same (`www/worker-loader.js`).
//!
//! A separate thread hosts one worker. If the agents' own thread takes the place of workers (`www/client/in-thread.ts`), one
//! module serves many of them: each message then names its worker in the field `worker`, and `{ worker, ended: true }` drops
//! the state of that worker. All state is in [`Worker`], so workers share only code.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, MessageEvent};

use super::documents;
use super::growing::Growing;
use super::protocol::{Answer, Blocks, Call, Checked, FileChange, Preview, Reply, Request, SchemaRef};
use super::workspace::text_blob;
use crate::content::markdown;
use crate::docs::site::Site;
use crate::docs::{self, Ask};
use crate::engine::{EpochMillis, ToolOutcome};
#[cfg(feature = "worker")]
use crate::protocol::record;
use crate::tools::arguments::Validators;
#[cfg(feature = "worker")]
use crate::tools::change::{Before, unified};
#[cfg(feature = "worker")]
use crate::tools::document::{Document, HEAD, LATER, MAX_DOCUMENT_BYTES, container};
#[cfg(feature = "worker")]
use crate::tools::files::{Engine, MAX_TEXT_BYTES};
use crate::tools::files::{FileInfo, Files};
use crate::tools::{Index, run};
#[cfg(feature = "worker")]
use crate::view::replay::Viewer;

/// Installs the message handler, then posts `Ready`. Called once, from the worker's `main`.
pub fn serve() {
    std::panic::set_hook(Box::new(|info| {
        post(&JsValue::from_str(&Reply::Fatal { fatal: info.to_string() }.encode()));
    }));
    let workers = Rc::new(Workers::default());
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let member = |name: &str| Reflect::get(&event, &name.into()).unwrap_or_default();
        let name = member("worker").as_string().unwrap_or_default();
        if member("ended").is_truthy() {
            workers.borrow_mut().remove(&name);
            return;
        }
        let workers = workers.clone();
        spawn_local(async move { take(&workers, name, event.data()).await });
    });
    let _ = Reflect::set(&js_sys::global(), &"onmessage".into(), on_message.as_ref());
    on_message.forget(); // for the worker's lifetime
    post(&JsValue::from_str(&Reply::Ready { ready: env!("CARGO_PKG_VERSION").to_owned() }.encode()));
}

/// The workers of this module by name; `None` while a call holds the state.
type Workers = RefCell<BTreeMap<String, Option<Worker>>>;

/// The state of a worker between calls.
pub struct Worker {
    validators: Validators,
    files: BlobFiles,
    index: Index,
    /// The text of a reply that streams.
    growing: Growing,
    /// The record that is open in the viewer.
    #[cfg(feature = "worker")]
    viewer: Option<Viewer>,
    /// The documentation site that is open.
    site: Option<Site>,
}

impl Default for Worker {
    fn default() -> Self {
        Worker {
            validators: Validators::new(super::pattern::pattern),
            files: Default::default(),
            index: Default::default(),
            growing: Default::default(),
            #[cfg(feature = "worker")]
            viewer: None,
            site: None,
        }
    }
}

impl Worker {
    /// Answers one request; `blobs` came with the request.
    pub async fn answer(&mut self, request: Request, blobs: Vec<Blob>) -> (Reply, Vec<Blob>) {
        let id = request.id;
        let mut written = Vec::new();
        let result = match request.call {
            Call::Render { markdown, growing } => {
                let nodes = markdown::parse(&markdown);
                Answer::Nodes(match growing {
                    Some(text) => self.growing.changes(text, nodes),
                    None => Blocks { same: 0, nodes },
                })
            }
            Call::Document { task, text } => match documents::answer(task, &text) {
                Ok(answer) => Answer::Document(answer),
                Err(error) => return (Reply::Error { id, error }, written),
            },
            #[cfg(feature = "worker")]
            Call::View(ask) => match self.view(&ask, blobs).await {
                Ok(answer) => Answer::Document(answer),
                Err(error) => return (Reply::Error { id, error }, written),
            },
            Call::Docs(ask) => match self.docs(*ask, blobs).await {
                Ok(answer) => Answer::Document(answer),
                Err(error) => return (Reply::Error { id, error }, written),
            },
            #[cfg(feature = "worker")]
            Call::Demo(request) => Answer::Demo(crate::llm::demo::script(&request)),
            #[cfg(feature = "worker")]
            Call::Text { path } => match text(path, blobs).await {
                Ok(text) => Answer::Document(text),
                Err(error) => return (Reply::Error { id, error }, written),
            },
            #[cfg(not(feature = "worker"))]
            Call::View(_) | Call::Demo(_) | Call::Text { .. } => {
                return (Reply::Error { id, error: documents::NOT_HERE.to_owned() }, written);
            }
            Call::Check { name, arguments, schema } => {
                self.define(&schema);
                Answer::Checked(match self.validators.check(&name, schema.id, &arguments) {
                    Ok(arguments) => Checked::Valid(arguments),
                    Err(outcome) => Checked::Refused(outcome),
                })
            }
            Call::Preview { name, arguments, schema, files } => {
                self.define(&schema);
                self.files.apply(files, blobs);
                match self.run(&name, schema.id, &arguments, EpochMillis(0)).await {
                    outcome @ ToolOutcome::Executed { .. } => {
                        let writes = std::mem::take(&mut self.files.writes);
                        let (diff, omitted) = self.diff(&writes).await;
                        let (writes, blobs) = into_blobs(writes);
                        written = blobs;
                        Answer::Preview(Preview { outcome, diff, omitted, writes })
                    }
                    outcome => Answer::Checked(Checked::Refused(outcome)),
                }
            }
            Call::Run { name, arguments, schema, now, files } => {
                self.define(&schema);
                self.files.apply(files, blobs);
                let outcome = self.run(&name, schema.id, &arguments, EpochMillis(now)).await;
                let (writes, blobs) = into_blobs(std::mem::take(&mut self.files.writes));
                written = blobs;
                Answer::Outcome { outcome, writes }
            }
        };
        (Reply::Result { id, result }, written)
    }

    #[cfg(feature = "worker")]
    async fn view(&mut self, ask: &record::Ask, blobs: Vec<Blob>) -> Result<String, String> {
        match (ask, &mut self.viewer) {
            (record::Ask::Open, _) => {
                let blob = blobs.into_iter().next().ok_or("the request came without a record")?;
                let text = JsFuture::from(blob.text()).await.map_err(|_| "the file could not be read")?;
                let opened = Viewer::open(&text.as_string().unwrap_or_default());
                let opened = opened.map(|(viewer, opened)| {
                    self.viewer = Some(viewer);
                    opened
                });
                Ok(serde_json::to_string(&opened).unwrap_or_default())
            }
            (record::Ask::Compare { before, after }, _) => Ok(Viewer::compare(before, after)),
            (ask, Some(viewer)) => viewer.answer(ask),
            (_, None) => Err("no record is open".to_owned()),
        }
    }

    async fn docs(&mut self, ask: Ask, blobs: Vec<Blob>) -> Result<String, String> {
        let mut texts = Vec::new();
        for blob in blobs {
            let text = JsFuture::from(blob.text()).await.map_err(|_| "the fetched data could not be read")?;
            texts.push(text.as_string().unwrap_or_default());
        }
        docs::answer::answer(&mut self.site, ask, texts)
    }

    /// What these writes would change, as a unified diff, and the number of lines that it leaves out.
    #[cfg(feature = "worker")]
    async fn diff(&self, writes: &[(String, String)]) -> (Option<String>, usize) {
        let (mut diffs, mut omitted) = (Vec::new(), 0);
        for (path, content) in writes {
            let bytes = match self.files.infos.get(path) {
                Some(info) if info.size > MAX_TEXT_BYTES => Err("is too large to be shown"),
                Some(_) => self.files.read(path).await.map(Some).map_err(|_| "cannot be read"),
                None => Ok(None),
            };
            let before = match &bytes {
                Ok(Some(bytes)) => Before::Content(bytes),
                Ok(None) => Before::Nothing,
                Err(why) => Before::Unknown(why),
            };
            let change = unified(path, before, content);
            omitted += change.omitted;
            diffs.push(change.diff);
        }
        ((!diffs.is_empty()).then(|| diffs.join("\n")), omitted)
    }

    #[cfg(not(feature = "worker"))]
    #[allow(clippy::unused_async)] // as above
    async fn diff(&self, _: &[(String, String)]) -> (Option<String>, usize) {
        (None, 0)
    }

    fn define(&mut self, schema: &SchemaRef) {
        if let Some(text) = &schema.define {
            self.validators.define(schema.id, text);
        }
    }

    async fn run(&mut self, name: &str, schema: u32, arguments: &str, now: EpochMillis) -> ToolOutcome {
        let arguments = match self.validators.check(name, schema, arguments) {
            Ok(arguments) => arguments,
            Err(outcome) => return outcome,
        };
        match run(name, &arguments.value, &mut self.files, &mut self.index, now).await {
            Ok(content) => {
                ToolOutcome::Executed { content, images: Vec::new(), repaired_args: arguments.if_repaired() }
            }
            Err(message) => {
                // A failed tool has written nothing.
                self.files.writes.clear();
                ToolOutcome::Failed { message }
            }
        }
    }
}

/// The paths of these files, and their contents.
fn into_blobs(writes: Vec<(String, String)>) -> (Vec<String>, Vec<Blob>) {
    writes.into_iter().map(|(path, content)| (path, text_blob(&content))).unzip()
}

/// The text of one file that is in no workspace.
#[cfg(feature = "worker")]
async fn text(path: String, blobs: Vec<Blob>) -> Result<String, String> {
    let mut files = BlobFiles::default();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a size is a whole number far below 2^53
    let size = blobs.first().map(|blob| blob.size() as u64);
    files.apply(vec![FileChange { path: path.clone(), version: 1, size }], blobs);
    crate::tools::read::shown_text(&files, &path).await
}

/// The workspace as this worker knows it: handles, read on demand.
#[derive(Default)]
struct BlobFiles {
    infos: BTreeMap<String, FileInfo>,
    blobs: BTreeMap<String, Blob>,
    writes: Vec<(String, String)>,
    #[cfg(feature = "worker")]
    documents: RefCell<Documents>,
}

/// What was found about files that may be documents. A file is converted once for each version.
#[cfg(feature = "worker")]
#[derive(Default)]
struct Documents {
    known: BTreeMap<String, (u64, Known)>,
    /// When the call began, by the page's clock for durations.
    began: f64,
}

/// `None`: the file is not a document. The error says why a document has no text.
#[cfg(feature = "worker")]
type Known = Result<Option<Rc<Document>>, String>;

/// The documents that a worker keeps have at most so much text, in bytes; then it forgets them and converts them again.
#[cfg(feature = "worker")]
const MAX_KEPT_TEXT: usize = 96 << 20;
/// A call that has run for so long converts no more documents, so that what it has converted is not lost to its deadline.
#[cfg(feature = "worker")]
const ENOUGH_MS: f64 = 12_000.0;
/// All documents of a call are read within this time; what has not been read of a PDF then is left out. A call has 30 seconds by default.
#[cfg(feature = "worker")]
const MAX_MS: f64 = 20_000.0;

impl BlobFiles {
    fn apply(&mut self, changes: Vec<FileChange>, blobs: Vec<Blob>) {
        #[cfg(feature = "worker")]
        {
            self.documents.borrow_mut().began = clock();
        }
        let mut blobs = blobs.into_iter();
        for FileChange { path, version, size } in changes {
            match size.and_then(|size| Some((size, blobs.next()?))) {
                Some((size, blob)) => {
                    self.infos.insert(path.clone(), FileInfo { version, size });
                    self.blobs.insert(path, blob);
                }
                None => {
                    self.infos.remove(&path);
                    self.blobs.remove(&path);
                }
            }
        }
    }
}

#[cfg(feature = "worker")]
impl BlobFiles {
    /// Reads and converts a file.
    async fn convert(&self, path: &str, info: FileInfo) -> Known {
        let blob = self.blobs.get(path).ok_or_else(|| format!("there is no file {path}"))?;
        let head = blob.slice_with_f64_and_f64(0.0, HEAD as f64).map_err(|_| gone(path))?;
        let head = JsFuture::from(head.array_buffer()).await.map_err(|_| gone(path))?;
        let Some(container) = container(&Uint8Array::new(&head).to_vec()) else { return Ok(None) };
        if info.size > MAX_DOCUMENT_BYTES {
            return Err("it is too large to be read as a document".to_owned());
        }
        let bytes = JsFuture::from(blob.array_buffer()).await.map_err(|_| gone(path))?;
        let before = clock() - self.documents.borrow().began;
        let bytes = Uint8Array::new(&bytes);
        let (document, late) = super::parts::document(container, &bytes, path, MAX_MS - before).await?;
        // The next call begins with it, so it has the whole time then.
        if late && before > 1_000.0 {
            return Err(LATER.to_owned());
        }
        Ok(Some(Rc::new(document)))
    }
}

fn gone(path: &str) -> String {
    format!("{path} can no longer be read; the user must add it again")
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("files", &self.files.infos.len()).finish_non_exhaustive()
    }
}

impl Files for BlobFiles {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        &self.infos
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let blob = self.blobs.get(path).ok_or_else(|| format!("there is no file {path}"))?;
        // A dropped file may have been removed or changed on disk since then.
        let buffer = JsFuture::from(blob.array_buffer()).await;
        let buffer = buffer.map_err(|_| gone(path))?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    #[cfg(feature = "worker")]
    async fn document(&self, path: &str) -> Result<Option<Rc<Document>>, String> {
        let Some(info) = self.infos.get(path).copied() else { return Ok(None) };
        {
            let documents = self.documents.borrow();
            if let Some((version, known)) = documents.known.get(path)
                && *version == info.version
            {
                return known.clone();
            }
            if clock() - documents.began > ENOUGH_MS {
                return Err(LATER.to_owned());
            }
        }
        let known = self.convert(path, info).await;
        if known.as_ref().is_err_and(|reason| reason == LATER) {
            return known;
        }
        let mut documents = self.documents.borrow_mut();
        let text = |(_, known): &(u64, Known)| known.as_ref().ok().and_then(|d| d.as_ref()).map_or(0, |d| d.text.len());
        let kept: usize = documents.known.values().map(text).sum();
        if kept > MAX_KEPT_TEXT {
            documents.known.clear();
        }
        documents.known.insert(path.to_owned(), (info.version, known.clone()));
        known
    }

    fn write(&mut self, path: String, content: String) {
        self.writes.push((path, content));
    }

    #[cfg(feature = "worker")]
    async fn ask(&self, engine: Engine, request: &str, paths: &[&str]) -> Result<String, String> {
        let blobs =
            paths.iter().map(|path| self.blobs.get(*path).cloned().ok_or_else(|| format!("there is no file {path}")));
        super::engines::ask(engine, request, &blobs.collect::<Result<Vec<Blob>, String>>()?).await
    }
}

async fn take(workers: &Workers, name: String, data: JsValue) {
    let (text, blobs) = match data.dyn_ref::<Array>() {
        Some(parts) => (parts.get(0), parts.iter().skip(1).map(JsCast::unchecked_into).collect()),
        None => (data, Vec::new()),
    };
    let request = match Request::decode(&text.as_string().unwrap_or_default()) {
        Ok(request) => request,
        Err(error) => return send(Reply::Fatal { fatal: format!("cannot read the request: {error}") }, Vec::new()),
    };
    // The state is taken out while a call runs: the page sends the next call only after the answer.
    let state = workers.borrow_mut().entry(name.clone()).or_insert_with(|| Some(Worker::default())).take();
    let Some(mut state) = state else {
        return send(Reply::Error { id: request.id, error: "the worker is busy".to_owned() }, Vec::new());
    };
    let (reply, written) = state.answer(request, blobs).await;
    // If the worker was ended in the meantime, it has no entry, and its state is dropped here.
    if let Some(place) = workers.borrow_mut().get_mut(&name) {
        *place = Some(state);
    }
    send(reply, written);
}

fn send(reply: Reply, blobs: Vec<Blob>) {
    let text = JsValue::from_str(&reply.encode());
    if blobs.is_empty() {
        post(&text);
    } else {
        let mut message = Array::of1(&text);
        message.extend(blobs);
        post(&message);
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = postMessage)]
    fn post(message: &JsValue);
    #[cfg(feature = "worker")]
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn clock() -> f64;
}
